"""The form of Claude Code: what its PreToolUse hooks send, and what they take."""

from __future__ import annotations

from execplan.agents.guard import taking
from execplan.agents.guard.call import COMMAND, EDIT, HARMLESS, READ, TOOL, WRITE, Call, Edit
from execplan.agents.guard.places import named
from execplan.execution.permission import ALLOW
from execplan.text import plain_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Final

    from execplan.agents.guard.call import Decision

ASKS: Final = True
"""Whether the program asks its user when it is told to."""
EVENT: Final = "PreToolUse"
HARMLESS_TOOLS: Final = frozenset(
    "AskUserQuestion BashOutput CronList EnterPlanMode ExitPlanMode KillShell ListMcpResourcesTool TaskCreate TaskGet TaskList "
    "TaskOutput TaskStop TaskUpdate TodoRead TodoWrite ToolSearch".split()
)
"""What changes nothing but the program's own notes, or stops what an allowed call has begun."""
_DIALOGS: Final = frozenset(("AskUserQuestion", "EnterPlanMode", "ExitPlanMode"))
"""Of these, what shows a person a dialog and waits for the answer."""
_AGENT: Final = "description prompt subagent_type model resume run_in_background max_turns name team_name mode"
"""Another agent is asked about each of its calls too; in a work tree of its own it would be elsewhere."""


def read(said: Mapping[str, Any]) -> Call:
    """The call that a hook is sent; raises NotUnderstoodError."""
    if said.get("hook_event_name") != EVENT:
        raise taking.NotUnderstoodError(f"the event is not {EVENT}")
    tool, given = taking.text(said, "tool_name"), taking.table(said, "tool_input")
    bare = Call(TOOL, tool, taking.folder(said), taking.maybe(said, "session_id"), given=given)
    taken = _TOOLS.get(tool)
    if taken is not None:
        return taken(bare, given)
    return bare._replace(kind=HARMLESS) if tool in HARMLESS_TOOLS else bare


def answer(decision: Decision) -> tuple[bytes, int]:
    """What the hook prints, and its exit status: nothing for a dialog, which some versions pass over where it is allowed."""
    if decision.kind == ALLOW and decision.tool in _DIALOGS:
        return b"", 0
    told = {"hookEventName": EVENT, "permissionDecision": decision.kind, "permissionDecisionReason": decision.why}
    return plain_json.write({"hookSpecificOutput": told}).encode() + b"\n", 0


def _bash(call: Call, given: Mapping[str, Any]) -> Call:
    taking.only(given, "command description timeout run_in_background dangerouslyDisableSandbox", call.tool)
    if taking.flag(given, "dangerouslyDisableSandbox"):
        raise taking.NotUnderstoodError("a command may not leave the program's sandbox")
    background = taking.flag(given, "run_in_background")
    return call._replace(kind=COMMAND, command=taking.text(given, "command"), background=background)


def _monitor(call: Call, given: Mapping[str, Any]) -> Call:
    taking.only(given, "command description timeout_ms persistent", call.tool)
    return call._replace(kind=COMMAND, command=taking.text(given, "command"), background=True)


def _write(call: Call, given: Mapping[str, Any]) -> Call:
    taking.only(given, "file_path content", call.tool)
    edit = Edit(taking.path(given, "file_path"), WRITE, content=taking.text(given, "content"))
    return call._replace(kind=WRITE, edits=(edit,))


def _edit(call: Call, given: Mapping[str, Any]) -> Call:
    taking.only(given, "file_path old_string new_string replace_all", call.tool)
    return call._replace(kind=EDIT, edits=(Edit(taking.path(given, "file_path"), EDIT, swaps=(_swap(given),)),))


def _multi_edit(call: Call, given: Mapping[str, Any]) -> Call:
    taking.only(given, "file_path edits", call.tool)
    swaps = given.get("edits")
    if not isinstance(swaps, list) or not swaps or not all([isinstance(each, dict) for each in swaps]):
        raise taking.NotUnderstoodError("edits is not a list of edits")
    for each in swaps:
        taking.only(each, "old_string new_string replace_all", call.tool)
    edit = Edit(taking.path(given, "file_path"), EDIT, swaps=tuple([_swap(each) for each in swaps]))
    return call._replace(kind=EDIT, edits=(edit,))


def _swap(given: Mapping[str, Any]) -> tuple[str, str, bool]:
    return taking.text(given, "old_string"), taking.text(given, "new_string"), taking.flag(given, "replace_all")


def _reader(known: str, *names: str) -> Callable[[Call, Mapping[str, Any]], Call]:
    def reads(call: Call, given: Mapping[str, Any]) -> Call:
        taking.only(given, known, call.tool)
        return call._replace(kind=READ, reads=taking.paths(given, *names))

    return reads


def _glob(call: Call, given: Mapping[str, Any]) -> Call:
    taking.only(given, "pattern path", call.tool)
    pattern, found = taking.path(given, "pattern"), taking.paths(given, "path")
    dots = any([each in pattern for each in (".{", "}.")]) and any([each in pattern for each in ("{.", ",.")])
    if "{" in pattern and (dots or any([each in pattern for each in ("..", "{/", ",/", "{~", ",~")])):
        raise taking.NotUnderstoodError("its pattern may lead out of the folder")
    leads = pattern.startswith(("/", "~")) or ".." in pattern.split("/")
    return call._replace(kind=READ, reads=(*found, pattern) if leads else found)


def _grep(call: Call, given: Mapping[str, Any]) -> Call:
    found = _reader(_GREP, "path")(call, given)
    folder, sought = (found.reads or (call.cwd,))[0], named(taking.maybe(given, "glob"))
    return found._replace(reads=(folder, *[f"{folder}/{name}" for name in sought])) if sought else found


def _agent(call: Call, given: Mapping[str, Any]) -> Call:
    taking.only(given, _AGENT, call.tool)
    return call._replace(kind=HARMLESS)


_GREP: Final = "pattern path glob type output_mode -i -n -o -A -B -C context head_limit offset multiline"
_TOOLS: Final[Mapping[str, Callable[[Call, Mapping[str, Any]], Call]]] = {
    "Bash": _bash,
    "Monitor": _monitor,
    "Write": _write,
    "Edit": _edit,
    "MultiEdit": _multi_edit,
    "Read": _reader("file_path offset limit pages", "file_path"),
    "NotebookRead": _reader("notebook_path cell_id", "notebook_path"),
    "LS": _reader("path ignore", "path"),
    "LSP": _reader("operation filePath line character query", "filePath"),
    "Grep": _grep,
    "Glob": _glob,
    "Agent": _agent,
    "Task": _agent,
}
"""Those that are known to the last field. NotebookEdit is none: what becomes of the file can't be told; nor is PowerShell, whose
commands nobody here reads. Like tools of MCP servers these are matched by their name and all that they are given."""
