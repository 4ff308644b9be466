"""What the sessions that worked on plans have used, by the logs that agent programs keep below the user's own folders."""

from __future__ import annotations

import os

from execplan.context.sessions.usage import NO_USAGE, measure_usage
from execplan.errors import ExecplanError
from execplan.record import NamedTuple
from execplan.repo.gathering.sessions import LIMIT
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.context.sessions.usage import TokenUsage


class Used(NamedTuple):
    """What was found out."""

    usage: TokenUsage
    sessions: int
    """How many sessions are named."""
    logs: int
    """Of how many of them there is a log."""


def used(sessions: Mapping[str, tuple[int, int]]) -> Used:
    """What sessions have used between the first and the last time that each is named; a log that can't be read tells nothing."""
    total, logs = NO_USAGE, 0
    for session, (since, until) in sessions.items():
        path = _log(session)
        if path is None:
            continue
        try:
            data, size = disk.read(path, LIMIT)
        except ExecplanError:
            continue
        if size <= LIMIT:
            logs += 1
            total = total.add(measure_usage(data, since, until))
    return Used(total, len(sessions), logs)


def _log(session: str) -> str | None:
    """The log of a session of Claude Code or Codex, by its id; None where there is none."""
    if not session.replace("-", "").isalnum():
        return None  # a ledger is no reason to open any path
    claude = os.path.join(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude"), "projects")
    for name in _names(claude):
        path = os.path.join(claude, name, f"{session}.jsonl")
        if os.path.isfile(path):
            return path
    codex = os.path.join(os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex"), "sessions")
    for folder, folders, names in os.walk(codex):
        folders.sort(reverse=True)
        for name in names:
            if name.startswith("rollout-") and name.endswith(f"-{session}.jsonl"):
                return os.path.join(folder, name)
    return None


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
