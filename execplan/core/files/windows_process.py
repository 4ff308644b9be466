"""What execplan changes in its own process on Windows, so that its code can expect the same of each system."""

from __future__ import annotations

import io
import os
import sys
from time import sleep
from types import ModuleType

from execplan.core.errors import ExecplanError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BINARY = getattr(os, "O_BINARY", 0)
"""The flag without which Windows changes the ends of lines in files opened by `os.open`."""
_RETRY_DELAYS = (0.001, 0.004, 0.016, 0.06, 0.25, 0.5, 1, 1)
"""Seconds between attempts to rename or remove a file that another process has open."""
_PATH_FUNCTIONS = ("abspath", "commonpath", "dirname", "expanduser", "join", "normpath", "realpath", "relpath", "split")
"""The functions of `os.path` that return paths with backslashes."""


def prepare_process() -> None:
    """Change functions of `os`: paths have slashes, files are binary, and renaming and removing waits for readers.

    Pipes and redirected streams are UTF-8. `os.path` becomes a copy, because the functions of the original call each other and expect backslashes.
    """
    slash_paths = ModuleType(os.path.__name__, os.path.__doc__)
    slash_paths.__dict__.update(os.path.__dict__, sep="/")
    for name in _PATH_FUNCTIONS:
        setattr(slash_paths, name, _returning_slashes(getattr(os.path, name)))
    sys.modules["os.path"] = os.path = slash_paths
    os.sep = "/"
    functions = {name: getattr(os, name) for name in ("getcwd", "open", "readlink", "replace", "unlink")}
    changed_functions = {
        "getcwd": _returning_slashes(functions["getcwd"]),
        "open": lambda path, flags, *args, **options: functions["open"](path, flags | _BINARY, *args, **options),
        "readlink": _returning_slashes(functions["readlink"]),
        **{name: _waiting_for_readers(functions["replace"]) for name in ("rename", "replace")},
        **{name: _waiting_for_readers(functions["unlink"]) for name in ("remove", "unlink")},
    }
    for name, function in changed_functions.items():
        setattr(os, name, function)
    sys.executable = _with_slashes(sys.executable)
    for name in {"EDITOR", "VISUAL"} & os.environ.keys():
        os.environ[name] = _with_slashes(os.environ[name])  # click splits it like a shell of Linux
    for stream in (sys.stdin, sys.stdout, sys.stderr):  # a console has Unicode, whatever its code page is
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty() and "PYTHONIOENCODING" not in os.environ:
            stream.reconfigure(encoding="utf-8", newline=None if stream is sys.stdin else "\n")


def windows_error(command: str) -> ExecplanError:
    """Return the error for a command that needs the sandbox and the process groups that Windows does not have."""
    message = f"Windows has no sandbox and no process groups, so `execplan {command}` can't run"
    return ExecplanError("not-on-windows", message, hint="use Linux, macOS or WSL")


def _returning_slashes(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with slashes in the paths that it returns."""

    def call(*args: Any, **options: Any) -> Any:
        return _with_slashes(function(*args, **options))

    return call


def _waiting_for_readers(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function that renames or removes a file, and tries again while another process has the file open."""

    def call(*args: Any, **options: Any) -> None:
        for delay in _RETRY_DELAYS:
            try:
                return function(*args, **options)
            except PermissionError:
                sleep(delay)
        return function(*args, **options)

    return call


def _with_slashes(path: Any) -> Any:
    """Return a path or a tuple of paths with slashes, without the prefix that Windows puts before the target of a link."""
    if isinstance(path, tuple):
        return tuple([_with_slashes(part) for part in path])
    if isinstance(path, bytes):
        return path.replace(b"\\", b"/")
    return path.removeprefix("\\\\?\\").replace("\\", "/")
