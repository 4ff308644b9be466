"""Logs of sessions of agent programs as units; which program wrote one is told from what it holds."""

from __future__ import annotations

from itertools import islice

from execplan.errors import INPUT, ExecplanError
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.context.sessions.entry import SessionLog

LIMIT: Final = 128 << 20
"""Bytes of a log."""
_HEAD: Final = 200
"""Lines at the head of a log that may tell whose it is."""


def read_session(file: str) -> SessionLog:
    """What a log holds that the model still sees; raises ExecplanError for a file that is none."""
    from execplan.context.sessions import claude, codex
    from execplan.context.sessions.entry import parse_lines

    data, size = disk.read(file, LIMIT)
    if size > LIMIT:
        hint = "hand over the log of a newer session"
        raise ExecplanError("too-large", f"{file} has {size:,} bytes, more than {LIMIT:,}", exit=INPUT, hint=hint)
    for _, line in islice(parse_lines(data), _HEAD):
        if line is not None and claude.is_log_line(line):
            return claude.read(data)
        if line is not None and codex.is_log_line(line):
            return codex.read(data)
    message = f"{file} is no log of a session of {claude.PROGRAM} or {codex.PROGRAM}"
    hint = "they lie below ~/.claude/projects and ~/.codex/sessions; any other conversation: --units"
    raise ExecplanError("unknown-session", message, exit=INPUT, hint=hint)


def told(file: str, session: SessionLog) -> list[str]:
    """What is not taken from a log, in words."""
    found = []
    for count, what, why in (
        (session.unreadable_lines, "line", "that can't be read"),
        (session.earlier_messages, "message", "from before the session was compacted, which the model sees no more"),
        (session.other_agent_lines, "line", "of agents that this one called; what the calls came to is in"),
    ):
        if count:
            found.append(f"{file}: left out: {count} {what}{'' if count == 1 else 's'} {why}")
    return found
