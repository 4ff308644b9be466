"""Finds out whether a change that steps would make is still in the working tree, where somebody has tried it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.git import git_process
from execplan.core.git.git_commit import uncommitted_files
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.message_parts import join_first
from execplan.execution.approvals.current_plan import load_current_plan
from execplan.execution.engine.run_records.run_directories import list_runs
from execplan.execution.evaluation.patch import Hunk, parse_patch
from execplan.execution.evaluation.unified_diff import split_lines
from execplan.execution.execution_plan import ExecutionPlan, Step, Type
from execplan.execution.tried_changes.change_restore import STASH_MESSAGE
from execplan.execution.world import normalize_path

_MAX_BYTES = 1 << 20
_MAX_NAMED_FILES = 3


def describe_tried_change(project: Project, ref: PlanRef, document: ExecutionPlan | None = None) -> str:
    """Return that the change of a plan's steps is still in the working tree; empty if it is not, or if they have run.

    `document` is the plan's execution plan, if it is known.
    """
    try:
        if project.git is None or ref.archived or list_runs(project, ref):
            return ""
        steps = (document or load_current_plan(project, ref).document).steps
        paths = dict.fromkeys([path for step in steps for path in _tried_paths(project, step)])
        changed_paths = uncommitted_files(project, list(paths)) if paths else []
    except ExecplanError:  # the commands that need the plan or git report it
        return ""
    if not changed_paths:
        return ""
    files = join_first(sorted(changed_paths), _MAX_NAMED_FILES)
    return f"the change is still in the working tree ({files}), so its steps don't run before it is reverted"


def _tried_paths(project: Project, step: Step) -> Iterator[str]:
    """Yield the files that already are as a step would make them."""
    if step.type is Type.DELETE and step.target is not None:
        if not os.path.lexists(os.path.join(project.root, step.target)):
            yield step.target
    elif step.content is not None and step.target is not None and step.lines is None:
        if _read_lines(project, step.target) == split_lines(step.content.encode()):
            yield step.target
    elif step.patch is not None:
        for change in parse_patch(step.patch, step.target):
            lines = _read_lines(project, change.target) if change.target is not None else None
            hunks = [hunk for hunk in change.hunks if hunk.old != hunk.new]
            if lines and hunks and all([_is_made(lines, hunk) for hunk in hunks]):
                yield change.target or ""


def _is_made(lines: list[str], hunk: Hunk) -> bool:
    """Return whether lines are as a hunk leaves them, and not as it finds them."""
    return _has(lines, hunk.new) and not (hunk.old and _has(lines, hunk.old))


def _read_lines(project: Project, path: str) -> list[str] | None:
    normalized = normalize_path(path)
    data = (
        None if normalized is None else file_access.read_if_exists(os.path.join(project.root, normalized), _MAX_BYTES)
    )
    return None if data is None else split_lines(data)


def _has(lines: list[str], excerpt: tuple[str, ...]) -> bool:
    """Return whether lines contain an excerpt in one piece."""
    size = len(excerpt)
    return any([tuple(lines[start : start + size]) == excerpt for start in range(len(lines) - size + 1)])


def find_stashed_change(project: Project, plan: str) -> str:
    """Return the ID of the newest stash with the change of a plan's steps, or an empty string."""
    listed = git_process.run_git(project.root, "stash", "list", "--format=%H %gs").output
    for line in listed.splitlines():
        stash, _, summary = line.partition(" ")
        if summary.endswith(f": {STASH_MESSAGE.format(plan)}"):
            return stash
    return ""
