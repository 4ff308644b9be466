"""The newest version of each plan among all worktrees of a repository, where it is worked on, and how it differs.

A version counts only if its worktree has changed the plan since its branch left the current one. So an old checkout
is never taken for progress, and a plan that was archived here does not come back. If `execplan worktree` made a
worktree for a plan, no other linked worktree counts for it. Only plans that differ are parsed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.git.git_directory import operation_in_progress
from execplan.core.git.linked_worktrees import Worktree, list_worktrees, project_in, worktree_of
from execplan.core.plan_facts.facts_extraction import list_stored_plan
from execplan.core.plan_facts.listed_plan import ListedPlan
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.hint_reader import is_agent
from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import with_nested_projects
from execplan.core.text.message_parts import format_count
from execplan.core.text.pure_paths import is_inside
from execplan.team.worktrees.done_elsewhere import (
    PlanText,
    WorktreePlanPaths,
    differing_texts,
    find_done_tasks,
    load_fork_texts,
)
from execplan.team.worktrees.worktree_record import find_worktree

_BROKEN = (False, -1, 0, 0)
"""Progress of a text that is not a plan."""
_IN_CONFLICT = (True, sys.maxsize, 0, 0)
"""Progress of a plan with conflicts, which are resolved before anybody continues it."""


class PlanLocation(NamedTuple):
    """Where a plan is being worked on."""

    root: str
    """Root of the worktree; empty for the current one."""
    directory: str
    """Directory of the plan's project in that worktree, where commands run; empty for the current one."""
    branch: str
    """Branch of that worktree; empty for a detached HEAD."""
    main_branch: str
    """Branch of the main worktree, or its description, to which the plan is compared."""
    ahead: int = 0
    """Number of tasks that are done there and not in the main worktree."""
    lacking: int = 0
    """Number of tasks that are done in the main worktree and not there."""
    is_new: bool = False
    """Whether the main worktree does not have the plan."""
    older_worktree: str = ""
    """Directory of the plan's project in its own worktree if that has an older version than the current one; otherwise empty."""
    is_diverged: bool = False
    """Whether that version is not simply older: both worktrees have changed the plan."""
    is_main_changed: bool = False
    """Whether the main worktree has changed the plan since the plan's own worktree left it."""

    @property
    def difference(self) -> str:
        """How the plan differs from that of the main worktree: `3 tasks ahead of main`; empty if no task differs."""
        if self.is_new:
            return f"not on {self.main_branch}"
        parts = [f"{format_count(self.ahead, 'task')} ahead of {self.main_branch}"] if self.ahead else []
        parts += [f"lacks {format_count(self.lacking, 'task')} done on {self.main_branch}"] if self.lacking else []
        parts += [f"lacks changes of {self.main_branch}"] if self.is_main_changed and not self.lacking else []
        return ", ".join(parts)

    def describe(self) -> str:
        """Return the location for people: `in ../x (branch plan/x, 3 tasks ahead of main)`."""
        if not self.directory:
            details = ", ".join(filter(None, [self.difference, self._describe_older()]))
            if (
                self.lacking or self.is_main_changed
            ) and " " not in self.main_branch:  # not the description of a detached HEAD
                details += f"; commit the plan there, then: git merge {quote(self.main_branch)}"
            return f"here, {details}" if details else ""
        branch = f"branch {self.branch}" if self.branch else "detached HEAD"
        details = ", ".join(filter(None, [branch, self.difference]))
        return f"in {os.path.relpath(self.directory)} ({details})"

    def enter_command(self, name: str) -> str:
        """Return the command that leads to the plan's own worktree, which has an older version."""
        return enter_command(self.older_worktree, name, has_own=True)

    def _describe_older(self) -> str:
        """Return what the plan's own worktree has, if this is the newest version; empty if that is equal."""
        if not self.older_worktree:
            return ""
        directory = os.path.relpath(self.older_worktree)
        if not self.is_diverged:
            return f"{directory} has an older version"
        merge = f"git -C {quote(directory)} merge {quote(self.main_branch)}"
        return f"{directory} has other changes; commit both, then: {merge}"

    def to_json(self) -> dict[str, Any]:
        """Return the location as a document shows it; `path` is None for the current worktree."""
        return {
            "path": self.directory or None,
            "branch": self.branch or None,
            "main": self.main_branch,
            "ahead": self.ahead,
            "lacking": self.lacking,
            "new": self.is_new,
            "text": self.describe(),
        }


