"""How to finish a merge, or a similar operation of git, in which plans or their artifacts may have conflicts.

`git stash pop` leaves conflicts, too, but no operation: then a commit of the plan finishes it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.git.git_directory import finishing_command, operation_in_progress
from execplan.core.git.unmerged_files import (
    BASE,
    OURS,
    THEIRS,
    RenamedTwice,
    UnmergedFile,
    find_renamed_twice,
    list_unmerged,
)
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import with_nested_projects
from execplan.core.text.pure_paths import is_inside

_RECORD_SUFFIXES = (".json", ".jsonl")
"""Ends of the names of records of runs and approvals; a record with lines of both sides would be broken."""
_MARKER_LINE = re.compile(rb"^<{7,} ", re.MULTILINE)
"""The beginning of a conflict; git makes it longer for a file that was renamed."""
_MAX_BYTES = 1 << 26
"""Maximum size of a file in which to look for conflict markers."""
_BINARY_SAMPLE = 8000
"""Number of bytes at the beginning of a file among which git looks for a null byte: then it doesn't merge the file."""
_MAX_NAMED = 3
"""Maximum number of files to edit that are named."""


class Choice(NamedTuple):
    """What a person has to decide about files, because git can't merge them."""

    reason: str
    first: str
    """What the first command does."""
    first_command: str
    second: str
    second_command: str

    def to_text(self) -> str:
        """Return the reason, and both ways to continue with their commands."""
        return f"{self.reason}; {self.ways}"

    @property
    def ways(self) -> str:
        """Both ways to continue with their commands."""
        return f"{self.first}: {self.first_command}; or {self.second}: {self.second_command}"


class MergeSteps(NamedTuple):
    """What finishes git's operation for some files: decisions and edits first, then commands."""

    choices: tuple[Choice, ...]
    edits: tuple[str, ...]
    """Files with conflict markers that no command resolves, as paths in commands."""
    resolving: tuple[str, ...]
    """Commands that resolve conflicts."""
    finishing: tuple[str, ...]
    """Commands that mark files as resolved, and the one that finishes the operation."""
    leaves_others: bool
    """Whether other files are unmerged, so that the operation can't be finished yet."""

    @property
    def edit_text(self) -> str:
        """What to edit by hand, for people; empty if nothing is to be edited."""
        if len(self.edits) > _MAX_NAMED:
            return f"edit the {len(self.edits)} files with conflict markers"
        return f"edit {', '.join(self.edits)}" if self.edits else ""

    def to_text(self, again: str = "") -> str:
        """Return all steps, for a hint; `again` is a command that comes after them. Empty if there are none."""
        by_hand = [*[choice.to_text() for choice in self.choices], *filter(None, [self.edit_text])]
        chain = " && ".join(filter(None, [*self.resolving, *self.finishing, again]))
        start = "resolve the conflicts, then finish it: " if self.resolving else "finish it: "
        text = f"{start}{chain}" if chain else ""
        if by_hand:
            text = "; ".join(by_hand) + (f"{',' if self.edits else ';'} then: {chain}" if chain else "")
        return f"{text}; then resolve the other files, as git status explains" if self.leaves_others and text else text


def find_steps(project: Project, paths: Sequence[str], again: str, resolved: Sequence[str] = ()) -> MergeSteps:
    """Return what finishes git's operation for the unmerged files at some paths, which may be directories.

    `again` finishes it if git has no operation in progress. `resolved` are files that were just resolved, also if git
    doesn't list them. Nothing is to be done if git has no operation and lists no file. Raises ExecplanError if git fails.
    """
    unmerged = list_unmerged(project)
    renamed = find_renamed_twice(unmerged)
    renamed_files = [*renamed.old, *renamed.ours, *renamed.theirs] if renamed is not None else []
    own = files_at(unmerged, paths)
    choices: list[Choice] = []
    if renamed is not None and any([file in renamed_files for file in own]):
        choices.append(_choose_name(project, renamed))
        own += [file for file in renamed_files if file not in own]
    remaining = [file for file in own if file not in renamed_files]
    choices += filter(None, [_find_choice(project, file) for file in remaining])
    mergeable = [file for file in remaining if _find_choice(project, file) is None]
    deleted = [file.path for file in mergeable if [*file.blobs] == [BASE]]  # by both sides
    merged = [file.path for file in mergeable if file.path not in deleted]
    resolving, edits = _resolve(project, merged, paths)
    resolving += [_git_command(project, "rm", deleted)] if deleted else []
    to_add = list(dict.fromkeys([*[os.path.realpath(path) for path in resolved], *merged]))
    finishing = [_git_command(project, "add", to_add)] if to_add else []
    operation = finishing_command(project.git) if project.git is not None else ""
    leaves_others = bool(operation) and not {file.path for file in unmerged} <= {file.path for file in own} | {*to_add}
    if operation and not leaves_others:
        finishing.append(_git_command(project, operation.removeprefix("git ")))
    elif not operation and (own or resolved):
        finishing.append(again)
    return MergeSteps(tuple(choices), edits, tuple(resolving), tuple(finishing), leaves_others)


