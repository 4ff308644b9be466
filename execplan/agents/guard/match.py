"""A call is matched to the steps that it may be of; what of them may be done now is for permission.py to say."""

from __future__ import annotations

from os.path import normpath

from execplan.agents.guard import call as kinds
from execplan.agents.guard import commands, compound, files, forbidden, removals
from execplan.agents.guard.call import Edit
from execplan.agents.guard.content import changes
from execplan.agents.guard.shell import typed
from execplan.agents.guard.verdict import FURTHER, SAME, Verdict
from execplan.agents.guard.wrapped import unwrapped
from execplan.execution.command import pattern as patterns
from execplan.execution.documents.touched import written_paths
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from execplan.agents.guard.call import Call
    from execplan.agents.guard.content import Made
    from execplan.agents.guard.planned import Around, Planned
    from execplan.agents.guard.shell import Typed

    Step = Mapping[str, Any]
    Compare = Callable[[Step], Verdict]

_TOOL = "use_tool"
_SHORTEST = 20
"""Hundredths: a step that a call is less like is not named as the nearest."""


class Match(NamedTuple):
    """A step that a call is of."""

    step: str
    """Its id."""
    paths: tuple[str, ...]
    """What the call writes or deletes, from the root: of a step that writes files what was compared to the byte with what is
    planned, so that what is there now need not be as expected; of a command what the step declares."""
    further: bool = False
    """Whether the step's `allow` permits the call besides the step's own, so that it does not use up the step."""


class Matched(NamedTuple):
    """What was found."""

    matches: tuple[Match, ...] = ()
    """In the order of their numbers."""
    refused: str = ""
    """Why the call is denied whatever it matches, or nothing."""
    nearest: str = ""
    """Where nothing matches: the id of the step that the call is most like, or nothing."""
    why: str = ""
    """Why it is not that one."""


def match(call: Call, planned: Sequence[Planned], around: Around, reads: str) -> Matched:
    """The steps that a call may be of, whether or not it is their turn; `reads` is what the policy says of reading."""
    refused = forbidden.unseen(call)
    if refused:
        return Matched(refused=refused)
    if call.kind == kinds.COMMAND:
        found = _command(call, planned, around)
        return (
            found if found.matches or found.refused or call.background else _bare(call, found, planned, around, reads)
        )
    if call.kind in (kinds.WRITE, kinds.EDIT, kinds.DELETE):
        return _files(call, planned, around)
    if call.kind == kinds.TOOL:
        refused = forbidden.of_tools(call.tool, planned)
        return Matched(refused=refused) if refused else _among(planned, lambda step: _tool(call, step), ())
    return Matched(why="it is no call of a step")


def _bare(call: Call, found: Matched, planned: Sequence[Planned], around: Around, reads: str) -> Matched:
    """The steps of which a command is without what is around it; else what was found, and why that is not so."""
    left = compound.bare(call, around, reads)
    if not left.command:
        return found._replace(why=f"{found.why}; {left.why}") if left.why and found.nearest else found
    return _command(call._replace(command=left.command), planned, around)


def _command(call: Call, planned: Sequence[Planned], around: Around) -> Matched:
    given = typed(call.command, call.cwd)
    bare = unwrapped(given, around.root)
    made = _removed(bare, around)
    refused = forbidden.of_commands(_every(given), planned, around) or forbidden.of_files(made, planned, around)
    if refused:
        return Matched(refused=refused)
    if call.background:
        given = given._replace(
            argv=(), problem="the call runs in the background, where nobody sees how it ends", text=""
        )
        bare = given

    def compare(step: Step) -> Verdict:
        own = _own_command(bare, made, step, around)
        if own.why and bare is not given:
            own = max(own, _own_command(given, made, step, around), key=lambda each: each.near)
        if own.why and any([commands.allows(bare, words, step, around) for words in _allowed(step, patterns.COMMAND)]):
            return FURTHER
        return FURTHER if own.why and made and all([_may(each, step) for each in made]) else own

    return _among(planned, compare, tuple([each.path for each in made]))


def _own_command(given: Typed, made: tuple[Made, ...], step: Step, around: Around) -> Verdict:
    """How a command, and what it makes of files, compares with what a step does itself."""
    if step["type"] in files.WRITES:
        return files.compare(made, step, around) if made else Verdict(_about(step), 0)
    return commands.compare(given, step, around) if step.get("command") else Verdict(_about(step), 0)


