"""What steps that run beside each other have changed of the repository and do not declare: the tree before them and behind."""

from __future__ import annotations

from execplan.engine.files import tree
from execplan.engine.ticks import plans
from execplan.execution.documents.touched import written_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.entries import Change
    from execplan.engine.steps.bench import RunContext


class Beside:
    """Made before the first of them begins, and asked when the last one has ended."""

    def __init__(self, bench: RunContext) -> None:
        self._bench = bench
        steps = [step for step in bench.document.steps if step.parallel]
        self._declared = [path for step in steps for path in written_paths(step.model_dump(mode="json"))]
        self._before = tree.take_snapshot(bench.home, bench.ground, bench.store, self._declared, None, keep=True)

    def undeclared(self) -> tuple[tuple[Change, ...], tuple[str, ...]]:
        """The changes, and the folders that were made for nothing that is declared; raises ExecplanError."""
        bench = self._bench
        after = tree.take_snapshot(bench.home, bench.ground, bench.store, self._declared, self._before, keep=True)
        changes, folders = tree.diff_snapshots(self._before, after, self._declared, bench.store, bench.ground)
        ticked = plans(bench.home, bench.ref, bench.document)
        return tuple([each for each in changes if not each.declared and each.path not in ticked]), folders
