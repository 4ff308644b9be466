"""Whether Claude Code can ask its user in a session: somebody must be there, and its version must put the question."""

from __future__ import annotations

import os

from execplan.agents.guard import tool_call
from execplan.files import file_access

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final


_ATTENDED: Final = "CLAUDE_CODE_SESSION_ATTENDED"
_ASKING_VERSION: Final = (2, 1, 85)
"""First version that asks whatever its permission mode and its rules allow."""
_TAIL_BYTES: Final = 1 << 18
_VERSION: Final = b'"version":"'


def can_ask(payload: Mapping[str, Any]) -> bool:
    """Check whether the program asks its user, and reports afterward whether the call was made."""
    if os.environ.get(_ATTENDED) == "0" or not tool_call.optional_text(payload, "tool_use_id"):
        return False
    return _find_version(tool_call.optional_text(payload, "transcript_path")) >= _ASKING_VERSION


def _find_version(path: str) -> tuple[int, ...]:
    """Return the program's version from the end of its transcript; empty if it is unknown."""
    try:
        handle = file_access.open_regular(path)
    except (OSError, ValueError):
        return ()
    try:
        data = os.pread(handle, _TAIL_BYTES, max(0, os.fstat(handle).st_size - _TAIL_BYTES))
    finally:
        os.close(handle)
    text = data.rpartition(_VERSION)[2].partition(b'"')[0] if _VERSION in data else b""
    numbers = text.partition(b"-")[0].split(b".")
    return tuple([int(number) for number in numbers]) if all([number.isdigit() for number in numbers]) else ()
