"""The twelve standard sections of a plan: names, order, aliases, and which are living sections."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

PURPOSE: Final = "Purpose / Big Picture"
PROGRESS: Final = "Progress"
SURPRISES: Final = "Surprises & Discoveries"
DECISIONS: Final = "Decision Log"
OUTCOMES: Final = "Outcomes & Retrospective"
CONTEXT: Final = "Context and Orientation"
WORK: Final = "Plan of Work"
STEPS: Final = "Concrete Steps"
VALIDATION: Final = "Validation and Acceptance"
RECOVERY: Final = "Idempotence and Recovery"
ARTIFACTS: Final = "Artifacts and Notes"
INTERFACES: Final = "Interfaces and Dependencies"


class OutlineSection(NamedTuple):
    """One of the twelve standard sections."""

    name: str
    is_living: bool
    aliases: tuple[str, ...]
    """Alternative titles, in the form of `title_key`."""


OUTLINE: tuple[OutlineSection, ...] = (
    OutlineSection(PURPOSE, False, ()),
    OutlineSection(PROGRESS, True, ()),
    OutlineSection(SURPRISES, True, ("suprises and discoveries", "surprises", "discoveries")),
    OutlineSection(DECISIONS, True, ("decisions",)),
    OutlineSection(OUTCOMES, True, ("outcome and retrospective", "outcomes", "retrospective")),
    OutlineSection(CONTEXT, False, ("context", "orientation", "repository orientation")),
    OutlineSection(WORK, False, ("implementation plan",)),
    OutlineSection(STEPS, False, ("steps",)),
    OutlineSection(VALIDATION, False, ("validation", "acceptance", "verification", "validation plan")),
    OutlineSection(RECOVERY, False, ()),
    OutlineSection(ARTIFACTS, False, ("artefacts and notes",)),
    OutlineSection(INTERFACES, False, ("dependencies",)),
)
INTRODUCTION: Final = "the introduction"
"""Name of the text between the title and the first section."""
NAMES = tuple([kind.name for kind in OUTLINE])
METADATA_TITLES = frozenset(("metadata", "plan metadata"))
"""Titles of sections with a list of metadata, in the form of `title_key`."""
LIVING = tuple([kind.name for kind in OUTLINE if kind.is_living])


def title_key(title: str) -> str:
    """Return a title in the form used for comparison.

    Case, emphasis, a final colon, final parentheses and a ` / …` alias are dropped, and `&` becomes "and".
    """
    lowered = title.strip("*_` \t").casefold().replace("&", " and ").split(" / ")[0]
    return " ".join(split_title(lowered.rstrip(" :*_"))[0].split())


def split_title(title: str) -> tuple[str, list[str]]:
    """Split a title into the text before its final parentheses, and these."""
    notes = []
    end = len(title)
    while title[end - 1 : end] == ")":
        begin = title.rfind("(", 0, end)
        if begin < 0:
            break
        notes.append(title[begin:end])
        end = begin
        while end and title[end - 1].isspace():
            end -= 1
    return title[:end], notes[::-1]


_BY_KEY = {alias: kind.name for kind in OUTLINE for alias in (title_key(kind.name), *kind.aliases)}


def canonical_name(title: str) -> str | None:
    """Return the name of the standard section with this title, or None for a section of the plan's own."""
    return _BY_KEY.get(title_key(title))


def is_canonical_title(title: str, name: str) -> bool:
    """Return whether a title is a section's standard name and not an alias."""
    return title_key(title) == title_key(name)


def closest_title(title: str, titles: list[str]) -> str | None:
    """Return the most similar of several titles, or None if none is similar enough; a part of the title's words is similar."""
    from execplan.core.text.suggestions import closest_names

    key = title_key(title)
    words = {*key.split()}
    parts = [candidate for candidate in titles if title_key(candidate) and {*title_key(candidate).split()} < words]
    if parts:
        return parts[0]
    by_key = {
        candidate_key: candidate
        for candidate in titles
        if abs(len(candidate_key := title_key(candidate)) - len(key)) * 5 <= 2 * (len(candidate_key) + len(key))
    }
    matches = closest_names(key, by_key, limit=1)
    return by_key[matches[0]] if matches else None
