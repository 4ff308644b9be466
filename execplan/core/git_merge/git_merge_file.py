"""Git's line merge, `git merge-file`, started without modules whose import takes 30 ms."""

from __future__ import annotations

import os

from execplan.core import trace
from execplan.core.git.git_command import prepare_git_command
from execplan.core.text.line_merge import ConflictMarkers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_FAILURE_STATUS = 128
"""Exit status from which nothing was merged; a lower one counts the conflicts."""
_NAMES = ("ours", "base", "theirs")


def merge_lines(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], marks: ConflictMarkers
) -> tuple[list[str], int]:
    """Merge lines as git does and count the conflicts; without git, use the built-in merge."""
    data = ["".join(side).encode("utf-8") for side in (base, ours, theirs)]
    git_merge = run_merge_file(data[0], data[1], data[2], marks)
    if git_merge is None:
        from execplan.core.text.line_merge import merge_with_markers

        return merge_with_markers(base, ours, theirs, marks)
    text, conflicts = git_merge
    return [line.decode("utf-8") for line in text.splitlines(keepends=True)], conflicts


def run_merge_file(base: bytes, ours: bytes, theirs: bytes, marks: ConflictMarkers) -> tuple[bytes, int] | None:
    """Run git's merge of three texts and count the conflicts; return None if git is missing or fails."""
    paths: list[str] = []
    try:
        folder = _make_private_directory()
        paths = [os.path.join(folder, name) for name in _NAMES]
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            with open(path, "wb") as file:
                file.write(data)
        labels = [arg for label in (marks.ours, "base", marks.theirs) for arg in ("-L", label)]
        args = ["merge-file", "-q", f"--marker-size={marks.size}", *labels, *paths]
        trace.log(f"run git {' '.join(args)}")
        command, environment = prepare_git_command(folder, args)
        _, status = os.waitpid(os.posix_spawnp("git", command, environment), 0)
        conflicts = os.waitstatus_to_exitcode(status)
        with open(paths[0], "rb") as file:
            return (file.read(), conflicts) if 0 <= conflicts < _FAILURE_STATUS else None
    except OSError as error:
        trace.log(f"git merge-file did not run: {error}")
        return None
    finally:
        for path in paths:
            if os.path.lexists(path):
                os.unlink(path)
        if paths:
            os.rmdir(os.path.dirname(paths[0]))


def _make_private_directory() -> str:
    """Create a directory that no other user can read."""
    parent = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - the folder is made here, by this process, or not used
    number = 0
    while True:
        path = os.path.join(parent, f"execplan-merge-{os.getpid()}-{number}")
        try:
            os.mkdir(path, 0o700)
            return path
        except FileExistsError:
            number += 1
