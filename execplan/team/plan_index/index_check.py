"""Whether the index of a project is current, on disk or in the next commit, and which plans it gets wrong."""

from __future__ import annotations

from urllib.parse import unquote

from execplan.core.project.project import Project
from execplan.linter.rule_facts import OutdatedIndex
from execplan.team.plan_index.plan_index_file import PlanIndex, check_index, compute_staged_index


def find_outdated(project: Project, *, is_staged: bool) -> OutdatedIndex | None:
    """Return the index of a project if it is out of date on disk, or if the next commit would make or leave it so.

    Raises ExecplanError if git fails, if the index can't be read, or if its markers don't match.
    """
    if not is_staged:
        index = check_index(project)
        return None if index is None else _describe(project, index)
    index = compute_staged_index(project)
    return None if index is None or index.is_current else _describe(project, index)._replace(edits=())


def _describe(project: Project, index: PlanIndex) -> OutdatedIndex:
    """Return the difference of an index: the plans whose rows are missing, wrong or left over."""
    old_lines = {line for line in (index.old or b"").decode("utf-8", "replace").splitlines() if line.startswith("| [")}
    new_lines = {line for line in index.new.decode("utf-8", "replace").splitlines() if line.startswith("| [")}
    names = {_plan_id(project, line) for line in old_lines ^ new_lines}
    return OutdatedIndex(index.display_path, index.line, tuple(sorted(names)), index.edits)


def _plan_id(project: Project, row: str) -> str:
    """Return the ID of the plan in a row, from the file that it links to."""
    target = row.partition("](")[2].partition(")")[0]
    return project.split_plan_path(unquote(target))[1]
