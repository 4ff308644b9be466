"""Snapshots of the tree before and after a step that runs a program, and the changes between them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from execplan.core.text.pure_paths import do_overlap
from execplan.execution.binding import describe_difference
from execplan.execution.engine import ticks
from execplan.execution.engine.journal.journal_entries import StateChange
from execplan.execution.engine.steps.run_context import RunContext
from execplan.execution.engine.steps.step_paths import list_declared_paths, program_marks_path, snapshot_path
from execplan.execution.engine.ticks import list_plan_files
from execplan.execution.engine.workspace import workspace_snapshot
from execplan.execution.engine.workspace.workspace_snapshot import WorkspaceSnapshot
from execplan.execution.evaluation.projected_files import normalize_paths
from execplan.execution.evaluation.trial import target_paths
from execplan.execution.execution_plan import Step
from execplan.execution.world import State


class ParallelChanges:
    """Undeclared changes of parallel steps, from before the first one begins until the last one has ended."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        steps = [step for step in context.document.steps if step.parallel]
        self._declared = [path for step in steps for path in list_declared_paths(step)]
        self._tree_before = workspace_snapshot.take_snapshot(
            context.run_paths.project, context.workspace, context.store, self._declared, None, keep=True
        )

    def undeclared(self) -> tuple[tuple[StateChange, ...], tuple[str, ...]]:
        """Return the undeclared changes and created directories. Raises ExecplanError."""
        context = self._context
        tree_after = workspace_snapshot.take_snapshot(
            context.run_paths.project, context.workspace, context.store, self._declared, self._tree_before, keep=True
        )
        changes, folders = workspace_snapshot.diff_snapshots(
            self._tree_before, tree_after, self._declared, context.store, context.workspace
        )
        ticked_paths = list_plan_files(context.run_paths.project, context.run_paths.ref, context.document)
        return (
            tuple([change for change in changes if not change.declared and change.path not in ticked_paths]),
            tuple([folder for folder in folders if not _is_near(folder, self._declared)]),
        )


def own_changes(
    step: Step, changes: tuple[StateChange, ...], folders: tuple[str, ...]
) -> tuple[tuple[StateChange, ...], tuple[str, ...]]:
    """Return the changes and created directories that a step declares: others may be of steps that ran in parallel."""
    paths = list_declared_paths(step)
    return (
        tuple([change for change in changes if change.declared]),
        tuple([folder for folder in folders if _is_near(folder, paths)]),
    )


def _is_near(folder: str, paths: list[str]) -> bool:
    """Return whether a directory is one of the paths, in one of them, or contains one."""
    return any([do_overlap(folder, path) for path in paths])


_last_trees: dict[str, WorkspaceSnapshot] = {}
"""The last snapshot of the active run, by run ID. Files that have not changed since are not read again."""
_saved_trees: dict[str, WorkspaceSnapshot] = {}
"""The snapshots before the steps that this process is running, by the paths of their files."""
_KNOWN_TREE = "last.tree"
"""Name of the snapshot among the backups that a run has saved last: the next one reads only what has changed since."""
_last_saved: dict[str, WorkspaceSnapshot] = {}
"""The snapshot that was saved last, by the path of its file."""


def save_snapshot(context: RunContext, step: Step) -> None:
    """Save a snapshot of the tree before a step. Raises ExecplanError."""
    from execplan.execution.engine.workspace import workspace_snapshot

    folder, path = context.run_paths.state, snapshot_path(context.run_paths, step)
    known_path = os.path.join(context.store.folder, _KNOWN_TREE)
    last_tree = _last_trees.get(context.run_paths.id) or workspace_snapshot.load_if_usable(known_path)
    tree = _scan_tree(context, step, last_tree, keep=True)
    same_paths = [
        saved_path
        for saved_path, saved_tree in _last_saved.items()
        if os.path.dirname(saved_path) == folder and workspace_snapshot.is_same_tree(saved_tree, tree)
    ]
    workspace_snapshot.save(tree, path, *same_paths)
    if not same_paths:
        workspace_snapshot.link(path, known_path, replaces=True)
    _last_saved.clear()
    _last_saved[path] = _saved_trees[path] = tree


