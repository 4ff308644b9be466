"""Input of triage from the working tree: changed files and the parts of the repository."""

from __future__ import annotations

import os

from execplan.context.triage.change_summary import ChangedFile, find_parts_by_name
from execplan.context.triage.triage_evaluation import PLAN, evaluate_triage, parse_thresholds
from execplan.context.triage.triage_table import load_builtin_table
from execplan.core.files import file_access
from execplan.core.git import git_history, git_query
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.project.project_settings import SETTINGS_FILE

_MAX_BYTES = 1 << 20
"""Maximum size in bytes of a new file whose lines are counted; a larger file counts as data."""
_DIFF_ARGS = ("-c", "diff.relative=false", "diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")


def staged_changes(project: Project) -> list[ChangedFile]:
    """Return the changes of the next commit, without files that belong to plans. Raises ExecplanError if git fails."""
    return _count_changes(project, "--cached", "--")


def plan_reasons(project: Project) -> tuple[str, ...]:
    """Return the reasons why the changes of the next commit need a plan; none if they need none. Raises ExecplanError."""
    triage_result = evaluate_triage(None, staged_changes(project), thresholds=parse_thresholds(project.settings.triage))
    return triage_result.reasons if triage_result.verdict == PLAN else ()


def changes_since(project: Project, revision: str) -> list[ChangedFile]:
    """Return the changes on disk since the branch point with a revision, including new files.

    Files that belong to plans are left out. Raises ExecplanError if git fails.
    """
    changed = _count_changes(project, git_history.branch_point(project, revision), "--")
    own_prefixes = _own_prefixes(project)
    new = [
        ChangedFile(path, _count_lines(os.path.join(project.root, path)))
        for path in git_history.untracked_files(project)
    ]
    return changed + [change for change in new if not change.path.startswith(own_prefixes)]


def repository_parts(project: Project) -> dict[str, str]:
    """Return the repository's parts by name; empty without git. Raises ExecplanError if git fails."""
    return find_parts_by_name(git_query.tracked_files(project), load_builtin_table()) if project.git is not None else {}


def _count_changes(project: Project, *args: str) -> list[ChangedFile]:
    """Return the files of a diff with their line counts; git reports no counts for binary files."""
    own_prefixes = _own_prefixes(project)
    changes = []
    for line in git_query.output(project, *_DIFF_ARGS, *args).split(b"\0"):
        if line:
            added, removed, path = line.split(b"\t", 2)
            changes.append(
                ChangedFile(os.fsdecode(path), *[int(count) if count != b"-" else 0 for count in (added, removed)])
            )
    return [change for change in changes if not change.path.startswith(own_prefixes)]


def _own_prefixes(project: Project) -> tuple[str, ...]:
    """Return the path prefixes of what belongs to plans or to execplan: its settings, and the guide for authors."""
    files = [os.path.join(project.base, file) for file in (SETTINGS_FILE, project.settings.guide)]
    return (*project_discovery.owned_path_prefixes(project), *[project.display_path(file) for file in files])


def _count_lines(path: str) -> int:
    """Count the lines of a new file; 0 if it is not a regular file, is too large, can't be read, or is not text."""
    try:
        handle = file_access.open_regular(path, os.O_RDONLY | file_access.NO_FOLLOW)
    except OSError:
        return 0
    with open(handle, "rb") as file:
        if os.fstat(handle).st_size > _MAX_BYTES:
            return 0
        data = file.read(_MAX_BYTES)
    return 0 if b"\0" in data else data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
