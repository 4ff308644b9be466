"""Progress tasks that a run checks off, with the time and a link to the transcript, through the plan writer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.clock import now
from execplan.core.edits import edit_journal
from execplan.core.edits.plan_writer import WriteOptions, amend
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import DONE
from execplan.core.plan.plan_lookup import find_task, normalize_text
from execplan.core.plan.task_checks import find_check, has_checks
from execplan.core.plan.transcript_links import complete_run_task, find_transcript_link, reopen_run_task
from execplan.core.plan_store import plan_selection, plan_store
from execplan.execution import states

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan.plan_change import ChangeBuilder
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.engine.run_state import RunState
    from execplan.execution.execution_plan import ExecutionPlan, Step


def ensure_unchecked(project: Project, ref: PlanRef, plan: ParsedPlan, queries: Sequence[str]) -> None:
    """Raise ExecplanError if the policy requires checks, and one of the tasks is not done and has a check."""
    if not is_required(project, plan):
        return
    from execplan.execution.acceptance_check import find_acceptance_checks

    tasks = [task for _, task in [find_task(plan, query) for query in queries] if task.state != DONE]
    checks = [
        check
        for check in find_acceptance_checks(plan, ref.id, project.display_path(ref.path), tasks)
        if check is not None
    ]
    if checks:
        ids = " ".join([check.task_id for check in checks])
        raise ExecplanError(
            "check-required",
            f"the policy requires that the check passes before {checks[0].task_id} is done: {checks[0].command}",
            hint=f"execplan done {ids} --verify -p {ref.shell_name}",
        )


def is_required(project: Project, plan: ParsedPlan) -> bool:
    """Return whether the policy requires checks, and the plan may have some. Raises ExecplanError for bad settings."""
    if not has_checks(plan) and not any(["task=" in line for line in plan.text.lines]):
        return False
    from execplan.execution.approvals.effective_policy import effective_policy

    return effective_policy(project).require_checks


_SAFE_CHARACTERS = "/-_.~@+,="
"""Characters other than letters and digits that are not escaped in a link."""
_NO_COMMIT = WriteOptions(commit=False)
"""Options without a commit, because the run commits when it ends."""


class TickResult(NamedTuple):
    """The result of checking off or reopening a task."""

    task: str = ""
    """Text of the task if it was checked off or reopened; empty if it was left alone."""
    warning: str = ""
    """Why the task could not be changed; no step fails because of that."""


def find_transcript_step(document: ExecutionPlan, run_state: RunState, step: Step) -> Step | None:
    """Return the step whose transcript documents a step's task, or None while other steps of the task are open.

    Call it for each step that is completed, recovered or skipped. Returns None for a step without a task, and for a
    task that had no work done or that the run has already checked off.
    """
    if step.task is None:
        return None
    plan = owning_plan(document, step.id)
    task_steps = [
        task_step
        for task_step in document.steps
        if _same_task(task_step, step.task) and owning_plan(document, task_step.id) == plan
    ]
    statuses = [run_state.status_of.get(task_step.id) for task_step in task_steps]
    completed_steps = [
        task_step
        for task_step, status in zip(task_steps, statuses, strict=True)
        if status in (states.COMPLETED, states.RECOVERED)
    ]
    if (
        not completed_steps
        or any([status not in states.SUCCESS_STATES for status in statuses])
        or any([task_step.id in run_state.ticked_tasks for task_step in task_steps])
    ):
        return None
    return step if step in completed_steps else completed_steps[-1]


def owning_plan(document: ExecutionPlan, step: str) -> str:
    """Return the ID of the plan that a step comes from in a composed document; empty for the document's own plan."""
    composed_plans = document.metadata.context.get("composed")
    for composed_plan in composed_plans if isinstance(composed_plans, list) else ():
        if isinstance(composed_plan, dict) and step.startswith(f"{composed_plan.get('prefix')}."):
            return str(composed_plan.get("plan_id", ""))
    return ""


def list_plan_files(project: Project, ref: PlanRef, document: ExecutionPlan) -> set[str]:
    """Return the files, relative to the root, that contain the tasks of a run: their changes are not a step's work."""
    paths = set()
    for name in {owning_plan(document, step.id) for step in document.steps}:
        try:
            owning_project, plan = _open_owning_plan(project, ref, name)
            paths |= {owning_project.display_path(plan.path), owning_project.display_path(os.path.realpath(plan.path))}
        except ExecplanError:
            continue  # the plan is gone, so its tasks stay as they are
    return paths


