"""Commits of plans: their paths and messages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.edits.digest_check import ensure_digest_matches
from execplan.errors import ExecplanError
from execplan.named_tuple import NamedTuple
from execplan.plan import reader
from execplan.plan_store import plan_store
from execplan.project import project_state
from execplan.project.plan_journal import former_paths
from execplan.project.project_discovery import require_existing
from execplan.project.template_fields import fill
from execplan.text.text_lines import digest

if TYPE_CHECKING:
    from execplan.git.git_commit import CommitResult
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

_MAX_SUMMARY_LENGTH = 72
_COMMANDS_WITHOUT_PLAN = {"init": "execplan init --commit", "index": "execplan index --write --commit"}
"""What to run again for commits that belong to no plan."""
"""Maximum characters of a summary, so that a one-line Git log stays readable."""


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
) -> CommitResult:
    """Commit the paths that belong to the plan with this ID. Raises ExecplanError if the commit fails."""
    from execplan.git import git_commit

    short_summary = (
        summary if len(summary) <= _MAX_SUMMARY_LENGTH else summary[: _MAX_SUMMARY_LENGTH - 1].rstrip() + "…"
    )
    name = " ".join(plan.encode("utf-8", "backslashreplace").decode().split())
    message = fill(
        project.settings.message, {"id": name, "summary": short_summary, "verb": command, "title": title or name}
    )
    try:
        with project_state.lock(project, "commit", f"{command} of {plan}"):
            return git_commit.commit(project, paths, message, old_contents)
    except ExecplanError as error:
        if error.hint.endswith(
            _UNCHANGED_HINT
        ):  # the lock timed out: the commit changed nothing, but the plan was written before
            error.message += f"; {git_commit.UNCOMMITTED_NOTE}"
            error.hint = error.hint.removesuffix(_UNCHANGED_HINT).removesuffix("; ") or "see what the system reports"
            error.hint += ", then: execplan commit"
        own_command = _COMMANDS_WITHOUT_PLAN.get(command)
        if own_command is not None:
            error.hint = error.hint.replace("execplan commit", own_command)
        else:
            error.add_plan_name(plan)
        raise


def commit_plan(
    project: Project, ref: PlanRef, summary: str | None, *, dry_run: bool, if_match: str | None = None
) -> PlanCommitResult:
    """Commit a plan as it is on disk, its artifacts, and its former paths. Raises ExecplanError if the commit fails."""
    from execplan.git import git_commit

    require_existing(project)
    paths = [ref.path, project.plan_artifacts_dir(ref.path, archived=ref.archived)]
    if os.path.islink(ref.path):
        paths.append(ref.real_path)
    if ref.archived:
        paths += [project.plan_file(project.plans, ref.id), project.artifacts_dir(ref.id)]
    paths += [path for path in former_paths(project, ref.path) if not os.path.lexists(path)]
    if dry_run:
        data = plan_store.read_bytes(project, ref.path)
        ensure_digest_matches(project, ref, if_match, data)
        return PlanCommitResult(tuple(git_commit.uncommitted_files(project, paths)), None, digest(data), ())
    with project_state.lock(project, ref.real_path, f"commit of {ref.id}"):
        data = plan_store.read_bytes(project, ref.path)
        ensure_digest_matches(project, ref, if_match, data)
        plan = reader.read_or_none(data)
        title = plan.title if plan is not None else None
        commit_result = commit_paths(project, ref.id, paths, "commit", summary or "update", {}, title)
        data = plan_store.read_bytes(project, ref.path) if commit_result.rewritten else data
    return PlanCommitResult(commit_result.paths, commit_result.digest, digest(data), commit_result.warnings)
