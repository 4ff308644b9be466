"""One run as its journal tells it: for `show --run`, and for what is said when a run ends."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.cli.answer import typed
from execplan.engine import runs
from execplan.engine.course import RunState
from execplan.engine.entries import change_kind
from execplan.engine.opened import never_begun_error
from execplan.engine.revisions import load_document
from execplan.execution import states

if TYPE_CHECKING:
    from execplan.engine.course import Attempt
    from execplan.engine.entries import Change
    from execplan.engine.place import RunPaths
    from execplan.engine.runs import RunSummary
    from execplan.execution.model import ExecutionPlan, Step
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Run(NamedTuple):
    """A run, read from its folder."""

    place: RunPaths
    document: ExecutionPlan
    course: RunState
    summary: RunSummary
    name: str
    """The plan, as it can be typed in a shell."""
    folder: str
    """From the root of the repository, or absolute."""

    @property
    def failed(self) -> list[Step]:
        """The steps that have failed for good."""
        return [each for each in self.document.steps if self.course.status_of[each.id] == states.FAILED]

    def last(self, step: str) -> Attempt | None:
        """The last attempt of a step."""
        attempts = self.course.attempts.get(step)
        return attempts[-1] if attempts else None

    def transcript(self, step: str) -> str:
        """What the last attempt of a step printed: a path as that of the folder, or nothing.

        The journal has the path of when it was written, and plans are archived.
        """
        last = self.last(step)
        path = last.performed.transcript if last is not None and last.performed is not None else ""
        return f"{self.folder}/{os.path.basename(self.place.transcripts)}/{os.path.basename(path)}" if path else ""


def load(home: Home, ref: Ref, place: RunPaths) -> Run:
    """Read a run; raises ExecplanError."""
    entries = runs.read_run_entries(place)
    if not entries:
        raise never_begun_error(ref, place)
    document = load_document(place, entries)
    name = typed(ref.id, home.shown(ref.path))
    summary = runs.summarize_run(home, ref, place)
    return Run(place, document, RunState(document, entries), summary, name, home.shown(place.folder))


def run_json(run: Run) -> dict[str, Any]:
    """All that is known of a run."""
    course, summary = run.course, run.summary
    ended = course.end_entry.fields if course.end_entry is not None else {}
    return {
        "run": run.place.id,
        "plan": run.document.plan_id,
        "revision": run.document.revision,
        "folder": run.folder,
        "state": summary.state,
        "status": course.status,
        "cause": ended.get("cause") or None,
        "reason": ended.get("reason") or None,
        "question": course.question._asdict() if course.question is not None else None,
        "cut_short": summary.cut_short,
        "rollback_cut_short": summary.rolling,
        "started": course.begin_fields["at"],
        "seconds": summary.seconds,
        "user": course.begin_fields["user"],
        "session": course.begin_fields["session"],
        "sandbox": course.begin_fields["sandbox"] or None,
        "agent": course.is_agent_run,
        **{name: course.approval_fields[name] for name in ("approval", "approver", "how")},
        "counts": {"done": summary.done, "total": summary.total},
        "steps": [_step_json(run, step) for step in run.document.steps],
        "rollbacks": [_rollback_json(each.fields, each.at) for each in course.rollbacks],
        "replans": [{"at": each.at, **each.fields} for each in course.replans],
    }


def _step_json(run: Run, step: Step) -> dict[str, Any]:
    """What has become of a step."""
    course, last = run.course, run.last(step.id)
    performed = last.performed if last is not None else None
    kept = [change for _, change in course.changes(only_step=step.id)]
    return {
        "number": step.number,
        "id": step.id,
        "description": step.description,
        "status": course.status_of[step.id],
        "rolled_back": step.id in course.rolled_back_steps,
        "reason": (course.reasons.get(step.id) or None) if course.status_of[step.id] in states.STATES_WITH_REASON else None,
        "attempts": len(course.attempts.get(step.id, ())),
        "calls": [
            {
                "at": each.at,
                **{name: each.fields[name] for name in ("attempt", "tool", "what", "paths", "session", "asked")},
            }
            for attempt in course.attempts.get(step.id, ())
            for each in attempt.calls
        ],
        "approved_by": last.approved_by if last is not None else None,
        "started": (last.began or None) if last is not None else None,
        "seconds": performed.seconds if performed is not None else None,
        "exit": performed.exit if performed is not None else None,
        "signal": performed.signal if performed is not None else None,
        "changes": [_change_json(each) for each in kept],
        "transcript": run.transcript(step.id) or None,
        "task": course.ticked_tasks[step.id][0] if step.id in course.ticked_tasks else None,
        "outside": (performed.outside or None) if performed is not None else None,
    }


def _change_json(change: Change) -> dict[str, Any]:
    """What became of a path; digests of its bytes."""
    return {
        "path": change.path,
        "kind": change_kind(change),
        "before": change.before.sha256 or None,
        "after": change.after.sha256 or None,
        "added": change.added,
        "removed": change.removed,
        "declared": change.declared,
    }


def _rollback_json(said: dict[str, Any], at: str) -> dict[str, Any]:
    """A rollback; what it could not take back is `left`."""
    told = {name: said[name] for name in ("steps", "automatic", "user", "session")}
    return {"at": at, **told, "paths": [each["path"] for each in said["changes"]], "left": said["undone_not"]}
