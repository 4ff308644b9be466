"""How a run has ended: an answer where it is completed or failed, a refusal where it waits or was stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.door import shown
from execplan.cli.running.following import after
from execplan.cli.running.one import load, run_json
from execplan.cli.running.phrases import command, counted, lasted
from execplan.cli.running.undone import undone_json, undone_lines
from execplan.engine import entries, place
from execplan.engine.questions import ALLOWED_ANSWERS
from execplan.errors import CHANGED, INTERRUPTED, NO, OK, PAUSED, TERMINATED, ExecplanError
from execplan.execution import states

if TYPE_CHECKING:
    from execplan.cli.running.one import Run
    from execplan.engine.course import Question
    from execplan.engine.watch import FinishedRun
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_DRIFT = "drift"


def outcome(home: Home, ref: Ref, finished: FinishedRun, *, quiet: bool) -> Answer:
    """What a run, or a part of it, came to; raises ExecplanError where it is not at its end.

    Quiet: nothing was shown before, so that it says where to read more.
    """
    run = load(home, ref, place.find_run(home, ref, finished.run))
    if finished.signal:
        raise _interrupted(run, finished)
    question = finished.question or run.course.question
    if run.course.is_agent_run and finished.status == states.IN_PROGRESS and question is None:
        text = shown(f"the agent goes on with the run {run.place.id}, {_far(run)}")
        return Answer(outcome_json(run, finished), text, OK, finished.warnings, after(run))
    if finished.status not in states.ENDED_RUN_STATES or finished.question is not None:
        raise _paused(run, question)
    if finished.cause == _DRIFT:
        what = f"the run {run.place.id} of {run.document.plan_id} ended: {finished.reason}"
        hint = f"see what changed: git status; then {command('resume', run.place.id, run.name)}, or rollback"
        raise ExecplanError("drifted", what, exit=CHANGED, hint=hint)
    completed = finished.status == states.COMPLETED
    lines = _completed(run) if completed else _failed(run, finished, quiet=quiet)
    lines += _replayed(run, finished)
    lines += undone_lines(finished.rolled_back) if finished.rolled_back is not None else []
    lines += [f"committed {finished.commit[:12]}"] if finished.commit else []
    return Answer(outcome_json(run, finished), "\n".join(lines), OK if completed else NO, finished.warnings, after(run))


def outcome_json(run: Run, finished: FinishedRun) -> dict[str, Any]:
    """The run, and what this part of it has done."""
    undone = finished.rolled_back
    return {
        **run_json(run),
        "cause": finished.cause or None,
        "reason": finished.reason or None,
        "rolled_back": undone_json(undone) if undone is not None else None,
        "differences": list(finished.differences),
        "commit": finished.commit,
    }


def _completed(run: Run) -> list[str]:
    aside = [
        f"{counted(count, 'step')} {status}"
        for status in (states.SKIPPED, states.RECOVERED)
        if (count := len(run.course.step_numbers(status)))
    ]
    done = f"{len(run.course.step_numbers(states.COMPLETED))} of {counted(len(run.document.steps), 'step')}"
    return [f"completed {', '.join([done, *aside])} in {lasted(run.course.seconds or 0)}: run {run.place.id}"]


def _failed(run: Run, finished: FinishedRun, *, quiet: bool) -> list[str]:
    """Why it failed, and what is left of it."""
    lines = [shown(f"failed run {run.place.id}: {finished.reason}")]
    paths = [run.transcript(step.id) for step in run.failed] if quiet else []
    lines += [f"transcript: {shown(each)}" for each in paths if each]
    if finished.rolled_back is None and run.course.changes():
        lines.append("what its steps have changed is there still")
    return lines


def _replayed(run: Run, finished: FinishedRun) -> list[str]:
    """How it differs from the run that it replays."""
    other = run.course.begin_fields["replays"]
    if not other:
        return []
    if not finished.differences:
        return [f"as in {other}: no step differs"]
    return [f"not as in {other}:", *[f"  {shown(each)}" for each in finished.differences]]


def _interrupted(run: Run, finished: FinishedRun) -> ExecplanError:
    what = f"the run {run.place.id} of {run.document.plan_id} was interrupted by {finished.signal}, {_far(run)}"
    resume = command("resume", run.place.id, run.name)
    if finished.signal == "SIGINT":
        return _led(ExecplanError("interrupted", what, exit=INTERRUPTED, hint=resume))
    return _led(ExecplanError("terminated", what, exit=TERMINATED, hint=resume))


def _paused(run: Run, question: Question | None) -> ExecplanError:
    """The refusal that names the question, and how it is answered."""
    name = run.name
    resume = command("resume", run.place.id, name)
    about = f"the run {run.place.id} of {run.document.plan_id}"
    if question is None or question.why == entries.APPROVE:
        what = f"{about} has a new revision, which is to be approved"
        hint = f"execplan evaluate {name}; execplan approve {name}; {resume}"
        return ExecplanError("paused", what, exit=PAUSED, hint=hint)
    what = f"{about} waits, {_far(run)}: {question.words}"
    answers = ALLOWED_ANSWERS[question.why]
    if question.why == entries.UNKNOWN:
        hint = f"find out what it has done, then: {resume} --answer {'|'.join(answers)}"
        return ExecplanError("paused", what, exit=PAUSED, hint=hint, candidates=answers)
    return _led(ExecplanError("paused", what, exit=PAUSED, hint=resume, candidates=answers))


def _far(run: Run) -> str:
    return f"{run.summary.done} of {counted(run.summary.total, 'step')} done"


def _led(error: ExecplanError) -> ExecplanError:
    """A refusal whose hint is the command that goes on."""
    error.lead = "resume"
    return error
