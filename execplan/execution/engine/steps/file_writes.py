"""Execution of a step that writes files: either all of them are written, or none."""

from __future__ import annotations

import os
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.files.file_access import remove_if_exists
from execplan.core.text.sequence_alignment import count_changed_lines
from execplan.execution import rare_features
from execplan.execution.binding import describe_difference
from execplan.execution.engine.journal.journal_entries import StateChange
from execplan.execution.engine.steps.command_execution import ERROR, ActionResult
from execplan.execution.engine.steps.step_paths import parent_folders
from execplan.execution.evaluation.projected_files import ImpossibleError, compute_changes, format_change
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, OTHER, State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.execution.engine.commands.command_transcript import Transcript
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.engine.workspace.file_restore import RestoreResult
    from execplan.execution.evaluation.projected_files import ProjectedChange
    from execplan.execution.execution_plan import Step


def undo_changes(context: RunContext, changes: Sequence[StateChange], folders: Sequence[str]) -> RestoreResult:
    """Restore the files to their earlier state. Raises ExecplanError, with nothing touched, if data would be lost."""
    from execplan.execution.engine.workspace.file_restore import restore

    return restore(context.workspace, context.store, changes, folders, lambda part: None)


_MODES = (0o644, 0o755)
"""File modes that a plan or a diff can specify; the user's umask is applied to them."""
_SPARE = 1 << 16


class _FilesBefore:
    """The files as they were before the step, read from their backups; of other paths nothing is known."""

    def __init__(self, context: RunContext, before: Mapping[str, State]) -> None:
        self.context = context
        self.before = before

    def state(self, path: str) -> State:
        """Return the state of a path before the step."""
        return self.before.get(path, State(OTHER))

    def read(self, path: str) -> bytes:
        """Return the bytes of a file before the step. Raises ImpossibleError or ExecplanError."""
        if not self.before[path].sha256:
            raise ImpossibleError(f"{path} can't be backed up: it is unreadable or larger than a gigabyte")
        return self.context.store.get(self.before[path].sha256)


def plan_changes(
    context: RunContext, step: Step, before: Mapping[str, State]
) -> list[tuple[ProjectedChange, StateChange]]:
    """Compute the step's changes to its files as they were before it. Raises ImpossibleError or ExecplanError."""
    return [
        (changed, _describe_change(changed, before[changed.path]))
        for changed in compute_changes(step, _FilesBefore(context, before))
    ]


def write_files(context: RunContext, step: Step, before: Mapping[str, State], transcript: Transcript) -> ActionResult:
    """Write the files of a step. If the step itself fails, undo the changes and return the failure."""
    try:
        planned_changes = plan_changes(context, step, before)
    except ImpossibleError as why:
        return ActionResult(ERROR, str(why))
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:  # a backup cannot be read, or its disk failed
            raise
        return ActionResult(ERROR, f"{error.message}; {error.hint}" if error.hint else error.message)
    ignored_paths = features.load(rare_features.IGNORED_FILES)(
        context, [changed.path for changed, _ in planned_changes]
    )
    for changed, change in planned_changes:
        difference = describe_difference(change.before, context.workspace.state(change.path))
        if difference:
            return ActionResult("drift", f"{change.path}: {difference}")
        transcript.note(_format_change(change))
        if changed.path in ignored_paths:
            transcript.note("git ignores this file, so its content is not kept here")
        else:
            transcript.out(format_change(changed).encode("utf-8", "surrogateescape"))
    written_changes: list[StateChange] = []
    folders: list[str] = []
    reserve_path = ballast_path(context, step)
    _reserve_space(reserve_path, planned_changes)
    try:
        for changed, change in planned_changes:
            written_changes.append(change)
            folders += _write_change(context, changed, change)
    except ExecplanError as error:
        remove_ballast(reserve_path)
        return _undo_written(context, written_changes, before, error)
    remove_ballast(reserve_path)
    return ActionResult(changes=tuple(written_changes), folders=tuple(folders))


def _write_change(context: RunContext, changed: ProjectedChange, change: StateChange) -> tuple[str, ...]:
    """Make the change of a path, and return the created directories. Raises ExecplanError."""
    if change.before.kind == FOLDER:
        if not context.workspace.remove_folder(change.path):
            message = f"{change.path} is not empty: another program has written into it"
            raise ExecplanError("changed-underneath", message, hint="run the step again")
    elif changed.after is None:
        context.workspace.remove(change.path)
    elif changed.is_link:
        return context.workspace.link(change.path, change.after.link)
    else:
        return context.workspace.write(change.path, changed.after, change.after.mode)
    return ()


def list_created_folders(context: RunContext, before: Mapping[str, State]) -> tuple[str, ...]:
    """Return the directories that were missing before the step and exist now, outermost first."""
    missing = [folder for folder in parent_folders(list(before)) if before.get(folder, State(FOLDER)).kind == ABSENT]
    return tuple([folder for folder in missing if context.workspace.state(folder).kind == FOLDER])


def _undo_written(
    context: RunContext, written_changes: Sequence[StateChange], before: Mapping[str, State], error: ExecplanError
) -> ActionResult:
    """Undo the written changes and return the failure.

    If undoing fails too, the result includes the changes and directories that remain to be undone.
    """
    folders = list_created_folders(context, before)
    try:
        undo_changes(context, written_changes, folders)
    except ExecplanError as undo_error:
        return ActionResult(
            ERROR, f"{error.message}; {undo_error.message}", changes=tuple(written_changes), folders=folders
        )
    return ActionResult(ERROR, error.message)


def _describe_change(changed: ProjectedChange, before: State) -> StateChange:
    """Describe the change of a path: the states before and after, and the number of lines."""
    old = changed.before if before.kind == FILE else None
    added, removed = count_changed_lines(old or b"", changed.after or b"")
    if changed.after is None:
        return StateChange(changed.path, before, State(ABSENT), added, removed)
    if changed.is_link:
        return StateChange(changed.path, before, State(LINK, link=os.fsdecode(changed.after)), 0, removed)
    keeps_mode = bool(changed.origin) or (changed.before is not None and changed.mode == changed.old_mode)
    mode = changed.mode & ~_umask() if changed.mode in _MODES and not keeps_mode else changed.mode
    after = State(FILE, sha256(changed.after).hexdigest(), mode, size=len(changed.after))
    return StateChange(changed.path, before, after, added, removed)


def _format_change(change: StateChange) -> str:
    if change.before.kind == ABSENT:
        action = "create"
    elif change.after.kind == ABSENT:
        action = "delete"
    else:
        action = "change"
    return f"{action} {change.path}: +{change.added} -{change.removed} lines"


@cache
def _umask() -> int:
    """Return the user's umask.

    It can only be read by setting it, and other threads may create files at the same time.
    """
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def ballast_path(context: RunContext, step: Step) -> str:
    """Return the path of the file that reserves disk space for undoing a step; it is on the same disk."""
    return os.path.join(context.run_paths.state, f"{step.id}.ballast")


def _reserve_space(path: str, planned_changes: Sequence[tuple[ProjectedChange, StateChange]]) -> None:
    """Reserve the disk space that undoing several changes takes, in case the disk is full by then."""
    if len(planned_changes) < 2:
        return
    try:
        with open(path, "wb") as file:
            file.write(bytes(_SPARE + sum([len(changed.before or b"") for changed, _ in planned_changes])))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        remove_ballast(path)


def remove_ballast(path: str) -> None:
    """Release the reserved disk space, if there is any."""
    remove_if_exists(path)
