"""The files that git lists as unmerged: with conflicts after a merge or a similar operation, or after `git stash pop`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.git import git_query
from execplan.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from execplan.core.project.project import Project

BASE, OURS, THEIRS = "1", "2", "3"
"""Git's stage numbers for the versions of an unmerged file: the common ancestor, HEAD, and the other side."""


class UnmergedFile(NamedTuple):
    """A file that git lists as unmerged."""

    path: str
    """Absolute path."""
    blobs: dict[str, str]
    """Blob ID of each version, by its stage; a side that has deleted the file has none."""


class RenamedTwice(NamedTuple):
    """Files that both sides have renamed, each to another name."""

    old: tuple[UnmergedFile, ...]
    ours: tuple[UnmergedFile, ...]
    theirs: tuple[UnmergedFile, ...]


def list_unmerged(project: Project) -> list[UnmergedFile]:
    """Return the files of a repository that git lists as unmerged. Raises ExecplanError if git fails."""
    if project.git is None:
        return []
    blobs_by_path: dict[str, dict[str, str]] = {}
    for line in git_query.output(project, "ls-files", "-uz", "--full-name").split(b"\0"):
        metadata, tab, name = line.partition(b"\t")
        if tab:
            _, blob, stage = metadata.decode().split(" ")
            blobs_by_path.setdefault(os.path.join(project.root, os.fsdecode(name)), {})[stage] = blob
    return [UnmergedFile(path, blobs) for path, blobs in blobs_by_path.items()]


def find_renamed_twice(files: list[UnmergedFile]) -> RenamedTwice | None:
    """Return the files that both sides have renamed; None if there are none.

    Git lists the old name, and each new name with the same text: that of both sides, merged.
    """
    old, ours, theirs = ([file for file in files if [*file.blobs] == [stage]] for stage in (BASE, OURS, THEIRS))
    common = {file.blobs[OURS] for file in ours} & {file.blobs[THEIRS] for file in theirs}
    if not (old and common):
        return None
    ours = [file for file in ours if file.blobs[OURS] in common]
    theirs = [file for file in theirs if file.blobs[THEIRS] in common]
    return RenamedTwice(tuple(old), tuple(ours), tuple(theirs))
