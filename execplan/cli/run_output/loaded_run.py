"""A run loaded from its journal, for `show --run` and for the result at the end of a run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.cli.answer import json_fields
from execplan.cli.run_output.run_text import format_run_command
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.execution import states
from execplan.execution.engine.journal.journal_entries import change_kind
from execplan.execution.engine.run_records import run_summary
from execplan.execution.engine.run_records.finishing_commands import finishing_commands, has_new_steps
from execplan.execution.engine.run_records.run_statuses import OPEN_STATES, read_run_status
from execplan.execution.engine.run_state import RunState
from execplan.team.advice.advice import Advice
from execplan.team.advice.plan_advice import advise_after_failure, advise_open_run, advise_plan

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.engine.journal.journal_entries import StateChange
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.engine.run_records.run_summary import RunSummary
    from execplan.execution.engine.run_state import Attempt
    from execplan.execution.execution_plan import ExecutionPlan, Step


def advise_after_run(run: LoadedRun, *, is_shown: bool = False) -> Advice:
    """Return the advice after a run; `is_shown`: the run's steps are on the screen already."""
    if run.summary.state == run_summary.COMPLETED:
        return advise_after_completion(run.run_paths.project, run.run_paths.ref, run.plan_name)
    advice = _advise_uncompleted(run)
    if is_shown:
        return advice._replace(
            commands=tuple([command for command in advice.commands if command != _show_command(run)])
        )
    return Advice(advice.commands)


def advise_after_completion(project: Project, ref: PlanRef, name: str) -> Advice:
    """Return the advice for a plan whose run has completed: to continue with the plan, or to check the record."""
    advice = advise_plan(plan_store.load(project, ref))
    return advice._replace(commands=(*advice.commands, f"execplan audit {name}"))


def _advise_uncompleted(run: LoadedRun) -> Advice:
    """Return the advice for a run that has not completed; the first command shows a run that has failed."""
    name, run_state = run.plan_name, run.run_state
    if run.summary.state == run_summary.ARCHIVED:
        return Advice((f"execplan audit {name}",))
    run_status = read_run_status(run.run_paths)
    if run_status.state in OPEN_STATES:
        finishing = finishing_commands(run.run_paths.project, run.run_paths.ref, run_status, name)
        return advise_open_run(run.run_paths.project, run.run_paths.ref, run_status.as_document(), finishing)
    last_run, _ = run_summary.find_last_begun_run(run.run_paths.project, run.run_paths.ref)
    if last_run is not None and last_run.id != run.run_paths.id:
        return Advice((f"execplan show {name} --run {last_run.id}",))
    advice = advise_after_failure(run.run_paths.project, run.run_paths.ref, run_status.as_document(), name)
    commands = [_show_command(run), *advice.commands]
    if run_state.status != states.ROLLED_BACK:
        commands.append(format_run_command("rollback", run.run_paths.id, name))
    elif not run_status.reason or has_new_steps(run.run_paths.project, run.run_paths.ref, run.run_paths.id):
        advice = advice._replace(work=None)
    elif run.document.revision > 1:  # `evaluate` would read the revision
        advice = advice._replace(work=None)
        commands[1] = f"execplan compile {name}"
    return advice._replace(commands=tuple(dict.fromkeys(commands)))


def _show_command(run: LoadedRun) -> str:
    return f"execplan show {run.plan_name} --run {run.run_paths.id}"


class LoadedRun(NamedTuple):
    """A run read from its directory."""

    run_paths: RunPaths
    document: ExecutionPlan
    run_state: RunState
    summary: RunSummary
    plan_name: str
    """Plan name, quoted for a shell."""
    directory: str
    """Run directory, from the repository root or absolute."""

    @property
    def failed_steps(self) -> list[Step]:
        """Steps that have failed for good."""
        return [step for step in self.document.steps if self.run_state.status_of[step.id] == states.FAILED]

    def resume_command(self, *arguments: str) -> str:
        """Return the command that resumes the run, on the workers that it had before."""
        executor = ("--executor", self.run_state.executor) if self.run_state.executor else ()
        return format_run_command("resume", self.run_paths.id, self.plan_name, *executor, *arguments)

    def last_attempt(self, step: str) -> Attempt | None:
        """Return the last attempt of a step, or None."""
        attempts = self.run_state.attempts.get(step)
        return attempts[-1] if attempts else None

    def transcript(self, step: str) -> str:
        """Return the path of the last attempt's transcript, in the current run directory, or an empty string.

        The path in the journal may be outdated, because plans are archived.
        """
        attempt = self.last_attempt(step)
        path = attempt.performed.transcript if attempt is not None and attempt.performed is not None else ""
        if path:
            return f"{self.directory}/{os.path.basename(self.run_paths.transcripts)}/{os.path.basename(path)}"
        return ""


