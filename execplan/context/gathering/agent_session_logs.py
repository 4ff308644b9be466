"""Session logs of agent programs as units. The content of a log shows which program wrote it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import islice
from typing import Final

from execplan.context.session_logs.session_log import SessionLog
from execplan.context.session_logs.token_usage import NO_USAGE, TokenUsage, UsageEvent, measure_usage, read_usage_events
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.files.tree_walk import walk_tree
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.message_parts import format_count

MAX_LOG_BYTES: Final = 128 << 20
"""Maximum size of a log in bytes."""
_SUBAGENT_DIRECTORY: Final = "subagents"
_MAX_PROBED_LINES: Final = 200
"""Number of lines at the start of a log that are checked to identify its program."""


def read_session_log(log_path: str) -> SessionLog:
    """Read the part of a log that the model still sees. Raises ExecplanError for a file that is not a session log."""
    from execplan.context.session_logs import claude_log, codex_log
    from execplan.context.session_logs.session_log import parse_lines

    data, size = file_access.read(log_path, MAX_LOG_BYTES)
    if size > MAX_LOG_BYTES:
        hint = "use the log of a newer session"
        raise ExecplanError("too-large", f"{log_path} has {size:,} bytes, more than {MAX_LOG_BYTES:,}", hint=hint)
    for _, line in islice(parse_lines(data), _MAX_PROBED_LINES):
        if line is not None and claude_log.is_log_line(line):
            return claude_log.read(data)
        if line is not None and codex_log.is_log_line(line):
            return codex_log.read(data)
    message = f"{log_path} is not a session log of {claude_log.PROGRAM} or {codex_log.PROGRAM}"
    hint = "session logs are below ~/.claude/projects and ~/.codex/sessions; for any other conversation, use --units"
    raise ExecplanError("unknown-session", message, hint=hint)


def format_omissions(log_path: str, session_log: SessionLog) -> list[str]:
    """Format a message for each kind of content that was left out of a log."""
    messages = []
    for count, noun, reason in (
        (session_log.unreadable_lines, "line", "that can't be read"),
        (
            session_log.earlier_messages,
            "message",
            "from before the session was compacted, which the model no longer sees",
        ),
        (session_log.other_agent_lines, "line", "of subagents; the results of their calls are included"),
    ):
        if count:
            messages.append(f"{log_path}: left out: {format_count(count, noun)} {reason}")
    return messages


class SessionUsage(NamedTuple):
    """Token usage of several sessions, and how many of their logs were found."""

    token_usage: TokenUsage
    session_count: int
    """Number of sessions that were requested."""
    log_count: int
    """Number of sessions whose log was found and read."""


def measure_sessions(sessions: Mapping[str, tuple[int, int]]) -> SessionUsage:
    """Sum the token usage of sessions, each between its first and last mention. Unreadable logs are skipped."""
    total_usage, log_count = NO_USAGE, 0
    for session, (since, until) in sessions.items():
        path = _find_log(session)
        data = _read_log(path) if path is not None else None
        if data is not None:
            log_count += 1
            total_usage = total_usage.add(measure_usage(data, since, until))
    return SessionUsage(total_usage, len(sessions), log_count)


def read_session_usage(session: str, since: int) -> list[UsageEvent] | None:
    """Return the usage of a session from a time in seconds since 1970 on; None if its log is not found or not readable.

    The logs of subagents, which Claude Code keeps in a directory with the name of the session, are included.
    """
    path = _find_log(session)
    data = _read_log(path) if path is not None else None
    if path is None or data is None:
        return None
    events = read_usage_events(data, since)
    directory = os.path.join(path.removesuffix(".jsonl"), _SUBAGENT_DIRECTORY)
    for name in file_access.list_names(directory):
        subagent_data = _read_log(os.path.join(directory, name)) if name.endswith(".jsonl") else None
        events += read_usage_events(subagent_data, since) if subagent_data is not None else []
    return sorted(events, key=lambda event: event.time)


def _read_log(path: str) -> bytes | None:
    """Return the content of a log; None if it can't be read or is too large."""
    try:
        data, size = file_access.read(path, MAX_LOG_BYTES)
    except ExecplanError:
        return None
    return data if size <= MAX_LOG_BYTES else None


def _find_log(session: str) -> str | None:
    """Find the log of a Claude Code or Codex session by its ID; return None if there is none."""
    if not session.replace("-", "").isalnum():
        return None  # an ID from an audit log must not open an arbitrary path
    claude = os.path.join(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude"), "projects")
    for name in file_access.list_names(claude):
        path = os.path.join(claude, name, f"{session}.jsonl")
        if os.path.isfile(path):
            return path
    codex = os.path.join(os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex"), "sessions")
    for directory, subdirectories, file_names in walk_tree(codex):
        subdirectories.sort(reverse=True)
        for name in file_names:
            if name.startswith("rollout-") and name.endswith(f"-{session}.jsonl"):
                return os.path.join(directory, name)
    return None
