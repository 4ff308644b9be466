"""Advice on the next commands for a plan, shared by all commands: by its state, runs, steps, claims and sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.plan import outline
from execplan.core.plan.model import ACTIVE, ARCHIVED, COMPLETE, DRAFT
from execplan.core.plan.placeholder_text import unfilled_sections
from execplan.core.plan.plan_lookup import find_task
from execplan.core.plan_store import hint_reader, plan_store
from execplan.core.plan_store.author import explicit_actor
from execplan.core.plan_store.plan_store import name_in_commands, quote_plan_name
from execplan.core.text.message_parts import join_first, quote, shorten
from execplan.execution import rare_features
from execplan.team.advice import execution_status
from execplan.team.advice.advice import Advice, Work
from execplan.team.advice.conflict_warnings import advise_git, conflict_commands
from execplan.team.advice.section_advice import advise_completion, advise_filling, format_add_command

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.core.project.project import Project
    from execplan.team.advice.execution_status import LastRunJson
    from execplan.team.advice.next_tasks import OpenTasks

_CODE_HAS_CHANGED = "code that its steps use has changed, so the run can be resumed after a new approval"
_MAX_TASK_LENGTH = 60
"""Maximum length of a task's text in a line of advice."""


def advise_plan(stored_plan: StoredPlan) -> Advice:
    """Return the advice for a plan whose open tasks and execution status are not known yet."""
    from execplan.team.advice.next_tasks import find_open_tasks

    project, ref, plan = stored_plan.project, stored_plan.ref, stored_plan.plan
    is_open = plan is not None and stored_plan.state in (ACTIVE, DRAFT)
    open_tasks = find_open_tasks(project, ref, plan) if plan is not None and is_open else None
    return advise(stored_plan, open_tasks, execution_status.status_if_readable(stored_plan))


def advise(stored_plan: StoredPlan, open_tasks: OpenTasks | None, execution: dict[str, Any] | None) -> Advice:
    """Return the advice for a plan, given its open tasks and its execution status."""
    project, state, plan = stored_plan.project, stored_plan.state, stored_plan.plan
    path = project.display_path(stored_plan.ref.path)
    name = name_in_commands(project, stored_plan.ref)
    if plan is None:
        return Advice((f"execplan lint {quote_plan_name(path)}",))
    if (advice := _advise_repair(stored_plan, plan, name)).commands:
        return advice
    if state == ARCHIVED:
        return Advice(finish_archived_commands(stored_plan) or (f"execplan restore {name}",))
    if commands := execution_status.open_run_commands(execution, name):
        return advise_open_run(project, stored_plan.ref, execution["run"] if execution is not None else {}, commands)
    if state == COMPLETE and not execution_status.has_failed_work(execution, stored_plan):
        return advise_completion(project, stored_plan.ref, name, plan)
    if execution is not None and (advice := _advise_steps(stored_plan, execution, name)).commands:
        return advice
    if state == DRAFT and (sections := unfilled_sections(plan)):
        return advise_filling(sections, name)
    if not plan.tasks:
        return Advice((_format_start_command(stored_plan, plan, name),))
    if open_tasks is None or open_tasks.task is None:
        return advise_blocked(stored_plan, open_tasks, name) if open_tasks is not None else Advice()
    return _advise_open_task(stored_plan, open_tasks.task, plan, execution, name)


def _advise_repair(stored_plan: StoredPlan, plan: ParsedPlan, name: str) -> Advice:
    """Return the advice for what other commands refuse or git has to finish; otherwise empty."""
    if commands := conflict_commands([stored_plan]):  # other commands can't edit, move or commit the plan
        return Advice(commands)
    advice = advise_git(stored_plan.project)
    names = [section.name for section in plan.sections]
    if not advice.commands and any([names.count(living_name) > 1 for living_name in outline.LIVING]):
        return Advice((f"execplan lint {name}",))  # edits can't tell to which of both sections they add
    return advice


def _advise_steps(stored_plan: StoredPlan, execution: dict[str, Any], name: str) -> Advice:
    """Return the advice for steps of which no run is open; empty if the tasks are next."""
    project, ref, last_run = stored_plan.project, stored_plan.ref, execution["run"]
    if last_run is not None and execution_status.is_rolled_back(last_run):
        if features.load(features.NO_STEPS)(project, ref):
            return Advice()  # the tasks are done by hand
    if run := execution_status.find_failed_run(execution, stored_plan):
        return advise_after_failure(project, ref, run, name)
    if execution_status.can_run_after_rollback(execution["run"], stored_plan):
        return Advice(execution_status.start_commands(execution, name) or (f"execplan evaluate {name}",))
    if steps := execution_status.list_remaining_steps(stored_plan, execution):
        work = edit_steps(name, f"execplan evaluate {name}")  # a plan of which only the rest is left can be approved
        description = f"{work.description} so that only {join_first(steps, 5)} remain"
        return Advice((work.command,), work._replace(description=description))
    return Advice(execution_status.start_commands(execution, name))


