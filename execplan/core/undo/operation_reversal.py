"""Reversal of edits, moves and attachments: changed lines and files are restored, everything else is kept."""

from __future__ import annotations

import os

from execplan.core.archive.attachments import digest_file
from execplan.core.archive.file_transfer import is_fully_copied
from execplan.core.archive.move_execution import read_evidence
from execplan.core.archive.move_record import MoveDetails, unpack_details
from execplan.core.archive.move_target import MoveTarget
from execplan.core.archive.plan_move import UNDONE_DIR, MoveResult, Reversal, move_plan
from execplan.core.edits import edit_journal, journal_moves
from execplan.core.edits.edit_entries import EDIT, REDO, UNDO
from execplan.core.edits.edit_journal import Operation
from execplan.core.edits.plan_writer import EditResult, WriteOptions, amend
from execplan.core.edits.undo_stack import load_entries
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.files.tree_walk import walk_tree
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_change import ChangeBuilder, PlanChange, plan_content
from execplan.core.plan.text_rebase import rebase_text
from execplan.core.plan_store import plan_store
from execplan.core.text.text_lines import digest
from execplan.core.undo.operation_selection import SelectedOperation, describe_operation, is_still_next


class SupersededError(ExecplanError):
    """An error raised if the selected operation is no longer the last one, because the plan changed meanwhile."""

    def __init__(self) -> None:
        super().__init__("changed-underneath", "the plan changed during the operation", hint="try again")


def reverse_edit(selected: SelectedOperation, options: WriteOptions, command: str) -> EditResult:
    """Undo or redo an edit; raises ExecplanError, and SupersededError if it is no longer the last operation."""
    project, ref, step, _ = selected
    change = reversal_change(selected, command)
    is_merge = step.operation.command == "merge"
    if is_merge and command == UNDO:
        options = options._replace(commit=False)  # conflict markers are not for a commit

    def checked(plan: ParsedPlan) -> PlanChange:
        ensure_still_next(selected, command)
        plan_change = change(plan)
        if not plan_change.edits and not options.dry_run:
            # Git or another program did the same. A journaled reversal makes it possible to reverse this again.
            current, reversal = plan.text.to_bytes(), operation._replace(id=options.operation_id())
            summary = plan_change.summary
            with edit_journal.JournalTransaction(project, ref.path, command, summary, current, current, reversal):
                pass
        return plan_change

    operation = Operation(kind=EDIT, undoes=step.operation.id)
    return amend(
        project,
        ref,
        checked,
        options,
        command=command,
        resolves_conflicts=is_merge,
        make_operation=lambda: operation,
    )


def ensure_still_next(selected: SelectedOperation, command: str) -> None:
    """Raise SupersededError if the operation is no longer the next one to reverse; the caller holds the plan's lock."""
    if not is_still_next(selected, command):
        raise SupersededError


def reversal_change(selected: SelectedOperation, command: str) -> ChangeBuilder:
    """Return a change that restores the plan's text from before the operation; raises ExecplanError."""
    old, new = unpack_texts(selected)
    if old == new:  # git or another program did what this is to reverse
        old, new = selected.step.operation.unpack()
        if command == REDO:
            old, new = new, old
    description = describe_operation(selected)
    summary = f"{command}, {selected.step.operation.summary}"
    outcome = "undone" if command == UNDO else "redone"
    nothing_there = _nothing_there(selected, command)
    hint = f"{command} it by hand; if its changes were committed, they are in git: git log -p"

    def change(plan: ParsedPlan) -> PlanChange:
        if command == UNDO and _is_from_before(selected, digest(plan.text.to_bytes())):
            return PlanChange((), plan_content(plan), summary, (nothing_there,))
        plan_change = rebase_text(plan, new, old, summary, f"{outcome}: {description}", hint)
        if plan_change.edits or old == new:
            return plan_change
        return PlanChange((), plan_content(plan), summary, (nothing_there,))

    return change


def _nothing_there(selected: SelectedOperation, command: str, *, can_redo: bool = True) -> str:
    description = describe_operation(selected)
    if command == REDO:
        return f"already there, so there is nothing to redo: {description}"
    message = f"no longer there, so there is nothing to undo: {description}"
    return f"{message}; bring it back: execplan redo" if can_redo else message


def _is_from_before(selected: SelectedOperation, current_digest: str) -> bool:
    """Return whether the plan's text is a version without an operation, because git has restored it."""
    operation, with_it, without_it = selected.step.operation, set[str](), set[str]()
    versions = without_it
    for entry in load_entries(selected.project, selected.ref.path):
        versions.add(entry.old_digest)
        if operation.id in (entry.id, entry.undoes):
            versions = without_it if entry.command == UNDO else with_it
        versions.add(entry.new_digest)
    return current_digest in without_it - with_it


def unpack_texts(selected: SelectedOperation) -> tuple[bytes, bytes]:
    """Return the texts before and after the operation to reverse; raises ExecplanError if the journal is damaged."""
    try:
        return selected.step.latest.unpack()
    except ValueError as error:
        raise damaged_entry_error(selected, error) from None


def damaged_entry_error(selected: SelectedOperation, error: ValueError) -> ExecplanError:
    """Build the error for a journal entry that can't be read."""
    return ExecplanError(
        "journal-damaged",
        f"can't read the journal entry of {describe_operation(selected)}: {error}",
        hint="undo it by hand; committed versions are in git: git log -p",
    )


