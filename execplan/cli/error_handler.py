"""Central handling of errors, interrupts and bugs, with JSON output and bug reports."""

from __future__ import annotations

import errno
import io
import os
import sys

from execplan.core import trace
from execplan.core.errors import CHECK_FAILED, OK, ExecplanError
from execplan.core.files import file_access

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NoReturn, TextIO


_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_SYSTEM_ERRORS = (
    *_DISK_ERRORS,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.ENOMEM,
    errno.EMFILE,
    errno.ENFILE,
    errno.ESTALE,
)
"""Error numbers caused by the system, never by a bug in execplan."""


class Terminated(BaseException):
    """An exception raised when SIGTERM arrives."""


def stop_on_sigterm() -> None:
    """From now on, raise Terminated when SIGTERM arrives, so that a command ends as after Ctrl-C."""
    import signal

    signal.signal(signal.SIGTERM, _raise_terminated)


def _raise_terminated(number: int, frame: object) -> NoReturn:
    raise Terminated


def run_with_error_handling(operation: Callable[[], int], *, as_json: bool, kind: str) -> int:
    """Run an operation and return its exit status; print an error as text or JSON and return the error's status."""
    _reopen_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a path may not be UTF-8; in JSON this is also its escape
    try:
        status = operation()
        sys.stdout.flush()
        return status
    except ExecplanError as error:
        return _print_error(error, as_json, kind)
    except KeyboardInterrupt:
        return _print_error(ExecplanError("interrupted", "interrupted"), as_json, kind)
    except Terminated:
        return _print_error(ExecplanError("terminated", "terminated"), as_json, kind)
    except BrokenPipeError:
        discard_output()
        return OK
    except Exception as error:
        system_error = _system_error(error)
        if system_error is not None:
            return _print_error(system_error, as_json, kind)
        from execplan.core import features

        report_path = features.load(features.BUG_REPORT)(error)
        hint = f"please send the report in {report_path}" if report_path else "the report could not be written"
        message = f"internal error (a bug in execplan): {type(error).__name__}: {error}"
        return _print_error(ExecplanError("bug", message, hint=hint), as_json, kind)


def _system_error(error: Exception) -> ExecplanError | None:
    """Return the error for an exception that the system caused; None for any other, which is a bug in execplan."""
    if isinstance(error, file_access.NotRegularError):
        return file_access.file_error(error, error.filename, "open")
    if not isinstance(error, OSError):
        return None
    if error.errno in _DISK_ERRORS and error.filename is None:
        discard_output()
        message = f"can't write to standard output: {os.strerror(error.errno or 0).lower()}"
        return ExecplanError("io-error", message, hint="free some space")
    if error.errno in _SYSTEM_ERRORS:
        path_suffix = f" {error.filename}" if error.filename else ""
        message = f"can't read or write{path_suffix}: {os.strerror(error.errno).lower()}"
        hint = "check the disk and the permissions, then look for unfinished operations: execplan doctor"
        return ExecplanError("io-error", message, hint=hint)
    if isinstance(error, FileNotFoundError) and not _has_current_directory():
        message = "the current directory no longer exists"
        return ExecplanError("io-error", message, hint="change to another directory, such as: cd ~")
    return None


