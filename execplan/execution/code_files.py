"""Files of the repository that tell a step's commands what to do, such as a script or a Makefile: an approval binds them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from shlex import join

from execplan.core.named_tuple import NamedTuple
from execplan.execution.execution_plan import Step
from execplan.execution.shell.code_reading import CodeReading, find_code_readings
from execplan.execution.shell.command_line import parse_command
from execplan.execution.world import ABSENT, FILE, FOLDER, OUTSIDE, Program, World, normalize_path

_CD_COMMANDS = frozenset(("cd", "pushd"))
_EXPANDED = frozenset("$`*?[{~")
"""Characters with which a shell would make another path of a word."""
_MAX_FILES = 100
"""Maximum number of paths that are bound for a step."""


class CodeFile(NamedTuple):
    """A path where a command reads code, whether there is a file or not."""

    path: str
    """Path from the root; absolute or with `..` if it is elsewhere."""
    program: str

    @property
    def key(self) -> str:
        """Return the name under which an approval binds the file."""
        return f"{self.path} (read by {self.program})"


class CodeFiles(NamedTuple):
    """The code that the commands of a step read, as far as their words show it."""

    bound: tuple[str, ...] = ()
    """Existing files whose content an approval binds."""
    unbound: tuple[str, ...] = ()
    """What a command reads that no approval binds, each with the reason."""
    unlisted: tuple[str, ...] = ()
    """What else the commands read or run, by program, which their words don't show."""


class _CommandReading(NamedTuple):
    """What a command reads, and where."""

    directories: tuple[str, ...]
    """Directories in which the command may run, from that of the step."""
    reading: CodeReading


def find_code_files(step: Step, base: str, world: World) -> list[CodeFile]:
    """Return the paths at which the commands of a step read code; `base` is the directory in which the step runs."""
    code_files = [code_file for code_file in _named_files(step, base, world) if not _EXPANDED & set(code_file.path)]
    return code_files[:_MAX_FILES]


def describe_code_files(step: Step, base: str, world: World, *, is_bound: bool) -> CodeFiles:
    """Return which code an approval of a step binds, and which it does not; none unless `is_bound`."""
    bound: list[str] = []
    unbound: list[str] = []
    code_files = _named_files(step, base, world)
    for code_file in code_files[:_MAX_FILES]:
        program = Program() if _EXPANDED & set(code_file.path) else world.code_file(code_file.path)
        if program.sha256 and not is_bound:
            unbound.append(f"{code_file.path} (an agent runs the step)")
        elif program.sha256:
            bound.append(code_file.path)
        elif reason := _unbound_reason(code_file.path, program):
            unbound.append(f"{code_file.path} ({reason})")
    if len(code_files) > _MAX_FILES:
        unbound.append(f"{len(code_files) - _MAX_FILES} more files (too many)")
    unlisted = [f"{reading.program}: {reading.unlisted}" for _, reading in _step_readings(step) if reading.unlisted]
    return CodeFiles(*[tuple(dict.fromkeys(texts)) for texts in (bound, unbound, unlisted)])


def _named_files(step: Step, base: str, world: World) -> list[CodeFile]:
    """Return the paths at which the commands of a step read code, also those that are known only at run time."""
    paths = [
        CodeFile(path, reading.program)
        for directories, reading in _step_readings(step)
        for directory in directories
        for path in _reading_paths(reading, _join(base, directory), world)
    ]
    return list(dict.fromkeys(paths))


def _unbound_reason(path: str, program: Program) -> str:
    """Return why a file can't be bound; empty if there is none in the repository."""
    if _EXPANDED & set(path):
        return "known only at run time"
    if normalize_path(path) is None and not program.is_in_repository:
        return "outside the repository"
    if not program.path:
        return ""
    return "leads outside the repository" if program.real.startswith("/") else "can't be read, or is too large"


def _step_readings(step: Step) -> Iterator[_CommandReading]:
    """Yield what the commands of a step read."""
    if step.shell is not None:
        command = step.command
    elif step.argv is not None:
        command = join(step.argv)
    else:
        command = None
    test = join(step.validation.test_after) if step.validation.test_after is not None else None
    for text in (command, test):
        if text is not None:
            yield from _command_readings(text)


@lru_cache(1024)
def _command_readings(text: str) -> tuple[_CommandReading, ...]:
    """Return what the commands in a command line or script read.

    After a `cd`, a command may run in any of the directories so far: a subshell or a failure ends its effect.
    """
    readings: list[_CommandReading] = []
    directories = ["."]
    for simple in parse_command(text).simple_commands:
        if _CD_COMMANDS.intersection(simple.argv[:1]) and len(simple.argv) == 2:
            directories.append(os.path.normpath(os.path.join(directories[-1], simple.argv[1])))
        readings += [_CommandReading(tuple(directories), reading) for reading in find_code_readings(simple)]
    return tuple(readings)


def _reading_paths(reading: CodeReading, cwd: str, world: World) -> Iterator[str]:
    """Yield the paths that a command reads when it runs in a directory."""
    directories = [_join(cwd, directory) for directory in reading.directories]
    for path in reading.files:  # `make` enters the directory first, and `cargo` doesn't
        inside = [_join(directory, path) for directory in directories]
        yield from _named_paths(
            next((file for file in inside if world.state(file).kind == FILE), _join(cwd, path)), world
        )
    for operand in reading.operands:
        path = _join(cwd, operand)
        kind = world.state(path).kind
        if kind == FILE:
            yield path
        if kind not in (ABSENT, OUTSIDE):
            directories.append(path if kind == FOLDER else os.path.dirname(path) or ".")
    for directory in directories:
        for searched in _with_parents(directory) if reading.is_upward else (directory,):
            yield from [_join(searched, name) for name in reading.names]


def _named_paths(path: str, world: World) -> Iterator[str]:
    """Yield a path that a command names; of a directory, the file that Python runs."""
    yield f"{path}/__main__.py" if world.state(path).kind == FOLDER else path


def _with_parents(directory: str) -> Iterator[str]:
    """Yield a directory and those above it up to the root of the repository."""
    yield directory
    while directory not in (".", "", "/") and normalize_path(directory) is not None:
        directory = os.path.dirname(directory) or "."
        yield directory


def _join(directory: str, path: str) -> str:
    """Return a path in a directory; a shell may replace a `$` or `~` at its start by a whole path."""
    return path if path.startswith(("$", "~", "`")) else os.path.normpath(os.path.join(directory, path))
