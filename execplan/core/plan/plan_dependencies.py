"""The plans that a plan's metadata names as dependencies, with their lines."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.plan.front_matter import key_lines, parse_front_matter
from execplan.core.plan.metadata_values import (
    is_none,
    marked_texts,
    metadata_items,
    paragraph_text,
    section_items,
    split_texts,
)
from execplan.core.plan.model import PlanMention
from execplan.core.text.markdown_blocks import PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.front_matter import FrontMatter
    from execplan.core.plan.model import ParsedPlan, Section

DEPENDENCY_TITLES = frozenset(("plan dependencies", "depends on"))
"""Titles of sections that list the plans which a plan depends on, in the form of `outline.title_key`."""
_DEPENDENCY_LABELS = frozenset(
    ("depends on", "blocked by", "requires", "prerequisite", "prerequisites", "after", "needs", "dependencies")
)
_DEPENDENCY_KEYS = ("depends_on", "dependencies", "blocked_by")


def split_project_name(name: str) -> tuple[str, str]:
    """Split `parser:2026-01-01_grammar`, a plan of another project, into project and plan; the project may be empty."""
    project, colon, plan = name.partition(":")
    if not colon or not project.strip() or not plan.strip() or plan.startswith("//"):
        return "", name
    return project.strip(), plan.strip()


def read_dependencies(plan: ParsedPlan) -> list[PlanMention]:
    """Return the names of the plans that a plan depends on, with their lines."""
    return list(find_dependencies(plan, parse_front_matter(plan.text.lines)))


def find_dependencies(plan: ParsedPlan, front_matter: FrontMatter) -> Iterator[PlanMention]:
    """Yield the names of the plans that a plan depends on, given its front matter."""
    yield from _front_dependencies(plan.text.lines, front_matter)
    for key, names, line in metadata_items(plan):
        if key == "depends_on":
            for name in names:
                yield PlanMention(name, line, is_certain=not set(" \t") & set(name))
    for section in plan.sections:
        if outline.title_key(section.title) in DEPENDENCY_TITLES:
            yield from _section_dependencies(plan, section)
    for block in plan.blocks:
        if block.kind == PARAGRAPH and not block.depth and block.text.lstrip("*_ ")[:10].lower() == "depends on":
            label, colon, value = paragraph_text(plan.text.lines, block).partition(":")
            if colon and label.strip("*_ ").lower() == "depends on":
                for name, is_certain in _mentioned_names(_first_sentence(value)):
                    yield PlanMention(name, block.start, is_certain)


def _front_dependencies(lines: list[str], front_matter: FrontMatter) -> Iterator[PlanMention]:
    """Yield the plans that the front matter names as dependencies."""
    for key, value in front_matter.fields.items():
        if key.lower().replace("-", "_") in _DEPENDENCY_KEYS and not isinstance(value, dict):
            start, stop = key_lines(lines, front_matter.end, key)
            for name in split_texts(value):
                line = next((at for at in range(start, stop) if name in lines[at].replace("''", "'")), start)
                yield PlanMention(name, line, is_certain=True)


def _section_dependencies(plan: ParsedPlan, section: Section) -> Iterator[PlanMention]:
    """Yield the plans that the items of a section about plan dependencies name, before any explanation."""
    for text, line, _ in section_items(plan, section):
        label, colon, value = _partition_label(text)
        relation = label.strip("*_ ").lower()
        if colon and relation in _DEPENDENCY_LABELS:
            names_text = value.lstrip("*_ ")
        elif colon and not (_is_name(label.strip("`*_ "), is_marked="`" in label) or _starts_with_name(label)):
            continue  # another relation, such as `Blocks:`
        else:
            names_text = label
        for name, is_certain in _mentioned_names(names_text):
            yield PlanMention(name, line, is_certain)


def _starts_with_name(text: str) -> bool:
    """Return whether a text starts with a code span or a link, so that it is not the label of a relation."""
    return text.lstrip("*_ ")[:1] in ("`", "[") and bool(marked_texts(text))


def _partition_label(text: str) -> tuple[str, str, str]:
    """Split a label from what follows it; the colon in the name of another project's plan ends no label."""
    label, colon, value = text.partition(":")
    is_label = label.strip("*_ ").lower() in _DEPENDENCY_LABELS
    if is_label or not value[:1].isalnum():
        return label, colon, value
    rest, colon, value = value.partition(":")
    return f"{label}:{rest}", colon, value


def _first_sentence(text: str) -> str:
    """Return the text up to the end of a sentence, or to the plans that wait for this one."""
    return text.lstrip("*_ ").partition(". ")[0].partition(" Blocks:")[0].strip()


def _mentioned_names(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the plans that a line about dependencies names, and whether each is certain.

    Without code spans and links, a name is a word with a digit or a hyphen, before any explanation.
    """
    if is_none(text):
        return
    marked = marked_texts(text)
    for part in marked or text.replace(" and ", ",").split(","):
        name = part.partition(" (")[0].partition(" — ")[0].partition(" – ")[0].partition(" - ")[0].strip("*_. \t")
        name = name.partition("#")[0]
        if _is_name(name, is_marked=bool(marked)):
            yield name, bool(marked) or bool(split_project_name(name)[0])


def _is_name(text: str, *, is_marked: bool = False) -> bool:
    """Return whether a text has the form of a plan's name, rather than of prose: no spaces, and a digit or a hyphen.

    A code span or a link target needs no digit or hyphen.
    """
    project, plan = split_project_name(text)
    bare = f"{project}{plan}".replace("-", "").replace("_", "").replace(".", "").replace("/", "")
    return bare.isalnum() and (is_marked or any([char.isdecimal() or char in "-_/:" for char in text]))