def _resolve(project: Project, files: Sequence[str], own_paths: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the commands that resolve the conflicts in files, and the other files with conflict markers, to edit by hand."""
    plans = _marked_plans(project, files, own_paths)
    other_files = [path for path in files if path not in plans and _has_marker_line(path)]
    records = [path for path in other_files if path.endswith(_RECORD_SUFFIXES)]
    commands = [_git_command(project, "checkout --ours --", records)] if records else []
    commands += [_merge_command(project, path) for path in plans]
    return commands, tuple([os.path.relpath(path) for path in other_files if path not in records])


def finishing_hint(project: Project, paths: Sequence[str], again: str) -> str:
    """Return how to finish git's operation, for a command that commits files and directories; `again` is the one that does.

    Conflicts of these files come first. What has none is committed afterwards. Raises ExecplanError if git fails.
    """
    steps = find_steps(project, paths, again)
    if files_at(list_unmerged(project), paths):
        return steps.to_text()
    files = [path for path in paths if os.path.isfile(path)]
    if steps.finishing and "rebase" in steps.finishing[-1]:  # refused while the plan has changes
        return f"finish it with the plan: {_git_command(project, 'add', files)} && {steps.finishing[-1]}"
    if steps.finishing:
        return f"finish it, then commit the plan: {steps.finishing[0]} && {again}"
    merging = [_merge_command(project, path) for path in _marked_plans(project, paths, paths)]
    if merging:
        return f"resolve the conflicts, then commit the plan: {' && '.join([*merging, again])}"
    return f"finish or abort it, as git status explains, then commit the plan: {again}"


def next_commands(project: Project, plans: Sequence[tuple[Project, PlanRef]]) -> tuple[str, ...]:
    """Return what resolves the conflicts of each plan, or else what finishes git's operation; none without one.

    Raises ExecplanError if git fails.
    """
    if project.git is None or not operation_in_progress(project.git):
        return ()
    unmerged = list_unmerged(project)
    in_conflict = [plan for plan in plans if unmerged and files_at(unmerged, plan_paths(*plan))]
    resolving = [command for plan in in_conflict for command in _resolving_commands(*plan)]
    return tuple(dict.fromkeys(resolving)) or find_steps(project, [], "").finishing or ("git status",)


def _resolving_commands(project: Project, ref: PlanRef) -> tuple[str, ...]:
    """Return what resolves the conflicts of a plan: `execplan merge`, or what marks its files as resolved if all are.

    Raises ExecplanError if git fails.
    """
    plan, name = plan_store.load(project, ref).plan, plan_store.name_in_commands(project, ref)
    if plan is not None and not plan.conflict_lines:
        steps = find_steps(project, plan_paths(project, ref), f"execplan commit {name}")
        if steps.finishing and not (steps.choices or steps.edits or steps.resolving):
            return steps.finishing
    return (f"execplan merge {name}",)


def plan_paths(project: Project, ref: PlanRef) -> list[str]:
    """Return the paths of a plan, its artifacts directory, and the files beside it."""
    artifacts = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    return [ref.real_path, artifacts, *plan_store.files_beside(project, ref)]


def files_at(unmerged: Sequence[UnmergedFile], paths: Sequence[str]) -> list[UnmergedFile]:
    """Return the unmerged files at some paths, which may be directories."""
    real_paths = [os.path.realpath(path) for path in paths]
    return [file for file in unmerged if any([is_inside(file.path, path) for path in real_paths])]


def describe_unmerged(project: Project, paths: Sequence[str], unmerged: Sequence[UnmergedFile]) -> list[str]:
    """Return a sentence about each of the unmerged files at some paths, for people."""
    renamed = find_renamed_twice(list(unmerged))
    lines = []
    for file in files_at(unmerged, paths):
        if renamed is not None and file in (*renamed.ours, *renamed.theirs):
            lines.append(_choose_name(project, renamed).reason)
            continue
        choice = _find_choice(project, file)
        has_markers = _has_marker_line(file.path)
        state = "contains git conflict markers" if has_markers else "is not marked as resolved in git"
        lines.append(choice.reason if choice is not None else f"{_shown_path(project, file.path)} {state}")
    return list(dict.fromkeys(lines))


def describe_conflicts(plans: Sequence[tuple[Project, PlanRef]]) -> list[str]:
    """Return a sentence about each unmerged file of plans of a repository, for people; none if git can't say."""
    try:
        unmerged = list_unmerged(plans[0][0])
    except ExecplanError:
        return []
    reasons = [
        reason
        for project, ref in (plans if unmerged else ())
        for reason in describe_unmerged(project, plan_paths(project, ref), unmerged)
    ]
    return list(dict.fromkeys(reasons))


def ensure_no_markers(project: Project, ref: PlanRef, plan: ParsedPlan | None) -> None:
    """Raise ExecplanError if a plan has conflict markers and git has no operation in progress, which explains them."""
    if plan is None or not plan.conflict_lines or (project.git is not None and operation_in_progress(project.git)):
        return
    name = plan_store.name_in_commands(project, ref)
    raise ExecplanError(
        "merge-conflicts",
        f"{project.display_path(ref.path)}: line {plan.conflict_lines[0] + 1} contains a git conflict marker; nothing was committed",
        hint=finishing_hint(project, [ref.path], f"execplan commit {name}"),
    )


def ensure_merged(project: Project, ref: PlanRef) -> None:
    """Raise ExecplanError if the plan's files have conflicts, because git would lose track of them if they were moved."""
    plan = plan_store.load(project, ref).plan
    if plan is not None and plan.conflict_lines:
        return  # an edit refuses it, with its own error
    paths, unmerged = plan_paths(project, ref), list_unmerged(project)
    reasons = describe_unmerged(project, paths, unmerged) if unmerged else []
    if reasons:
        name = plan_store.name_in_commands(project, ref)
        raise ExecplanError(
            "merge-conflicts",
            f"{reasons[0]}; nothing was moved",
            hint=finishing_hint(project, paths, f"execplan commit {name}"),
            candidates=reasons[1:],
            data={"reasons": reasons},
        )


def _find_choice(project: Project, file: UnmergedFile) -> Choice | None:
    """Return what a person has to decide about an unmerged file; None if it can be merged."""
    path = _shown_path(project, file.path)
    adding, removal = _git_command(project, "add", [file.path]), _git_command(project, "rm", [file.path])
    if not os.path.lexists(file.path):
        if [*file.blobs] == [BASE]:
            return None
        restoring = _git_command(project, "checkout -m --", [file.path])
        return Choice(f"{path} has conflicts, but it is not here", "remove it", removal, "restore it", restoring)
    if len(file.blobs) == 2 and not {OURS, THEIRS} <= {*file.blobs}:
        sides = ("changed in HEAD", "deleted on the other side")
        sides = sides if OURS in file.blobs else ("deleted in HEAD", "changed on the other side")
        return Choice(f"{path} was {' and '.join(sides)}", "keep it", adding, "delete it", removal)
    if {OURS, THEIRS} <= {*file.blobs} and b"\0" in _read(file.path)[:_BINARY_SAMPLE]:
        taking = f"{_git_command(project, 'checkout --theirs --', [file.path])} && {adding}"
        reason = f"{path} is binary and was changed on both sides"
        return Choice(reason, "keep what is here", adding, "take that of the other side", taking)
    return None


def _choose_name(project: Project, renamed: RenamedTwice) -> Choice:
    """Return the choice between the names that both sides gave to a plan."""

    def keep(files: Sequence[UnmergedFile], other_files: Sequence[UnmergedFile]) -> str:
        merging = [_merge_command(project, path) for path in _marked_plans(project, [file.path for file in files])]
        removal = _git_command(project, "rm", [file.path for file in (*renamed.old, *other_files)])
        return " && ".join([*merging, removal, _git_command(project, "add", [file.path for file in files])])

    ours, theirs = _shown_path(project, renamed.ours[0].path), _shown_path(project, renamed.theirs[0].path)
    reason = f"the plan was renamed on both sides, to {ours} in HEAD and to {theirs} on the other side"
    our_command, their_command = keep(renamed.ours, renamed.theirs), keep(renamed.theirs, renamed.ours)
    return Choice(reason, "keep the name of HEAD", our_command, "keep the other name", their_command)


def _read(path: str) -> bytes:
    return file_access.read(path, _MAX_BYTES)[0] if os.path.isfile(path) else b""


def _has_marker_line(path: str) -> bool:
    return _MARKER_LINE.search(_read(path)) is not None


def _marked_plans(project: Project, files: Sequence[str], own_paths: Sequence[str] = ()) -> list[str]:
    """Return the files with conflict markers that are plans: listed ones, or those at some own paths."""
    marked = [path for path in files if path.endswith(".md") and _has_marker_line(path)]
    if not marked:
        return []
    refs = [ref for member in with_nested_projects(project) for ref in plan_store.all_refs(member)]
    plans = {ref.real_path for ref in refs} | {os.path.realpath(path) for path in own_paths}
    return [path for path in marked if os.path.realpath(path) in plans]


def _merge_command(project: Project, path: str) -> str:
    name = plan_store.name_in_commands(project, plan_store.ref_for_path(project, path))
    return f"execplan {_directory_option(project, project.base)}merge {name}"


def _git_command(project: Project, arguments: str, paths: Sequence[str] = ()) -> str:
    operands = f" {shlex.join([_shown_path(project, path) for path in paths])}" if paths else ""
    return f"git {_directory_option(project, project.root)}{arguments}{operands}"


def _directory_option(project: Project, directory: str) -> str:
    """Return the option that runs a command in a directory of the project; empty if it can be run here."""
    return "" if is_inside(os.getcwd(), project.root) else f"-C {shlex.quote(directory)} "


def _shown_path(project: Project, path: str) -> str:
    """Return a path relative to where commands run."""
    return os.path.relpath(path, os.getcwd() if is_inside(os.getcwd(), project.root) else project.root)
