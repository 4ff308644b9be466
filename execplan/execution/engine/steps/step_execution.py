"""Execution of a step: its preparation, its action, the checks afterwards, and the changes that it made."""

from __future__ import annotations

import os
import time
from collections import deque
from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.message_parts import format_excess
from execplan.execution import rare_features
from execplan.execution.approvals.disk_world import DiskWorld
from execplan.execution.binding import describe_difference, sanitize_state
from execplan.execution.engine.journal.journal_entries import AttemptResult, JournaledChecks
from execplan.execution.engine.steps import tree_snapshots
from execplan.execution.engine.steps.command_execution import execute_command
from execplan.execution.engine.steps.emptied_folders import find_emptied_folders
from execplan.execution.engine.steps.file_writes import write_files
from execplan.execution.engine.steps.step_checks import StepCheckResult, check_step, count_tests
from execplan.execution.engine.steps.step_paths import (
    checked_paths,
    is_command,
    list_declared_paths,
    parent_folders,
    runs_program,
)
from execplan.execution.execution_plan import Type
from execplan.execution.world import ABSENT, FOLDER, OUTSIDE, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Final

    from execplan.execution.engine.commands.command_result import CommandResult
    from execplan.execution.engine.commands.command_transcript import Transcript
    from execplan.execution.engine.executors.remote_command import Placement
    from execplan.execution.engine.steps.command_execution import ActionResult
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step


class PreparedStep(NamedTuple):
    """The state of the files before a step."""

    before: dict[str, State]
    """State by path: the declared paths of the step, and the missing directories above them."""
    snapshot: bool
    """Whether a snapshot of the whole tree was saved too."""
    placement: Placement | None = None
    """The worker that runs the step's command; None if it runs here."""


def prepare_step(context: RunContext, step: Step, expected: Mapping[str, State]) -> PreparedStep:
    """Check that all files are as the run expects, and back them up. Raises ExecplanError."""
    differences = list(_find_differences(context, step, expected))
    if differences:
        raise _drift_error(step, differences)
    paths = list_declared_paths(step)
    before = {
        folder: State(ABSENT) for folder in parent_folders(paths) if context.workspace.state(folder).kind == ABSENT
    }
    if is_command(step):
        before |= {path: context.workspace.state(path) for path in paths}
    else:
        used_paths = dict.fromkeys([*paths, *step.files])
        before |= {path: context.store.save_path(context.workspace, path) for path in used_paths}
    before |= find_emptied_folders(step, context.workspace)
    differences = [
        f"{path}: {reason}"
        for path in paths
        if (reason := _path_difference(context, step, expected, path, before[path]))
    ]
    if differences:  # it changed during the backup
        raise _drift_error(step, differences)
    if runs_program(step):
        tree_snapshots.keep_snapshot(context, step)
    return PreparedStep(before, runs_program(step))


def _find_differences(context: RunContext, step: Step, expected: Mapping[str, State]) -> Iterator[str]:
    """Yield the paths that are not as expected, one per line."""
    for path in dict.fromkeys([*checked_paths(step), *list_declared_paths(step)]):
        reason = _path_difference(context, step, expected, path, context.workspace.state(path))
        if reason:
            yield f"{path}: {reason}"
    for folder in parent_folders(list_declared_paths(step)):
        kind = context.workspace.state(folder).kind
        if kind not in (ABSENT, FOLDER, OUTSIDE):  # OUTSIDE was reported for the path itself
            yield f"{folder}: is not a directory, but the step writes in it"
    if step.finds_files:
        current_files = features.load(rare_features.FILES_NOW)(step, DiskWorld(context.run_paths.project))
        yield from [
            f"{path}: the step would use it too, but nobody approved that"
            for path in current_files
            if path not in step.files
        ]


def _path_difference(context: RunContext, step: Step, expected: Mapping[str, State], path: str, state: State) -> str:
    """Describe how a path differs from the expected state, or return an empty string.

    A path that is not a target or input of the step must only be inside the repository.
    """
    original_paths = checked_paths(step)
    if path not in original_paths:
        return "leads outside the repository" if state.kind == OUTSIDE else ""
    expected_state = expected.get(path, expected.get(original_paths[path]))
    if expected_state is None:
        return ""
    return describe_difference(sanitize_state(expected_state), sanitize_state(state))


def _drift_error(step: Step, differences: list[str]) -> ExecplanError:
    return ExecplanError(
        "drifted",
        f"step {step.id} was not started: {differences[0]}{format_excess(len(differences), 1, ', ')}",
        hint="restore it, then resume the run: execplan resume; or roll it back: execplan rollback",
        candidates=differences,
    )


def perform_step(context: RunContext, step: Step, attempt: int, prepared: PreparedStep) -> AttemptResult:
    """Perform a step and return its result, including its own failure.

    Raises ExecplanError for a problem that stops the run.
    """
    began = time.monotonic()
    attempt_transcript = AttemptTranscript(context, step, attempt)
    with attempt_transcript as transcript:
        if step.service is not None:
            action_result = context.services.start(
                context, step, attempt, transcript, lambda: AttemptTranscript(context, step, attempt, LOG).transcript
            )
        elif is_command(step):
            action_result = execute_command(context, step, attempt, transcript, prepared.placement)
        else:
            action_result = write_files(context, step, prepared.before, transcript)
        performed = finish_attempt(context, step, attempt, action_result, transcript)
    if step.service is not None and not performed.ok:
        deque(context.services.stop(step.id), 0)
    return performed._replace(seconds=round(time.monotonic() - began, 3), transcript=attempt_transcript.path_from_root)


