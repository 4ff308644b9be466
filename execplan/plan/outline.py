"""The twelve sections of a plan: their names, their order, which of them live, and what else they are called."""

from __future__ import annotations

from execplan.record import NamedTuple

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


class Kind(NamedTuple):
    """One of the twelve."""

    name: str
    living: bool
    aliases: tuple[str, ...]
    """Other titles by which it is known, as keys."""


OUTLINE = (
    Kind(PURPOSE, False, ()),
    Kind(PROGRESS, True, ()),
    Kind(SURPRISES, True, ("suprises and discoveries",)),
    Kind(DECISIONS, True, ("decisions",)),
    Kind(OUTCOMES, True, ("outcome and retrospective",)),
    Kind(CONTEXT, False, ("context", "orientation", "repository orientation")),
    Kind(WORK, False, ("implementation plan",)),
    Kind(STEPS, False, ("steps",)),
    Kind(VALIDATION, False, ("validation", "acceptance", "verification", "validation plan")),
    Kind(RECOVERY, False, ()),
    Kind(ARTIFACTS, False, ("artefacts and notes",)),
    Kind(INTERFACES, False, ("dependencies",)),
)
NAMES = tuple([kind.name for kind in OUTLINE])
LIVING = tuple([kind.name for kind in OUTLINE if kind.living])


def key(title: str) -> str:
    """What of a title decides: without case, emphasis, closing colon, closing parentheses and ` / …` alias, `&` as and."""
    folded = title.strip("*_` \t").casefold().replace("&", " and ").split(" / ")[0]
    return " ".join(cut(folded.rstrip(" :*_"))[0].split())


def cut(title: str) -> tuple[str, list[str]]:
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


_BY_KEY = {alias: kind.name for kind in OUTLINE for alias in (key(kind.name), *kind.aliases)}


def canonical(title: str) -> str | None:
    """The name of the section that a heading opens, or None for one of the plan's own."""
    return _BY_KEY.get(key(title))


def is_full(title: str, name: str) -> bool:
    """Whether a heading calls a section by its own name, not by another under which it is known."""
    return key(title) == key(name)


def nearest(title: str, titles: list[str]) -> str | None:
    """The title that is most like another, if one is like it at all."""
    from difflib import get_close_matches

    name = key(title)
    by_key = {each: own for own in titles if abs(len(each := key(own)) - len(name)) * 5 <= 2 * (len(each) + len(name))}
    found = get_close_matches(name, list(by_key), n=1, cutoff=0.6)
    return by_key[found[0]] if found else None
