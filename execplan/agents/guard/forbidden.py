"""What the plan itself denies, whatever else it allows: `deny` of any step, and what its constraints forbid."""

from __future__ import annotations

from execplan.agents.guard import call as kinds
from execplan.execution.command import pattern as patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from execplan.agents.guard.call import Call
    from execplan.agents.guard.content import Made
    from execplan.agents.guard.planned import Around, Planned

_GIT_VALUES = frozenset("-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source".split())
_CHANGING = (kinds.WRITE, kinds.EDIT)
"""A file that is written anew is edited too, and the other way round: a pattern that denies one denies both."""


def unseen(call: Call) -> str:
    """What of a call nobody can see, or nothing."""
    from execplan.text.hidden import hidden_in, may_hide, shown

    for text in (call.tool, call.cwd, call.command):
        if not may_hide(text):
            continue
        for line in text.split("\n"):
            for start, end in hidden_in(line):
                return f"it has a character that can't be seen, {shown(line[start:end])}"
            if any(["\ud800" <= char <= "\udfff" for char in line]):
                return "it has half of a surrogate pair, which is no character"
    return ""


def of_files(made: Sequence[Made], planned: Sequence[Planned], around: Around) -> str:
    """Why files may not be touched, or nothing."""
    for each in made:
        own = around.protected(each.path)
        if own:
            return f"{each.path} is {own}"
        for pattern in around.constraints.get("forbidden_paths") or ():
            if patterns.forbids(each.path, pattern):
                return f"the plan forbids {pattern}, and {each.path} is that"
    return _denied(planned, lambda kind, pattern: any([_touches(each, kind, pattern) for each in made]))


def of_commands(typed: Sequence[tuple[str, ...]], planned: Sequence[Planned], around: Around) -> str:
    """Why commands, by their words, may not be run, or nothing."""
    bare = [_verb_first(argv) for argv in typed if argv[0].rpartition("/")[2] == "git"]

    def is_begun(kind: str, pattern: str) -> bool:
        return kind == patterns.COMMAND and any([patterns.begins(argv, pattern) for argv in (*typed, *bare)])

    for pattern in around.constraints.get("forbidden_commands") or ():
        if is_begun(patterns.COMMAND, pattern):
            return f"the plan forbids `{pattern}`"
    return _denied(planned, is_begun)


def _verb_first(argv: Sequence[str]) -> tuple[str, ...]:
    """A command of git without the options in front of its verb."""
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] in _GIT_VALUES else 1
    return (argv[0], *argv[at:])


def of_tools(name: str, planned: Sequence[Planned]) -> str:
    """Why a tool may not be used, or nothing."""
    return _denied(planned, lambda kind, pattern: kind == patterns.TOOL and patterns.same_tool(name, pattern))


def _denied(planned: Sequence[Planned], is_of: Callable[[str, str], bool]) -> str:
    for step, pattern in _denials(planned):
        if is_of(*patterns.split(pattern)):
            return f"step {step} denies `{pattern}`"
    return ""


def _denials(planned: Sequence[Planned]) -> Iterator[tuple[str, str]]:
    for each in planned:
        for pattern in each.step.get("deny") or ():
            yield each.step["id"], pattern


def _touches(made: Made, kind: str, pattern: str) -> bool:
    same = made.kind == kind or (made.kind in _CHANGING and kind in _CHANGING)
    return same and patterns.forbids(made.path, pattern)
