"""The command of a step on a worker, as a run sees it: its marks, its transcript, and its outputs in the repository."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.files import atomic_files
from execplan.execution.engine.commands.command_result import CommandResult, not_run
from execplan.execution.engine.commands.command_transcript import Transcript
from execplan.execution.engine.executors.ticket import MAX_BYTES, Ticket, TicketResult, unpack_result
from execplan.execution.engine.executors.ticket_creation import create_ticket
from execplan.execution.engine.executors.worker_workspace import PackedWorkspace
from execplan.execution.engine.steps.run_context import RunContext
from execplan.execution.engine.steps.step_paths import program_marks_path
from execplan.execution.engine.workspace.file_archive import FileArchive, find_problem, replace_with_archive
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.execution_plan import Step
from execplan.execution.world import FOLDER, LINK, State, normalize_path

if TYPE_CHECKING:
    from execplan.execution.engine.executors.executor import Executor, Finished, Submission, Worker

_POLL_SECONDS = 0.5
"""Seconds between two checks of the run's time limit."""
_LATE_SECONDS = 5.0
"""Seconds after the run's time limit in which a worker's own limit must have ended a command."""


class Placement(NamedTuple):
    """A worker that is reserved for an attempt."""

    executor: Executor
    worker: Worker
    packed: PackedWorkspace
    expected: Mapping[str, State]
    """The states of the files that the run knows, as left by its steps."""


def run_on_worker(
    context: RunContext, step: Step, attempt: int, placement: Placement, transcript: Transcript
) -> CommandResult:
    """Run the command of a step on a worker and wait for its end; write its outputs here. Raises ExecplanError."""
    worker = placement.worker
    if context.stop.is_set():
        return not_run("interrupted", "the run was interrupted", is_complete=False)
    ticket, data = create_ticket(context, step, attempt, worker, placement.packed, placement.expected)
    transcript.note(f"on {worker.name}")
    marks_path = program_marks_path(context.run_paths, step, attempt)
    # From here on, only the result can tell whether the command ran. A resume finds this mark and knows that.
    atomic_files.replace(f"{marks_path}.begun", b"{'worker': %s}" % ascii(worker.name).encode(), durable=False)
    finished = _wait(context, placement.executor.submit(worker, ticket.id, data))
    if finished.lost:
        return _unknown_result(context, step, f"{worker.name}: {finished.lost}")
    try:
        result = unpack_result(finished.data, ticket.id)
    except ValueError as error:
        return _unknown_result(context, step, f"{worker.name} returned something else than a result: {error}")
    _write_transcript(transcript, result)
    result = result._replace(ended=_explain_stop(context, step, ticket, result.ended))
    if result.has_outputs:
        if problem := find_output_problem(result.files, ticket, context.workspace):
            return result.ended._replace(cause="error", reason=f"nothing was taken from {worker.name}: {problem}")
        replace_with_archive(result.files, ticket.outputs, context.workspace)
    return result.ended


def _wait(context: RunContext, submission: Submission) -> Finished:
    """Wait for the end of a ticket; cancel it when the run stops or its time is up."""
    is_cancelled = False
    while True:
        finished = submission.wait(_POLL_SECONDS)
        if finished is not None:
            return finished
        is_late = time.monotonic() > context.deadline + _LATE_SECONDS
        if not is_cancelled and (context.stop.is_set() or is_late):
            submission.cancel()
            is_cancelled = True


def _explain_stop(context: RunContext, step: Step, ticket: Ticket, ended: CommandResult) -> CommandResult:
    """Return a result whose cause says why the command was stopped: the run's time limit, or silence of the run."""
    is_stopped_here = ended.cause == "interrupted" and not context.stop.is_set()
    is_late = is_stopped_here and time.monotonic() > context.deadline
    if is_late or (ended.cause == "timeout" and ticket.seconds < context.policy.step_seconds(step.timeout_s)):
        return ended._replace(cause="timeout", reason="the run exceeded its time limit")
    if is_stopped_here:
        return _unknown_result(context, step, "the worker stopped it, as it had heard nothing from the run")
    return ended


def _unknown_result(context: RunContext, step: Step, reason: str) -> CommandResult:
    """Return the result of a command whose end is unknown.

    It is a failure for a step that may run again, whose policy then applies. The outcome of any other step is unknown:
    it counts as interrupted, so that a person is asked.
    """
    may_run_again = step.effect == "idempotent" and not context.stop.is_set()
    cause = "error" if may_run_again else "interrupted"
    return not_run(cause, f"its outcome is unknown: {reason}", is_complete=False)


def _write_transcript(transcript: Transcript, result: TicketResult) -> None:
    for kind, data in result.output:
        (transcript.err if kind else transcript.out)(data)
    transcript.note(f"in {result.sandbox} on the worker" if result.sandbox else "without a sandbox on the worker")
    for note in result.notes:
        transcript.note(note)
    if result.left_out:
        transcript.note(f"{result.left_out:,} bytes of its output stayed on the worker")


def find_output_problem(files: FileArchive, ticket: Ticket, workspace: WorkspaceFiles) -> str:
    """Describe why the outputs of a worker can't be written to the repository, or return an empty string.

    Nothing that a worker returns is trusted: each path must be a declared output that steps may write, be unique, lead
    through directories only, and have its digest; a link must lead to a path in the repository.
    """
    if problem := find_problem(files, ticket.outputs):
        return problem
    if sum([len(content) for content in files.contents.values()]) > MAX_BYTES:
        return f"its outputs are larger than {MAX_BYTES >> 20} MB together"
    described_paths = {entry["path"] for entry in files.entries}
    if lacking := [path for path in ticket.outputs if path not in described_paths]:
        return f"it does not say what is at {lacking[0]}"
    kinds: dict[str, str] = {}
    for entry in files.entries:
        path, kind = entry["path"], entry["kind"]
        parents = [path[:end] for end, char in enumerate(path) if char == "/"]
        if path in kinds or any([kinds.get(parent, FOLDER) != FOLDER for parent in parents]):
            return f"{path} is not the only entry for its path"
        kinds[path] = kind
        link = entry.get("link", "")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
        if kind == LINK and (link.startswith("/") or normalize_path(target) is None):
            return f"{path} is a link that leads outside the repository"
        protection = workspace.protection(path)
        if protection:
            return f"{path} is {protection}"
    return ""
