"""Dialects: the forms in which people and tools keep plans, each described by a file in `dialects`."""

from __future__ import annotations

import os

from execplan.named_tuple import NamedTuple
from execplan.text.plain_toml import parse_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_DIRECTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dialects")
_NAMES = (
    *("harness", "execplan", "superpowers", "planning-with-files", "spec-kit", "openspec", "kiro", "backlog"),
    "plain",
)
"""Names of the dialects. If several have the same directory, the first one counts."""
_loaded: list[tuple[Dialect, list[_Place]]] = []


class Dialect(NamedTuple):
    """Where plans of one form are, and how they are stored."""

    name: str
    about: str
    """Description in one line."""
    template: str
    """Built-in template of new plans."""
    tool: str = ""
    """Program that writes these plans, too."""
    directories: tuple[str, ...] = ()
    """Plans directories, relative to the repository root or to a package in it."""
    root_directories: tuple[str, ...] = ()
    """Plans directories with names so general that they contain plans only at the repository root."""
    files: tuple[str, ...] = ()
    """Plans that are a single file at the repository root, rather than in a directory of plans."""
    plan_name: str = ""
    """Name of new plans, in the form of the setting `name`; empty if there are several conventions."""
    plan_file: str = ""
    """Name of the plan's file in a directory for each plan; empty if each markdown file is a plan."""
    companions: tuple[str, ...] = ()
    """Files and directories next to the plans directory, or to a plan that is a single file, that belong to plans."""
    has_subdirectories: bool = False
    """Whether subdirectories with any name contain plans, too."""
    archive: str = ""
    """Directory of finished plans, relative to the plans directory; empty if there are several conventions."""
    superseded: str = ""
    """Directory of abandoned plans, relative to the plans directory."""
    archived_name: str = "{id}"
    """Name of an archived plan, with the fields `{id}`, `{slug}` and `{date}`."""
    done_status: str = ""
    """Status in the front matter of a finished plan; empty if the dialect has none."""

    @property
    def all_directories(self) -> tuple[str, ...]:
        """All plans directories of the dialect."""
        return self.directories + self.root_directories


class DialectDirectory(NamedTuple):
    """A plans directory of a dialect in which a path is."""

    dialect: Dialect
    directory: str
    """The plans directory, relative to the repository root."""
    below: str
    """The rest of the path."""


class _Place(NamedTuple):
    """A directory with plans, which is a plans directory or one of finished plans next to it."""

    directory: str
    plans: str
    """The plans directory."""
    is_anywhere: bool
    """Whether it may be in a package of the repository."""


def load_dialects() -> list[Dialect]:
    """Return the dialects in the order in which they claim directories."""
    return [dialect for dialect, _ in _iter_dialects()]


def _iter_dialects() -> Iterator[tuple[Dialect, list[_Place]]]:
    """Yield the dialects with their places; each file is read when it is first needed."""
    for index, name in enumerate(_NAMES):
        if index == len(_loaded):
            with open(os.path.join(_DIRECTORY, f"{name}.toml"), "rb") as file:
                table = parse_toml(file.read())
            values = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
            dialect = Dialect(name=name, **values)  # type: ignore[arg-type] # the tests read every file
            _loaded.append((dialect, list(_iter_places(dialect))))
        yield _loaded[index]


def _iter_places(dialect: Dialect) -> Iterator[_Place]:
    siblings = [state for state in (dialect.archive, dialect.superseded) if state.startswith("../")]
    for plans in dialect.all_directories:
        for directory in (plans, *[os.path.normpath(f"{plans}/{state}") for state in siblings]):
            yield _Place(directory, plans, plans in dialect.directories)


def find_dialect(path: str) -> DialectDirectory | None:
    """Return the plans directory of a dialect that contains a path, or is the path itself, relative to the repository root.

    A directory for finished plans next to the plans directory counts as a part of it.
    """
    for dialect, places in _iter_dialects():
        for directory, plans, is_anywhere in places:
            if directory not in path:
                continue
            start = 0 if path.startswith(directory) else path.find(f"/{directory}") + 1
            end = start + len(directory)
            if (path.startswith(directory) or (start and is_anywhere)) and path[end : end + 1] in ("", "/"):
                location = path[:start] + plans
                below = path[end + 1 :] if directory == plans else os.path.relpath(path, location)
                return DialectDirectory(dialect, location, below)
        if path in dialect.files:
            return DialectDirectory(dialect, path, "")
    return None


def dialect_of(directory: str) -> Dialect:
    """Return the dialect of a plans directory: the one that has it by convention, or else plans of any form."""
    match = find_dialect(directory)
    return match.dialect if match is not None else load_dialects()[-1]
