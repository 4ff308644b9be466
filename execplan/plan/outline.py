"""The twelve sections of a plan: their names, their order, which of them live, and what else they are called."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

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
    """One of the twelve."""

    name: str
    is_living: bool
    aliases: tuple[str, ...]
    """Other titles by which it is known, as keys."""


OUTLINE = (
    OutlineSection(PURPOSE, False, ()),
    OutlineSection(PROGRESS, True, ()),
    OutlineSection(SURPRISES, True, ("suprises and discoveries",)),
    OutlineSection(DECISIONS, True, ("decisions",)),
    OutlineSection(OUTCOMES, True, ("outcome and retrospective",)),
    OutlineSection(CONTEXT, False, ("context", "orientation", "repository orientation")),
    OutlineSection(WORK, False, ("implementation plan",)),
    OutlineSection(STEPS, False, ("steps",)),
    OutlineSection(VALIDATION, False, ("validation", "acceptance", "verification", "validation plan")),
    OutlineSection(RECOVERY, False, ()),
    OutlineSection(ARTIFACTS, False, ("artefacts and notes",)),
    OutlineSection(INTERFACES, False, ("dependencies",)),
)
NAMES = tuple([kind.name for kind in OUTLINE])
LIVING = tuple([kind.name for kind in OUTLINE if kind.is_living])


def title_key(title: str) -> str:
    """What of a title decides: without case, emphasis, closing colon, closing parentheses and ` / …` alias, `&` as and."""
    lowered = title.strip("*_` \t").casefold().replace("&", " and ").split(" / ")[0]
    return " ".join(split_title(lowered.rstrip(" :*_"))[0].split())


def split_title(title: str) -> tuple[str, list[str]]:
    """A title without its closing parentheses, and these."""
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
    """The name of the section that a heading opens, or None for one of the plan's own."""
    return _BY_KEY.get(title_key(title))


def is_canonical_title(title: str, name: str) -> bool:
    """Whether a heading calls a section by its own name, not by another under which it is known."""
    return title_key(title) == title_key(name)


def closest_title(title: str, titles: list[str]) -> str | None:
    """The title that is most like another, if one is like it at all."""
    from difflib import get_close_matches

    key = title_key(title)
    by_key = {
        candidate_key: candidate
        for candidate in titles
        if abs(len(candidate_key := title_key(candidate)) - len(key)) * 5 <= 2 * (len(candidate_key) + len(key))
    }
    matches = get_close_matches(key, list(by_key), n=1, cutoff=0.6)
    return by_key[matches[0]] if matches else None
