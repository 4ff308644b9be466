"""The specification of a command, and the Python command line that runs it."""

from __future__ import annotations

import os
import sys

from execplan.core.named_tuple import NamedTuple

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
"""Directory of the execplan package."""
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from execplan.execution.engine.commands.{} import main; main()"
)


class Limits(NamedTuple):
    """The resource limits of a command."""

    seconds: float
    memory_mb: int
    """Memory limit in MB of all its processes together."""
    processes: int
    file_mb: int
    """Size limit in MB of each file."""


class CommandSpec(NamedTuple):
    """A command and the settings with which it runs."""

    argv: tuple[str, ...]
    cwd: str
    """Absolute path of the working directory."""
    env: dict[str, str]
    """Complete environment of the command."""
    network: bool
    """Whether the command may use the network; effective only in a sandbox."""
    limits: Limits
    marks_path: str
    """Path of the marker files, without the suffix after the last dot."""
    stdin: bytes = b""
    """Data for the standard input."""
    readable_folders: tuple[str, ...] = ()
    """Directories that the command must be able to read, wherever they are."""
    loopback: tuple[int, ...] = ()
    """Handles of the network that the command shares with others; effective only in a sandbox."""
    only_reads: bool = False
    """Whether the repository is read-only for the command; effective only in a sandbox."""


def python_argv(module: str, root: str = os.path.dirname(PACKAGE)) -> list[str]:
    """Return a fast command that runs the `main` of a module in this package."""
    options = ["-B"] if sys.dont_write_bytecode else []
    return [os.path.realpath(sys.executable), "-I", "-S", "-E", *options, "-c", _BOOT.format(module), root]
