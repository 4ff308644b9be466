"""Commits of plans: their paths and messages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.edits.digest_check import ensure_digest_matches
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import plan_store
from execplan.core.project import project_state
from execplan.core.project.plan_journal import former_paths
from execplan.core.project.project_discovery import require_existing, with_nested_projects
from execplan.core.project.setting_forms import fill
from execplan.core.text.message_parts import shorten
from execplan.core.text.pure_paths import is_inside
from execplan.core.text.text_lines import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.core.git.git_commit import CommitResult
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

_MAX_SUMMARY_LENGTH = 72
"""Maximum characters of a summary, so that a one-line Git log stays readable."""
_MAX_NAMED = 3
"""Maximum number of plans that a suggested command names."""
_COMMANDS_WITHOUT_PLAN = {"init": "execplan init --commit", "index": "execplan index --write --commit"}
"""What to run again for commits that belong to no plan."""


class PendingCommit(NamedTuple):
    """What was written for a plan, and the parts of the commit message."""

    project: Project
    plan: str
    """ID of the plan, or the command if it belongs to no plan."""
    paths: list[str]
    command: str
    summary: str
    old_contents: dict[str, bytes]
    title: str | None


class PlanCommitResult(NamedTuple):
    """The result of `commit`."""

    paths: tuple[str, ...]
    """Committed paths, or those to commit in a dry run, from the repository root."""
    commit: str | None
    digest: str
    warnings: tuple[str, ...]


_UNCHANGED_HINT = "nothing was changed"


def commit_paths(
    project: Project,
    plan: str,
    paths: list[str],
    command: str,
    summary: str,
    old_contents: dict[str, bytes],
    title: str | None,
    defer: Callable[[PendingCommit], object] | None = None,
) -> CommitResult:
    """Commit the paths that belong to the plan with this ID; `defer` leaves that to an operation on several plans.

    Raises ExecplanError if the commit fails.
    """
    pending = PendingCommit(project, plan, paths, command, summary, old_contents, title)
    if defer is None:
        return _commit(pending, [plan])
    from execplan.core.git import git_commit

    defer(pending)
    return git_commit.NO_COMMIT


def commit_together(steps: Sequence[PendingCommit], command: str, summary: str) -> CommitResult:
    """Commit what the steps of an operation have written in a repository. Raises ExecplanError if the commit fails."""
    plans = list(dict.fromkeys([step.plan for step in steps if step.plan != step.command]))
    if len(steps) == 1 or not plans:
        return _commit(steps[0]._replace(paths=[path for step in steps for path in step.paths]), [steps[0].plan])
    old_contents: dict[str, bytes] = {}
    for step in reversed(steps):  # of a file that several steps changed, the content before the first one
        old_contents |= step.old_contents
    paths = list(dict.fromkeys([path for step in steps for path in step.paths]))
    title = steps[0].title if len(plans) == 1 else None
    project = steps[0].project
    return _commit(PendingCommit(project, plans[0], paths, command, summary, old_contents, title), plans)


def _commit(pending: PendingCommit, plans: list[str]) -> CommitResult:
    """Commit what was written to plans with these IDs."""
    from execplan.core.git import git_commit

    project, _, paths, command, summary, old_contents, title = pending
    names = [" ".join(plan.encode("utf-8", "backslashreplace").decode().split()) for plan in plans]
    name = names[0] if len(names) == 1 else f"{len(names)} plans"
    message = fill(
        project.settings.message,
        {"id": name, "summary": shorten(summary, _MAX_SUMMARY_LENGTH), "verb": command, "title": title or name},
    )
    if len(names) > 1:
        message = "\n".join([message, "", *names])
    try:
        with project_state.lock(project, "commit", f"{command} of {name}"):
            return git_commit.commit(project, paths, message, old_contents)
    except ExecplanError as error:
        if error.hint.endswith(_UNCHANGED_HINT):  # the lock timed out; the plan was written before
            error.message += f"; {git_commit.UNCOMMITTED_NOTE}"
            error.hint = error.hint.removesuffix(_UNCHANGED_HINT).removesuffix("; ") or "see what the system reports"
            error.hint += ", then: execplan commit"
        if error.code in ("under-way", "merge-conflicts"):
            error.hint = features.load(features.MERGE_HINT)(project, paths, "execplan commit")
        own_command = _COMMANDS_WITHOUT_PLAN.get(command)
        if own_command is not None:
            error.hint = error.hint.replace("execplan commit", own_command)
        elif len(plans) == 1:
            error.add_plan_name(plans[0])
        elif error.hint.endswith("execplan commit"):
            error.hint += f" {commit_arguments([plan_store.quote_plan_name(plan) for plan in plans])}"
        raise


def commit_arguments(names: Sequence[str]) -> str:
    """Return the arguments of `execplan commit` for plans: their quoted names, or `--all` for many of them."""
    return " ".join(names) if len(names) <= _MAX_NAMED else "--all"


def commit_plan(
    project: Project, ref: PlanRef, summary: str | None, *, dry_run: bool, if_match: str | None = None
) -> PlanCommitResult:
    """Commit a plan as it is on disk, its artifacts, and its former paths. Raises ExecplanError if the commit fails."""
    from execplan.core.git import git_commit

    require_existing(project)
    paths = _plan_paths(project, ref)
    if dry_run:
        data = plan_store.read_bytes(project, ref.path)
        ensure_digest_matches(project, ref, if_match, data)
        return PlanCommitResult(tuple(git_commit.uncommitted_files(project, paths)), None, digest(data), ())
    with project_state.lock(project, ref.real_path, f"commit of {ref.id}"):
        data = plan_store.read_bytes(project, ref.path)
        ensure_digest_matches(project, ref, if_match, data)
        plan = plan_store.parse_or_none(project, data)
        features.load(features.MARKER_CHECK)(project, ref, plan)
        title = plan.title if plan is not None else None
        commit_result = commit_paths(project, ref.id, paths, "commit", summary or "update", {}, title)
        data = plan_store.read_bytes(project, ref.path) if commit_result.rewritten else data
    return PlanCommitResult(commit_result.paths, commit_result.digest, digest(data), commit_result.warnings)


def _plan_paths(project: Project, ref: PlanRef) -> list[str]:
    """Return the paths that belong to a plan: its file, its artifacts, and where they were before they moved."""
    paths = [ref.path, project.plan_artifacts_dir(ref.path, archived=ref.archived)]
    paths += plan_store.files_beside(project, ref)
    if os.path.islink(ref.path):
        paths.append(ref.real_path)
    if ref.archived:
        paths += [project.plan_file(project.plans, ref.id), project.artifacts_dir(ref.id)]
    return paths + [path for path in former_paths(project, ref.path) if not os.path.lexists(path)]


def commit_plans(
    plans: Sequence[tuple[Project, PlanRef]], summary: str | None, *, dry_run: bool
) -> list[PlanCommitResult]:
    """Commit several plans as they are on disk, in one commit for each repository; return a result for each plan.

    Raises ExecplanError if a commit fails.
    """
    from execplan.core.git import git_commit

    pending: dict[str, list[PendingCommit]] = {}
    for project, ref in plans:
        require_existing(project)
        if not dry_run:
            features.load(features.MARKER_CHECK)(project, ref, plan_store.load(project, ref).plan)
        step = PendingCommit(project, ref.id, _plan_paths(project, ref), "commit", summary or "update", {}, None)
        pending.setdefault(project.root, []).append(step)
    commits = {
        root: git_commit.NO_COMMIT._replace(
            paths=tuple(git_commit.uncommitted_files(steps[0].project, [path for step in steps for path in step.paths]))
        )
        if dry_run
        else commit_together(steps, "commit", summary or "update")
        for root, steps in pending.items()
    }
    results = []
    for project, ref in plans:
        commit = commits[project.root]
        own_paths = [project.display_path(path) for path in _plan_paths(project, ref)]
        paths = tuple([path for path in commit.paths if any([is_inside(path, own_path) for own_path in own_paths])])
        warnings = commit.warnings if (project, ref) == plans[0] else ()
        data = plan_store.read_bytes(project, ref.path)
        results.append(PlanCommitResult(paths, commit.digest if paths else None, digest(data), warnings))
    return results


def changed_plans(project: Project) -> list[tuple[Project, PlanRef]]:
    """Return the plans of a project and its nested projects that have uncommitted changes, archived ones last.

    Raises ExecplanError if git fails.
    """
    from execplan.core.git import git_commit

    changed = []
    for member in with_nested_projects(project):
        refs = plan_store.all_refs(member)
        linked = [ref.real_path for ref in refs if os.path.islink(ref.path)]
        artifacts = [member.artifacts_dir("", archived=archived) for archived in (False, True)]
        folders = [*member.plan_paths, *artifacts, *linked]
        touched = set()
        for file in git_commit.uncommitted_files(member, folders):
            path = os.path.join(member.root, file)
            while path not in touched and path != member.root:
                touched.add(path)
                path = os.path.dirname(path)
        for ref in refs:
            own_artifacts = member.plan_artifacts_dir(ref.path, archived=ref.archived)
            if not touched.isdisjoint((ref.path, ref.real_path, own_artifacts)):
                changed.append((member, ref))
    return changed