def tick_task(project: Project, ref: PlanRef, document: ExecutionPlan, step: Step, transcript: str) -> TickResult:
    """Check off a step's task, with a link to `transcript`, a path from the root; empty for no link.

    A task that is already done is left alone, and only reported if this step checked it off.
    """
    query = step.task
    if query is None:
        return TickResult()
    try:
        project, ref = _open_owning_plan(project, ref, owning_plan(document, step.id))
        href = transcript_href(project, ref, transcript)
        plan = plan_store.parse(project, plan_store.read_bytes(project, ref.path))
        _, task = find_task(plan, query)
        if find_check(plan, task) is not None:  # the run has made the checks of its own steps
            ensure_unchecked(project, ref, plan, [query])
        if task.state == DONE:
            return TickResult(task.text if find_transcript_link(plan, task, href) >= 0 else "")
        _write_tick(project, ref, lambda link: complete_run_task(query, now(), link), href)
        return TickResult(task.text)
    except ExecplanError as error:
        return TickResult(warning=f"task {query!r} of {step.id} was not checked off: {error.message}")


def reopen_task(
    project: Project, ref: PlanRef, document: ExecutionPlan, step: str, task: str, transcript: str
) -> TickResult:
    """Undo what `tick_task` wrote for a step; `task` and `transcript` are those of the journal."""
    try:
        project, ref = _open_owning_plan(project, ref, owning_plan(document, step))
        href = transcript_href(project, ref, transcript)
        old_lines = _find_old_lines(project, ref, task, href)
        changed = amend(project, ref, reopen_run_task(task, href, old_lines), _NO_COMMIT, command="rollback").changed
        return TickResult(task if changed else "")
    except ExecplanError as error:
        return TickResult(warning=f"task {task!r} of {step} was not reopened: {error.message}")


def _same_task(step: Step, task: str) -> bool:
    return step.task is not None and normalize_text(step.task) == normalize_text(task)


def _open_owning_plan(project: Project, ref: PlanRef, name: str) -> tuple[Project, PlanRef]:
    """Return the plan that contains the tasks, with its project. Raises ExecplanError."""
    return (project, ref) if not name or name == ref.id else plan_selection.select_plan(project.base, name)


def transcript_href(project: Project, ref: PlanRef, transcript: str) -> str:
    """Convert a path from the root to a link in a plan."""
    if not transcript:
        return ""
    from urllib.parse import quote

    path = os.path.relpath(os.path.join(project.root, transcript), os.path.dirname(ref.path))
    return "".join([char if char.isalnum() or char in _SAFE_CHARACTERS else quote(char, safe="") for char in path])


def _write_tick(project: Project, ref: PlanRef, changer: Callable[[str], ChangeBuilder], href: str) -> None:
    """Check off the task; if the link would be parsed differently in this plan, leave it out."""
    try:
        amend(project, ref, changer(href), _NO_COMMIT, command="run")
    except ExecplanError as error:
        if error.code != "would-break" or not href:
            raise
        amend(project, ref, changer(""), _NO_COMMIT, command="run")


def _find_old_lines(project: Project, ref: PlanRef, task_text: str, href: str) -> tuple[str, str] | None:
    """Return the task's checkbox line as the run wrote it and as it was before, if the edit journal still has it."""
    for edit in reversed(edit_journal.read_entries(project, ref.path)):
        try:
            old, new = [plan_store.parse(project, data) for data in edit.unpack()]
        except (ValueError, ExecplanError):
            continue
        index = _find_ticked_task(old, new, task_text, href)
        if index is not None:
            return new.text.lines[new.tasks[index].box_line], old.text.lines[old.tasks[index].box_line]
    return None


def _find_ticked_task(old: ParsedPlan, new: ParsedPlan, task_text: str, href: str) -> int | None:
    """Return the index of the task that an edit checked off, if it has the link or, without a link, the text."""
    if len(old.tasks) != len(new.tasks):
        return None
    for index, (old_task, new_task) in enumerate(zip(old.tasks, new.tasks, strict=True)):
        if href:
            is_same_task = find_transcript_link(new, new_task, href) >= 0 > find_transcript_link(old, old_task, href)
        else:
            is_same_task = normalize_text(new_task.text) == normalize_text(task_text)
        if is_same_task and old_task.state != DONE and new_task.state == DONE:
            return index
    return None
