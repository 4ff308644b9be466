"""What triage looks at on disk: what changes, and the parts of the repository."""

from __future__ import annotations

import os

from execplan.context.triage.changes import ChangedFile, find_parts_by_name
from execplan.context.triage.table import load_builtin_table
from execplan.repo import ask, homes, past
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home

_READ = 1 << 20
"""Bytes of a new file in which lines are counted; a larger one is data."""
_DIFF = ("-c", "diff.relative=false", "diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")


def staged(home: Home) -> list[ChangedFile]:
    """What the next commit changes, but for what belongs to plans; raises ExecplanError."""
    return _numbers(home, "--cached", "--")


def since(home: Home, revision: str) -> list[ChangedFile]:
    """What differs on disk from where the branch left a revision, new files too; raises ExecplanError."""
    changed = _numbers(home, past.branched(home, revision), "--")
    own = homes.belongings(home)
    new = [ChangedFile(path, _lines(os.path.join(home.root, path))) for path in past.untracked(home)]
    return changed + [each for each in new if not each.path.startswith(own)]


def parts(home: Home) -> dict[str, str]:
    """The parts of the repository by their names; of a folder without git none are known. Raises ExecplanError."""
    return find_parts_by_name(ask.tracked(home), load_builtin_table()) if home.git is not None else {}


def _numbers(home: Home, *asked: str) -> list[ChangedFile]:
    """The files of a diff with their lines; of a file that is no text git tells none."""
    own = homes.belongings(home)
    found = []
    for line in ask.output(home, *_DIFF, *asked).split(b"\0"):
        if line:
            added, removed, path = line.split(b"\t", 2)
            found.append(ChangedFile(os.fsdecode(path), *[int(each) if each != b"-" else 0 for each in (added, removed)]))
    return [each for each in found if not each.path.startswith(own)]


def _lines(path: str) -> int:
    """How many lines a new file has; 0 for what is no file, can't be read, or is no text."""
    try:
        handle = disk.open_regular(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return 0
    with open(handle, "rb") as file:
        if os.fstat(handle).st_size > _READ:
            return 0
        data = file.read(_READ)
    return 0 if b"\0" in data else data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
