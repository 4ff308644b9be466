"""Which tests look for a program that a fresh machine may lack: with EXECPLAN_LOOKED=FILE their names are added to that file.

`.ci/run` runs these once more with such programs hidden. A test that starts Python or a shell itself is taken to look for one.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from bare_path import PROMISED, UTILITIES

FILE = "EXECPLAN_LOOKED"
CURRENT = "PYTEST_CURRENT_TEST"
"""Where pytest says which test is run: `tests/test_x.py::test_y[z] (call)`."""
_ALWAYS_PRESENT = frozenset((*PROMISED, *UTILITIES))
_STARTED = "subprocess.Popen"


def watch_lookups() -> None:
    """From now on, note each test that looks for such a program, in this process and those that are forked from it."""
    if FILE not in os.environ:
        return
    file, find = os.environ[FILE], shutil.which

    def which(cmd: str, *args: Any, **kwargs: Any) -> str | None:
        if os.path.basename(cmd) not in _ALWAYS_PRESENT:
            _note(file)
        return find(cmd, *args, **kwargs)

    def started(event: str, arguments: tuple[Any, ...]) -> None:
        if event == _STARTED and os.path.basename(os.fsdecode(arguments[0])) not in _ALWAYS_PRESENT - {"sh", "bash"}:
            _note(file)

    shutil.which = which  # type: ignore[assignment]
    sys.addaudithook(started)


def passed_on() -> dict[str, str]:
    """The variables by which a process that a test has started knows where to note what."""
    return {name: os.environ[name] for name in (FILE, CURRENT) if FILE in os.environ and name in os.environ}


def _note(file: str) -> None:
    name = os.environ.get(CURRENT, "").partition("[")[0].partition(" (")[0]
    if name:
        with open(file, "a", encoding="utf-8") as noted:
            noted.write(f"{name}\n")
