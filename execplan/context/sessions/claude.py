"""The log of a session of Claude Code: a JSON object a line, each with its type; messages have parts, as the API has them."""

from __future__ import annotations

from execplan.context.sessions.entry import Session, Writer, lines_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.context.sessions.entry import Line

PROGRAM = "Claude Code"
_TALK = ("user", "assistant")
_BOUNDARY = "compact_boundary"


def is_ours(line: Line) -> bool:
    """Whether a line is one of such a log."""
    return line.get("type") in _TALK and isinstance(line.get("message"), dict)


def read(data: bytes) -> Session:
    """What a log holds since the session was last compacted; other agents' lines left out, unless there are no others."""
    lines = list(lines_of(data))
    talk = [line for _, line in lines if line is not None and is_ours(line)]
    alone = all([line.get("isSidechain") is True for line in talk])
    writer, model = Writer(), ""
    unreadable = earlier = aside = 0
    for number, line in lines:
        if line is None or not isinstance(line.get("type"), str):
            unreadable += 1
        elif line.get("isSidechain") is True and not alone:
            aside += 1
        elif line["type"] == "system" and line.get("subtype") == _BOUNDARY:
            earlier += writer.forget()
        elif line["type"] in _TALK and line.get("isMeta") is not True:
            message = line.get("message")
            if not isinstance(message, dict) or not _add(writer, number, line, message.get("content")):
                unreadable += 1
                continue
            told = message.get("model")
            model = told if isinstance(told, str) and not told.startswith("<") else model
    return Session(PROGRAM, model, tuple(writer.units), unreadable, earlier, aside)


def _add(writer: Writer, number: int, line: Line, content: object) -> bool:
    """Add what a message says; False where its content has no form that is known."""
    who = "summary of what came before" if line.get("isCompactSummary") is True else line["type"]
    parts: Sequence[object] = [{"type": "text", "text": content}] if isinstance(content, str) else ()
    if isinstance(content, list):
        parts = content
    elif not isinstance(content, str):
        return False
    for part in parts:
        if not isinstance(part, dict):
            return False
        kind = part.get("type")
        if kind == "text":
            writer.message(number, who, text_of([part]))
        elif kind == "tool_use":
            writer.call(number, str(part.get("name", "")), str(part.get("id", "")), part.get("input"))
        elif kind == "tool_result":
            writer.result(number, str(part.get("tool_use_id", "")), text_of(part.get("content")))
    return True