def reverse_move(selected: SelectedOperation, options: WriteOptions, command: str) -> MoveResult:
    """Move a plan and its artifacts back to their place before a move; raises ExecplanError, SupersededError."""
    try:
        details = unpack_details(selected.project, selected.step.latest)
    except ValueError as error:
        raise damaged_entry_error(selected, error) from None
    rewritten_later = journal_moves.documents(selected.project, selected.ref.path, selected.step.latest.id)
    details = details._replace(documents=tuple(dict.fromkeys((*details.documents, *rewritten_later))))
    pairs = tuple([(new, old) for old, new in details.files])
    goal = MoveTarget(details.ids[0], details.path, details.artifacts[0], pairs)
    if selected.ref.path != details.goal:
        raise ExecplanError(
            "changed-since",
            f"{selected.project.display_path(details.goal)} has been moved to {selected.project.display_path(selected.ref.path)}",
            hint=f"move it back by hand, then try again: execplan {command}",
        )
    missing_files = [target for source, target in pairs if not (os.path.lexists(source) or os.path.lexists(target))]
    if missing_files and command == REDO and details.path == details.goal:
        raise ExecplanError(
            "changed-since",
            f"{selected.project.display_path(missing_files[0])} was removed before its attachment was undone",
            hint=f"attach it again: execplan attach FILE -p {selected.ref.shell_name}",
        )
    return _reverse_by_move(selected, goal, options, command, details)


def _restored_copies(selected: SelectedOperation, goal: MoveTarget) -> tuple[str, ...]:
    """Return the plan and the artifacts at their old place if git has restored them there as they were."""
    project, ref = selected.project, selected.ref
    if goal.path == ref.path or not os.path.lexists(ref.path) or os.path.islink(goal.path):
        return ()
    old_text, _ = unpack_texts(selected)
    if file_access.read_if_exists(goal.path, len(old_text) + 1) != old_text:
        return ()
    artifacts = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    for folder, _, names in walk_tree(goal.artifacts):
        for copy in [os.path.join(folder, name) for name in names]:
            path = os.path.join(artifacts, os.path.relpath(copy, goal.artifacts))
            if copy != goal.path and not (os.path.isfile(path) and digest_file(copy) == digest_file(path)):
                return ()
    copies = [goal.artifacts] if os.path.isdir(goal.artifacts) else []
    return tuple(copies if goal.path.startswith(f"{goal.artifacts}/") else [*copies, goal.path])


def reverse_attachment(selected: SelectedOperation, options: WriteOptions, command: str) -> MoveResult:
    """Remove the files that an edit added to the artifacts, and its lines from the plan; raises ExecplanError."""
    project, ref, step, _ = selected
    try:
        details = unpack_details(project, step.latest)
    except ValueError as error:
        raise damaged_entry_error(selected, error) from None
    for _, path in details.files:
        if os.path.lexists(path):  # else git or a person has removed it already
            _ensure_unchanged(selected, path, details.bystanders.get(path, ""))
    folder = os.path.join(project.state, UNDONE_DIR, step.latest.id)
    pairs = tuple([(path, os.path.join(folder, os.path.basename(path))) for _, path in details.files])
    goal = MoveTarget(ref.id, ref.path, project.plan_artifacts_dir(ref.path, archived=ref.archived), pairs)
    return _reverse_by_move(selected, goal, options, command, details)


def _reverse_by_move(
    selected: SelectedOperation,
    goal: MoveTarget,
    options: WriteOptions,
    command: str,
    details: MoveDetails,
) -> MoveResult:
    project, ref, step, _ = selected
    change = reversal_change(selected, command)
    old_evidence = details.was if goal.path != ref.path else read_evidence(goal.artifacts)
    origin = ""
    if not os.path.lexists(ref.path) and os.path.lexists(goal.path):  # git or a person has moved it back
        ref, origin = plan_store.ref_for_path(project, goal.path), ref.path

    def checked(plan: ParsedPlan) -> PlanChange:
        ensure_still_next(selected, command)
        return change(plan)

    make_evidence = None if old_evidence is None else lambda data: old_evidence
    copies = _restored_copies(selected, goal) if command == UNDO else ()
    copies += tuple([target for source, target in goal.files if is_fully_copied(source, target, ())])
    reversal = Reversal(step.latest, step.operation.id, details.documents, copies, details.evidence)
    move_result = move_plan(
        project,
        ref,
        goal,
        checked,
        options,
        command=command,
        make_evidence=make_evidence,
        origin=origin,
        reversal=reversal,
    )
    if not move_result.changed:
        is_whole = all([os.path.lexists(source) or os.path.lexists(target) for source, target in goal.files])
        message = _nothing_there(selected, command, can_redo=is_whole)
        move_result = move_result._replace(messages=(message,))
    if not options.dry_run:
        for directory in sorted(details.made, key=len, reverse=True):
            atomic_files.remove_empty_directory(directory)
    return move_result


def _ensure_unchanged(selected: SelectedOperation, path: str, digest: str) -> None:
    """Raise ExecplanError if a file has changed since it was attached."""
    if digest and digest_file(path)[0] != digest:
        raise ExecplanError(
            "changed-since",
            f"{selected.project.display_path(path)} has changed since it was attached",
            hint="move it away first, or remove its line from the plan by hand",
        )
