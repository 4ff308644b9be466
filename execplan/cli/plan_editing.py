"""Shared logic of commands that edit a plan: select it, apply the change, report the result."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.cli.answer import NOTHING_TO_COMMIT, Answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.core import features
from execplan.core.edits.plan_writer import EditResult, WriteOptions
from execplan.core.errors import CHECK_FAILED, OK
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.claims import has_claims
from execplan.core.plan_store.plan_store import name_in_commands
from execplan.team.advice.plan_json import amended_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.team.advice.advice import Advice, Work


def edit_plan(
    plan_name: str | None,
    edit: Callable[[Project, PlanRef], EditResult],
    options: WriteOptions,
    next_command: str,
    *,
    finishes: bool = False,
) -> Answer:
    """Edit the named plan and report the result, with the command that makes sense next.

    `finishes`: if no task is open afterward, the commands that finish the plan come next.
    """
    project, ref = plan_selection.select_plan(os.getcwd(), plan_name)
    amended = edit(project, ref)
    name = name_in_commands(project, ref)
    suggest = suggest_after_tasks if finishes else _suggest_next
    commands, work = suggest(project, ref, amended, name, next_command)
    return edit_answer(amended, options, *commands)._replace(work=None if options.dry_run else work)


def suggest_after_tasks(
    project: Project, ref: PlanRef, amended: EditResult, name: str, next_command: str
) -> tuple[tuple[str, ...], Work | None]:
    """Return the next commands and work after tasks were checked off; if no task is open, those that finish the plan."""
    is_open = bool(amended.open_tasks) or amended.expected is None or not amended.expected.tasks
    if not is_open or amended.warnings:  # about a task that waits for another plan: the open ones may wait, too
        advice: Advice = features.load(features.COMPLETION_ADVICE)(project, ref, name)
        if advice.commands or not is_open:
            return advice.commands, advice.work
    return _suggest_next(project, ref, amended, name, next_command)


def _suggest_next(
    project: Project, ref: PlanRef, amended: EditResult, name: str, next_command: str
) -> tuple[tuple[str, ...], Work | None]:
    command = next_command.format(id=name)
    if not command.startswith("execplan next ") or not has_claims(project, ref):
        return (command,), None
    work: Work | None = features.load(features.PLAN_ADVICE)(plan_store.load(project, ref)).work
    if work is not None and work.task is not None and not work.claim_command:
        return (work.command,), work
    return (f"{command} --claim",), None


def edit_answer(amended: EditResult, options: WriteOptions, *commands: str) -> Answer:
    """Build the answer of a command that edits a plan; its exit status is 1 if someone else had done a task before."""
    lines = list(amended.messages)
    diff = amended.diff if options.dry_run and amended.changed else ""
    if options.dry_run:
        action = "remove" if amended.diff.split("\n", 2)[1:2] == ["+++ /dev/null"] else "write"
        lines = [f"would {action} {amended.path}"] if amended.changed else [*lines, "nothing to write"]
    elif amended.commit:
        lines.append(f"committed {amended.commit[:12]}")
    elif options.commit and amended.changed:
        lines.append(NOTHING_TO_COMMIT)
    data = amended_json(amended, dry_run=options.dry_run)
    next_commands = () if options.dry_run else tuple([command for command in commands if command])
    return Answer(
        data,
        printable_lines(lines, diff),
        CHECK_FAILED if any([task.done_by for task in amended.tasks]) else OK,
        warnings=amended.warnings,
        next_commands=next_commands,
        is_requested=options.dry_run,
    )
