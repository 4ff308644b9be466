"""Warnings shown before steps run: at the approval, and again before the run begins."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.core.project.project import Project
from execplan.core.text.pure_paths import is_inside
from execplan.execution.execution_plan import Step
from execplan.execution.policy import Policy


def command_warnings(project: Project, policy: Policy, steps: Iterable[Step]) -> list[str]:
    """Return warnings about the commands of these steps, or an empty list if none of them runs a command.

    They are about a missing sandbox, and about a repository with more files than a rollback can restore.
    """
    from execplan.execution.engine.commands.command_sandbox import find_sandbox
    from execplan.execution.engine.steps.step_paths import runs_program
    from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
    from execplan.execution.engine.workspace.workspace_walk import BYTES, FILES, WorkspaceWalker

    if not any([runs_program(step) for step in steps]):
        return []
    warnings = []
    try:
        sandbox, reason = find_sandbox(project, policy)
    except ExecplanError as error:
        warnings.append(f"the run will stop immediately: {error.message}; {error.hint}")
    else:
        if sandbox is None and policy.sandbox != "off":
            warnings.append(f"commands run without a sandbox: {reason}")
    if not WorkspaceWalker(project, WorkspaceFiles(project)).collect_unignored(FILES, BYTES):
        limit = f"{FILES:,} files or {BYTES >> 20} MB"
        warnings.append(
            f"the repository has more than {limit}; a rollback restores only the paths that commands declare"
        )
    return warnings


def uncommitted_warnings(project: Project, policy: Policy, steps: Sequence[Step]) -> list[str]:
    """Return a warning if a run with many steps would begin in a working tree with changes, besides those of plans.

    A run has many steps if there are more than the number after which it asks whether to continue.
    """
    if project.git is None or len(steps) <= policy.checkpoint_interval:
        return []
    arguments = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=no")
    entries = git_query.output(project, "--no-optional-locks", *arguments).split(b"\0")
    paths = [os.path.join(project.root, os.fsdecode(entry[3:])) for entry in entries if entry]
    folders = [*project.plan_paths, *[project.artifacts_dir("", archived=archived) for archived in (False, True)]]
    changed_paths = [path for path in paths if not any([is_inside(path, folder.rstrip("/")) for folder in folders])]
    if not changed_paths:
        return []
    changed_path = project.display_path(changed_paths[0])
    message = f"the working tree has uncommitted changes, such as {changed_path}, and the run has {len(steps)} steps"
    return [f"{message}: commit first, so that you can tell your changes from those of the run"]
