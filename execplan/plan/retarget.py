"""Paths that a plan names, rewritten when what they lead to has moved."""

from __future__ import annotations

from execplan.plan.change import Change, Facts, facts
from execplan.record import NamedTuple
from execplan.text.edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from execplan.plan.change import Changer
    from execplan.plan.model import Plan


class Spelling(NamedTuple):
    """A way to write a path or an id, and how it is written from now on."""

    old: str
    new: str
    path: bool
    """Whether more of a path may follow: it is a folder, or a file behind which a line number or an anchor stands."""


def retarget(spellings: Sequence[Spelling]) -> Changer:
    """Put the new spelling in the place of the old one wherever that stands as a word of its own."""
    longest = sorted(spellings, key=lambda each: -len(each.old))
    return rewritten(lambda text: respelled(text, longest))


def rewritten(anew: Callable[[str], str]) -> Changer:
    """Write every line anew, and with it all that the plan says."""

    def change(plan: Plan) -> Change:
        lines = [(at, line, anew(line)) for at, line in enumerate(plan.text.lines)]
        edits = tuple([Edit(at, at + 1, (new,)) for at, line, new in lines if new != line])
        expected = Facts(*_everywhere(tuple(facts(plan)), anew)) if edits else facts(plan)
        return Change(edits, expected, "paths", (), whole=True)

    return change


def respelled(text: str, spellings: Sequence[Spelling]) -> str:
    """The text with each old spelling in the place of the new one; the first that fits at a place is taken."""
    found = [each for each in spellings if each.old in text]
    if not found:
        return text
    parts: list[str] = []
    at = done = 0
    while at < len(text):
        fits = next((each for each in found if _is_named(text, at, each, found)), None)
        if fits is None:
            at += 1
            continue
        parts += [text[done:at], fits.new]
        at = done = at + len(fits.old)
    return "".join([*parts, text[done:]])


def _is_named(text: str, at: int, spelling: Spelling, spellings: Sequence[Spelling]) -> bool:
    """Whether a spelling stands at a place, and is not the text of a link to something else."""
    if not text.startswith(spelling.old, at) or not _stands_alone(text, at, spelling):
        return False
    behind = at + len(spelling.old)
    if not text.startswith("](", behind):
        return True
    to = behind + (3 if text.startswith("](<", behind) else 2)
    return any([text.startswith(each.old, to) and _stands_alone(text, to, each) for each in spellings])


def _stands_alone(text: str, at: int, spelling: Spelling) -> bool:
    """Whether what stands at a place is no part of a longer name."""
    before, after = text[at - 1 : at], text[at + len(spelling.old) :]
    if before == ":" and text[at - 2 : at - 1].isalnum():  # a path as it was in a commit
        return False
    if before.isalnum() or before in tuple("_-./~%\\"):
        return False
    if spelling.path and after[:1] == "/":
        return True
    rest = after.lstrip(".")
    return not (after[:1].isalnum() or after[:1] in tuple("_-/%") or (rest != after and rest[:1].isalnum()))


def _everywhere(value: Any, anew: Callable[[str], str]) -> Any:
    """A fact, or facts in facts, written anew."""
    if isinstance(value, str):
        return anew(value)
    return tuple([_everywhere(each, anew) for each in value]) if isinstance(value, tuple) else value
