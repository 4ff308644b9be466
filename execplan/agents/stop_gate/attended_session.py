"""Whether a person is at a session: one-shot runs end when their agent ends, and nobody could let them out."""

from __future__ import annotations

import os

from execplan.core.files import file_access
from execplan.core.text import fast_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

_CLAUDE: Final = "claude"
_CODEX: Final = "codex"
_ATTENDED: Final = "CLAUDE_CODE_SESSION_ATTENDED"
_ENTRY_POINT: Final = "CLAUDE_CODE_ENTRYPOINT"
_INTERACTIVE_SOURCES: Final = ("cli", "vscode")
"""Sources of sessions of Codex that a person has started in a terminal or an editor."""
_MAX_LINE_BYTES: Final = 1 << 20
"""Maximum size of the first line of a session log of Codex, which has the instructions, too."""


def is_attended(program: str, payload: Mapping[str, Any]) -> bool:
    """Check whether a person is known to be at the session that called a hook; false if nobody can tell."""
    if program == _CLAUDE:
        return _is_claude_attended()
    return program == _CODEX and _is_codex_attended(payload.get("transcript_path"))


def _is_claude_attended() -> bool:
    """Check the variables of Claude Code; older versions have only the entry point, which is `sdk-…` in `claude -p`."""
    attended = os.environ.get(_ATTENDED)
    return attended != "0" if attended is not None else os.environ.get(_ENTRY_POINT) == "cli"


def _is_codex_attended(log_path: object) -> bool:
    """Check the first line of a session log of Codex, which says what has started the session."""
    if not isinstance(log_path, str):
        return False
    try:
        handle = file_access.open_regular(log_path)
    except (OSError, ValueError):
        return False
    try:
        line, newline, _ = os.pread(handle, _MAX_LINE_BYTES, 0).partition(b"\n")
    finally:
        os.close(handle)
    if not newline:
        return False
    entry = fast_json.loads(line)
    header = entry.get("payload") if isinstance(entry, dict) and entry.get("type") == "session_meta" else None
    return isinstance(header, dict) and header.get("source") in _INTERACTIVE_SOURCES
