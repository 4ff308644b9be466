"""What an attempt has changed, taken back."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.engine.entries import Change
    from execplan.engine.files.restore import RestoreResult
    from execplan.engine.steps.bench import RunContext


def undo_changes(context: RunContext, changes: Sequence[Change], folders: Sequence[str]) -> RestoreResult:
    """Let the files be as they were before; raises ExecplanError with nothing touched where that would lose something."""
    from execplan.engine.files.restore import restore

    return restore(context.workspace, context.store, changes, folders, lambda path, overwritten_digest: None)
