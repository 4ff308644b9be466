"""How to finish a merge, or a similar operation of git, in which plans may have conflicts."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from execplan.core.files import file_access
from execplan.core.git import git_query
from execplan.core.git.git_directory import finishing_command
from execplan.core.plan_store import plan_store
from execplan.core.project.project import Project
from execplan.core.text.pure_paths import is_inside

RECORD_SUFFIXES = (".json", ".jsonl")
"""Ends of the names of records of runs and approvals."""
_MAX_BYTES = 1 << 26
"""Maximum size of a file in which to look for conflict markers."""


def unmerged_files(project: Project) -> list[str]:
    """Return the absolute paths of the files that git still lists as unmerged. Raises ExecplanError if git fails."""
    if project.git is None:
        return []
    lines = git_query.output(project, "ls-files", "-uz", "--full-name").split(b"\0")
    names = dict.fromkeys([os.fsdecode(line.partition(b"\t")[2]) for line in lines if line])
    return [os.path.join(project.root, name) for name in names]


def commands_after_merge(project: Project, resolved: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the commands that finish git's operation: `git add` for resolved files, and the last one if no other file waits.

    Raises ExecplanError if git fails.
    """
    adding = (f"git add {shlex.join([os.path.relpath(path) for path in resolved])}",) if resolved else ()
    last = finishing_command(project.git) if project.git is not None else ""
    is_last = last and {*unmerged_files(project)} <= {os.path.realpath(path) for path in resolved}
    return (*adding, last) if is_last else adding


def finishing_hint(project: Project, paths: Sequence[str], again: str) -> str:
    """Return how to finish git's operation, for a command that commits files and directories; `again` is the one that does.

    Conflicts of these files come first. What has none is committed afterwards. Raises ExecplanError if git fails.
    """
    own_paths = [os.path.realpath(path) for path in paths]
    unmerged = unmerged_files(project)
    own = [file for file in unmerged if any([is_inside(file, path) for path in own_paths])]
    if not own:
        if unmerged or not (commands := commands_after_merge(project)):
            return f"finish or abort it, as git status explains, then commit the plan: {again}"
        return f"finish it, then commit the plan: {commands[0]}; {again}"
    marked_plans = [file for file in own if _has_markers(project, file)]
    other_marked = [os.path.relpath(file) for file in own if file not in marked_plans and _has_marker_line(file)]
    resolving = [_merge_command(project, file) for file in marked_plans]
    resolving += filter(None, [keep_records_command(other_marked)])
    resolving += [f"edit {shlex.quote(path)}" for path in other_marked if not path.endswith(RECORD_SUFFIXES)]
    text = "resolve the conflicts, then finish it" if resolving else "finish it"
    hint = f"{text}: {'; '.join([*resolving, *commands_after_merge(project, own)])}"
    return f"{hint}; then resolve the other files, as git status explains" if len(own) < len(unmerged) else hint


def keep_records_command(paths: Sequence[str], directory: str = "") -> str:
    """Return the command that keeps one side of a plan's artifacts in conflict that are records; empty without any.

    A record of a run or an approval with lines of both sides would be broken. The paths are relative to the directory.
    """
    records = [path for path in paths if path.endswith(RECORD_SUFFIXES)]
    place = f"-C {shlex.quote(directory)} " if directory else ""
    return f"git {place}checkout --ours -- {shlex.join(records)}" if records else ""


def _has_marker_line(path: str) -> bool:
    return os.path.isfile(path) and b"\n<<<<<<< " in b"\n" + file_access.read(path, _MAX_BYTES)[0]


def _has_markers(project: Project, path: str) -> bool:
    if not (path.endswith(".md") and os.path.isfile(path)):
        return False
    plan = plan_store.parse_or_none(project, plan_store.read_bytes(project, path))
    return plan is not None and bool(plan.conflict_lines)


def _merge_command(project: Project, path: str) -> str:
    return f"execplan merge {plan_store.name_in_commands(project, plan_store.ref_for_path(project, path))}"
