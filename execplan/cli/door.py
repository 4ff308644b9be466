"""The one door through which a refusal, an interruption or a bug leaves."""

from __future__ import annotations

import errno
import io
import os
import sys

from execplan import trace
from execplan.errors import BUG, ENVIRONMENT, INTERRUPTED, NO, OK, TERMINATED, ExecplanError
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TextIO


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_SYSTEM = (*_FULL, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ESTALE)
"""Errors of the machine, which are no bug of ours wherever they come up."""


class Terminated(BaseException):
    """SIGTERM."""


def behind(work: Callable[[], int], *, as_json: bool, kind: str) -> int:
    """Do the work; its exit status, or that of what stopped it, which is told in words or as a JSON document."""
    _open_closed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a path may be no UTF-8; in JSON this is its escape too
    try:
        status = work()
        sys.stdout.flush()
        return status
    except ExecplanError as error:
        return _told(error, as_json, kind)
    except KeyboardInterrupt:
        return _told(ExecplanError("interrupted", "interrupted", exit=INTERRUPTED), as_json, kind)
    except Terminated:
        return _told(ExecplanError("terminated", "terminated", exit=TERMINATED), as_json, kind)
    except BrokenPipeError:
        mute()
        return OK
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            mute()
            what = f"can't write to standard output: {os.strerror(error.errno or 0).lower()}"
            return _told(ExecplanError("io-error", what, exit=ENVIRONMENT, hint="free some space"), as_json, kind)
        if isinstance(error, disk.NotRegularError):
            return _told(disk.trouble(error, error.filename, "open"), as_json, kind)
        if isinstance(error, OSError) and error.errno in _SYSTEM:
            place = f" {error.filename}" if error.filename else ""
            what = f"can't read or write{place}: {os.strerror(error.errno).lower()}"
            hint = "look at the disk, and at who may write there; execplan doctor tells whether anything is half done"
            return _told(ExecplanError("io-error", what, exit=ENVIRONMENT, hint=hint), as_json, kind)
        where = _report(error)
        hint = f"please send the report in {where}" if where else "the report could not be written"
        what = f"a bug in execplan: {type(error).__name__}: {error}"
        return _told(ExecplanError("bug", what, exit=BUG, hint=hint), as_json, kind)


def refusal(error: ExecplanError, kind: str) -> str:
    """The document of a refusal."""
    told = {
        "code": error.code,
        "exit": error.exit,
        "message": error.message,
        "hint": error.hint or None,
        "candidates": list(error.details or error.candidates),
    }
    data = (error.data if error.data is not None else {"reasons": [error.message]}) if error.exit == NO else None
    return document(kind, data, error=told, warnings=trace.warnings)


def document(
    kind: str,
    data: object,
    *,
    ok: bool = False,
    error: object = None,
    warnings: Iterable[str] = (),
    follow: Iterable[str] = (),
) -> str:
    """The one JSON document that a verb prints."""
    told = {
        "schema": "execplan/1",
        "kind": kind,
        "ok": ok,
        "data": data,
        "error": error,
        "warnings": list(warnings),
        "next": list(follow),
    }
    return dumped(told)


def dumped(value: object) -> str:
    """A value as JSON on a line, with what can't be seen or acts on a terminal written as escapes."""
    import json

    from execplan.text.hidden import escaped, may_hide

    text = json.dumps(value, ensure_ascii=False)
    return escaped(text, _units) if may_hide(text) else text


def _units(chars: str) -> str:
    """Characters as a JSON string can write them: UTF-16 code units in hexadecimal digits."""
    units = chars.encode("utf-16-be", "surrogatepass").hex()
    return "".join([f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)])


def _told(error: ExecplanError, as_json: bool, kind: str) -> int:
    try:
        if as_json:
            print(refusal(error, kind), flush=True)
            return error.exit
        sys.stdout.flush()
        for warning in trace.warnings:
            print(f"execplan: warning: {shown(warning)}", file=sys.stderr)
        print(f"execplan: {shown(error.message)}", file=sys.stderr)
        for candidate in _candidates(error):
            print(f"  {shown(candidate)}", file=sys.stderr)
        if error.hint:
            print(f"{error.lead}: {shown(error.hint)}", file=sys.stderr)
        trace.tell(f"exit {error.exit}: execplan explain {error.code}")
    except OSError:  # nobody reads any more: a pipe was closed, or a terminal has gone away
        mute()
        mute(sys.stderr)
    return error.exit


_DESCRIBED = 10
"""Plans that a message for people describes."""


def _candidates(error: ExecplanError) -> list[str]:
    """The lines about each candidate."""
    if not error.details:
        return list(error.candidates)
    from execplan.repo.candidates import summary

    lines = []
    for name, each in zip(error.candidates[:_DESCRIBED], error.details, strict=False):
        lines += [f"{name}  {each['title'] or '(no title)'}", f"    {summary(each)}"]
    left = error.candidates[_DESCRIBED:]
    return [*lines, *([f"and {len(left)} more: {', '.join(left)}"] if left else [])]


def _open_closed() -> None:
    """Give a process that was started with standard streams closed empty ones."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def mute(stream: TextIO | None = None) -> None:
    """Let what is still to be written to a stream, standard output if none is named, go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def shown(text: str) -> str:
    """Text as one line that can be printed anywhere."""
    if text.isascii() and text.isprintable():
        return text
    from execplan.text.hidden import visible

    return visible(text)


def _report(error: Exception) -> str | None:
    """Write down what is needed to find a bug; the path, or None."""
    import platform
    import traceback

    from execplan import __version__
    from execplan.engine.commands.environment import public_variables
    from execplan.text.redaction import Redaction

    folder = os.path.join(
        os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"), "execplan", "reports"
    )
    path = os.path.join(folder, f"bug-{os.getpid()}.txt")
    try:
        os.makedirs(folder, exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"execplan {__version__}, Python {platform.python_version()}, {platform.platform()}\n")
            redaction = Redaction(os.environ, public_variables(os.environ))
            told = redaction.text("".join(traceback.format_exception(error)))
            file.write(f"{redaction.value(sys.argv[1:])}\n\n{told}")
    except OSError:
        return None
    return path
