"""The metadata of a plan: what front matter, a Metadata list and a section about plan dependencies say about it."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple
from execplan.plan import outline
from execplan.plan.front_matter import key_lines, parse_front_matter
from execplan.plan.line_grammar import is_empty_text
from execplan.text.markdown_blocks import ITEM, PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.front_matter import FrontMatter, FrontValue
    from execplan.plan.model import ParsedPlan, Section
    from execplan.text.markdown_blocks import Block

METADATA_TITLES = frozenset(("metadata", "plan metadata"))
"""Titles of sections with a list of metadata, in the form of `outline.title_key`."""
_DEPENDENCY_TITLES = frozenset(("plan dependencies", "depends on"))
_DEPENDENCY_LABELS = frozenset(
    ("depends on", "blocked by", "requires", "prerequisite", "prerequisites", "after", "needs", "dependencies")
)
_DEPENDENCY_KEYS = ("depends_on", "dependencies", "blocked_by")

TEXT_KEYS = ("id", "status", "owner", "created", "updated")
LIST_KEYS = ("tags", "depends_on", "supersedes")
LINK_KEYS = ("issue", "pr", "docs", "shipped")
"""Keys of the map `links`."""
KEY_ALIASES = {
    "plan_id": "id",
    "state": "status",
    "owners": "owner",
    "author": "owner",
    "assignee": "owner",
    "created_at": "created",
    "start_date": "created",
    "updated_at": "updated",
    "last_updated": "updated",
    "modified": "updated",
    "labels": "tags",
    "dependencies": "depends_on",
    "blocked_by": "depends_on",
    "issues": "issue",
    "related_issue": "issue",
    "tracked_issue": "issue",
    "prs": "pr",
    "pull_request": "pr",
    "doc": "docs",
    "spec": "docs",
    "specs": "docs",
    "related_specs": "docs",
    "shipped_in": "shipped",
}
"""Other names of the keys, in the form of `normalize_key`."""


class Links(NamedTuple):
    """What a plan belongs to, as written: numbers, URLs or paths."""

    issue: tuple[str, ...] = ()
    pr: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()
    shipped: tuple[str, ...] = ()
    """Releases or commits in which the plan's work was shipped."""


class PlanMetadata(NamedTuple):
    """The metadata of a plan, as written; empty where nothing is given. The plan's state is computed, not read here."""

    id: str = ""
    status: str = ""
    owner: str = ""
    created: str = ""
    updated: str = ""
    tags: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    """Names of the plans that must be complete before this one."""
    supersedes: tuple[str, ...] = ()
    links: Links = Links()


class PlanMention(NamedTuple):
    """The name of a plan in the metadata."""

    name: str
    line: int
    """Line, from 0."""
    is_certain: bool
    """Whether the text can only be the name of a plan, rather than prose."""


def read_metadata(plan: ParsedPlan) -> PlanMetadata:
    """Read the metadata of a plan: from its front matter, and what is missing there from a Metadata list.

    Dependencies are those of all places.
    """
    front_matter = parse_front_matter(plan.text.lines)
    values: dict[str, tuple[str, ...]] = {}
    for key, value in _front_values(front_matter):
        values.setdefault(key, value)
    listed: dict[str, tuple[str, ...]] = {}
    for key, value, _ in _metadata_items(plan):
        if value and (key not in TEXT_KEYS or key not in listed):
            listed[key] = listed.get(key, ()) + value
    values = {**listed, **values}
    texts = {key: values[key][0] for key in TEXT_KEYS if values.get(key)}
    names = tuple(dict.fromkeys([mention.name for mention in _dependencies(plan, front_matter)]))
    links = Links._make([values.get(key, ()) for key in LINK_KEYS])
    tags, supersedes = values.get("tags", ()), values.get("supersedes", ())
    return PlanMetadata(**texts, tags=tags, depends_on=names, supersedes=supersedes, links=links)


def read_dependencies(plan: ParsedPlan) -> list[PlanMention]:
    """Return the names of the plans that a plan depends on, with their lines."""
    return list(_dependencies(plan, parse_front_matter(plan.text.lines)))


def normalize_key(name: str) -> str:
    """Return the standard key for a name as people write it: `Last updated`, `depends-on`, `Related spec(s)`."""
    key = name.strip("*_` \t").lower().replace("(s)", "s").replace("-", " ").replace("_", " ")
    key = "_".join(key.split())
    return KEY_ALIASES.get(key, key)


