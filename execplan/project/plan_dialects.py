"""Dialects: the forms in which people and tools keep plans, each described by a file in `dialects`."""

from __future__ import annotations

import os

from execplan.named_tuple import NamedTuple
from execplan.text.plain_toml import parse_toml

_DIRECTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dialects")
_NAMES = (
    *("harness", "execplan", "superpowers", "planning-with-files", "spec-kit", "openspec", "kiro", "backlog"),
    "plain",
)
"""Names of the dialects. If several have the same directory, the first one counts."""
_loaded: list[Dialect] = []
_known_directories: list[tuple[str, str, Dialect, bool]] = []


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


def load_dialects() -> list[Dialect]:
    """Return the dialects in the order in which they claim directories."""
    if not _loaded:
        for name in _NAMES:
            with open(os.path.join(_DIRECTORY, f"{name}.toml"), "rb") as file:
                table = parse_toml(file.read())
            values = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
            _loaded.append(Dialect(name=name, **values))  # type: ignore[arg-type] # the tests read every file
    return _loaded


def find_dialect(path: str) -> DialectDirectory | None:
    """Return the plans directory of a dialect that contains a path, or is the path itself, relative to the repository root.

    A directory for finished plans next to the plans directory counts as a part of it.
    """
    for part, directory, dialect, is_anywhere in _directories():
        if part not in path:
            continue
        start = 0 if path.startswith(part) else path.find(f"/{part}") + 1
        end = start + len(part)
        if (path.startswith(part) or (start and is_anywhere)) and path[end : end + 1] in ("", "/"):
            plans = path[:start] + directory
            below = path[end + 1 :] if part == directory else os.path.relpath(path, plans)
            return DialectDirectory(dialect, plans, below)
    return next((DialectDirectory(dialect, path, "") for dialect in load_dialects() if path in dialect.files), None)


def dialect_of(directory: str) -> Dialect:
    """Return the dialect of a plans directory: the one that has it by convention, or else plans of any form."""
    match = find_dialect(directory)
    return match.dialect if match is not None else load_dialects()[-1]


def _directories() -> list[tuple[str, str, Dialect, bool]]:
    """Return each directory with plans, its plans directory, the dialect, and whether it may be below the root.

    Directories of finished plans that are not below the plans directory are included.
    """
    if not _known_directories:
        for dialect in load_dialects():
            siblings = [state for state in (dialect.archive, dialect.superseded) if state.startswith("../")]
            for directory in dialect.all_directories:
                is_anywhere = directory in dialect.directories
                for part in (directory, *[os.path.normpath(f"{directory}/{state}") for state in siblings]):
                    _known_directories.append((part, directory, dialect, is_anywhere))
    return _known_directories
