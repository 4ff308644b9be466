"""What the sessions that worked on plans have used, by the logs that agent programs keep below the user's own folders."""

from __future__ import annotations

import os

from execplan.context.sessions.usage import NO_USAGE, measure_usage
from execplan.errors import ExecplanError
from execplan.record import NamedTuple
from execplan.repo.gathering.sessions import MAX_LOG_BYTES
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.context.sessions.usage import TokenUsage


class SessionUsage(NamedTuple):
    """What was found out."""

    token_usage: TokenUsage
    session_count: int
    """How many sessions are named."""
    log_count: int
    """Of how many of them there is a log."""


def measure_sessions(sessions: Mapping[str, tuple[int, int]]) -> SessionUsage:
    """What sessions have used between the first and the last time that each is named; a log that can't be read tells nothing."""
    total_usage, log_count = NO_USAGE, 0
    for session, (since, until) in sessions.items():
        path = _find_log(session)
        if path is None:
            continue
        try:
            data, size = disk.read(path, MAX_LOG_BYTES)
        except ExecplanError:
            continue
        if size <= MAX_LOG_BYTES:
            log_count += 1
            total_usage = total_usage.add(measure_usage(data, since, until))
    return SessionUsage(total_usage, len(sessions), log_count)


def _find_log(session: str) -> str | None:
    """The log of a session of Claude Code or Codex, by its id; None where there is none."""
    if not session.replace("-", "").isalnum():
        return None  # a ledger is no reason to open any path
    claude = os.path.join(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude"), "projects")
    for name in _list_names(claude):
        path = os.path.join(claude, name, f"{session}.jsonl")
        if os.path.isfile(path):
            return path
    codex = os.path.join(os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex"), "sessions")
    for directory, subdirectories, file_names in os.walk(codex):
        subdirectories.sort(reverse=True)
        for name in file_names:
            if name.startswith("rollout-") and name.endswith(f"-{session}.jsonl"):
                return os.path.join(directory, name)
    return None


def _list_names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []
