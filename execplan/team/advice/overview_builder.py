"""Builder of a plan's overview for `prime` and `checkpoint`: tasks, lint errors, the last run and Git."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from execplan.context.plan_overview import PlanOverview
from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ACTIVE, ARCHIVED, DRAFT, ParsedPlan
from execplan.core.plan_store import hint_reader
from execplan.core.plan_store.plan_store import PlanRef, StoredPlan, name_in_commands, quote_plan_name
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest
from execplan.team.advice import execution_status
from execplan.team.advice.advice import Advice
from execplan.team.advice.next_tasks import describe_blockers, find_open_tasks
from execplan.team.advice.plan_advice import advise


def build_overview(
    stored_plan: StoredPlan, plan: ParsedPlan, *, ignore: Sequence[str] = (), excluded_files: Sequence[str] = ()
) -> PlanOverview:
    """Build a plan's overview, without findings of the rules in `ignore` and `excluded_files`; raises ExecplanError."""
    from execplan.context.gathering import plan_drift
    from execplan.core.git import git_query

    project, ref = stored_plan.project, stored_plan.ref
    overview = None
    try:
        with git_query.BackgroundQueries(project, plan_drift.git_queries(project)) as git_queries:
            overview = _overview_without_git(stored_plan, plan, tuple(ignore))
            if project.git is None:
                return overview
            from functools import partial

            outputs = git_queries.collect_outputs(git_query.SCAN_TIMEOUT)
            tree, drift = plan_drift.inspect_worktree(
                project, ref, outputs, excluded_files, partial(features.load(features.INSTALL_DIFFERENCE), project)
            )
    except ExecplanError as error:
        if error.code not in git_query.GIT_UNUSABLE_CODES:
            raise
        overview = overview or _overview_without_git(stored_plan, plan, tuple(ignore))
        return overview._replace(git_error=(error.message, error.hint))
    return overview._replace(working_tree=tree, drift=drift)


def _overview_without_git(stored_plan: StoredPlan, plan: ParsedPlan, ignore: tuple[str, ...]) -> PlanOverview:
    """Build the part of the overview that needs only the plan and execplan's own state."""
    from execplan.core.plan_store.plan_activity import PlanActivity

    project, ref, state = stored_plan.project, stored_plan.ref, stored_plan.state
    is_open = state in (ACTIVE, DRAFT)
    open_tasks = find_open_tasks(project, ref, plan) if is_open else None
    next_task_id = open_tasks.task["id"] if open_tasks is not None and open_tasks.task is not None else ""
    steps, status_summary = _execution_summary(stored_plan)
    advice = advise(stored_plan, open_tasks, steps)
    work = advice.work
    has_text = work is not None and work.task is None
    work_text = hint_reader.fit_hint(work.to_text(with_command=False)) if work is not None and has_text else ""
    return PlanOverview(
        id=ref.id,
        path=project.display_path(ref.path),
        digest=digest(stored_plan.data),
        state=state,
        plan=plan,
        next_task_id=next_task_id,
        claimed_tasks=tuple(
            [(claimed_task["id"], claimed_task["by"]) for claimed_task in open_tasks.other_claimed_tasks]
        )
        if open_tasks is not None
        else (),
        stalled=is_open and PlanActivity().is_stalled(project, ref.path, plan),
        lint_errors=_lint_errors(project, ref, ignore),
        steps_status=status_summary,
        working_tree=None,
        drift=None,
        commands=tuple(_next_commands(stored_plan, advice)),
        claimed_until=open_tasks.task["until"]
        if open_tasks is not None and open_tasks.task is not None and open_tasks.is_yours
        else "",
        completion_command=work.command if work is not None and work.task is not None else "",
        claim_command=work.claim_command if work is not None else "",
        open_comments=_open_comments(project, ref),
        blockers=describe_blockers(open_tasks) if open_tasks is not None else "",
        unknown_dependencies=open_tasks.unknown if open_tasks is not None else (),
        urgency_reason=": ".join(filter(None, [advice.why, work_text])),
    )


def _open_comments(project: Project, ref: PlanRef) -> tuple[str, ...]:
    """Return the open review comments, each in one line; none if they can't be read."""
    from execplan.core.plan_store.comment_location import has_comments

    if not has_comments(project, ref):
        return ()
    from execplan.team.review.comment_file import load_threads
    from execplan.team.review.comment_threads import describe_thread

    return tuple([describe_thread(thread) for thread in load_threads(project, ref) if thread.is_open])


def make_redactor() -> Callable[[str], str]:
    """Return a function that redacts secrets in a text."""
    from execplan.core.secrets.redaction import Redactor
    from execplan.execution.engine.commands.command_environment import public_variables

    return Redactor(os.environ, public_variables(os.environ)).redact_text


def _execution_summary(stored_plan: StoredPlan) -> tuple[dict[str, Any] | None, str]:
    """Return the approval status and its description, or None and the reason why it can't be read."""
    try:
        status = execution_status.status_if_active(stored_plan)
    except ExecplanError as error:
        return None, f"unknown: {error.message}"
    return status, execution_status.status_text(status) if status and (
        status["state"] != execution_status.NOT_COMPILED or status["run"]
    ) else ""


def _lint_errors(project: Project, ref: PlanRef, ignore: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lint errors of a plan, also of a draft."""
    errors = features.load(features.LINT_ERRORS)(project, ref, ignore)
    return tuple([f"line {error.line}: {error.code} {error.message}" for error in errors])


def _next_commands(stored_plan: StoredPlan, advice: Advice) -> Iterator[str]:
    """Yield the suggested commands, most urgent first."""
    path = stored_plan.project.display_path(stored_plan.ref.path)
    name = name_in_commands(stored_plan.project, stored_plan.ref)
    show = f"execplan show {name}"
    urgent = [command for command in advice.commands if command != show]
    yield from urgent[:1] if stored_plan.state == ARCHIVED else urgent[:2]
    yield show
    if stored_plan.state == ARCHIVED:
        return
    yield f"execplan checkpoint {name}"
    yield f"execplan decide 'What' --why 'Why' -p {name}"
    yield f"execplan discover 'What' --evidence 'Proof' -p {name}"
    yield f"execplan lint {quote_plan_name(path)}"
