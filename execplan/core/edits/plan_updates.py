"""Edits of a plan: one function for each command that changes its tasks, entries, sections or metadata.

The methods of `execplan.Plan` with the same names describe their arguments. All functions raise ExecplanError, and leave
the file as it was then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from execplan.core import features
from execplan.core.clock import now
from execplan.core.edits.edit_entries import read_texts
from execplan.core.edits.edit_journal import read_entries
from execplan.core.edits.plan_writer import EditResult, WriteOptions, amend
from execplan.core.errors import ExecplanError
from execplan.core.plan import log_edits, section_edits, task_edits, task_rewording
from execplan.core.plan.model import DONE, ParsedPlan
from execplan.core.plan.plan_change import ChangeBuilder, PlanChange
from execplan.core.plan.plan_lookup import expand_numbers, task_ids
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.author import explicit_actor
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project


def find_completer(project: Project, path: str, task_id: str) -> str:
    """Return who last checked off a done task; empty if the journal doesn't say.

    Raises ExecplanError if the journal can't be read.
    """
    entries = read_entries(project, path)
    texts = read_texts(entries)
    for entry in reversed(entries):
        if entry.number in texts and entry.is_written and not entry.is_undone:
            was_done, is_done = [_is_done(project, text, task_id) for text in texts[entry.number]]
            if is_done and not was_done:
                return entry.author
    return ""


def _is_done(project: Project, text: bytes, task_id: str) -> bool:
    """Return whether a text of the journal, which is empty before the plan is created, has the task checked off."""
    try:
        tasks = plan_store.parse(project, text).tasks
    except ExecplanError:
        return False
    return any([name == task_id and task.state == DONE for name, task in zip(task_ids(tasks), tasks, strict=True)])


_DEFAULT = WriteOptions()


def _edit(project: Project, ref: PlanRef, command: str, changer: ChangeBuilder, options: WriteOptions) -> EditResult:
    ensure_own_copy(project, ref, options)
    return amend(project, ref, changer, options, command=command, is_pure=True)


def ensure_own_copy(project: Project, ref: PlanRef, options: WriteOptions) -> None:
    """Raise ExecplanError if a named agent would edit the main worktree's copy of a plan that has its own worktree."""
    if explicit_actor() is not None and not options.dry_run and os.path.isdir(f"{project.git}/worktrees"):
        features.load(features.OWN_COPY_CHECK)(project, ref)


def done(project: Project, ref: PlanRef, tasks: Sequence[str], options: WriteOptions = _DEFAULT) -> EditResult:
    """Check off tasks, with the time, unless the policy requires that checks pass first."""
    complete = completion_change(project, ref, tasks)
    plans: list[ParsedPlan] = []

    def remember_and_complete(plan: ParsedPlan) -> PlanChange:
        plans.append(plan)
        return complete(plan)

    edit_result = _edit(project, ref, "done", remember_and_complete, options)
    return warn_of_blockers(project, ref, _name_completers(project, ref, edit_result, plans[-1]), lambda: plans[-1])


def completion_change(project: Project, ref: PlanRef, tasks: Sequence[str]) -> ChangeBuilder:
    """Build the change that checks off tasks, which raises ExecplanError if the policy requires that checks pass first."""
    names = expand_numbers(tasks)
    complete = task_edits.complete_tasks(names, now())

    def check_and_complete(plan: ParsedPlan) -> PlanChange:
        features.load(features.REQUIRED_CHECKS)(project, ref, plan, names)
        return complete(plan)

    return check_and_complete


def _name_completers(project: Project, ref: PlanRef, edit_result: EditResult, plan: ParsedPlan) -> EditResult:
    """Return the result of `done` with the names of others who had checked off its tasks before."""
    done_ids = {edited.was for edited in edit_result.tasks if plan.tasks[edited.number - 1].state == DONE}
    if not done_ids:
        return edit_result
    from execplan.core.plan_store.author import actor

    tasks, messages = [], list(edit_result.messages)
    for at, edited in enumerate(edit_result.tasks):
        name = find_completer(project, ref.path, edited.id) if edited.was in done_ids else ""
        is_other = bool(name) and name != actor(project)
        tasks.append(edited._replace(done_by=name) if is_other else edited)
        messages[at] = messages[at].replace("already done:", f"already done by {name}:") if is_other else messages[at]
    return edit_result._replace(tasks=tuple(tasks), messages=tuple(messages))


def warn_of_blockers(
    project: Project, ref: PlanRef, edit_result: EditResult, read_plan: Callable[[], ParsedPlan]
) -> EditResult:
    """Return the result of checking off tasks, with warnings if they wait for other plans."""
    if not edit_result.tasks:
        return edit_result
    warnings = features.load(features.COMPLETION_WARNINGS)(project, ref, read_plan, edit_result)
    return edit_result._replace(warnings=(*edit_result.warnings, *warnings))