def finish_archived_commands(stored_plan: StoredPlan) -> tuple[str, ...]:
    """Return what resolves conflicts of an archived plan, commits it, or then merges its worktree; none without any."""
    from execplan.team.worktrees.worktree_record import finish_command, list_archived

    project, ref = stored_plan.project, stored_plan.ref
    if commands := conflict_commands([stored_plan]):
        return commands
    if _is_uncommitted(stored_plan):
        return (f"execplan commit {name_in_commands(project, ref)}",)
    return tuple([finish_command(project, record) for record in list_archived(project) if record.id == ref.id])


def _is_uncommitted(stored_plan: StoredPlan) -> bool:
    """Return whether a plan's file differs from the last commit; False if git can't say."""
    from execplan.core.git.git_commit import uncommitted_files

    project = stored_plan.project
    try:
        return project.git is not None and bool(uncommitted_files(project, [stored_plan.ref.path]))
    except ExecplanError:
        return False


def _advise_open_task(
    stored_plan: StoredPlan, task: dict[str, Any], plan: ParsedPlan, execution: dict[str, Any] | None, name: str
) -> Advice:
    """Return the advice for the next task: compile the steps that do it, or else do it."""
    if execution is not None and execution["state"] == execution_status.NOT_COMPILED and _has_step(plan, task["id"]):
        if left_change := features.load(rare_features.TRIED_CHANGE_LEFT)(stored_plan.project, stored_plan.ref):
            return Advice((f"execplan compile {name} --from-diff --restore",), why=left_change)
        return Advice((f"execplan compile {name}",))
    return advise_task(task, name)


def _has_step(plan: ParsedPlan, task_id: str) -> bool:
    """Return whether an annotated step names a task as the one that it does."""
    from execplan.execution.annotations.annotated_steps import find_annotated_steps

    for name in {draft.attributes.get("task", "") for draft in find_annotated_steps(plan).drafts} - {""}:
        try:
            if find_task(plan, name)[0] == task_id:
                return True
        except ExecplanError:
            continue  # lint reports it
    return False


def advise_open_run(project: Project, ref: PlanRef, run: LastRunJson, commands: tuple[str, ...]) -> Advice:
    """Return the advice for an unfinished run: what comes before a person's answer, or a new approval, without which a resume fails."""
    from execplan.execution.engine import error_hints

    name = name_in_commands(project, ref)
    if commands[0].startswith("execplan resume ") and _needs_new_approval(project, ref, run):
        return Advice((f"execplan evaluate {name}", *commands[1:]), why=_CODE_HAS_CHANGED)
    description = error_hints.WORK_BEFORE_ANSWER.get(run["why"] or "")
    if not description:
        return Advice(commands)
    otherwise = error_hints.answer_otherwise(run["why"] or "", str(run["id"]), name, run["executor"] or "")
    return Advice(commands, Work(description, commands[0], otherwise=otherwise))


def _needs_new_approval(project: Project, ref: PlanRef, run: LastRunJson) -> bool:
    """Return whether the code that the steps of a run use has changed since the last approval."""
    if not features.load(rare_features.NEW_APPROVAL)(project, ref, str(run["id"])):
        return False
    status = execution_status.execution_status_json(project, ref, use_cache=False)
    return bool(status["state"] != execution_status.APPROVED)


def advise_after_failure(project: Project, ref: PlanRef, run: LastRunJson, name: str) -> Advice:
    """Return the advice after a failed run: correct what failed or the steps, then replan; after a rollback, approve again.

    If a script or another file with code was corrected, the approval does not cover it any more.
    """
    from execplan.execution.engine import error_hints
    from execplan.execution.engine.run_records.run_statuses import describe_open_state, run_number

    show_command = f"execplan show {name} --run {run['id']}"
    why = execution_status.failed_run_text(run)
    if execution_status.is_rolled_back(run):  # the steps are evaluated as they are in the plan, edited or not
        evaluate_command = f"execplan evaluate {name}"
        description = error_hints.CORRECT_OR_EDIT if run["reason"] else "edit the steps in the plan if they are wrong"
        return Advice((evaluate_command, show_command), Work(description, evaluate_command), why=why)
    if execution_status.is_edited(run):
        why = f"{why}; it {describe_open_state(str(run['state']), str(run['why']))}"
        return Advice((execution_status.edited_run_command(run, name), show_command), why=why)
    if features.load(rare_features.NEW_APPROVAL)(project, ref, str(run["id"])):
        why = f"{why}; {_CODE_HAS_CHANGED}"
        return Advice((f"execplan evaluate {name}", show_command), why=why)
    run_id = run_number(str(run["id"]))
    replan_command = error_hints.format_replan_command(run_id, name)
    resume_command = error_hints.format_resume_command(run_id, name, run["executor"] or "")
    if hint_reader.is_agent():  # only a person resumes; a revision with the same steps needs no approval
        return Advice((replan_command, show_command), Work(error_hints.CORRECT_OR_EDIT, replan_command), why=why)
    otherwise = error_hints.resume_instead(run_id, name, run["executor"] or "")
    work = Work("edit the steps in the plan", replan_command, otherwise=otherwise)
    return Advice((replan_command, resume_command, show_command), work, why=why)