def _front_values(front_matter: FrontMatter) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the known keys of the front matter with their values, except dependencies; those of `links` first."""
    links = front_matter.fields.get("links")
    if isinstance(links, dict):
        for name, value in links.items():
            if normalize_key(name) in LINK_KEYS and (texts := _texts(value)):
                yield normalize_key(name), texts
    for name, value in front_matter.fields.items():
        key = normalize_key(name)
        if isinstance(value, dict) or key == "depends_on":
            continue
        texts = _texts(value) if key not in TEXT_KEYS or isinstance(value, list) else _single(value)
        if texts and key in (*TEXT_KEYS, *LIST_KEYS, *LINK_KEYS):
            yield key, texts


def _dependencies(plan: ParsedPlan, front_matter: FrontMatter) -> Iterator[PlanMention]:
    lines = plan.text.lines
    for key, value in front_matter.fields.items():
        if key.lower().replace("-", "_") in _DEPENDENCY_KEYS and not isinstance(value, dict):
            start, stop = key_lines(lines, front_matter.end, key)
            for name in _texts(value):
                line = next((at for at in range(start, stop) if name in lines[at].replace("''", "'")), start)
                yield PlanMention(name, line, is_certain=True)
    for item_key, names, line in _metadata_items(plan):
        if item_key == "depends_on":
            for name in names:
                yield PlanMention(name, line, is_certain="/" in name or not set(" \t") & set(name))
    for section in plan.sections:
        if outline.title_key(section.title) in _DEPENDENCY_TITLES:
            yield from _section_dependencies(plan, section)
    for block in plan.blocks:
        if block.kind == PARAGRAPH and not block.depth and block.text.lstrip("*_ ")[:10].lower() == "depends on":
            text = _paragraph_text(lines, block)
            label, colon, value = text.partition(":")
            if colon and label.strip("*_ ").lower() == "depends on":
                for name, is_certain in _mentioned_names(value.lstrip("*_ ")):
                    yield PlanMention(name, block.start, is_certain)


def _section_dependencies(plan: ParsedPlan, section: Section) -> Iterator[PlanMention]:
    """Yield the plans that the items of a section about plan dependencies name."""
    for text, line, _ in _items(plan, section):
        label, colon, value = text.partition(":")
        if colon and " " in value[:1] and "`" not in label:
            if label.strip("*_ ").lower() not in _DEPENDENCY_LABELS:
                continue
            text = value.lstrip("*_ ")
        for name, is_certain in _mentioned_names(text):
            yield PlanMention(name, line, is_certain)


def _metadata_items(plan: ParsedPlan) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Yield the known keys of the Metadata lists with their values and lines."""
    for section in plan.sections:
        if outline.title_key(section.title) not in METADATA_TITLES:
            continue
        key, depth = "", 0
        for text, line, item_depth in _items(plan, section):
            if key and item_depth > depth:  # a list below a key
                yield key, _list_values(text), line
                continue
            label, colon, value = text.partition(":")
            key, depth = normalize_key(label) if colon else "", item_depth
            key = key if key in (*TEXT_KEYS, *LIST_KEYS, *LINK_KEYS) else ""
            value = value.strip("*_ \t")
            if key and value:
                yield key, _single(value) if key in TEXT_KEYS else _list_values(value), line


def _items(plan: ParsedPlan, section: Section) -> Iterator[tuple[str, int, int]]:
    """Yield the list items and paragraphs of a section: text, line and depth."""
    for index in range(section.first_block, section.block_end):
        block = plan.blocks[index]
        if block.kind == PARAGRAPH and not block.depth:
            for line in range(block.start, block.end):
                yield plan.text.lines[line].strip(), line, 0
        elif block.kind == ITEM and index + 1 < section.block_end:
            paragraph = plan.blocks[index + 1]
            if paragraph.kind == PARAGRAPH and paragraph.start < block.end:
                yield _paragraph_text(plan.text.lines, paragraph), block.start, block.depth + 1


def _paragraph_text(lines: list[str], block: Block) -> str:
    return " ".join([block.text.strip(), *[line.strip() for line in lines[block.start + 1 : block.end]]])


def _texts(value: FrontValue) -> tuple[str, ...]:
    """Return the texts of a value of the front matter, which may also be separated by commas."""
    if isinstance(value, dict):
        return ()
    items = value if isinstance(value, list) else value.split(",") if "://" not in value else [value]
    return tuple([item.strip() for item in items if not _is_none(item)])


def _single(value: FrontValue) -> tuple[str, ...]:
    return () if not isinstance(value, str) or _is_none(value) else (value.strip("` "),)


def _is_none(text: str) -> bool:
    """Return whether a value says that there is none."""
    bare = text.strip("*_`. \t")
    return not bare or bare in ("~", "null", "-", "—") or is_empty_text(bare)


def _list_values(text: str) -> tuple[str, ...]:
    """Return the values of a list in a line of markdown: its code spans and link targets, else the parts between commas."""
    marked = _marked_texts(text)
    return tuple([name for name in marked or [part.strip() for part in text.split(",")] if not _is_none(name)])


def _marked_texts(text: str) -> list[str]:
    """Return the code spans of a line, else the targets of its links."""
    if text.count("`") >= 2:
        return [part.strip() for part in text.split("`")[1::2]]
    return [part.partition(")")[0].strip("<> ") for part in text.split("](")[1:]]


def _mentioned_names(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the plans that a line about dependencies names, and whether each is certain.

    Without code spans and links, a name is a word with a digit or a hyphen, before any explanation.
    """
    if _is_none(text):
        return
    marked = _marked_texts(text)
    for name in marked:
        yield name.partition("#")[0], True
    if marked:
        return
    for part in text.replace(" and ", ",").split(","):
        name = part.partition(" (")[0].partition(" — ")[0].partition(" – ")[0].partition(" - ")[0].strip("*_. \t")
        if name and " " not in name and any([char.isdecimal() or char in "-_/" for char in name]):
            yield name, False
