"""Dialects: the forms in which people and tools keep plans, each described by a file in `dialects`, which dialects_data.py contains."""

from __future__ import annotations

import os

from execplan.core.named_tuple import NamedTuple
from execplan.core.project.dialects_data import DATA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAMES = (
    *("harness", "execplan", "superpowers", "gsd", "planning-with-files", "spec-kit", "openspec", "kiro", "backlog"),
    "plain",
)
"""Names of the dialects. If several have the same directory, the first one counts."""
_loaded: dict[str, tuple[Dialect, list[_Place]]] = {}
ANY_FORM = "plain"
"""Template of dialects whose plans have any form."""
NO_TABLES: dict[str, object] = {}
"""The setting `dialects` of a repository that has none."""


class Dialect(NamedTuple):
    """Where plans of one form are, and how they are stored."""

    name: str
    about: str = ""
    """Description in one line."""
    template: str = ANY_FORM
    """Built-in template of new plans."""
    tool: str = ""
    """Program that writes these plans, too."""
    directories: tuple[str, ...] = ()
    """Plans directories, relative to the repository root or to a package in it."""
    root_directories: tuple[str, ...] = ()
    """Plans directories with names so general that they contain plans only at the repository root."""
    files: tuple[str, ...] = ()
    """Plans that are a single file at the repository root, rather than in a directory of plans."""
    marker: str = ""
    """What the tool creates at the repository root before the first plan; the first plans directory is then in use."""
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
    restored_status: str = ""
    """Status in the front matter of a finished plan that is restored from the archive."""
    required_lines: tuple[str, ...] = ()
    """Beginnings of lines that the guide of the dialect demands of each plan."""

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


def load_dialects(own: Mapping[str, object] = NO_TABLES) -> list[Dialect]:
    """Return the dialects in the order in which they claim directories: new ones of the setting `dialects` come first."""
    return [dialect for dialect, _ in _iter_dialects(own)]


def _iter_dialects(own: Mapping[str, object]) -> Iterator[tuple[Dialect, list[_Place]]]:
    """Yield the dialects with their places, as the setting `dialects` adjusts them."""
    for name in (*[name for name in own if name not in _NAMES], *_NAMES):
        dialect, places = _load_builtin(name) if name in _NAMES else (Dialect(name), [])
        if name in own:
            dialect = _with_values(dialect, own[name])
            places = list(_iter_places(dialect))
        yield dialect, places


def _load_builtin(name: str) -> tuple[Dialect, list[_Place]]:
    if name not in _loaded:
        dialect = _with_values(Dialect(name), DATA[name])
        _loaded[name] = dialect, list(_iter_places(dialect))
    return _loaded[name]


def _with_values(dialect: Dialect, table: object) -> Dialect:
    """Return a dialect with the values of a table, which were checked: by the tests, or with the settings."""
    assert isinstance(table, dict)
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return dialect._replace(**values)  # type: ignore[arg-type] # each value was checked by its name


def _iter_places(dialect: Dialect) -> Iterator[_Place]:
    siblings = [state for state in (dialect.archive, dialect.superseded) if state.startswith("../")]
    for plans in dialect.all_directories:
        for directory in (plans, *[os.path.normpath(f"{plans}/{state}") for state in siblings]):
            yield _Place(directory, plans, plans in dialect.directories)


def find_dialect(path: str, own: Mapping[str, object] = NO_TABLES) -> DialectDirectory | None:
    """Return the first plans directory of a dialect that contains a path or is the path, relative to the repository root.

    A directory for finished plans next to the plans directory counts as a part of it. `own` is the setting `dialects`.
    """
    return next(iter_matches(path, own), None)


def iter_matches(path: str, own: Mapping[str, object] = NO_TABLES) -> Iterator[DialectDirectory]:
    """Yield the plans directories of all dialects that contain a path, as `find_dialect` does for the first one."""
    for dialect, places in _iter_dialects(own):
        for directory, plans, is_anywhere in places:
            if directory not in path:
                continue
            start = 0 if path.startswith(directory) else path.find(f"/{directory}") + 1
            end = start + len(directory)
            if (path.startswith(directory) or (start and is_anywhere)) and path[end : end + 1] in ("", "/"):
                location = path[:start] + plans
                below = path[end + 1 :] if directory == plans else os.path.relpath(path, location)
                yield DialectDirectory(dialect, location, below)
                break
        if path in dialect.files:
            yield DialectDirectory(dialect, path, "")


def dialect_of(path: str, own: Mapping[str, object] = NO_TABLES) -> Dialect:
    """Return the dialect of a plan or plans directory: the first one that has it, or else plans of any form."""
    match = find_dialect(path, own)
    return match.dialect if match is not None else load_dialects(own)[-1]
