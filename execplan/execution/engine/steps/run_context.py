"""Shared context of the steps of a run, and of the inspection of what they have left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from execplan.core.secrets.redaction import Redactor
    from execplan.execution.engine.commands.command_sandbox import Sandbox
    from execplan.execution.engine.commands.stop_signal import StopSignal
    from execplan.execution.engine.commands.supervisor_parent import SupervisorParent
    from execplan.execution.engine.run_observer import RunObserver
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.engine.run_state import RunState
    from execplan.execution.engine.steps.services import Services
    from execplan.execution.engine.workspace.backup_store import BackupStore
    from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
    from execplan.execution.execution_plan import ExecutionPlan
    from execplan.execution.policy import Policy


class RunContext(NamedTuple):
    """Everything that the steps of a run share."""

    run_paths: RunPaths
    document: ExecutionPlan
    policy: Policy
    workspace: WorkspaceFiles
    store: BackupStore
    sandbox: Sandbox | None
    redaction: Redactor
    stop: StopSignal
    observer: RunObserver
    deadline: float
    """Time limit of the whole run, by time.monotonic()."""
    traceparent: str = ""
    """Value of `TRACEPARENT` for the commands of an attempt; empty if no traces are sent."""
    running_services: Services | None = None
    """The services that the session of the run has started; None outside of a session, or if no step is one."""
    supervisor_parent: SupervisorParent | None = None
    """The parent of the supervisors of the session; None outside of a session."""

    @property
    def services(self) -> Services:
        """The services that the session of the run has started."""
        assert self.running_services is not None
        return self.running_services


def create_context(
    run_paths: RunPaths,
    document: ExecutionPlan,
    policy: Policy,
    sandbox: Sandbox | None,
    observer: RunObserver,
    deadline: float,
) -> RunContext:
    """Create the context of a run that nothing has stopped. Raises ExecplanError."""
    from execplan.execution.engine.commands.command_environment import make_redaction
    from execplan.execution.engine.commands.stop_signal import StopSignal
    from execplan.execution.engine.workspace.backup_store import BackupStore
    from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles

    project = run_paths.project
    return RunContext(
        run_paths,
        document,
        policy,
        WorkspaceFiles(project),
        BackupStore(project),
        sandbox,
        make_redaction(),
        StopSignal(),
        observer,
        deadline,
    )


def make_inspection_context(run_paths: RunPaths, run_state: RunState, observer: RunObserver) -> RunContext:
    """Create a context to inspect the files that steps have left; it cannot run steps. Raises ExecplanError."""
    from execplan.execution.approvals.effective_policy import effective_policy
    from execplan.execution.engine.commands.command_sandbox import find_sandbox

    policy = effective_policy(run_paths.project)
    try:
        sandbox = find_sandbox(run_paths.project, policy)[0]
    except ExecplanError:
        sandbox = None
    return create_context(run_paths, run_state.document, policy, sandbox, observer, 0.0)
