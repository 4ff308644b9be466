"""Evaluation of an agent's step report: where checks are possible, they decide, whatever the agent reports."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple
from execplan.core.timestamps import seconds_since
from execplan.execution.attributes import FILE_TYPES
from execplan.execution.binding import describe_difference, sanitize_state
from execplan.execution.engine.agent_runs.recorded_reports import COMPLETED, FAILED, StepReport, evidence_digest
from execplan.execution.engine.commands.command_result import CommandResult
from execplan.execution.engine.journal.journal_entries import AttemptResult, JournaledChecks, StateChange
from execplan.execution.engine.recovery.failure_recovery import EXPECTATION
from execplan.execution.engine.steps.command_execution import ERROR, ActionResult
from execplan.execution.engine.steps.file_writes import plan_changes
from execplan.execution.engine.steps.step_checks import StepCheckResult, check_step
from execplan.execution.engine.steps.step_execution import AttemptTranscript, outside_effects
from execplan.execution.engine.steps.step_paths import is_command, list_declared_paths, parent_folders
from execplan.execution.engine.workspace import workspace_snapshot
from execplan.execution.engine.workspace.workspace_walk import WorkspaceWalker
from execplan.execution.evaluation.projected_files import ImpossibleError, ProjectedChange
from execplan.execution.execution_plan import Type
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, State, normalize_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from execplan.execution.engine.commands.command_transcript import Transcript
    from execplan.execution.engine.run_state import Attempt, RunState
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step
    from execplan.execution.world import State


_MAX_FILES = 2000
"""Maximum number of files in a new directory that are rolled back one by one."""


class ObservedChanges(NamedTuple):
    """The changes found at a step's declared paths."""

    changes: tuple[StateChange, ...]
    folders: tuple[str, ...]
    """Created directories, outer ones first."""
    unknown_paths: tuple[str, ...]
    """Paths whose previous state is unknown."""


def observe(
    context: RunContext, step: Step, before: Mapping[str, State], run_state: RunState, *, keep: bool
) -> ObservedChanges:
    """Inspect the declared paths of a step. With `keep`, back up their current contents. Raises ExecplanError."""
    changes: list[StateChange] = []
    inner_folders: list[str] = []
    unknown_paths = []
    for path in list_declared_paths(step):
        previous_state = before.get(path, run_state.expected_states.get(path))
        current_state = context.store.save_path(context.workspace, path) if keep else context.workspace.state(path)
        if previous_state is None:
            unknown_paths += [path] if current_state.kind != ABSENT else []
        elif current_state.kind == FOLDER:
            files = dict(_iter_contents(context, path, keep=keep)) if previous_state.kind == ABSENT else {}
            inner_folders += [path] if previous_state.kind == ABSENT else []
            inner_folders += [name for name, state in files.items() if state.kind == FOLDER]
            unknown_paths += [path] if previous_state.kind != ABSENT or len(files) >= _MAX_FILES else []
            changes += [
                _change(context, name, State(ABSENT), state) for name, state in files.items() if state.kind != FOLDER
            ]
        elif describe_difference(sanitize_state(previous_state), sanitize_state(current_state)):
            changes.append(_change(context, path, previous_state, current_state))
    created_folders = [
        folder
        for folder in parent_folders(list_declared_paths(step))
        if _is_created(context, folder, before, run_state)
    ]
    folders = sorted(
        {*created_folders, *inner_folders} - run_state.created_folders(), key=lambda directory: directory.split("/")
    )
    return ObservedChanges(tuple(changes), tuple(folders), tuple(unknown_paths))


def _iter_contents(context: RunContext, path: str, *, keep: bool) -> Iterator[tuple[str, State]]:
    """Iterate over the contents of a new directory, up to the limit for rolling back file by file."""
    walker = WorkspaceWalker(context.run_paths.project, context.workspace)
    walker.collect_path(path)
    for name in sorted(walker.statuses)[:_MAX_FILES]:
        if name.startswith(f"{path}/"):
            yield name, context.store.save_path(context.workspace, name) if keep else context.workspace.state(name)


def _change(context: RunContext, path: str, old: State, new: State) -> StateChange:
    return StateChange(
        path, old, new, *workspace_snapshot.count_line_changes(context.store, context.workspace, path, old, new)
    )


