"""The journal of a plan that moves: it goes along, and knows the paths that the plan left and who followed."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.repo import belongings, state
from execplan.repo.edits import order, texts
from execplan.repo.edits.journal import FOLDER, edits, edits_in, path_of
from execplan.repo.edits.log import append, read_lines
from execplan.trace import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.repo.home import Home


def move(home: Home, old: str, new: str, left: Sequence[str], operation: str = "") -> None:
    """Let the journal of a plan follow it to another path, remember the paths that it left, and that the move was made.

    The journal of an earlier plan at the new path is kept below it, and comes back when this one leaves.
    """
    path = path_of(home, new)
    belongings.follow(home, old, new)
    try:
        state.folder(home, FOLDER)
        source = path_of(home, old)
        if source != path and not os.path.islink(new):  # a link's journal stays with the file that it leads to
            _take_along(source, path, operation)
        entries = edits_in(path)
        number = entries[-1].number if entries else 1
        known = left_by(home, new)
        append(path, "".join([f"left {number} {texts.quote(each)}\n" for each in left if each not in known]))
        this = next((entry for entry in entries if entry.id == operation), None) if operation else None
        if this is not None:
            if not this.made:
                append(path, f"made {this.number}\n")
            order.add(home, operation, old, new)
    except (OSError, ExecplanError) as failed:  # the plan is where it should be
        tell(f"the journal {path} could not follow: {failed}")


def move_back(home: Home, old: str, new: str, operation: str) -> None:
    """Let the journal of a plan go back with it, when its move is taken back; raises ExecplanError."""
    path, goal = path_of(home, old), path_of(home, new)
    belongings.follow(home, new, old)
    if operation and path != goal and any([entry.id == operation for entry in edits_in(goal)]):
        _take_along(goal, path, "")


def _take_along(source: str, path: str, operation: str) -> None:
    is_there = any([entry.id == operation for entry in edits_in(path)]) if operation else False
    if not is_there and os.path.lexists(source):
        _bury(path)
        os.replace(source, path)
    if not os.path.lexists(source):
        _unbury(source)


def _bury(path: str) -> None:
    if os.path.lexists(path):
        number = 1
        while os.path.lexists(f"{path}.{number}"):
            number += 1
        os.replace(path, f"{path}.{number}")


def _unbury(path: str) -> None:
    number = 0
    while os.path.lexists(f"{path}.{number + 1}"):
        number += 1
    if number:
        os.replace(f"{path}.{number}", path)


def left_by(home: Home, path: str) -> list[str]:
    """The paths, of itself and of its artifacts, that the plan at the path was moved away from."""
    lines = [line.split(" ") for line in read_lines(path_of(home, path)) if line.startswith("left ")]
    return [texts.unquote(words[2]) for words in lines if len(words) == 3]


def add_follower(home: Home, path: str, operation: str, other: str) -> None:
    """Remember that another plan follows the move of the plan at the path."""
    entry = next((each for each in edits(home, path) if each.id == operation), None)
    if entry is not None:
        append(path_of(home, path), f"with {entry.number} {texts.quote(other)}\n")


def followers(home: Home, path: str, operation: str) -> list[str]:
    """The plans that followed a move of the plan at the path."""
    entry = next((each for each in edits(home, path) if each.id == operation), None)
    lines = [line.split(" ") for line in read_lines(path_of(home, path)) if line.startswith("with ")]
    found = [texts.unquote(each[2]) for each in lines if len(each) == 3 and entry and each[1] == str(entry.number)]
    return list(dict.fromkeys(found))