def has_snapshot(context: RunContext, step: Step) -> bool:
    """Return whether the snapshot before a step exists.

    It is saved before the step begins; without it, the state of the tree at that time is unknown.
    """
    return os.path.lexists(snapshot_path(context.run_paths, step))


def changes_since_snapshot(
    context: RunContext, step: Step, interrupted_attempt: int = 0
) -> tuple[tuple[StateChange, ...], tuple[str, ...], str]:
    """Return the changes since the snapshot, the created directories, and a description of what was not scanned.

    What was written after the program of `interrupted_attempt` had ended is left out: it is somebody else's.
    Raises ExecplanError.
    """
    from execplan.execution.engine.workspace import workspace_snapshot

    if not has_snapshot(context, step):
        return (), (), "in the repository (the snapshot from before the step is missing)"
    path = snapshot_path(context.run_paths, step)
    before = _saved_trees.pop(path, None) or workspace_snapshot.load(path)
    after = _scan_tree(context, step, before, keep=False)
    _last_trees.clear()
    _last_trees[context.run_paths.id] = after
    changes, folders = workspace_snapshot.diff_snapshots(
        before, after, list_declared_paths(step), context.store, context.workspace
    )
    ticked_paths = ticks.list_plan_files(context.run_paths.project, context.run_paths.ref, context.document)
    unscanned = "in files that git ignores" if before.unseen or after.unseen else ""
    unscanned = unscanned if before.is_complete and after.is_complete else "in undeclared files"
    if interrupted_attempt and (end := _program_end(context, step, interrupted_attempt)):
        changes = tuple([change for change in changes if _change_time(context, change.path) <= end])
        folders = tuple([folder for folder in folders if _change_time(context, folder) <= end])
    return tuple([change for change in changes if change.path not in ticked_paths]), folders, unscanned


def unexplained_changes(
    context: RunContext, step: Step, expected: Mapping[str, State], folders: Collection[str]
) -> tuple[tuple[StateChange, ...], tuple[str, ...]]:
    """Return the changes since the snapshot of a step, and the created directories, that no step accounts for.

    `expected` and `folders` are what the steps have left. Raises ExecplanError.
    """
    changes, new_folders, _ = changes_since_snapshot(context, step)
    return (
        tuple(
            [
                change._replace(before=expected.get(change.path, change.before))
                for change in changes
                if change.path not in expected or describe_difference(expected[change.path], change.after)
            ]
        ),
        tuple([folder for folder in new_folders if folder not in folders]),
    )


def _program_end(context: RunContext, step: Step, attempt: int) -> int:
    """Return the last time of a change by the programs of an attempt, in nanoseconds; 0 if nobody saw one of them end.

    A supervisor that outlived execplan writes its mark a while after the end, so that the time of the mark is too late.
    """
    bases = [program_marks_path(context.run_paths, step, attempt, test=test) for test in (False, True)]
    end = 0
    for base in [base for base in bases if os.path.lexists(f"{base}.begun")]:
        marks = [mark for mark in (f"{base}.ended", f"{base}.stopped") if os.path.lexists(mark)]
        if not marks:
            return 0
        end = max(end, os.lstat(marks[0]).st_mtime_ns - marks[0].endswith(".stopped"))
    return end


def _change_time(context: RunContext, path: str) -> int:
    """Return when a file or directory was last changed, in nanoseconds; 0 if it is gone."""
    try:
        return os.lstat(os.path.join(context.run_paths.project.root, path)).st_ctime_ns
    except OSError:
        return 0


def _scan_tree(
    context: RunContext, step: Step, known_tree: WorkspaceSnapshot | None, *, keep: bool
) -> WorkspaceSnapshot:
    """Scan the tree, including ignored files that this step declares or another step targets."""
    from execplan.execution.engine.workspace import workspace_snapshot

    other_paths = [path for other_step in context.document.steps for path in normalize_paths(target_paths(other_step))]
    return workspace_snapshot.take_snapshot(
        context.run_paths.project,
        context.workspace,
        context.store,
        [*list_declared_paths(step), *other_paths],
        known_tree,
        keep=keep,
    )
