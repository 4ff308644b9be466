"""Jobs of an exported plan: steps that run in sequence, cut where a person must decide, and what a job must find."""

from __future__ import annotations

import json
from collections.abc import Sequence

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.pure_paths import do_overlap
from execplan.core.text.text_lines import digest
from execplan.execution.attributes import STEP_OUTCOMES
from execplan.execution.binding import Binding, bound_paths
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.engine.schedule import can_run_in_parallel
from execplan.execution.engine.step_order import StepOrder
from execplan.execution.execution_plan import PROGRAM_TYPES, ExecutionPlan, Level, Step, Type
from execplan.execution.policy import Policy
from execplan.execution.risk.step_risk import effective_risk
from execplan.execution.world import FILE, FOLDER, LINK, State, normalize_path


class Job(NamedTuple):
    """Steps that run together in one directory, after all earlier jobs."""

    number: int
    """Number of the job, from 1."""
    steps: tuple[Step, ...]
    needs_person: bool = False
    """Whether a person must let the job begin."""
    joined_because: str = ""
    """Why a person must decide about steps together that could have separate jobs; empty without such steps."""

    asks_before: str = ""
    """ID of the step whose question a person answers by letting the job begin; empty without one."""
    stops_after: str = ""
    """ID of the checkpoint at which the job ends; empty without one."""


def partition(document: ExecutionPlan, policy: Policy) -> tuple[Job, ...]:
    """Partition the steps into jobs.

    Jobs follow one another, so steps that run in sequence share one, with its setup. A new one begins where a person must
    decide: between steps that need a person's approval and those that don't, before a step that asks, and after a
    checkpoint. It doesn't if later steps may need files that no step declares, or the outcome of a step.
    """
    parts = [part for wave in _find_waves(document) for part in _split_wave(wave, document, policy)]
    groups: list[_Part] = []
    reasons: list[str] = []
    for number, part in enumerate(parts):
        earlier_steps = [step for earlier in parts[:number] for step in earlier.steps]
        is_cut = bool(groups) and (part.asks_first or any([step.checkpoint for step in groups[-1].steps]))
        if groups and not is_cut and part.needs_person == groups[-1].needs_person:
            groups[-1] = groups[-1]._replace(steps=[*groups[-1].steps, *part.steps])
            continue
        reason = _reason_to_join(earlier_steps, [step for later in parts[number:] for step in later.steps])
        if groups and reason:
            needs_person = groups[-1].needs_person or part.needs_person
            groups[-1] = _Part([*groups[-1].steps, *part.steps], needs_person)
            reasons[-1] = reasons[-1] or reason
        else:
            groups.append(part._replace(needs_person=part.needs_person or is_cut))
            reasons.append("")
    return tuple(
        [group.as_job(number, reason) for number, (group, reason) in enumerate(zip(groups, reasons, strict=True), 1)]
    )


class _Part(NamedTuple):
    """Steps of a wave, or of several, that a person lets begin together, or nobody needs to."""

    steps: list[Step]
    needs_person: bool

    @property
    def asks_first(self) -> bool:
        """Return whether the first step asks a person."""
        return _asks_first(self.steps[0])

    def as_job(self, number: int, reason: str) -> Job:
        """Return the job with these steps."""
        steps = tuple(sorted(self.steps, key=lambda step: step.number))
        asks_before = self.steps[0].id if self.asks_first else ""
        stops_after = self.steps[-1].id if self.steps[-1].checkpoint else ""
        return Job(number, steps, self.needs_person, reason, asks_before, stops_after)


def _asks_first(step: Step) -> bool:
    return step.confirm or step.type is Type.MANUAL


def _split_wave(wave: Sequence[Step], document: ExecutionPlan, policy: Policy) -> list[_Part]:
    """Split a wave: steps that the policy approves, those that a person approves, then each that asks or stops."""
    quiet = [step for step in wave if not (_asks_first(step) or step.checkpoint)]
    by_policy = [step for step in quiet if not _needs_person(step, document, policy)]
    by_person = [step for step in quiet if step not in by_policy]
    single_parts = [
        _Part([step], _asks_first(step) or _needs_person(step, document, policy)) for step in wave if step not in quiet
    ]
    return [part for part in (_Part(by_policy, False), _Part(by_person, True), *single_parts) if part.steps]


