"""What steps that run beside each other have changed of the repository and do not declare: the tree before them and behind."""

from __future__ import annotations

from execplan.engine.files import tree
from execplan.engine.ticks import list_plan_files
from execplan.execution.documents.touched import written_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.entries import Change
    from execplan.engine.steps.bench import RunContext


class ParallelChanges:
    """Made before the first of them begins, and asked when the last one has ended."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        steps = [step for step in context.document.steps if step.parallel]
        self._declared = [path for step in steps for path in written_paths(step.model_dump(mode="json"))]
        self._tree_before = tree.take_snapshot(context.project, context.workspace, context.store, self._declared, None, keep=True)

    def undeclared(self) -> tuple[tuple[Change, ...], tuple[str, ...]]:
        """The changes, and the folders that were made for nothing that is declared; raises ExecplanError."""
        context = self._context
        tree_after = tree.take_snapshot(context.project, context.workspace, context.store, self._declared, self._tree_before, keep=True)
        changes, folders = tree.diff_snapshots(self._tree_before, tree_after, self._declared, context.store, context.workspace)
        ticked_paths = list_plan_files(context.project, context.ref, context.document)
        return tuple([change for change in changes if not change.declared and change.path not in ticked_paths]), folders
