"""The texts of a plan's journal that git has."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.files import file_access
from execplan.core.git import git_history, git_query
from execplan.core.project.plan_journal import former_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.project.project import Project


def count_entries_in_git(project: Project, path: str, texts: Sequence[bytes | None], *, lasting: bool) -> int:
    """Return how many of the oldest entries precede the last text that git has. Raises ExecplanError if git fails.

    `texts` are those before and after each entry in turn, None if a text is not to be looked for. If git's copy should
    be `lasting`, only commits on branches and the like count, otherwise also the index and commits in a reflog, such as
    stashes.
    """
    if project.git is None:
        return 0
    root = os.path.realpath(project.root)
    files = [os.path.relpath(file_access.resolve_path(source), root) for source in (path, *former_paths(project, path))]
    paths = [file for file in files if not file.startswith("../")]
    blobs = git_history.committed_blobs(project, paths, with_reflogs=not lasting)
    if not lasting:
        blobs |= {file.blob for file in git_query.index_files(project, paths)}
    for index in range(len(texts) - 1 if blobs else -1, -1, -1):
        text = texts[index]
        if text and not blobs.isdisjoint(git_history.possible_blob_ids(text)):
            return (index + 1) // 2
    return 0
