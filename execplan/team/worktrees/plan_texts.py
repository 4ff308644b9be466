"""The texts of plans in other worktrees that differ from those in the current one."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.git.linked_worktrees import Worktree, project_in
from execplan.core.plan_store import plan_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.team.worktrees.worktree_plan_paths import PlanPaths


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
    paths: PlanPaths,
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
    project: Project, other: Project, own: Mapping[str, bytes], paths: PlanPaths, *, includes_new: bool
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
