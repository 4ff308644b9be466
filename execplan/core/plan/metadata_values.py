"""Keys and values of a plan's metadata, as people write them in front matter and in lists."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.plan.line_grammar import is_empty_text
from execplan.core.text.markdown_blocks import ITEM, PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.front_matter import FrontValue
    from execplan.core.plan.model import ParsedPlan, Section
    from execplan.core.text.markdown_blocks import Block


TEXT_KEYS = ("id", "status", "owner", "created", "updated")
"""Keys with one text."""
LIST_KEYS = ("tags", "depends_on", "supersedes")
"""Keys with a list of texts."""
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


def normalize_key(name: str) -> str:
    """Return the standard key for a name as people write it: `Last updated`, `depends-on`, `Related spec(s)`."""
    key = name.strip("*_` \t").lower().replace("(s)", "s").replace("-", " ").replace("_", " ")
    key = "_".join(key.split())
    return KEY_ALIASES.get(key, key)


def metadata_items(plan: ParsedPlan) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Yield the known keys of the Metadata lists with their values and lines."""
    for section in plan.sections:
        if outline.title_key(section.title) not in outline.METADATA_TITLES:
            continue
        key, depth = "", 0
        for text, line, item_depth in section_items(plan, section):
            if key and item_depth > depth:  # a list below a key
                yield key, _list_values(text), line
                continue
            label, colon, value = text.partition(":")
            key, depth = normalize_key(label) if colon else "", item_depth
            key = key if key in TEXT_KEYS + LIST_KEYS + LINK_KEYS else ""
            value = value.strip("*_ \t")
            if key and value:
                yield key, single_text(value) if key in TEXT_KEYS else _list_values(value), line


def section_items(plan: ParsedPlan, section: Section) -> Iterator[tuple[str, int, int]]:
    """Yield the list items and paragraphs of a section: text, line and depth."""
    for index in range(section.first_block, section.block_end):
        block = plan.blocks[index]
        if block.kind == PARAGRAPH and not block.depth:
            for line in range(block.start, block.end):
                yield plan.text.lines[line].strip(), line, 0
        elif block.kind == ITEM and index + 1 < section.block_end:
            paragraph = plan.blocks[index + 1]
            if paragraph.kind == PARAGRAPH and paragraph.start < block.end:
                yield paragraph_text(plan.text.lines, paragraph), block.start, block.depth + 1


def paragraph_text(lines: list[str], block: Block) -> str:
    """Return the text of a paragraph, wrapped lines joined."""
    return " ".join([block.text.strip(), *[line.strip() for line in lines[block.start + 1 : block.end]]])


def split_texts(value: FrontValue) -> tuple[str, ...]:
    """Return the texts of a value of the front matter, which may also be separated by commas."""
    if isinstance(value, dict):
        return ()
    items = value
    if not isinstance(value, list):
        items = [value] if "://" in value else value.split(",")
    return tuple([item.strip() for item in items if not is_none(item)])


def single_text(value: FrontValue) -> tuple[str, ...]:
    """Return a value that is one text; nothing if it says that there is none."""
    return () if not isinstance(value, str) or is_none(value) else (value.strip("` "),)


def is_none(text: str) -> bool:
    """Return whether a value says that there is none."""
    bare = text.strip("*_`. \t")
    return not bare or bare in ("~", "null", "-", "—") or is_empty_text(bare)


def _list_values(text: str) -> tuple[str, ...]:
    """Return the values of a list in a line of markdown: its code spans and link targets, else the parts between commas."""
    marked = marked_texts(text)
    return tuple([name for name in marked or [part.strip() for part in text.split(",")] if not is_none(name)])


def marked_texts(text: str) -> list[str]:
    """Return the code spans of a line, else the targets of its links."""
    if text.count("`") >= 2:
        return [part.strip() for part in text.split("`")[1::2]]
    return [part.partition(")")[0].strip("<> ") for part in text.split("](")[1:]]