def edit_steps(name: str, command: str) -> Work:
    """Return the work to edit a plan's steps before a command that uses them, in an editor only for a person."""
    return Work("edit the steps in the plan", command, editor_command=f"execplan edit {name}")


def _format_start_command(stored_plan: StoredPlan, plan: ParsedPlan, name: str) -> str:
    """Return the command that makes a plan of a document outside the plans directories, or that adds the first task."""
    project, ref = stored_plan.project, stored_plan.ref
    if plan.is_document and ref not in plan_store.refs(project):  # as a plan it would be archived with the others
        return f"execplan new --from {quote_plan_name(project.display_path(ref.path))}"
    return format_add_command(plan, name)


def advise_after_tasks(project: Project, ref: PlanRef, name: str) -> Advice:
    """Return the advice after tasks were checked off: finish the run or the plan, or work on what blocks the other tasks.

    It is empty if a task can be done.
    """
    stored_plan = plan_store.load(project, ref)
    plan = stored_plan.require_plan()
    if plan.unfinished_tasks:
        from execplan.team.advice.next_tasks import find_open_tasks

        open_tasks = find_open_tasks(project, ref, plan)
        return advise_blocked(stored_plan, open_tasks, name) if open_tasks.task is None else Advice()
    if run := execution_status.find_open_run(project, ref):
        return advise_open_run(project, ref, run, execution_status.finish_run_commands(project, ref, run, name))
    execution = execution_status.status_if_readable(stored_plan)
    if execution is not None and (run := execution_status.find_failed_run(execution, stored_plan)):
        return advise_after_failure(project, ref, run, name)
    return advise_completion(project, ref, name, plan)


def advise_blocked(stored_plan: StoredPlan, open_tasks: OpenTasks, name: str) -> Advice:
    """Return the advice for a plan that waits for another one: work on that, unless they wait for each other.

    If its open tasks are done in other worktrees, its own worktree is to be merged.
    """
    from execplan.team.advice.next_tasks import MERGE_REASON

    blockers = [blocker.to_json() for blocker in open_tasks.plan_blockers]
    blockers += [blocker for task in open_tasks.blocked_tasks for blocker in task["blocked_by"]]
    if blockers and all([blocker["reason"] == MERGE_REASON for blocker in blockers]):
        from execplan.team.worktrees.worktree_record import load_record, plan_key

        has_worktree = load_record(stored_plan.project, plan_key(stored_plan.project, stored_plan.ref)) is not None
        return Advice((f"execplan worktree {name} --finish --commit",) if has_worktree else ())
    if blockers:
        from execplan.team.dependencies.dependency_problems import DEADLOCK_COMMAND, find_own_cycle

        if cycle := find_own_cycle(stored_plan.project, stored_plan.ref):
            command = f"execplan graph {name}" if ":" in cycle else DEADLOCK_COMMAND
            return Advice((command,), why=f"plans wait for each other: {cycle}")
    commands: list[str] = []
    for blocker in blockers:
        command = f"execplan next {quote_plan_name(blocker['plan'], blocker['path'])}"
        directory = blocker["from_project"]["path"] if blocker["from_project"] else ""
        commands += Advice((command,)).in_directory(directory).commands
    if not commands and open_tasks.other_claimed_tasks:
        return _advise_waiting(open_tasks.other_claimed_tasks[0]["by"], name)
    return Advice(tuple(dict.fromkeys(commands)))


def _advise_waiting(holder: str, name: str) -> Advice:
    """Return the advice while others have claimed all open tasks: a claim may be of an agent that is gone.

    It has no command, so that nobody takes tasks away who only runs the next command.
    """
    own_name = explicit_actor()
    receiver = f" --to {quote(own_name)}" if own_name else ""
    command = f"execplan next {name} --release {quote(holder)}{receiver}"
    return Advice((), Work(f"wait until {holder} is done", command, lead=f"or, if {holder} is gone"))


def advise_task(task: dict[str, Any], name: str) -> Advice:
    """Return the advice to do a task, then check it off."""
    text = shorten(task["text"].rstrip(" .:;,"), _MAX_TASK_LENGTH)
    verify_option = " --verify" if task.get("check") else ""
    done_command = f"execplan done {task['id']} -p {name}{verify_option}"
    claim_command = "" if "by" in task else f"execplan next {name} --claim"
    work = Work(f"do task {task['number']} ({text})", done_command, task, claim_command=claim_command)
    return Advice((f"execplan show {name}",), work)
