"""Snapshots of the tree before and after a step that runs a program, and the changes between them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from execplan.core.files import atomic_files, content_file, file_access
from execplan.core.text.pure_paths import do_overlap
from execplan.execution.binding import describe_difference
from execplan.execution.engine import ticks
from execplan.execution.engine.commands.machine_start import machine_start
from execplan.execution.engine.journal.journal_entries import StateChange
from execplan.execution.engine.run_records import evidence_copies
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.steps.run_context import RunContext
from execplan.execution.engine.steps.step_paths import list_declared_paths, program_marks_path, snapshot_name
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
_kept_trees: dict[tuple[str, str], WorkspaceSnapshot] = {}
"""The snapshots before the steps that this process is running, by the run's ID and the names under which they are kept."""
_KNOWN_TREE = "last.tree"
"""Name of the snapshot among the backups that a run has kept last: the next one reads only what has changed since."""
MACHINE_START = "machine-start"
"""Name of the file next to the marks of programs with the start of the machine in which they are written."""
_MAX_START = 1 << 10
_last_kept: dict[tuple[str, str], WorkspaceSnapshot] = {}
"""The snapshot that was kept last, by the same."""


def keep_snapshot(context: RunContext, step: Step) -> None:
    """Keep a snapshot of the tree before a step. Raises ExecplanError."""
    from execplan.execution.engine.workspace import workspace_snapshot

    run, kept_path, name = context.run_paths.id, context.run_paths.kept_path, snapshot_name(step)
    known_path = os.path.join(context.store.folder, _KNOWN_TREE)
    last_tree = _last_trees.get(run) or workspace_snapshot.load_if_usable(known_path)
    tree = _scan_tree(context, step, last_tree, keep=True)
    same_names = [
        same_name
        for (same_run, same_name), kept_tree in _last_kept.items()
        if same_run == run and workspace_snapshot.is_same_tree(kept_tree, tree)
    ]
    if not same_names or not content_file.keep_again(kept_path, name, same_names[0]):
        data = workspace_snapshot.encode(tree)
        content_file.keep(kept_path, {name: data})
        atomic_files.replace(known_path, data, mode=0o600, durable=False)
    _write_machine_start(context.run_paths)
    _last_kept.clear()
    _last_kept[run, name] = _kept_trees[run, name] = tree


def _write_machine_start(run_paths: RunPaths) -> None:
    """Write into the directory of the marks which start of the machine this is. Raises ExecplanError."""
    path, start = os.path.join(run_paths.state, MACHINE_START), machine_start()
    if file_access.read_if_exists(path, _MAX_START) != start:
        atomic_files.replace(path, start, durable=False)


def are_marks_complete(run_paths: RunPaths) -> bool:
    """Return whether no marks of programs can be lost: the machine has not stopped since the last snapshot.

    Raises ExecplanError.
    """
    start = file_access.read_if_exists(os.path.join(run_paths.state, MACHINE_START), _MAX_START)
    return bool(start) and start == machine_start()


def has_snapshot(context: RunContext, step: Step) -> bool:
    """Return whether the snapshot before a step is kept. Raises ExecplanError.

    It is kept before the step begins; without it, the state of the tree at that time is unknown.
    """
    return evidence_copies.has(context.run_paths, snapshot_name(step))


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
    run_paths, name = context.run_paths, snapshot_name(step)
    before = _kept_trees.pop((run_paths.id, name), None) or workspace_snapshot.decode(
        evidence_copies.read(run_paths, name) or b"", name
    )
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
    if not are_marks_complete(context.run_paths):
        return 0
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