def _needs_person(step: Step, document: ExecutionPlan, policy: Policy) -> bool:
    return (
        step.inferred or document.constraints.allow_unplanned or policy.needs_person(effective_risk(step, policy).level)
    )


def count_parallel_steps(job: Job) -> int:
    """Return how many steps of a job may run at the same time, and at least 1."""
    return max(sum([can_run_in_parallel(step) for step in job.steps]), 1)


def passed_paths(step: Step) -> list[str]:
    """Return the paths that later jobs get from a step: its outputs and the files that it writes."""
    paths = [normalize_path(path) for path in written_paths(step.model_dump())]
    return [path for path in paths if path is not None]


def _find_waves(document: ExecutionPlan) -> list[list[Step]]:
    """Return the waves: a step is in the first wave after all steps that must come before it."""
    order = StepOrder(document.steps)
    wave_of: dict[str, int] = {}
    for index, step in enumerate(document.steps):
        names = {*order.dependencies(step), *order.alternative_owners.get(step.id, ())}
        names |= {
            earlier.id
            for earlier in document.steps[:index]
            if document.constraints.require_sequential or _may_depend(step, earlier)
        }
        wave_of[step.id] = max([wave_of[name] + 1 for name in names if name in wave_of], default=0)
    waves: list[list[Step]] = [[] for _ in range(max(wave_of.values()) + 1)]
    for step in document.steps:
        waves[wave_of[step.id]].append(step)
    return waves


def _may_depend(step: Step, earlier: Step) -> bool:
    """Return whether a step may need an earlier one that it does not name, because `run` runs it after that one."""
    if step.type is Type.MANUAL or (step.type in PROGRAM_TYPES and not step.inputs and not step.parallel):
        return True
    reads, writes = [*step.inputs, *passed_paths(step)], passed_paths(earlier)
    return any([do_overlap(path, output) for path in reads for output in writes]) or any(
        [do_overlap(path, read) for path in passed_paths(step) for read in earlier.inputs]
    )


def _reason_to_join(earlier_steps: Sequence[Step], later_steps: Sequence[Step]) -> str:
    """Return why later steps can't run in another job than the earlier ones, or an empty string."""
    if undeclared := [step.id for step in earlier_steps if _has_unknown_changes(step)]:
        return f"{', '.join(undeclared)}: no declared outputs"
    if searching := [step.id for step in earlier_steps if step.finds_files]:
        return f"{', '.join(searching)}: finds its files in the checkout"
    earlier_ids = {step.id for step in earlier_steps}
    order = StepOrder([*earlier_steps, *later_steps])
    for step in later_steps:
        if owners := earlier_ids.intersection(order.alternative_owners.get(step.id, ())):
            return f"{step.id}: the alternative to {', '.join(sorted(owners))}"
        if step.when is not None and step.when.kind in STEP_OUTCOMES and step.when.of in earlier_ids:
            return f"{step.id}: depends on the outcome of {step.when.of}"
    return ""


def _has_unknown_changes(step: Step) -> bool:
    """Return whether a step may change files that it does not declare. Commands of the lowest risk only read."""
    if step.type is Type.INSTALL:
        return True
    return step.type in PROGRAM_TYPES and not step.outputs and step.risk.level is not Level.LOW


def job_digest(binding: Binding, jobs: Sequence[Job], number: int) -> str:
    """Return the SHA-256 of the execution plan, the job, and the files that no earlier job writes.

    Of the mode of a file only the executable bit counts, because a checkout depends on the umask. Programs and the
    policy are not part of it: they belong to the machine.
    """
    earlier_outputs = [path for job in jobs[: number - 1] for step in job.steps for path in passed_paths(step)]
    used = dict.fromkeys([path for job in jobs for step in job.steps for path in bound_paths(step)])
    states = {
        path: _portable_state(binding.states[path])
        for path in sorted(used)
        if not any([do_overlap(path, other) for other in earlier_outputs])
    }
    content = {
        "document": binding.document,
        "jobs": [[step.id for step in job.steps] for job in jobs],
        "job": number,
        "states": states,
    }
    return digest(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())


def _portable_state(state: State) -> list[str]:
    if state.kind == FILE:
        return [state.kind, state.sha256, "x" if state.mode & 0o100 else "-"]
    if state.kind == LINK:
        return [state.kind, state.link]
    return [state.kind, "" if state.kind == FOLDER else state.kind]
