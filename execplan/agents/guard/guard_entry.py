"""Entry point of the guard process: one call on standard input, one answer on standard output.

Every error denies the call: no failure may let a call through. An agent program lets it through if a hook ends in an
unexpected way. If no answer in its format is possible, the guard therefore exits with status 2 and a message on
standard error, which every program treats as a denial.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final, NoReturn


TIMEOUT_SECONDS: Final = 20.0
"""Seconds after which the guard denies; a program that has waited for 30 seconds lets the call through."""
BLOCKED: Final = 2
"""Exit status that blocks a call."""
_MAX_CALL_BYTES: Final = 8 << 20
"""Maximum size of a call in bytes."""
_MAX_REASON_CHARS: Final = 500
_USAGE: Final = "hint: see execplan guard --help"
_PROGRAMS: Final = {
    "claude": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "json": "any_program",
}
_FALLBACK_MESSAGE: Final = b"execplan guard denied this call: it could not be evaluated"
_FALLBACK_DENIAL: Final = (
    b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
    b'"permissionDecisionReason":"execplan guard denied this call: it could not be evaluated"}}\n'
)
"""Denial on standard output, for a program that closed standard error."""


def guard(arguments: Sequence[str]) -> int:
    """Answer a call; return the exit status that the agent's program expects."""
    try:
        _install_signal_handlers()
        return _answer_call(arguments)
    except BaseException as error:  # noqa: BLE001 - memory, recursion, interruption or a bug: whatever it is, it denies
        return _deny(error)


def _deny(error: BaseException | None = None) -> int:
    """Deny a call that could not be answered; no failure in here may let the call through."""
    try:
        name = type(error).__name__
        if error is None:
            details = ""
        elif name == "NotUnderstoodError":
            details = f": {error}"
        else:
            details = f" ({name})"
        os.write(2, _FALLBACK_MESSAGE + details.encode("utf-8", "backslashreplace")[:_MAX_REASON_CHARS] + b"\n")
    except BaseException:  # noqa: BLE001 - standard error may be closed, or memory exhausted; the denial must get out
        try:
            os.write(1, _FALLBACK_DENIAL)
        except BaseException:  # noqa: BLE001 - nothing can be written, so the exit status alone denies
            return BLOCKED
        return 0
    return BLOCKED


def _deny_on_signal(number: int, frame: object) -> NoReturn:
    """Deny the call immediately because a signal ends the process."""
    os._exit(_deny())


def _deny_on_timeout(number: int, frame: object) -> NoReturn:
    """Deny the call immediately because the time limit is reached."""
    os._exit(_deny(TimeoutError()))


def _install_signal_handlers() -> None:
    """Deny the call on timeout and on every signal that would end the process; require standard streams."""
    if sys.platform == "win32":
        from execplan.agents.guard.tool_call import NotUnderstoodError

        raise NotUnderstoodError("Windows has no sandbox and no process groups; use Linux, macOS or WSL")
    if TYPE_CHECKING:
        import signal as signals
    else:
        import _signal as signals  # `signal` imports enum, which imports re

    for number in (signals.SIGTERM, signals.SIGINT, signals.SIGHUP, signals.SIGQUIT, signals.SIGXCPU):
        signals.signal(number, _deny_on_signal)
    signals.signal(signals.SIGALRM, _deny_on_timeout)
    signals.setitimer(signals.ITIMER_REAL, TIMEOUT_SECONDS)
    for handle in (0, 1, 2):
        os.fstat(handle)  # a file opened in place of a closed stream would be written to


def _answer_call(arguments: Sequence[str]) -> int:
    plan_name, program, problem = _parse_options(arguments)
    if problem or os.isatty(0):
        os.write(
            2,
            f"execplan: {problem or 'the call must come from standard input'}\n{_USAGE}\n".encode(
                "utf-8", "backslashreplace"
            ),
        )
        return BLOCKED
    from execplan.agents.guard.request_handler import handle_request

    hook_output, afterwards = handle_request(_read_call(), plan_name, program, _MAX_REASON_CHARS)
    output, status = hook_output.output, hook_output.status
    try:
        if hook_output.error_output:
            os.write(2, hook_output.error_output)
    except OSError:
        status = 0  # a status that blocks does so only with a reason; the output has one, too
    while output:
        output = output[os.write(1, output) :]
    afterwards()
    return status


def _parse_options(arguments: Sequence[str]) -> tuple[str | None, str, str]:
    """Parse the plan and the program from the arguments; the third value describes an error."""
    plan_name, program, remaining_args = None, "", list(arguments)
    while remaining_args:
        name, equals, value = remaining_args.pop(0).partition("=")
        if name == "--json" and not equals:
            program = _PROGRAMS["json"]
            continue
        if name[:1] != "-" and not equals and plan_name in (None, name):
            plan_name = name
            continue
        if name not in ("-p", "--plan", "--program") or (equals and name == "-p") or not (equals or remaining_args):
            return (
                None,
                "",
                f"unknown option {name}" if name[:1] == "-" else f"two plans are specified, {plan_name} and {name}",
            )
        value = value if equals else remaining_args.pop(0)
        if name != "--program" and plan_name not in (None, value):
            return None, "", f"two plans are specified, {plan_name} and {value}"
        if name == "--program" and value not in _PROGRAMS:
            return None, "", f"unknown program {value!r}"
        plan_name, program = (plan_name, _PROGRAMS[value]) if name == "--program" else (value, program)
    return plan_name, program, ""


def _read_call() -> bytes:
    """Read standard input; return nothing if it is longer than a call may be."""
    chunks, size = [], 0
    while size <= _MAX_CALL_BYTES and (chunk := os.read(0, 1 << 20)):
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks) if size <= _MAX_CALL_BYTES else b""
