"""Missing or altered evidence of a run in the artifacts of its plan, and whether the change was intended."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.core.plan_store import plan_store
from execplan.execution.engine.run_records import evidence_copies
from execplan.execution.engine.run_records.expected_evidence import is_expected
from execplan.execution.engine.run_records.run_directories import JOURNAL

if TYPE_CHECKING:
    from execplan.core.project.project import Project
    from execplan.execution.engine.run_records.run_directories import RunPaths


def list_altered_evidence(project: Project, run_paths: RunPaths) -> list[str]:
    """List the files of a run that differ from their copies, relative to its directory.

    A difference that the checked-out commit contains is intended and not listed.
    """
    journal_copy = run_paths.copy_path(JOURNAL)
    names = [JOURNAL] if os.path.lexists(journal_copy) and evidence_copies.differs_from_copy(run_paths, JOURNAL) else []
    names += evidence_copies.list_altered(run_paths) if names or os.path.lexists(journal_copy) else []
    present_names = [name for name in names if os.path.lexists(run_paths.artifact_path(name))]
    changed_paths = (
        _changed_in_git(project, [run_paths.artifact_path(name) for name in present_names]) if present_names else set()
    )
    missing_names = [name for name in names if name not in present_names]
    is_on_other_branch = bool(missing_names) and not is_expected(
        project, journal_copy, run_paths.artifact_path(missing_names[0])
    )
    return [
        name
        for name in names
        if run_paths.artifact_path(name) in changed_paths or (name in missing_names and not is_on_other_branch)
    ]


def _changed_in_git(project: Project, paths: list[str]) -> set[str]:
    """Return the paths whose current contents are not in Git's index."""
    if project.git is None:
        return set(paths)
    try:
        output = git_query.output(project, "--literal-pathspecs", "ls-files", "-z", "-m", "-o", "--", *paths)
    except ExecplanError:
        return set(paths)
    return {os.path.join(project.root, os.fsdecode(name)) for name in output.split(b"\0") if name}


def is_in_other_plan(project: Project, path: str, run: str) -> bool:
    """Return whether a plan other than the one at a path has a run among its artifacts."""
    other_refs = [ref for ref in plan_store.all_refs(project) if ref.path != path]
    folders = [project.plan_artifacts_dir(ref.path, archived=ref.archived) for ref in other_refs]
    return any([os.path.lexists(os.path.join(folder, "runs", run)) for folder in folders])
