"""A command and how it is run; and how the Python is started that runs it."""

from __future__ import annotations

import os
import sys

from execplan.named_tuple import NamedTuple

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
"""The folder of execplan itself."""
_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from execplan.engine.commands.{} import main; main()"


class Limits(NamedTuple):
    """What a command may take."""

    seconds: float
    memory_mb: int
    """Of all its processes together."""
    processes: int
    file_mb: int
    """Of each file."""


class CommandSpec(NamedTuple):
    """A command and how it is run."""

    argv: tuple[str, ...]
    cwd: str
    """Absolute."""
    env: dict[str, str]
    """All that it gets."""
    network: bool
    """Of consequence only in a sandbox."""
    limits: Limits
    marks_path: str
    """The path of its marks, without what follows the last dot."""
    stdin: bytes = b""
    """What it can read from its standard input."""
    readable_folders: tuple[str, ...] = ()
    """Folders that it must be able to read, wherever they are."""


def python_argv(module: str, root: str = os.path.dirname(PACKAGE)) -> list[str]:
    """The command that runs the `main` of a module beside this one, quickly."""
    options = ["-B"] if sys.dont_write_bytecode else []
    return [os.path.realpath(sys.executable), "-I", "-S", "-E", *options, "-c", _BOOT.format(module), root]
