"""Entry point of the stop gate: a program's hook input on standard input, and an answer if its session should go on.

Every trouble of its own lets the session end: a gate that fails must not keep anybody from leaving.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

TIMEOUT_SECONDS: Final = 5.0
"""Seconds after which the session ends anyway."""
_MAX_INPUT_BYTES: Final = 4 << 20
"""Maximum size of a hook's input; it may contain the model's last message."""
_SWITCH: Final = "EXECPLAN_STOP_GATE"
"""Variable that turns the gate off if it is `off`."""


def stop_gate(arguments: Sequence[str]) -> int:
    """Answer the hook of a program; always return 0, the status that lets a session end if nothing is printed."""
    try:
        if os.environ.get(_SWITCH) == "off" or list(arguments[1:]) or os.isatty(0):
            return 0
        _set_time_limit()
        answer = _answer(arguments[0])
        if answer:
            os.write(1, answer)
    except BaseException:  # noqa: BLE001 - whatever it is, the session ends
        return 0
    return 0


def _set_time_limit() -> None:
    if TYPE_CHECKING:
        import signal as signals
    else:
        import _signal as signals  # `signal` imports enum, which imports re

    signals.signal(signals.SIGALRM, lambda number, frame: os._exit(0))
    signals.setitimer(signals.ITIMER_REAL, TIMEOUT_SECONDS)


def _answer(program: str) -> bytes:
    """Return the document that keeps a session going; empty if it may end."""
    from execplan.agents.stop_gate.stop_decision import continue_reason
    from execplan.core.text import fast_json

    chunks, size = [], 0
    while size <= _MAX_INPUT_BYTES and (chunk := os.read(0, 1 << 20)):
        chunks.append(chunk)
        size += len(chunk)
    payload = fast_json.loads(b"".join(chunks))
    reason = continue_reason(program, payload) if isinstance(payload, dict) else ""
    if not reason:
        return b""
    return fast_json.write({"decision": "block", "reason": reason}).encode("utf-8", "backslashreplace") + b"\n"
