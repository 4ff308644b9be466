"""Texts of files in the last common commits of the current branch and those of other worktrees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.git.blob_reader import BlobReader
from execplan.core.git.git_directory import head_commit
from execplan.core.git.git_query import BackgroundQueries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from execplan.core.project.project import Project

_MAX_BATCH = 100
"""Maximum number of files that are requested from git at once."""


def load_fork_texts(
    project: Project, other_projects: Mapping[str, Project], files: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], bytes]:
    """Load files as they were when the branches of other worktrees left the current one.

    `other_projects` are the projects in other worktrees by their root. A file is such a root and a path from it; files that
    did not exist are left out. Empty if git can't tell.
    """
    keys = [key for key in dict.fromkeys(files) if "\n" not in key[1]]
    texts: dict[tuple[str, str], bytes] = {}
    try:
        forks = _find_forks(project, [other_projects[root] for root in dict.fromkeys([root for root, _ in keys])])
        keys = [key for key in keys if key[0] in forks]
        with BlobReader(project) as blobs:
            for start in range(0, len(keys), _MAX_BATCH):
                batch = keys[start : start + _MAX_BATCH]
                answers = blobs.read_batch([f"{forks[root]}:{path}" for root, path in batch])
                texts |= {key: answer[0] for key, answer in zip(batch, answers, strict=True) if answer is not None}
    except ExecplanError as error:
        trace.log(f"git can't compare the worktrees: {error.message}")
        return {}
    return texts


def _find_forks(project: Project, other_projects: Sequence[Project]) -> dict[str, str]:
    """Return the last common commit with the current branch for each worktree, by its root. Raises ExecplanError."""
    own_head = head_commit(project)
    heads = [(other.root, head_commit(other)) for other in other_projects]
    forks = {root: head for root, head in heads if head is not None and head == own_head}
    pairs = [(root, head) for root, head in heads if head is not None and head != own_head]
    if own_head is not None and pairs:
        with BackgroundQueries(project, [("merge-base", own_head, head) for _, head in pairs]) as queries:
            outputs = queries.collect_outputs()
        forks |= {root: out.decode("ascii").strip() for (root, _), out in zip(pairs, outputs, strict=True)}
    return forks
