"""What an attempt that was cut short has changed, for a rollback: nothing of it is run or checked any more."""

from __future__ import annotations

from execplan.engine.entries import Performed, performed_json
from execplan.errors import ENVIRONMENT, ExecplanError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from execplan.engine.course import Attempt, RunState
    from execplan.engine.entries import Change
    from execplan.engine.place import RunPaths
    from execplan.engine.steps.bench import RunContext
    from execplan.engine.watch import RunObserver
    from execplan.execution.model import Step
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def bench_of(home: Home, ref: Ref, place: RunPaths, course: RunState, watch: RunObserver) -> RunContext:
    """What is needed to look at what the steps have left; no step can be run with it. Raises ExecplanError."""
    from execplan.engine.commands.sandbox import find_sandbox
    from execplan.engine.commands.stop import StopSignal
    from execplan.engine.files.ground import WorkspaceFiles
    from execplan.engine.files.store import BackupStore
    from execplan.engine.opened import redaction
    from execplan.engine.steps.bench import RunContext
    from execplan.repo.execution.policy import effective

    policy = effective(home)
    try:
        sandbox = find_sandbox(home, policy)[0]
    except ExecplanError:
        sandbox = None
    ground, store, document = WorkspaceFiles(home), BackupStore(home), course.document
    return RunContext(home, ref, document, policy, place, ground, store, sandbox, redaction(), StopSignal(), watch, 0.0)


def result_of(bench: RunContext, step: Step, attempt: Attempt) -> dict[str, Any]:
    """What the entry says that ends it; raises ExecplanError."""
    from execplan.engine.steps import looks
    from execplan.engine.steps.named import is_command, runs
    from execplan.engine.steps.perform import outside

    told = ""
    changes: tuple[Change, ...] = ()
    folders: tuple[str, ...] = ()
    if not runs(step) or not (is_command(step) or looks.known(bench, step)):
        changes, folders = _written(bench, step, attempt)
    elif not is_command(step) or not looks.known(bench, step) or _was_begun(bench, step, attempt):
        changes, folders, hidden = looks.changed(bench, step)
        told = outside(bench, step, hidden)
        if any([step.parallel and each.parallel and each.id != step.id for each in bench.document.steps]):
            changes = tuple([change for change in changes if change.declared])
    why = "it was cut short, and then rolled back"
    performed = Performed(False, "interrupted", why, changes=changes, folders=folders, outside=told)
    return {"step": step.id, "attempt": attempt.number, **performed_json(performed)}


def _written(bench: RunContext, step: Step, attempt: Attempt) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """What a step that writes files, and in which no program runs, has or may have written."""
    from execplan.engine.steps.write import ballast, drop, folders_made, planned
    from execplan.execution.evaluation.outcome import ImpossibleError

    drop(ballast(bench, step))
    try:
        changes = tuple([change for _, change in planned(bench, step, attempt.before)])
    except ImpossibleError:
        return (), ()  # it would have failed before it wrote anything
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:
            raise
        return (), ()  # as above: a hunk that does not fit
    return changes, folders_made(bench, attempt.before)


def _was_begun(bench: RunContext, step: Step, attempt: Attempt) -> bool:
    from execplan.engine.commands.launch import read_marks
    from execplan.engine.steps.named import marks

    return read_marks(marks(bench.place, step, attempt.number)) != "never"