def finish_attempt(
    context: RunContext, step: Step, attempt: int, action_result: ActionResult, transcript: Transcript
) -> AttemptResult:
    """Check the result of a step's action, and collect the changes that it made."""
    failed_result = StepCheckResult(action_result.cause, action_result.reason)
    check_result = (
        failed_result if action_result.cause else check_step(context, step, attempt, action_result, transcript)
    )
    if check_result.cause:
        transcript.note(f"failed: {check_result.reason}")
    own_changes, has_tree_changes = (
        (action_result.changes, action_result.folders, ""),
        runs_program(step) and (is_command(step) or tree_snapshots.has_snapshot(context, step)),
    )
    changes, folders, unscanned = (
        tree_snapshots.changes_since_snapshot(context, step) if has_tree_changes else own_changes
    )
    ended = action_result.ended
    programs = [program for program in (ended, check_result.test) if program is not None]
    return AttemptResult(
        not check_result.cause,
        check_result.cause,
        check_result.reason,
        ended.exit if ended is not None else None,
        ended.signal if ended is not None else None,
        sum([program.seconds for program in programs]),
        sum([program.cpu_s for program in programs]),
        max([program.peak_memory_bytes for program in programs], default=0),
        changes,
        folders,
        _count_tests(JournaledChecks("passed") if action_result.cause else check_result.checks, programs),
        stdout=ended.stdout_sha256 if ended is not None else "",
        outside=outside_effects(context, step, unscanned)
        if programs or step.service or step.type is Type.MANUAL
        else "",
    )


def _count_tests(checks: JournaledChecks, programs: list[CommandResult]) -> JournaledChecks:
    """Add the number of tests that the programs ran, as far as their test runners report it."""
    counts = [
        summary
        for program in programs
        if (summary := count_tests(program.output_tail.decode("utf-8", "replace"))) is not None
    ]
    if not counts:
        return checks
    return checks._replace(
        tests_run=sum([count.run for count in counts]), tests_passed=sum([count.passed for count in counts])
    )


def outside_effects(context: RunContext, step: Step, unscanned: str) -> str:
    """Describe the effects of a step's programs that cannot be undone; empty for programs known to only read.

    `unscanned` describes the parts of the repository that were not scanned.
    """
    from shlex import join

    from execplan.execution.risk.command_risk import LOW, highest_risk, rate_command

    if step.type is Type.MANUAL:
        return "its work by hand"
    table, shell = context.policy.risk_table, step.shell is not None
    risks = [rate_command(step.command, table, is_script=shell)] if is_command(step) and step.command else []
    if step.validation.test_after is not None:
        risks.append(rate_command(join(step.validation.test_after), table))
    if highest_risk(risks).level == LOW and not step.network and step.type not in (Type.INSTALL, Type.TOOL):
        return ""
    locations = [] if context.sandbox is not None else ["outside the repository"]
    locations += [unscanned] if unscanned else []
    locations += ["over the network"] if step.network or context.sandbox is None else []
    if locations:
        return f"its effects {', '.join(locations[:-1])}{' or ' if len(locations) > 1 else ''}{locations[-1]}"
    return ""


LOG: Final = "-log"
RESUMED: Final = "-resumed"
"""Suffixes of the names of further transcripts of an attempt: of its service, and of its recovery after an interruption."""


class AttemptTranscript:
    """Context manager for the transcript of an attempt.

    With a suffix, `LOG` or `RESUMED`, it is a further one.
    """

    def __init__(self, context: RunContext, step: Step, attempt: int, suffix: str = "") -> None:
        from execplan.execution.engine.commands.command_transcript import Transcript
        from execplan.execution.engine.run_records.evidence_copies import link_transcript

        name = f"{step.number:02}-{step.id}" + (f"-{attempt}" if attempt > 1 else "")
        title = f"{step.number}. {step.id}" + (f", attempt {attempt}" if attempt > 1 else "")
        original_path = os.path.join(context.run_paths.transcripts, f"{name}.md")
        path = os.path.join(context.run_paths.transcripts, f"{name}{suffix}.md")
        self.path_from_root = context.run_paths.project.display_path(
            original_path if os.path.exists(original_path) else path
        )
        """Path of the transcript from the root. For a recovery, that of the attempt's own output if it exists."""
        line = (
            (lambda text, error: context.observer.line(step.id, text, error=error))
            if runs_program(step) and suffix != LOG
            else None
        )
        self.transcript = Transcript(
            path,
            title,
            features.load(rare_features.STEP_REDACTION)(context, step),
            context.policy.output_kb << 10,
            line,
            durable=False,  # it is synced when the session ends
        )
        link_transcript(context.run_paths, path)

    def __enter__(self) -> Transcript:
        return self.transcript

    def __exit__(self, *_: object) -> None:
        self.transcript.close()
