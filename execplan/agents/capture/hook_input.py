"""The plan in what an agent program gives its hooks: the plan modes of Claude Code and Gemini CLI, and Codex's proposed plan."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from execplan.agents.capture.native_text import find_tagged_plan
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.text import fast_json

PROGRAM_NAMES = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI"}
"""Programs by their names in `--hook`."""
_CLAUDE_TOOL, _GEMINI_TOOL = "ExitPlanMode", "exit_plan_mode"
_MAX_BYTES = 4 << 20
"""Maximum size of the file of a plan, in bytes."""
_TAIL_BYTES = 4 << 20
"""Size, in bytes, of the end of a transcript in which the plan of the last turn is looked for."""


class HookPlan(NamedTuple):
    """A plan that a program gave its hook."""

    text: str
    session: str
    """ID of the session; empty if unknown."""
    cwd: str
    """Directory of the session; empty if unknown."""


def read_hook_plan(program: str, data: bytes) -> HookPlan | None:
    """Return the plan in a hook's input; None if there is none, or the input is not understood."""
    try:
        payload = fast_json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(payload, dict):
        return None
    plan_text = _READERS[program](payload)
    if plan_text is None or not plan_text.strip():
        return None
    return HookPlan(plan_text, _text(payload, "session_id"), _text(payload, "cwd"))


def _claude_plan(payload: Mapping[str, Any]) -> str | None:
    tool_input = payload.get("tool_input")
    if payload.get("tool_name") != _CLAUDE_TOOL or not isinstance(tool_input, dict):
        return None
    return _text(tool_input, "plan")


def _codex_plan(payload: Mapping[str, Any]) -> str | None:
    """Return the plan that the last message of a turn has: in plan mode, only the transcript may have its tags."""
    plan_text = find_tagged_plan(_text(payload, "last_assistant_message"))
    if plan_text is not None:
        return plan_text
    for item in _last_turn(_text(payload, "transcript_path"), _text(payload, "turn_id")):
        plan_text = find_tagged_plan(_message_text(item))
        if plan_text is not None:
            return plan_text
    return None


def _gemini_plan(payload: Mapping[str, Any]) -> str | None:
    """Return the plan in the file that the tool names, which the program keeps beside the transcripts of the project."""
    tool_input = payload.get("tool_input")
    if payload.get("tool_name") != _GEMINI_TOOL or not isinstance(tool_input, dict):
        return None
    transcript, session = _text(payload, "transcript_path"), _text(payload, "session_id")
    name = _text(tool_input, "plan_filename")
    is_outside = any([os.path.basename(part) != part or part in ("", "..") for part in (session, name)])
    if is_outside or not os.path.isabs(transcript):
        return None
    path = os.path.join(os.path.dirname(os.path.dirname(transcript)), session, "plans", name)
    try:
        return file_access.read(path, _MAX_BYTES)[0].decode()
    except (ExecplanError, UnicodeDecodeError):
        return None


_READERS = {"claude": _claude_plan, "codex": _codex_plan, "gemini": _gemini_plan}


def _last_turn(path: str, turn: str) -> Iterator[Mapping[str, Any]]:
    """Yield the items of a transcript's last turn, the last one first."""
    if not path:
        return
    try:
        handle = file_access.open_regular(path)
    except (OSError, ValueError):
        return
    try:
        data = file_access.read_at(handle, _TAIL_BYTES, max(0, os.fstat(handle).st_size - _TAIL_BYTES))
    finally:
        os.close(handle)
    for line in reversed(data.splitlines()):
        try:
            item = fast_json.loads(line)
        except (ValueError, RecursionError):
            continue
        payload = item.get("payload") if isinstance(item, dict) else None
        if not isinstance(payload, dict):
            continue
        if item.get("type") == "turn_context" or payload.get("role") == "user":
            return
        if payload.get("type") == "task_started" and payload.get("turn_id", turn) == turn:
            return
        yield payload


def _message_text(item: Mapping[str, Any]) -> str:
    """Return the text of an assistant's message; empty for other items."""
    parts = item.get("content")
    if item.get("type") != "message" or item.get("role") != "assistant" or not isinstance(parts, list):
        return ""
    return "\n".join([_text(part, "text") for part in parts if isinstance(part, dict)])


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