def load_run(run_paths: RunPaths) -> LoadedRun:
    """Load a run from its directory; raises ExecplanError."""
    project, ref = run_paths.project, run_paths.ref
    _, run_state = run_summary.load_begun_run(run_paths)
    plan_name = quote_plan_name(ref.id, project.display_path(ref.path))
    summary = run_summary.summarize_run(run_paths)
    directory = project.display_path(run_paths.folder)
    return LoadedRun(run_paths, run_state.document, run_state, summary, plan_name, directory)


def run_json(run: LoadedRun) -> dict[str, Any]:
    """Return the complete JSON form of a run."""
    run_state, summary = run.run_state, run.summary
    ended = run_state.end_entry.fields if run_state.end_entry is not None else {}
    return {
        "run": run.run_paths.id,
        "plan": run.document.plan_id,
        "revision": run.document.revision,
        "folder": run.directory,
        "state": summary.state,
        "status": run_state.status,
        "cause": ended.get("cause") or None,
        "reason": ended.get("reason") or None,
        "question": run_state.question._asdict() if run_state.question is not None else None,
        "cut_short": summary.cut_short,
        "rollback_cut_short": summary.rolling,
        "started": run_state.begin_fields["at"],
        "seconds": summary.seconds,
        **{name: run_state.begin_fields[name] for name in ("user", "session")},
        "sandbox": run_state.begin_fields["sandbox"] or None,
        "executor": run_state.executor or None,
        "agent": run_state.is_agent_run,
        **{name: run_state.approval_fields[name] for name in ("approval", "approver", "how")},
        "counts": {"done": summary.done, "skipped": summary.skipped, "total": summary.total},
        "steps": [_step_json(run, step) for step in run.document.steps],
        "rollbacks": [_rollback_json(rollback.fields, rollback.at) for rollback in run_state.rollbacks],
        "replans": [{"at": replan.at, **replan.fields} for replan in run_state.replans],
    }


def _step_json(run: LoadedRun, step: Step) -> dict[str, Any]:
    """Return the JSON form of a step's result."""
    run_state, last_attempt = run.run_state, run.last_attempt(step.id)
    performed = last_attempt.performed if last_attempt is not None else None
    changes = [change for _, change in run_state.changes(only_step=step.id)]
    has_reason = run_state.status_of[step.id] in states.STATES_WITH_REASON
    reason = run_state.reasons.get(step.id) if has_reason else None
    return {
        **json_fields(step, "number id description"),
        "status": run_state.status_of[step.id],
        "rolled_back": step.id in run_state.rolled_back_steps,
        "reason": reason or None,
        "attempts": len(run_state.attempts.get(step.id, ())),
        "calls": [
            {
                "at": call.at,
                **{name: call.fields[name] for name in ("attempt", "tool", "what", "paths", "session", "asked")},
            }
            for attempt in run_state.attempts.get(step.id, ())
            for call in attempt.calls
        ],
        "approved_by": last_attempt.approved_by if last_attempt is not None else None,
        "worker": (last_attempt.worker or None) if last_attempt is not None else None,
        "started": (last_attempt.began or None) if last_attempt is not None else None,
        **{name: getattr(performed, name, None) for name in ("seconds", "exit", "signal")},
        "changes": [_change_json(change) for change in changes],
        "transcript": run.transcript(step.id) or None,
        "task": run_state.ticked_tasks[step.id][0] if step.id in run_state.ticked_tasks else None,
        "outside": (performed.outside or None) if performed is not None else None,
    }


def _change_json(change: StateChange) -> dict[str, Any]:
    """Return the JSON form of a changed path, with the digests of its content."""
    return {
        "path": change.path,
        "kind": change_kind(change),
        "before": change.before.sha256 or None,
        "after": change.after.sha256 or None,
        **json_fields(change, "added removed declared"),
    }


def _rollback_json(fields: dict[str, Any], at: str) -> dict[str, Any]:
    """Return the JSON form of a rollback; `left` lists what could not be reverted."""
    return {
        "at": at,
        **{name: fields[name] for name in ("steps", "automatic", "user", "session")},
        "paths": [change["path"] for change in fields["changes"]],
        "left": fields["undone_not"],
    }