def reopen(project: Project, ref: PlanRef, tasks: Sequence[str], options: WriteOptions = _DEFAULT) -> EditResult:
    """Uncheck tasks and remove their timestamps."""
    return _edit(project, ref, "reopen", task_edits.reopen_tasks(expand_numbers(tasks)), options)


def add(
    project: Project,
    ref: PlanRef,
    text: str,
    *,
    after: str | None = None,
    before: str | None = None,
    under: str | None = None,
    check: str | None = None,
    create: bool = False,
    options: WriteOptions = _DEFAULT,
) -> EditResult:
    """Add an open task: after or before a task, after the last one under a sub-heading, or at the end."""
    command: str = "" if check is None else features.load(features.CHECK_COMMAND)(check)
    changer = task_edits.add_task(text, now(), after=after, before=before, under=under, check=command, create=create)
    return _edit(project, ref, "add", changer, options)


def split(
    project: Project, ref: PlanRef, task: str, *, done: str, remaining: str, options: WriteOptions = _DEFAULT
) -> EditResult:
    """Split a task into a checked one and an open one."""
    return _edit(project, ref, "split", task_rewording.split_task(task, done, remaining, now()), options)


def reword(project: Project, ref: PlanRef, task: str, text: str, options: WriteOptions = _DEFAULT) -> EditResult:
    """Replace the text of a task; its ID changes with it."""
    return _edit(project, ref, "reword", task_rewording.reword_task(task, text), options)


def decide(
    project: Project,
    ref: PlanRef,
    text: str,
    *,
    why: str,
    author: str | None = None,
    supersedes: str | None = None,
    create: bool = False,
    options: WriteOptions = _DEFAULT,
) -> EditResult:
    """Add a decision with its rationale, the date and the author."""
    from execplan.core.plan.plan_change import require_text
    from execplan.core.plan_store.author import author as default_author

    name = require_text(author or default_author(project), "the author")
    changer = log_edits.add_decision(text, why, name, now(), supersedes=supersedes, create=create)
    return _edit(project, ref, "decide", changer, options)


def discover(
    project: Project,
    ref: PlanRef,
    text: str,
    *,
    evidence: str,
    create: bool = False,
    options: WriteOptions = _DEFAULT,
) -> EditResult:
    """Add a discovery with its evidence."""
    return _edit(project, ref, "discover", log_edits.add_discovery(text, evidence, create=create), options)


def outcome(
    project: Project, ref: PlanRef, text: str, *, create: bool = False, options: WriteOptions = _DEFAULT
) -> EditResult:
    """Add an outcome to Outcomes & Retrospective."""
    return _edit(project, ref, "outcome", log_edits.add_outcome(text, create=create), options)


def note(
    project: Project,
    ref: PlanRef,
    text: str,
    *,
    excerpt: Sequence[str] = (),
    create: bool = False,
    options: WriteOptions = _DEFAULT,
) -> EditResult:
    """Add a note to Artifacts and Notes, with the lines of an excerpt in a code block below it."""
    return _edit(project, ref, "note", section_edits.add_note([text], list(excerpt), create=create), options)


def revise(project: Project, ref: PlanRef, text: str, options: WriteOptions = _DEFAULT) -> EditResult:
    """Add a dated revision note."""
    return _edit(project, ref, "revise", log_edits.add_revision_note(text, now()), options)


def set_section(
    project: Project,
    ref: PlanRef,
    section: str,
    lines: Sequence[str],
    *,
    create: bool = False,
    options: WriteOptions = _DEFAULT,
) -> EditResult:
    """Replace the body of a section with lines of markdown, which contain no heading of level 1 or 2."""
    return _edit(project, ref, "set", section_edits.set_section_body(section, list(lines), create=create), options)


def set_metadata(
    project: Project, ref: PlanRef, assignments: Sequence[str], options: WriteOptions = _DEFAULT
) -> EditResult:
    """Set keys of the metadata; a dependency that closes a cycle is an error."""
    from execplan.core.plan import metadata_assignment, metadata_edits

    parsed = [metadata_assignment.parse_assignment(assignment) for assignment in assignments]
    names = [name for assignment in parsed if assignment.name == "depends_on" for name in assignment.values]
    warnings: tuple[str, ...] = features.load(features.CYCLE_CHECK)(project, ref, names) if names else ()
    edited = _edit(project, ref, "set", metadata_edits.set_metadata(parsed, f"execplan edit {ref.shell_name}"), options)
    return edited._replace(warnings=(*edited.warnings, *warnings))
