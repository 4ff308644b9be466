"""Git's own merge of lines: `git merge-file` on a folder of ours, started without the modules that cost 30 ms to import."""

from __future__ import annotations

import os

from execplan import trace
from execplan.repo.git_read import prepared
from execplan.text.diff3 import Marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_FAILED = 128
"""From here on an exit status says that nothing was merged; below it counts the conflicts."""
_NAMES = ("ours", "base", "theirs")


def lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], marks: Marks) -> tuple[list[str], int]:
    """The lines merged as git does it, with how many conflicts; where there is no git, as we do."""
    data = ["".join(each).encode("utf-8") for each in (base, ours, theirs)]
    found = merge(data[0], data[1], data[2], marks)
    if found is None:
        from execplan.text.diff3 import merged

        return merged(base, ours, theirs, marks)
    text, conflicts = found
    return [line.decode("utf-8") for line in text.splitlines(keepends=True)], conflicts


def merge(base: bytes, ours: bytes, theirs: bytes, marks: Marks) -> tuple[bytes, int] | None:
    """What git makes of three texts, and how many conflicts it left; None when there is no git, or it can't."""
    paths: list[str] = []
    try:
        folder = _folder()
        paths = [os.path.join(folder, name) for name in _NAMES]
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            with open(path, "wb") as file:
                file.write(data)
        labels = [word for label in (marks.ours, "base", marks.theirs) for word in ("-L", label)]
        asked = ["merge-file", "-q", f"--marker-size={marks.size}", *labels, *paths]
        trace.tell(f"run git {' '.join(asked)}")
        command, environment = prepared(folder, asked)
        _, status = os.waitpid(os.posix_spawnp("git", command, environment), 0)
        conflicts = os.waitstatus_to_exitcode(status)
        with open(paths[0], "rb") as file:
            return (file.read(), conflicts) if 0 <= conflicts < _FAILED else None
    except OSError as error:
        trace.tell(f"git merge-file did not run: {error}")
        return None
    finally:
        for path in paths:
            if os.path.lexists(path):
                os.unlink(path)
        if paths:
            os.rmdir(os.path.dirname(paths[0]))


def _folder() -> str:
    """A new folder that nobody else can look into."""
    above = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - the folder is made here, by this process, or not used
    number = 0
    while True:
        path = os.path.join(above, f"execplan-merge-{os.getpid()}-{number}")
        try:
            os.mkdir(path, 0o700)
            return path
        except FileExistsError:
            number += 1