def _has_current_directory() -> bool:
    """Return whether the current directory exists, which may have been removed after the shell changed to it."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def error_document(error: ExecplanError, kind: str) -> str:
    """Return the JSON document of an error."""
    error_data = {
        "code": error.code,
        "exit": error.exit,
        "message": error.message,
        "hint": error.hint or None,
        "candidates": list(error.details or error.candidates)[:_MAX_CANDIDATES],
    }
    data = None
    if error.exit == CHECK_FAILED:
        data = error.data if error.data is not None else {"reasons": [error.message]}
    return json_document(kind, data, error=error_data, warnings=(*trace.warnings, *error.warnings))


def json_document(
    kind: str,
    data: object,
    *,
    ok: bool = False,
    error: object = None,
    warnings: Iterable[str] = (),
    next_commands: Iterable[str] = (),
) -> str:
    """Return the JSON document that a command prints, with its envelope."""
    envelope = {
        "schema": "execplan/1",
        "kind": kind,
        "ok": ok,
        "data": data,
        "error": error,
        "warnings": list(warnings),
        "next": list(next_commands),
    }
    return dump_json(envelope)


def dump_json(value: object) -> str:
    """Serialize a value as one line of JSON, with invisible and terminal control characters escaped."""
    import json

    from execplan.core.text.invisible_characters import may_have_hidden, replace_hidden

    text = json.dumps(value, ensure_ascii=False)
    return replace_hidden(text, _json_escapes) if may_have_hidden(text) else text


def _json_escapes(chars: str) -> str:
    """Escape characters for a JSON string, as UTF-16 code units in hexadecimal."""
    units = chars.encode("utf-16-be", "surrogatepass").hex()
    return "".join([f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)])


def _print_error(error: ExecplanError, as_json: bool, kind: str) -> int:
    try:
        if as_json:
            print(error_document(error, kind), flush=True)
            return error.exit
        sys.stdout.flush()
        for warning in (*trace.warnings, *error.warnings):
            print(f"execplan: warning: {printable_line(warning)}", file=sys.stderr)
        print(f"execplan: {printable_line(error.message)}", file=sys.stderr)
        for candidate in _candidate_lines(error):
            print(f"  {printable_line(candidate)}", file=sys.stderr)
        if error.hint:
            print(f"{error.hint_label}: {printable_line(error.hint)}", file=sys.stderr)
        trace.log(f"exit {error.exit}: execplan explain {error.code}")
    except OSError:  # no reader is left: a pipe was closed, or the terminal is gone
        discard_output()
        discard_output(sys.stderr)
    return error.exit


_MAX_CANDIDATES = 250
"""Maximum number of candidates in an error; the output of a git hook has up to 201 lines."""
_MAX_DESCRIBED = 10
"""Maximum number of plans described in a message for people."""
_MAX_NAMED = 20
"""Maximum number of other plans named in that message; if there are more, it names the command that lists them."""
_DEFAULT_COLUMNS = 80
"""Width of a terminal that does not know its own."""


def _candidate_lines(error: ExecplanError) -> list[str]:
    """Return the lines that describe the candidates of an error."""
    if not error.details:
        if len(error.candidates) == 1 and error.candidates[0] in error.message:
            return []
        width = max(map(len, error.explanations), default=0)
        lines = list(error.candidates[:_MAX_CANDIDATES])
        for at, candidate in enumerate(lines):
            if candidate in error.explanations:
                lines[at] = f"{candidate:{width}}  {error.explanations[candidate]}"
        excess = len(error.candidates) - _MAX_CANDIDATES
        return [*lines, *([f"and {excess:,} more"] if excess > 0 else [])]
    from execplan.core.plan_store.plan_candidates import format_description
    from execplan.core.text.message_parts import shorten

    lines = []
    for name, plan in zip(error.candidates[:_MAX_DESCRIBED], error.details, strict=False):
        description = f"    {format_description(plan)}"
        if sys.stderr.isatty():
            columns = os.get_terminal_size(sys.stderr.fileno()).columns or _DEFAULT_COLUMNS
            description = shorten(description, columns - len("  "))
        lines += [f"{name}  {plan['title'] or '(no title)'}", description]
    remaining = error.candidates[_MAX_DESCRIBED:]
    names = "execplan list --all" if len(remaining) > _MAX_NAMED else ", ".join(remaining)
    return [*lines, *([f"and {len(remaining)} more: {names}"] if remaining else [])]


def _reopen_closed_streams() -> None:
    """Replace standard streams that are closed at startup by /dev/null."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def discard_output(stream: TextIO | None = None) -> None:
    """Redirect a stream, by default standard output, to /dev/null."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def printable_line(text: str) -> str:
    """Escape text so that it prints safely on one line."""
    if text.isascii() and text.isprintable():
        return text
    from execplan.core.text.invisible_characters import escape_unprintable

    return escape_unprintable(text)
