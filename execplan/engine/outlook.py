"""What a run would do, with nothing done: its steps in their order, what is skipped and why, and who has approved it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.engine import begin
from execplan.engine.command_warnings import command_warnings
from execplan.engine.schedule import NOT_CHOSEN, Schedule
from execplan.repo.amend import stop_archived
from execplan.repo.execution import standing
from execplan.repo.homes import existing

if TYPE_CHECKING:
    from execplan.engine.watch import RunOptions
    from execplan.execution.approval import Approval
    from execplan.execution.evaluate import EvaluatedStep
    from execplan.execution.model import ExecutionPlan
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Planned(NamedTuple):
    """A step, and what would become of it."""

    judged: EvaluatedStep
    """With what it would do: the exact diff, or why nobody can say."""
    runs: bool
    why: str
    """Why it would not run, or only if another one fails; nothing for the others."""


class Outlook(NamedTuple):
    """What a run would do."""

    document: ExecutionPlan
    steps: tuple[Planned, ...]
    """In the order in which they would be begun."""
    approval: Approval
    sandbox: str
    """What guards its commands; nothing for nothing."""
    why: str
    """Why nothing does."""
    warnings: tuple[str, ...]


def outlook(home: Home, ref: Ref, chosen: RunOptions) -> Outlook:
    """Look at what `run` would do, and write nothing; raises ExecplanError where it would be refused."""
    from execplan.engine.commands.sandbox import find_sandbox
    from execplan.repo.execution.evaluated import evaluated

    existing(home)
    stop_archived(home, ref)
    begin.stop_underway(home, ref)
    found = standing.require(home, ref)
    assert found.now is not None  # what may run compiles to something
    assert found.approval is not None
    document, policy = found.now.current.document, found.now.policy
    begin.stop_agent(document, ref)
    ids = begin.chosen_steps(document, chosen)
    schedule = Schedule(document, ids, lambda path: False)
    chosen_ones = [step for step in document.steps if step.id in schedule.chosen]
    begin.stop_unapproved(begin.permit_of(found, schedule), found.approval, chosen_ones)
    if chosen.replays:
        from execplan.engine import replay

        replay.find(home, ref, chosen.replays, found.now.binding)
    sandbox, why = find_sandbox(home, policy)
    judged = evaluated(home, ref).evaluation.steps
    steps = tuple([_planned(each, schedule) for each in judged])
    warnings = (*command_warnings(home, policy, chosen_ones), *schedule.unchosen_needs())
    return Outlook(document, steps, found.approval, begin.name_of(sandbox), why, warnings)


def _planned(judged: EvaluatedStep, schedule: Schedule) -> Planned:
    """What would become of a step, as far as anybody can say."""
    step = judged.step
    if step.id not in schedule.chosen:
        return Planned(judged, runs=False, why=NOT_CHOSEN)
    owners = schedule.stands_for(step.id)
    if owners:
        return Planned(judged, runs=False, why=f"it stands in for {', '.join(owners)}, and runs only if that fails")
    if step.when is not None and step.when.kind == "failed":
        return Planned(judged, runs=False, why=f"it runs only if {step.when.of} fails")
    if judged.dry_run.why.startswith("it is skipped"):
        return Planned(judged, runs=False, why=judged.dry_run.why)
    return Planned(judged, runs=True, why="")
