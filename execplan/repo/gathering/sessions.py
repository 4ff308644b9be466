"""Logs of sessions of agent programs as units; which program wrote one is told from what it holds."""

from __future__ import annotations

from itertools import islice

from execplan.errors import INPUT, ExecplanError
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.context.sessions.entry import SessionLog

MAX_LOG_BYTES: Final = 128 << 20
"""Bytes of a log."""
_MAX_PROBED_LINES: Final = 200
"""Lines at the head of a log that may tell whose it is."""


def read_session_log(log_path: str) -> SessionLog:
    """What a log holds that the model still sees; raises ExecplanError for a file that is none."""
    from execplan.context.sessions import claude, codex
    from execplan.context.sessions.entry import parse_lines

    data, size = disk.read(log_path, MAX_LOG_BYTES)
    if size > MAX_LOG_BYTES:
        hint = "hand over the log of a newer session"
        raise ExecplanError("too-large", f"{log_path} has {size:,} bytes, more than {MAX_LOG_BYTES:,}", exit=INPUT, hint=hint)
    for _, line in islice(parse_lines(data), _MAX_PROBED_LINES):
        if line is not None and claude.is_log_line(line):
            return claude.read(data)
        if line is not None and codex.is_log_line(line):
            return codex.read(data)
    message = f"{log_path} is no log of a session of {claude.PROGRAM} or {codex.PROGRAM}"
    hint = "they lie below ~/.claude/projects and ~/.codex/sessions; any other conversation: --units"
    raise ExecplanError("unknown-session", message, exit=INPUT, hint=hint)


def format_omissions(log_path: str, session_log: SessionLog) -> list[str]:
    """What is not taken from a log, in words."""
    messages = []
    for count, noun, reason in (
        (session_log.unreadable_lines, "line", "that can't be read"),
        (session_log.earlier_messages, "message", "from before the session was compacted, which the model sees no more"),
        (session_log.other_agent_lines, "line", "of agents that this one called; what the calls came to is in"),
    ):
        if count:
            messages.append(f"{log_path}: left out: {count} {noun}{'' if count == 1 else 's'} {reason}")
    return messages