def _every(given: Typed) -> list[tuple[str, ...]]:
    """The words of every command that is typed, as they stand and as they hide in others."""
    return [each for each in (given.argv, *[simple.argv for simple in given.simple]) if each]


def _removed(given: Typed, around: Around) -> tuple[Made, ...]:
    """What a command makes of files that does no more than to delete or move them."""
    moved = removals.moved(given)
    edits = tuple([Edit(name, kinds.DELETE) for name in moved]) if moved else removals.deleted(given)
    found = changes(edits, given.folder, around.root)
    if moved and len(found.made) == 2:
        return removals.as_made(*found.made)
    return found.made if len(found.made) == len(edits) and not moved else ()


def _files(call: Call, planned: Sequence[Planned], around: Around) -> Matched:
    found = changes(call.edits, call.cwd, around.root)
    refused = found.refused or forbidden.of_files(found.made, planned, around)
    if refused or not found.made:
        return Matched(refused=refused or "it names no file")

    def compare(step: Step) -> Verdict:
        is_writer = step["type"] in files.WRITES
        own = files.compare(found.made, step, around) if is_writer else Verdict(_about(step), 0)
        return FURTHER if own.why and all([_may(each, step) for each in found.made]) else own

    return _among(planned, compare, tuple([each.path for each in found.made]))


def _may(made: Made, step: Step) -> bool:
    """Whether a pattern of a step allows what is made of a file: who may write all of it may edit it too."""
    kind = {made.kind, kinds.WRITE} if made.kind == kinds.EDIT else {made.kind}
    return any([patterns.covers(made.path, each) for name in kind for each in _allowed(step, name)])


def _allowed(step: Step, kind: str) -> list[str]:
    """What the patterns of a step that are about calls of a kind say."""
    return [words for name, words in map(patterns.split, step.get("allow") or ()) if name == kind]


def _tool(call: Call, step: Step) -> Verdict:
    """Whether the call of a tool is that of a step: its name, and all that it is given."""
    own = _own_tool(call, step)
    is_allowed = any([patterns.same_tool(call.tool, name) for name in _allowed(step, patterns.TOOL)])
    return FURTHER if own.why and is_allowed else own


def _own_tool(call: Call, step: Step) -> Verdict:
    """Whether the call of a tool is the step's own."""
    if step["type"] != _TOOL:
        return Verdict(_about(step), 0)
    name = step["tool"]
    if name not in (call.tool, patterns.dotted(call.tool)) and name.partition(".")[2] != call.tool:
        return Verdict(f"the call uses {call.tool}, not {name}", 20 * (name.rpartition(".")[2] in call.tool))
    if not _equal(call.given, step.get("parameters") or {}):
        return Verdict(
            f"what {name} is given is not what is planned{_other(call.given, step.get('parameters') or {})}", 80
        )
    return SAME


def _other(given: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    names = [name for name in (*wanted, *given) if name not in given or name not in wanted]
    names += [name for name in wanted if name in given and not _equal(given[name], wanted[name])]
    return f": {names[0]}" if names else ""


def _equal(one: object, other: object) -> bool:
    """Whether two values are the same JSON: true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all([_equal(one[name], other[name]) for name in one])
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all([_equal(*each) for each in zip(one, other, strict=True)])
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _among(planned: Sequence[Planned], compare: Compare, paths: tuple[str, ...]) -> Matched:
    """The steps of which a call is, else the one that it is most like."""
    verdicts = [(each.step, compare(each.step)) for each in sorted(planned, key=lambda each: each.step["number"])]
    found = [
        Match(step["id"], paths or _declared(step), verdict.further) for step, verdict in verdicts if not verdict.why
    ]
    found.sort(key=lambda each: each.further)  # a step that does this comes before those that only allow it
    if found:
        return Matched(tuple(found))
    step, verdict = max(verdicts, key=lambda each: each[1].near, default=({}, Verdict()))
    if verdict.near < _SHORTEST:
        return Matched(why="no step is like it")
    return Matched(nearest=step["id"], why=verdict.why)


def _declared(step: Step) -> tuple[str, ...]:
    return tuple([normpath(path) for path in step.get("outputs") or ()])


def _about(step: Step) -> str:
    """What a step is about that a call of another kind is not of."""
    names = written_paths({**step, "outputs": None})
    return f"{step['id']} {'writes ' + names[0] if names else 'is no such call'}"