def _is_created(context: RunContext, folder: str, before: Mapping[str, State], run_state: RunState) -> bool:
    """Return whether a directory was missing before and exists now."""
    state_before = before.get(folder, run_state.expected_states.get(folder))
    return state_before is not None and state_before.kind == ABSENT and context.workspace.state(folder).kind == FOLDER


def interrupted_result(
    context: RunContext, step: Step, attempt: Attempt, run_state: RunState, *, keep: bool
) -> AttemptResult:
    """Return the result of an interrupted attempt, as far as it can be observed. Raises ExecplanError."""
    observed_changes = observe(context, step, attempt.before, run_state, keep=keep)
    why = "its result was not reported"
    outside = irreversible_effects(context, step, observed_changes)
    return AttemptResult(
        False, "interrupted", why, changes=observed_changes.changes, folders=observed_changes.folders, outside=outside
    )


_ELSEWHERE = "in undeclared files"
_EXECUTABLE = 0o100


def evaluate_report(
    context: RunContext, step: Step, attempt: Attempt, run_state: RunState, step_report: StepReport
) -> AttemptResult:
    """Return the result of a reported attempt: as reported if it failed, otherwise as the checks find it.

    Raises ExecplanError.
    """
    transcript_file = AttemptTranscript(context, step, attempt.number)
    with transcript_file as transcript:
        transcript.note(f"reported as {step_report.status}: {step_report.result}")
        if step_report.evidence is not None:
            transcript.out(step_report.evidence)
        check_result, observed_changes = check_report(context, step, attempt, run_state, step_report, transcript)
        if check_result.cause:
            transcript.note(f"failed: {check_result.reason}")
    test_result = check_result.test
    return AttemptResult(
        not check_result.cause,
        check_result.cause,
        check_result.reason or step_report.result,
        seconds=_elapsed_seconds(attempt),
        cpu_s=test_result.cpu_s if test_result is not None else 0.0,
        peak_memory_bytes=test_result.peak_memory_bytes if test_result is not None else 0,
        changes=observed_changes.changes,
        folders=observed_changes.folders,
        checks=check_result.checks if step_report.status == COMPLETED else JournaledChecks(),
        transcript=transcript_file.path_from_root,
        stdout=evidence_digest(step_report),
        outside=irreversible_effects(context, step, observed_changes),
    )


def check_report(
    context: RunContext,
    step: Step,
    attempt: Attempt,
    run_state: RunState,
    step_report: StepReport,
    transcript: Transcript | None,
) -> tuple[StepCheckResult, ObservedChanges]:
    """Check a report; return the check result and the observed changes. Raises ExecplanError.

    Without a transcript, no test runs and nothing is backed up.
    """
    keep = transcript is not None
    observed_changes = observe(context, step, attempt.before, run_state, keep=keep)
    if step_report.status == FAILED:
        return StepCheckResult(
            "exit" if is_command(step) and step.type is not Type.TOOL else ERROR, step_report.result
        ), observed_changes
    deviation = _find_deviation(context, step, _initial_states(step, attempt, run_state))
    step_output = ActionResult(
        ended=_observed_result(step_report), changes=observed_changes.changes, folders=observed_changes.folders
    )
    if deviation:
        return StepCheckResult(EXPECTATION, deviation), observed_changes
    check_result = check_step(context, step, attempt.number, step_output, transcript)
    test_ran = check_result.test is not None  # the step's test may have changed its outputs
    return check_result, observe(context, step, attempt.before, run_state, keep=keep) if test_ran else observed_changes


def irreversible_effects(context: RunContext, step: Step, observed_changes: ObservedChanges) -> str:
    """Describe the effects of a step that cannot be rolled back; empty if there are none."""
    if observed_changes.unknown_paths:
        unknown = f"the previous content of {', '.join(observed_changes.unknown_paths[:3])}"
    else:
        unknown = ""
    if step.type is Type.MANUAL:
        return "its work by hand"
    if step.type is Type.TOOL:
        return "; ".join(filter(None, [f"other effects of {step.tool}", unknown]))
    if is_command(step):
        return "; ".join(filter(None, [outside_effects(context._replace(sandbox=None), step, _ELSEWHERE), unknown]))
    test_effects = outside_effects(context, step, _ELSEWHERE) if step.validation.test_after is not None else ""
    return "; ".join(filter(None, [test_effects, unknown]))


