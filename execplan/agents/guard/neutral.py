"""The form of any other program: one JSON object in, the product's own document out."""

from __future__ import annotations

from execplan.agents.guard import taking
from execplan.agents.guard.call import COMMAND, DELETE, EDIT, READ, TOOL, WRITE, Call, Edit
from execplan.execution.permission import DENY
from execplan.text import plain_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from execplan.agents.guard.call import Decision

ASKS: Final = True
_ALWAYS: Final = "tool cwd session"
_FIELDS: Final = {
    COMMAND: "command background",
    WRITE: "path content",
    EDIT: "path old new all",
    DELETE: "path",
    READ: "path",
    TOOL: "name parameters",
}


def read(said: Mapping[str, Any]) -> Call:
    """The call that is asked about; raises NotUnderstoodError."""
    kind = taking.text(said, "tool")
    if kind not in _FIELDS:
        raise taking.NotUnderstoodError(f"tool is one of {', '.join(_FIELDS)}")
    taking.only(said, f"{_ALWAYS} {_FIELDS[kind]}", kind)
    name = taking.text(said, "name") if kind == TOOL else kind
    call = Call(kind, name, taking.folder(said), taking.maybe(said, "session"))
    if kind == COMMAND:
        return call._replace(command=taking.text(said, "command"), background=taking.flag(said, "background"))
    if kind == TOOL:
        return call._replace(given=taking.table(said, "parameters") if "parameters" in said else {})
    if kind == READ:
        return call._replace(reads=taking.paths(said, "path"))
    return call._replace(edits=(_edit(kind, said),))


def answer(decision: Decision) -> tuple[bytes, int]:
    """The document, and the exit status: 0, for an answer was given."""
    denied = decision.kind == DENY
    data = {
        "decision": decision.kind,
        "why": decision.why,
        "step": None if denied else decision.step or None,
        "nearest": decision.step or None if denied else None,
    }
    told = {
        "schema": "execplan/1",
        "kind": "guard",
        "ok": True,
        "data": data,
        "error": None,
        "warnings": [],
        "next": [],
    }
    return plain_json.write(told).encode() + b"\n", 0


def _edit(kind: str, said: Mapping[str, Any]) -> Edit:
    name = taking.path(said, "path")
    if kind == WRITE:
        return Edit(name, kind, content=taking.text(said, "content"))
    if kind == EDIT:
        return Edit(name, kind, swaps=((taking.text(said, "old"), taking.text(said, "new"), taking.flag(said, "all")),))
    return Edit(name, kind)