class PlanVersion(NamedTuple):
    """The newest version of a plan, with its location."""

    path: str
    """Path of the plan's file in the current worktree, even if it is not there."""
    project: Project
    """The project in the worktree of this version."""
    ref: PlanRef
    location: PlanLocation


def enter_command(directory: str, name: str, *, has_own: bool) -> str:
    """Return the command that leads to where a plan is worked on, or for an agent, what continues the plan there.

    `has_own`: `execplan worktree` made that worktree for the plan. An agent may run each command in a new shell.
    """
    if is_agent():
        return f"execplan -C {quote(os.path.relpath(directory))} next {name}"
    return f'cd "$(execplan worktree {name})"' if has_own else f"cd {quote(os.path.relpath(directory))}"


def replace_with_newest(plan: StoredPlan) -> tuple[StoredPlan, PlanLocation | None]:
    """Return the newest version of a plan, with its location if that is known. An archived plan stays as it is."""
    own = {} if plan.ref.archived else {plan.ref.path: plan.data}
    for version in find_newest_versions(plan.project, own, includes_new=False):
        is_elsewhere = version.project.root != plan.project.root
        return plan_store.load(version.project, version.ref) if is_elsewhere else plan, version.location
    return plan, None


def list_newest(project: Project, plans: Sequence[ListedPlan]) -> tuple[list[ListedPlan], dict[str, PlanLocation]]:
    """Replace plans of a project and its nested projects by their newest versions, and add those only elsewhere.

    Also returns the locations by file path. Archived plans stay as they are.
    """
    replaced: dict[str, ListedPlan] = {}
    added: list[ListedPlan] = []
    locations: dict[str, PlanLocation] = {}
    for member in with_nested_projects(project):
        own = {
            plan.ref.path: _read_or_empty(plan)
            for plan in plans
            if plan.project.plans == member.plans and not plan.ref.archived
        }
        for version in find_newest_versions(member, own, includes_new=True):
            if version.project.root != member.root:
                newest = list_stored_plan(plan_store.load(version.project, version.ref))
                replaced[version.path] = newest
                if version.path not in own:
                    added.append(newest)
            locations[version.ref.path] = version.location
    return [*[replaced.get(plan.ref.path, plan) for plan in plans], *added], locations


def _read_or_empty(plan: ListedPlan) -> bytes:
    try:
        return plan_store.read_bytes(plan.project, plan.ref.path)
    except ExecplanError:
        return b""


def find_newest_versions(project: Project, own: Mapping[str, bytes], *, includes_new: bool) -> list[PlanVersion]:
    """Find the plans of a project that other worktrees have changed, or for which `execplan worktree` made one.

    `own` is the text of each plan in the current worktree, by path. Without linked worktrees, the list is empty.
    """
    worktrees = [worktree for worktree in list_worktrees(project) if worktree.exists]
    current = worktree_of(project, worktrees)
    if current is None or len(worktrees) < 2:
        return []
    own = {path: data for path, data in own.items() if is_inside(path, project.root)}
    paths = WorktreePlanPaths(project, worktrees)
    other_worktrees = [worktree for worktree in worktrees if worktree is not current]
    main = next((worktree for worktree in worktrees if worktree.is_main), current)
    differing = differing_texts(project, own, other_worktrees, paths, includes_new=includes_new)
    candidates, changed_roots = _changed_since_fork(project, own, differing)
    own_worktrees = {
        paths.path_of(project.root, record): worktree
        for record in paths.records
        for worktree in [find_worktree(record, worktrees)]
        if worktree is not None
    }
    for path, worktree in own_worktrees.items():  # work on a plan happens in its own worktree, if it has one
        if path in own or path in candidates:
            candidates[path] = [version for version in candidates.get(path, ()) if version.worktree is worktree]
    relevant = {*candidates, *[path for path, version in differing if version.worktree is main]}
    if main is not current:
        relevant |= {path for path in own if not os.path.lexists(paths.path_in(main.root, project.root, path))}
    differing_roots = {(path, version.worktree.root) for path, version in differing}
    versions = []
    for path in dict.fromkeys([*own, *candidates]):
        if path not in relevant:
            continue
        own_version = PlanText(project, current, plan_store.ref_for_path(project, path), own.get(path, b""))
        newest = max(candidates.get(path, ()), key=_progress, default=own_version)
        own_worktree = own_worktrees.get(path, current)
        is_older = newest is own_version and (path, own_worktree.root) in differing_roots
        if newest is own_version and own_worktree is not current and not is_older:
            newest = _equal_version(own_version, own_worktree, paths)
        location = _locate(project, newest, main, paths.path_in(main.root, project.root, path))
        if newest.worktree is current:
            location = location._replace(
                root="",
                directory="",
                older_worktree=project_in(project, own_worktree).base if is_older else "",
                is_diverged=is_older and (path, own_worktree.root) in changed_roots,
                is_main_changed=own_worktree is current is not main
                and (path, main.root) in changed_roots
                and not operation_in_progress(current.git),
            )
        if location.describe():
            versions.append(PlanVersion(path, newest.project, newest.ref, location))
    return versions


