"""Context for decisions on calls: the steps, the progress of the run, the approval, and what may be read."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.text_lines import digest
from execplan.execution.approvals.reserved_paths import make_protection_check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from execplan.core.project.project import Project
    from execplan.execution.engine.agent_runs.guard_grant import GuardGrant
    from execplan.execution.engine.journal.journal import RunEntry
    from execplan.execution.engine.ordering_fields import OrderedStep
    from execplan.execution.engine.run_state import RunState
    from execplan.execution.engine.step_order import StepOrder
    from execplan.execution.permission import ApprovalTerms
    from execplan.execution.world import State


class PlannedStep(NamedTuple):
    """A planned step with its risk level."""

    step: dict[str, Any]
    """JSON step of the document, unchanged."""
    level: str
    """Rated risk level of the step."""


class GuardScope(NamedTuple):
    """The repository in which a call is evaluated, with its constraints and expected files."""

    root: str
    """Real path of the repository."""
    constraints: dict[str, Any]
    """Constraints of the document."""
    expected: Mapping[str, State]
    """Expected states by path from the root, as in `RunState.expected_states`."""
    protected: Callable[[str], str]
    """Describes a path from the root that belongs to git or execplan; returns an empty string for other paths."""
    before_work: Mapping[str, State]
    """States of the paths of unfinished steps, as in `RunState.states_before_work`."""
    read_content: Callable[[str, State], bytes | None]
    """Reads the bytes of a path in a state, from the file itself if it has them, otherwise from the backup store."""
    commits: tuple[str, ...] = ()
    """What the agent may commit, as in `Policy.commits`."""
    other_roots: Callable[[], Sequence[str]] = tuple
    """Returns the real paths of the repository's other worktrees."""


class PlanlessContext(NamedTuple):
    """The data for a decision on a call that no plan could allow."""

    project: Project
    read_policy: str
    tools: tuple[str, ...]
    """Tools that the user's own settings allow."""
    commits: tuple[str, ...]
    """What the agent may commit, as in `Policy.commits`."""

    @property
    def planned_steps(self) -> tuple[PlannedStep, ...]:
        """Planned steps: there are none."""
        return ()

    @property
    def scope(self) -> GuardScope:
        """Scope in which a call is evaluated."""
        return _make_scope(self.project, {}, {}, {}, self.commits)


class GuardContext(NamedTuple):
    """The data for a decision on a call: policy, steps, run and approval."""

    project: Project
    read_policy: str
    tools: tuple[str, ...]
    """Tools that the user's own settings allow."""
    commits: tuple[str, ...]
    """What the agent may commit, as in `Policy.commits`."""
    hidden: tuple[str, ...]
    """Secrets in the document, which no reason may contain."""
    plan: str
    """ID of the plan."""
    constraints: dict[str, Any]
    planned_steps: tuple[PlannedStep, ...]
    plain_steps: Mapping[str, OrderedStep]
    run_state: RunState
    terms: ApprovalTerms
    interval: int

    @property
    def scope(self) -> GuardScope:
        """Scope in which a call is evaluated."""
        run_state = self.run_state
        expected, before_work = run_state.expected_states, run_state.states_before_work()
        return _make_scope(self.project, self.constraints, expected, before_work, self.commits)

    def make_order(self) -> StepOrder:
        """Return the order of the steps."""
        from execplan.execution.engine.step_order import StepOrder

        return StepOrder([*self.plain_steps.values()], sequential=bool(self.constraints.get("require_sequential")))


def _make_scope(
    project: Project,
    constraints: dict[str, Any],
    expected: Mapping[str, State],
    before_work: Mapping[str, State],
    commits: tuple[str, ...],
) -> GuardScope:
    return GuardScope(
        os.path.realpath(project.root),
        constraints,
        expected,
        make_protection_check(project),
        before_work,
        lambda path, state: _read_content(project, path, state),
        commits,
        lambda: _other_roots(project),
    )


def _other_roots(project: Project) -> list[str]:
    from execplan.core.git.linked_worktrees import list_worktrees

    try:
        worktrees = list_worktrees(project)
    except ExecplanError:
        return []
    return [
        worktree.root for worktree in worktrees if worktree.exists and worktree.root != os.path.realpath(project.root)
    ]


def context_from_grant(grant: GuardGrant, entries: Sequence[RunEntry]) -> GuardContext:
    """Build the context of an active run from its grant and journal. Raises ExecplanError."""
    from execplan.execution.engine.ordering_fields import parse_ordering_fields
    from execplan.execution.engine.run_state import RunState

    document = parse_ordering_fields({"steps": [allowed_step.step for allowed_step in grant.steps]})
    run_state: Any = RunState(document, entries)  # type: ignore[arg-type] # of a step it reads number and id, which plain ones have
    return GuardContext(
        project=grant.home,
        read_policy=grant.reads,
        tools=grant.tools,
        commits=grant.commits,
        hidden=grant.hidden,
        plan=grant.plan,
        constraints=grant.constraints,
        planned_steps=tuple([PlannedStep(allowed_step.step, allowed_step.level) for allowed_step in grant.steps]),
        plain_steps={step.id: step for step in document.steps},
        run_state=run_state,
        terms=grant.terms,
        interval=grant.interval,
    )


def _read_content(project: Project, path: str, state: State) -> bytes | None:
    from execplan.execution.approvals.disk_world import MAX_SHOWN_BYTES, DiskWorld

    if not state.sha256 or state.size > MAX_SHOWN_BYTES:
        return None
    try:
        data = DiskWorld(project).read(path)
        if digest(data) == state.sha256:
            return data
    except ExecplanError:
        pass
    from execplan.execution.engine.workspace.backup_store import BackupStore

    return BackupStore(project).get(state.sha256)