def _initial_states(step: Step, attempt: Attempt, run_state: RunState) -> dict[str, State]:
    """Return the states of a step's paths before its first attempt; failed attempts leave their changes in place."""
    attempts = [
        *[earlier_attempt for earlier_attempt in run_state.attempts.get(step.id, ()) if not earlier_attempt.retaken],
        attempt,
    ]
    initial_states = {**attempt.before, **attempts[0].before}
    return {**run_state.expected_states, **initial_states}


def _find_deviation(context: RunContext, step: Step, before: Mapping[str, State]) -> str:
    """Return how the files differ from the plan's exact contents; empty if they match or the plan gives none."""
    if step.type is Type.CREATE:
        return _path_deviation(context, normalize_path(step.target or "..") or "", (step.content or "").encode(), None)
    if step.type is Type.DELETE:
        path = normalize_path(step.target or "..") or ""
        return f"{path} still exists" if context.workspace.state(path).kind != ABSENT else ""
    if step.type.value not in FILE_TYPES:
        return ""
    if files_without_backup(context, step, before):
        return ""
    try:
        planned_changes = plan_changes(context, step, before)
    except ImpossibleError as why:
        return f"it can't have been done as planned: {why}"
    return next(
        filter(
            None, [_change_deviation(context, change, state_change.after) for change, state_change in planned_changes]
        ),
        "",
    )


def _change_deviation(context: RunContext, change: ProjectedChange, planned_state: State) -> str:
    """Return how a path differs from its state after a change; empty if it does not."""
    if planned_state.kind == LINK:
        why = describe_difference(planned_state, context.workspace.state(change.path))
        return f"{change.path} {why}" if why else ""
    return _path_deviation(context, change.path, change.after, change.mode)


def files_without_backup(context: RunContext, step: Step, before: Mapping[str, State]) -> list[str]:
    """Return the files that a step changes and whose previous bytes have no backup.

    There is none if the step ran before execplan was asked.
    """
    states_before = [(path, before.get(path)) for path in list_declared_paths(step)]
    return [
        path
        for path, state in states_before
        if state is not None and state.kind == FILE and not context.store.has(state.sha256)
    ]


def _path_deviation(context: RunContext, path: str, planned_bytes: bytes | None, mode: int | None) -> str:
    """Return how a path differs from its planned state; empty if it does not."""
    state = context.workspace.state(path)
    if planned_bytes is None:
        return f"{path} still exists" if state.kind != ABSENT else ""
    if state.kind != FILE:
        return f"{path} is not a file" if state.kind != ABSENT else f"{path} does not exist"
    if state.sha256 != sha256(planned_bytes).hexdigest():
        return f"{path} differs from the plan{_first_difference(planned_bytes, context.workspace.read(path))}"
    if mode is not None and (mode ^ state.mode) & _EXECUTABLE:
        return f"{path} is {'not ' if mode & _EXECUTABLE else ''}executable, unlike in the plan"
    return ""


def _first_difference(planned_bytes: bytes, actual_bytes: bytes) -> str:
    """Describe the first difference between two file contents, as the end of a sentence."""
    if actual_bytes == planned_bytes.removesuffix(b"\n") or planned_bytes == actual_bytes.removesuffix(b"\n"):
        if len(actual_bytes) > len(planned_bytes):
            return ": it ends with a newline that is not in the plan"
        return ": the final newline is missing"
    planned_lines, actual_lines = planned_bytes.split(b"\n"), actual_bytes.split(b"\n")
    line_index = next(
        (index for index, (a, b) in enumerate(zip(planned_lines, actual_lines, strict=False)) if a != b),
        min(len(planned_lines), len(actual_lines)),
    )
    return f" on line {line_index + 1}"


def _observed_result(step_report: StepReport) -> CommandResult | None:
    """Return the output that an agent saw as the result of a command with unknown exit status."""
    if step_report.evidence is None:
        return None
    return CommandResult(
        None,
        None,
        "",
        "",
        0.0,
        0.0,
        0,
        step_report.evidence,
        evidence_digest(step_report),
        is_complete=True,
    )


def _elapsed_seconds(attempt: Attempt) -> float:
    """Return the seconds since an attempt began, by the system clock."""
    return seconds_since(attempt.began) if attempt.began else 0.0
