"""The looks at the tree before and behind a step in which a program runs."""

from __future__ import annotations

import os

from execplan.engine import ticks
from execplan.engine.steps.step_paths import list_declared_paths, snapshot_path
from execplan.engine.ticks import list_plan_files
from execplan.engine.workspace import workspace_snapshot
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.evaluation.projected_files import normalize_paths
from execplan.execution.evaluation.trial import target_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.journal.journal_entries import Change
    from execplan.engine.steps.run_context import RunContext
    from execplan.engine.workspace.workspace_snapshot import WorkspaceSnapshot
    from execplan.execution.execution_plan import Step


class ParallelChanges:
    """Made before the first of them begins, and asked when the last one has ended."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        steps = [step for step in context.document.steps if step.parallel]
        self._declared = [path for step in steps for path in written_paths(step.model_dump(mode="json"))]
        self._tree_before = workspace_snapshot.take_snapshot(
            context.project, context.workspace, context.store, self._declared, None, keep=True
        )

    def undeclared(self) -> tuple[tuple[Change, ...], tuple[str, ...]]:
        """The changes, and the folders that were made for nothing that is declared; raises ExecplanError."""
        context = self._context
        tree_after = workspace_snapshot.take_snapshot(
            context.project, context.workspace, context.store, self._declared, self._tree_before, keep=True
        )
        changes, folders = workspace_snapshot.diff_snapshots(
            self._tree_before, tree_after, self._declared, context.store, context.workspace
        )
        ticked_paths = list_plan_files(context.project, context.ref, context.document)
        return tuple([change for change in changes if not change.declared and change.path not in ticked_paths]), folders


_last_trees: dict[str, WorkspaceSnapshot] = {}
"""The last look of the run that is under way, by its id: what is as it was then is not read again."""


def save_snapshot(context: RunContext, step: Step) -> None:
    """Keep the tree as it is before a step; raises ExecplanError."""
    from execplan.engine.workspace import workspace_snapshot

    last_tree = _last_trees.get(context.run_paths.id)
    workspace_snapshot.save(_scan_tree(context, step, last_tree, keep=True), snapshot_path(context.run_paths, step))


def has_snapshot(context: RunContext, step: Step) -> bool:
    """Whether the look before a step is there: it is kept before the step is begun, so without it nothing is known of that."""
    return os.path.lexists(snapshot_path(context.run_paths, step))


def changes_since_snapshot(context: RunContext, step: Step) -> tuple[tuple[Change, ...], tuple[str, ...], str]:
    """What has changed since, the folders that were made, and where nobody has looked, in words; raises ExecplanError."""
    from execplan.engine.workspace import workspace_snapshot

    if not has_snapshot(context, step):
        return (), (), "in the repository (the look at it from before is gone)"
    before = workspace_snapshot.load(snapshot_path(context.run_paths, step))
    after = _scan_tree(context, step, before, keep=False)
    _last_trees.clear()
    _last_trees[context.run_paths.id] = after
    changes, folders = workspace_snapshot.diff_snapshots(
        before, after, list_declared_paths(step), context.store, context.workspace
    )
    ticked_paths = ticks.list_plan_files(context.project, context.ref, context.document)
    unscanned = "in files that git ignores" if before.unseen or after.unseen else ""
    unscanned = unscanned if before.is_complete and after.is_complete else "in files that it does not declare"
    return tuple([change for change in changes if change.path not in ticked_paths]), folders, unscanned


def _scan_tree(
    context: RunContext, step: Step, known_tree: WorkspaceSnapshot | None, *, keep: bool
) -> WorkspaceSnapshot:
    """The tree, with what git ignores where this step says that it writes it, or another is to change it."""
    from execplan.engine.workspace import workspace_snapshot

    other_paths = [path for other_step in context.document.steps for path in normalize_paths(target_paths(other_step))]
    return workspace_snapshot.take_snapshot(
        context.project,
        context.workspace,
        context.store,
        [*list_declared_paths(step), *other_paths],
        known_tree,
        keep=keep,
    )
