"""The order of all operations in a checkout: a line for each, in a file beside the journals of the plans."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.repo import state
from execplan.repo.edits.log import append, read_lines
from execplan.repo.edits.texts import quote, unquote
from execplan.trace import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.repo.home import Home

_FILE = "operations"
_MOST = 4 << 20
"""Bytes of the file; then a new one is begun, and the one before it is kept."""
_DEEPEST = 100
"""So many journals of earlier plans are looked for below that of the plan that has their path."""


def add(home: Home, operation: str, path: str, goal: str = "") -> None:
    """Say that an operation on the plan at the path comes next, a move if the plan is at `goal` from now on.

    Raises ExecplanError.
    """
    file = _path(home)
    state.folder(home, "journal")
    places = [quote(_place(home, each)) for each in (path, goal) if each]
    append(file, f"{operation} {' '.join(places)}\n")
    try:
        if os.path.getsize(file) > _MOST:
            os.replace(file, f"{file}.old")  # who has it open still writes into it
    except OSError as error:
        tell(f"{file} could not be begun anew: {error}")


def newest(home: Home) -> Iterator[tuple[str, str]]:
    """Each operation with the path at which its plan is now, the newest first; one may have failed, or be undone.

    Raises ExecplanError.
    """
    # What journals lie at a path, the one on top first: by the path where each lies today, and how deep.
    places: dict[str, list[tuple[str, int]]] = {}
    seen: set[str] = set()
    for line in reversed(_lines(home)):
        operation, *words = line.split(" ")
        if operation in seen or not 1 <= len(words) <= 2:
            continue
        seen.add(operation)
        paths = [unquote(each) for each in words]
        for path in paths:
            places.setdefault(path, [(path, depth) for depth in range(_DEEPEST)])
        if len(paths) > 1 and paths[0] != paths[1] and places[paths[1]]:
            places[paths[0]].insert(0, places[paths[1]].pop(0))
        path, depth = (places[paths[0]] or [("", 1)])[0]
        if not depth:
            yield operation, os.path.normpath(os.path.join(home.anchor, path))


def _place(home: Home, path: str) -> str:
    """A path as it is kept: of a link, where the link is."""
    folder, name = os.path.split(path)
    return os.path.relpath(os.path.join(os.path.realpath(folder), name), os.path.realpath(home.anchor))


def _lines(home: Home) -> list[str]:
    file = _path(home)
    try:
        return [*read_lines(f"{file}.old"), *read_lines(file)]
    except ExecplanError as error:
        tell(f"{file} can't be read: {error.message}")
        return []


def _path(home: Home) -> str:
    return os.path.join(home.state, _FILE)
