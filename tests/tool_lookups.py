"""Which tests look for a program that a fresh machine may lack: with EXECPLAN_LOOKED=FILE their names are added to that file.

`.ci/run` runs these once more with such programs hidden. What is not found here is not missed there. A test that starts Python
itself is taken to look for one, and so is a shell whose command names a program or a file.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from bare_path import PROMISED, UTILITIES

FILE = "EXECPLAN_LOOKED"
CURRENT = "PYTEST_CURRENT_TEST"
"""Where pytest says which test is run: `tests/test_x.py::test_y[z] (call)`."""
_ALWAYS_PRESENT = frozenset((*PROMISED, *UTILITIES))
_SHELLS = ("sh", "bash")
_FORK_CLIENT = re.compile(re.escape(sys.executable) + r" -IS \S+/fork_client\.py ")
"""The part of a shell's command that lets the server of `tests.fork_server` run execplan, which notes its lookups itself."""
_SUBCOMMAND = re.compile(r"\b(?:git|execplan) [a-z-]+")
"""`init` is a program too."""
_TAKES_COMMAND = re.compile("-[a-z]*c")
_WORD = re.compile(r"[\w./+-]+")
_STARTED = "subprocess.Popen"


def watch_lookups() -> None:
    """From now on, note each test that finds such a program, in this process and those that are forked from it."""
    if FILE not in os.environ:
        return
    file, find = os.environ[FILE], shutil.which

    def which(cmd: str, *args: Any, **kwargs: Any) -> str | None:
        path = find(cmd, *args, **kwargs)
        if path is not None and os.path.basename(cmd) not in _ALWAYS_PRESENT:
            _note(file)
        return path

    def started(event: str, details: tuple[Any, ...]) -> None:
        if event != _STARTED:
            return
        program, arguments, cwd, env = details
        program = os.fsdecode(program)
        name = os.path.basename(program)
        if name in _SHELLS:
            is_lookup = not _passes_on(env) or _names_a_program(arguments[1:], os.fsdecode(cwd or "."))
        else:
            is_lookup = name not in _ALWAYS_PRESENT and ("/" in program or find(program) is not None)
        if is_lookup:
            _note(file)

    def _names_a_program(arguments: list[str | bytes], folder: str) -> bool:
        texts = [_SUBCOMMAND.sub("", _FORK_CLIENT.sub("", os.fsdecode(argument))) for argument in arguments]
        if not any(map(_TAKES_COMMAND.fullmatch, texts)):
            return True
        return any(
            os.path.isfile(os.path.join(folder, word)) if "/" in word else find(word) is not None
            for text in texts
            for word in _WORD.findall(text)
            if word not in _ALWAYS_PRESENT
        )

    shutil.which = which  # type: ignore[assignment]
    sys.addaudithook(started)


def _passes_on(env: Mapping[Any, Any] | None) -> bool:
    """Whether what a shell starts with these variables knows where to note what."""
    return env is None or FILE in env


def passed_on() -> dict[str, str]:
    """The variables by which a process that a test has started knows where to note what."""
    return {name: os.environ[name] for name in (FILE, CURRENT) if FILE in os.environ and name in os.environ}


def _note(file: str) -> None:
    name = os.environ.get(CURRENT, "").rpartition(" (")[0]
    if name:
        with open(file, "a", encoding="utf-8") as noted:
            noted.write(f"{name}\n")
