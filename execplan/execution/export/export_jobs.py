"""Jobs of an exported plan: waves of steps that depend on earlier waves, and what a job must find."""

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
from execplan.execution.world import FILE, FOLDER, LINK, State, normalize_path


class Job(NamedTuple):
    """Steps that run together in one directory, after all earlier jobs."""

    number: int
    """Number of the job, from 1."""
    steps: tuple[Step, ...]
    joined_because: str = ""
    """Why the job contains more than one wave; empty if it is a single wave."""


def partition(document: ExecutionPlan) -> tuple[Job, ...]:
    """Partition the steps into jobs.

    A job is a wave of steps. The next wave joins it if it may need files that no step declares, or the outcome of a
    step in this job.
    """
    waves = _find_waves(document)
    groups: list[list[Step]] = []
    reasons: list[str] = []
    for number, wave in enumerate(waves):
        earlier_steps = [step for earlier in waves[:number] for step in earlier]
        reason = _reason_to_join(earlier_steps, [step for later in waves[number:] for step in later])
        if groups and reason:
            groups[-1] += wave
            reasons[-1] = reasons[-1] or reason
        else:
            groups.append(list(wave))
            reasons.append("")
    return tuple(
        [
            Job(number, tuple(sorted(steps, key=lambda step: step.number)), reason)
            for number, (steps, reason) in enumerate(zip(groups, reasons, strict=True), 1)
        ]
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
    if step.type in PROGRAM_TYPES and not step.inputs and not step.parallel:
        return True
    reads, writes = [*step.inputs, *passed_paths(step)], passed_paths(earlier)
    return any([do_overlap(path, output) for path in reads for output in writes]) or any(
        [do_overlap(path, read) for path in passed_paths(step) for read in earlier.inputs]
    )


def _reason_to_join(earlier_steps: Sequence[Step], later_steps: Sequence[Step]) -> str:
    """Return why later steps can't run in another job than the earlier ones, or an empty string."""
    undeclared = [step.id for step in earlier_steps if _has_unknown_changes(step)]
    if undeclared:
        return f"{', '.join(undeclared)}: no declared outputs"
    searching = [step.id for step in earlier_steps if step.finds_files]
    if searching:
        return f"{', '.join(searching)}: finds its files in the checkout"
    earlier_ids = {step.id for step in earlier_steps}
    order = StepOrder([*earlier_steps, *later_steps])
    for step in later_steps:
        owners = earlier_ids.intersection(order.alternative_owners.get(step.id, ()))
        if owners:
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
    return [state.kind, state.link if state.kind == LINK else "" if state.kind == FOLDER else state.kind]
