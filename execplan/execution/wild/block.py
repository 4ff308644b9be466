"""The commands of a block of code: lines joined that go on, comments taken off, prompts too."""

from __future__ import annotations

import re

from execplan.execution.command.typed import PROMPTS, SHELLS
from execplan.execution.wild.line import goes_on, joined, masked, split_comment, without_prompt
from execplan.execution.wild.unfit import is_typed
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.wild.places import Place
    from execplan.plan.model import Plan

_SETS = (
    "export ",
    "source ",
    ". ",
    "conda activate",
    "mamba activate",
    "nvm use",
    "eval ",
    "alias ",
    "set ",
    "unset ",
    "pushd",
    "popd",
    "trap ",
    "ulimit",
    "umask",
    "shopt",
    "direnv",
)
_ACTIVATES = ("export PATH=", "source ", ". ", "conda activate", "mamba activate", "nvm use", "eval ", "direnv")
_HARMLESS = ("set -e", "set -u", "set -x", "set -o pipefail")


_VALUES = re.compile(r"(?:[A-Za-z_]\w*=(?:\$\([^()]*\)|[^\s;&|()]*)(?:\s+|;\s*|$))+")


class Line(NamedTuple):
    """One command of a block, continued lines joined."""

    start: int
    end: int
    text: str
    comment: str
    """Behind it, or in the lines above it."""


def lines_of(place: Place, *, prompted: bool) -> list[Line]:
    """The commands of a block: continued lines joined, comments taken off."""
    found: list[Line] = []
    comment = ""
    at = 0
    while at < len(place.lines):
        number, line = place.lines[at]
        at += 1
        if prompted and not line.startswith(PROMPTS):
            continue
        line = without_prompt(line)
        if not line:
            comment = ""
            continue
        if line.startswith("#"):
            comment = f"{comment} {line.lstrip('# ')}".strip()
            continue
        while at < len(place.lines) and goes_on(line):
            line = joined(line, place.lines[at][1].removeprefix("> ") if prompted else place.lines[at][1])
            at += 1
        line, behind = split_comment(line)
        last = place.lines[at - 1][0] + 1
        found.append(Line(number, last, line, f"{comment} {behind}".strip()))
        comment = ""
    return found


def raw_lines(plan: Plan, place: Place) -> list[str]:
    """The lines of a block with what is indented within it, and without its own indentation."""
    lines = [plan.text.lines[at].expandtabs(4) for at, _ in place.lines]
    shift = (
        place.fence.column
        if place.fence is not None
        else min([_column(each) for each in lines if each.strip()], default=0)
    )
    return [line[min(shift, _column(line)) :].rstrip() for line in lines]


def printed_below(plan: Plan, place: Place, line: int) -> list[str]:
    """What a transcript shows from a line on, to the next prompt."""
    found: list[str] = []
    for (at, words), raw in zip(place.lines, raw_lines(plan, place), strict=True):
        if at >= line:
            if words.startswith(PROMPTS):
                break
            found.append(raw)
    return found


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def is_sure(line: str, place: Place, prompted: bool, among: bool) -> bool:
    """Whether a line of a block is a command: its words show it, or the language of its fence and the lines around it."""
    if prompted or is_typed(line, told=among) or line.startswith("cd "):
        return True
    return place.language in SHELLS and line[:1] not in "[{<|>+-*" and not line[:1].isupper()


def sets(command: str) -> bool:
    """Whether a command changes the shell that reads it, and so does nothing for the step behind it."""
    return command.startswith(_SETS) or _VALUES.fullmatch(masked(command) or command) is not None


def activates(command: str) -> bool:
    """Whether a command changes which programs are run behind it, in other blocks too."""
    return command.startswith(_ACTIVATES) and "&&" not in command


def is_harmless(command: str) -> bool:
    """Whether what it changes is only how the shell takes failures."""
    return command.startswith(_HARMLESS)


def is_plain(comment: str) -> bool:
    """Whether a comment says only that something was done, as those do that a writer leaves behind."""
    return comment.strip(" .").lower() in ("done", "ok", "passes", "pass")
