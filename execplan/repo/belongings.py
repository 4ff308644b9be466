"""What is kept of a plan where no step removes it by accident: which runs it has, and its ledger."""

from __future__ import annotations

import os
import shutil

from execplan.repo import state
from execplan.text import disk
from execplan.trace import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.repo.home import Home

FOLDER: Final = "plans"
PATH: Final = "path"
"""The file that says where the plan is, from the root of the repository or the project."""


def folder(home: Home, path: str) -> str:
    """The folder of the plan at a path; a file in it that is called as a run says that this is one of the plan's."""
    return os.path.join(home.state, FOLDER, state.key(os.path.realpath(path)))


def make(home: Home, path: str) -> str:
    """The folder, made if it is not there, with the path of its plan; raises ExecplanError."""
    found = folder(home, path)
    if not os.path.lexists(os.path.join(found, PATH)):
        from execplan.text import files

        state.folder(home, FOLDER)
        files.make_folder(found)
        files.create(os.path.join(found, PATH), _told(home, path))
    return found


def every(home: Home) -> list[tuple[str, str]]:
    """Every such folder of the state, each with the path of its plan, whether that is there or not."""
    found = []
    above = os.path.join(home.state, FOLDER)
    for name in sorted(os.listdir(above)) if os.path.isdir(above) else ():
        try:
            with open(disk.open_regular(os.path.join(above, name, PATH)), "rb") as file:
                told = os.fsdecode(file.read(1 << 14))
        except OSError:
            continue
        found.append((os.path.join(above, name), os.path.normpath(os.path.join(home.anchor, told))))
    return found


def follow(home: Home, old: str, new: str) -> None:
    """Let it follow its plan to another path; what is there of an earlier plan makes way. Never fails."""
    source, target = folder(home, old), folder(home, new)
    if source == target or not os.path.isdir(source):
        return
    try:
        shutil.rmtree(target, ignore_errors=True)
        os.rename(source, target)
        beside = os.path.join(target, f"{PATH}.new")
        with open(beside, "wb") as file:
            file.write(_told(home, new))
        os.rename(beside, os.path.join(target, PATH))
    except OSError as error:
        tell(f"{source} could not follow its plan: {error}")


def _told(home: Home, path: str) -> bytes:
    return os.fsencode(os.path.relpath(os.path.realpath(path), os.path.realpath(home.anchor)))
