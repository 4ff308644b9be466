"""Tasks that are done in another worktree, from the texts and paths of plans there and in the last common commits.

Paths are equal, except for a plan that was renamed in some of the worktrees.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.git.blob_reader import BlobReader
from execplan.core.git.git_directory import head_commit
from execplan.core.git.git_query import BackgroundQueries
from execplan.core.git.linked_worktrees import Worktree, list_worktrees, project_in, worktree_of
from execplan.core.plan.model import DONE, ParsedPlan
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.team.worktrees.worktree_record import WorktreeRecord, find_worktree, load_records

_MAX_BATCH = 100
"""Maximum number of files that are requested from git at once."""


class WorktreePlanPaths:
    """The paths that the plans of a repository have in its worktrees."""

    def __init__(self, project: Project, worktrees: list[Worktree]) -> None:
        self.records = load_records(project)
        """The records of the worktrees of plans."""
        self._renamed = [
            (record, record.root_of(find_worktree(record, worktrees))) for record in self.records if record.target_plan
        ]

    def path_in(self, root: str, other_root: str, path: str) -> str:
        """Return the path in the worktree at a root of the plan that has a path in another worktree."""
        relative = path[len(other_root) + 1 :]
        for record, own_root in self._renamed:
            if relative in record.plans and relative == _path_at(record, other_root, own_root):
                return os.path.join(root, _path_at(record, root, own_root))
        return os.path.join(root, relative)

    def path_of(self, root: str, record: WorktreeRecord) -> str:
        """Return the path of a record's plan in the worktree at a root."""
        own_root = next((own_root for renamed, own_root in self._renamed if renamed is record), root)
        return os.path.join(root, _path_at(record, root, own_root))


def _path_at(record: WorktreeRecord, root: str, own_root: str) -> str:
    """Return the path from the root at which a worktree has a record's plan: where it is, or else where it should be."""
    plans = record.plans if root == own_root else record.plans[::-1]
    return next((plan for plan in plans if os.path.lexists(os.path.join(root, plan))), plans[0])


class PlanText(NamedTuple):
    """The text of a plan in a worktree."""

    project: Project
    worktree: Worktree
    ref: PlanRef
    data: bytes


def differing_texts(
    project: Project,
    own: Mapping[str, bytes],
    other_worktrees: Sequence[Worktree],
    paths: WorktreePlanPaths,
    *,
    includes_new: bool,
) -> list[tuple[str, PlanText]]:
    """Return the versions in other worktrees that differ from the own ones, each with its path in the current worktree."""
    versions = []
    for worktree in other_worktrees:
        other = project_in(project, worktree)
        for path, ref in _refs_in(project, other, own, paths, includes_new=includes_new):
            if not ref.archived and path in own and _has_content(ref.path, own[path]):
                continue
            try:
                data = plan_store.read_bytes(other, ref.path)
            except ExecplanError as error:
                trace.log(f"skipped {ref.path}: {error.message}")
                continue
            versions.append((path, PlanText(other, worktree, ref, data)))
    return versions


def _has_content(path: str, data: bytes) -> bool:
    """Return whether a regular file has exactly this content: the usual case, so other checks come after it."""
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size != len(data):
            return False
        with open(path, "rb", buffering=0) as file:
            return file.read() == data
    except OSError:
        return False


def _refs_in(
    project: Project, other: Project, own: Mapping[str, bytes], paths: WorktreePlanPaths, *, includes_new: bool
) -> Iterator[tuple[str, PlanRef]]:
    """Yield the plans of a project in another worktree, also those archived only there, with their paths in this one."""
    listed_refs = plan_store.refs(other) if includes_new else []
    listed = {paths.path_in(project.root, other.root, ref.path): ref for ref in listed_refs}
    yield from listed.items()
    archives = dict.fromkeys([other.archive, other.superseded, *other.archives])
    for path in own:
        if path in listed:
            continue
        file = paths.path_in(other.root, project.root, path)
        if os.path.lexists(file):
            yield path, plan_store.ref_for_path(other, file)
            continue
        plan_id = project.split_plan_path(file)[1]
        files = [other.plan_file(archive, plan_id) for archive in archives]
        refs = [plan_store.PlanRef(plan_id, file, archived=True) for file in files if os.path.lexists(file)]
        yield from [(path, ref) for ref in refs[:1]]


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


def find_tasks_done_elsewhere(project: Project, ref: PlanRef) -> dict[str, str]:
    """Return the directory of the worktree in which a task has been done since its branch left this one, by task ID.

    A task that was done before and reopened here is not one of them. Raises ExecplanError if the plan can't be read.
    """
    worktrees = [worktree for worktree in list_worktrees(project) if worktree.exists]
    current = worktree_of(project, worktrees)
    other_worktrees = [worktree for worktree in worktrees if worktree is not current]
    if current is None or not other_worktrees:
        return {}
    own = {ref.path: plan_store.read_bytes(project, ref.path)}
    own_done = find_done_tasks(plan_store.parse_or_none(project, own[ref.path]))
    differing = differing_texts(
        project, own, other_worktrees, WorktreePlanPaths(project, worktrees), includes_new=False
    )
    done_in_versions = [
        (version, find_done_tasks(plan_store.parse_or_none(version.project, version.data))) for _, version in differing
    ]
    versions = [(version, done) for version, done in done_in_versions if done - own_done]  # the others need no git
    names = [(version.worktree.root, version.project.display_path(version.ref.path)) for version, _ in versions]
    projects = {version.worktree.root: version.project for version, _ in versions}
    fork_texts = load_fork_texts(project, projects, names) if versions else {}
    directories: dict[str, str] = {}
    for (version, done), name in zip(versions, names, strict=True):
        for task_id in done - find_done_tasks(plan_store.parse_or_none(project, fork_texts.get(name) or b"")):
            directories.setdefault(task_id, version.project.base)
    return directories


def find_done_tasks(plan: ParsedPlan | None) -> set[str]:
    """Return the IDs of the tasks of a plan that are done."""
    if plan is None:
        return set()
    return {task_id for task_id, task in zip(task_ids(plan.tasks), plan.tasks, strict=True) if task.state == DONE}
