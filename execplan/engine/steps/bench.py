"""What a step is done with."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.commands.sandbox import Sandbox
    from execplan.engine.commands.stop import StopSignal
    from execplan.engine.files.ground import WorkspaceFiles
    from execplan.engine.files.store import BackupStore
    from execplan.engine.place import RunPaths
    from execplan.engine.watch import RunObserver
    from execplan.execution.model import ExecutionPlan
    from execplan.execution.policy import Policy
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef
    from execplan.text.redaction import Redactor


class RunContext(NamedTuple):
    """All that the steps of a run share."""

    project: Project
    ref: PlanRef
    document: ExecutionPlan
    policy: Policy
    run_paths: RunPaths
    workspace: WorkspaceFiles
    store: BackupStore
    sandbox: Sandbox | None
    redaction: Redactor
    stop: StopSignal
    observer: RunObserver
    deadline: float
    """Of the whole run, by time.monotonic()."""