def _changed_since_fork(
    project: Project, own: Mapping[str, bytes], versions: Sequence[tuple[str, PlanText]]
) -> tuple[dict[str, list[PlanText]], set[tuple[str, str]]]:
    """Return the versions that their worktrees have changed since they left the current branch, by path.

    If the current worktree has changed a plan, too, only versions with more progress count. Also returns the path and the
    root of the worktree of every changed version. If git can't tell what has changed, progress decides.
    """
    names = [
        (version.worktree.root, name)
        for path, version in versions
        for name in (project.display_path(path), version.project.display_path(version.ref.path))
    ]
    other_projects = {version.worktree.root: version.project for _, version in versions}
    fork_texts = load_fork_texts(project, other_projects, names) if versions else {}
    archived_ids = {ref.id for ref in plan_store.refs(project, archive=True)} if versions else set()
    changed: dict[str, list[PlanText]] = {}
    changed_roots: set[tuple[str, str]] = set()
    for path, version in versions:
        root = version.worktree.root
        if fork_texts.get((root, version.project.display_path(version.ref.path))) == version.data:
            continue
        changed_roots.add((path, root))
        if path not in own:
            if project.split_plan_path(path)[1] in archived_ids:
                continue
        else:
            is_own_changed = own[path] != fork_texts.get((root, project.display_path(path)))
            required = _progress_of(project, own[path], is_archived=False) if is_own_changed else _BROKEN
            if _progress(version) <= required:
                continue
        changed.setdefault(path, []).append(version)
    return changed, changed_roots


def _progress(version: PlanText) -> tuple[bool, int, int, int]:
    return _progress_of(version.project, version.data, is_archived=version.ref.archived)


def _progress_of(project: Project, data: bytes, *, is_archived: bool) -> tuple[bool, int, int, int]:
    """Return how far a version is: archived, tasks done, entries, tasks."""
    plan = plan_store.parse_or_none(project, data)
    if plan is None or plan.conflict_lines:
        return _BROKEN if plan is None else _IN_CONFLICT
    entries = len(plan.decisions) + len(plan.discoveries) + len(plan.outcomes) + len(plan.revisions)
    return is_archived, plan.counts()["done"], entries, len(plan.tasks)


def _equal_version(own: PlanText, worktree: Worktree, paths: WorktreePlanPaths) -> PlanText:
    """Return the same text in a plan's own worktree, whose runs and approvals count; the current one if it isn't there."""
    project = project_in(own.project, worktree)
    path = paths.path_in(worktree.root, own.project.root, own.ref.path)
    if not os.path.isfile(path):
        return own
    return PlanText(project, worktree, plan_store.ref_for_path(project, path), own.data)


def _locate(project: Project, newest: PlanText, main: Worktree, main_path: str) -> PlanLocation:
    """Return the location of a plan's newest version, which is compared to that of the main worktree."""
    root, branch = newest.worktree.root, newest.worktree.branch
    location = PlanLocation(root, newest.project.base, branch, main.branch or "the main worktree")
    if newest.worktree is main:
        return location
    try:
        main_plan = plan_store.parse_or_none(project, plan_store.read_bytes(project_in(project, main), main_path))
    except ExecplanError:
        return location._replace(is_new=not os.path.lexists(main_path))
    done, main_done = find_done_tasks(plan_store.parse_or_none(newest.project, newest.data)), find_done_tasks(main_plan)
    return location._replace(ahead=len(done - main_done), lacking=len(main_done - done))
