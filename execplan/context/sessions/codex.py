"""The log of a session of Codex, its rollout: a JSON object a line with a type and a payload; older ones have the payload bare."""

from __future__ import annotations

import json

from execplan.context.sessions.entry import Session, Writer, lines_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.context.sessions.entry import Line

PROGRAM = "Codex"
_LINES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
_CALLS = {"function_call": "arguments", "custom_tool_call": "input", "local_shell_call": "action"}
"""What calls a tool, and where it says what the tool is given."""
_RESULTS = ("function_call_output", "custom_tool_call_output")
_ITEMS = ("message", "reasoning", *_CALLS, *_RESULTS)
_SPEAKERS = ("user", "assistant")
_OWN = (
    "<environment_context",
    "<user_instructions",
    "<permissions",
    "<turn_aborted",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS",
)
"""How what the program itself puts into the mouth of the user begins; it does so anew in every session."""


def is_ours(line: Line) -> bool:
    """Whether a line is one of such a log."""
    if line.get("type") in _LINES:
        return isinstance(line.get("payload"), dict)
    return line.get("type") in _ITEMS and "uuid" not in line


def read(data: bytes) -> Session:
    """What a log holds since the session was last compacted; what is told twice, as an event too, is read once."""
    writer, model = Writer(), ""
    unreadable = earlier = 0
    for number, line in lines_of(data):
        kind = line.get("type") if line is not None else None
        payload = line if line is None or kind in _ITEMS else line.get("payload")
        if line is None or not (isinstance(payload, dict) or _is_state(line)):
            unreadable += 1
        elif kind == "turn_context" and isinstance(payload, dict):
            told = payload.get("model")
            model = told if isinstance(told, str) else model
        elif kind == "compacted" and isinstance(payload, dict):
            earlier += writer.forget()
            _replace(writer, number, payload)
        elif (kind == "response_item" or kind in _ITEMS) and isinstance(payload, dict):
            _add(writer, number, payload)
    return Session(PROGRAM, model, tuple(writer.units), unreadable, earlier, 0)


def _is_state(line: Line) -> bool:
    """Whether a line of an older log tells something about the session, and is nothing that was said."""
    return "record_type" in line or ("id" in line and "timestamp" in line)


def _replace(writer: Writer, number: int, payload: Line) -> None:
    """Add what the program put in place of what was said before."""
    history = payload.get("replacement_history")
    if isinstance(history, list):
        for item in history:
            if isinstance(item, dict):
                _add(writer, number, item)
    writer.message(number, "summary of what came before", text_of(payload.get("message")))


def _add(writer: Writer, number: int, item: Line) -> None:
    """Add what was said, or a tool's call or its result; what the model thought, and the program's own words, are none."""
    kind = str(item.get("type"))
    call = str(item.get("call_id") or item.get("id") or "")
    if kind == "message" and item.get("role") in _SPEAKERS:
        text = text_of(item.get("content"))
        if not (item["role"] == "user" and text.lstrip().startswith(_OWN)):
            writer.message(number, item["role"], text)
    elif kind in _CALLS:
        given = item.get(_CALLS[kind])
        writer.call(number, str(item.get("name") or "shell"), call, _unpacked(given))
    elif kind in _RESULTS:
        output = _unpacked(item.get("output"))
        writer.result(number, call, text_of(output))


def _unpacked(value: object) -> object:
    """A value that may be packed as JSON in a string."""
    if isinstance(value, str) and value[:1] == "{":
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
