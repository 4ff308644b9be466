"""Shared logic of commands that edit a plan: select it, apply the change, report the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.advice.plan_json import amended_json
from execplan.cli.answer import Answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.edits.plan_writer import EditResult, WriteOptions
from execplan.errors import CHECK_FAILED, OK
from execplan.library.plan_api import Plan
from execplan.plan_store.claims import has_claims
from execplan.plan_store.plan_store import name_in_commands

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.advice.plan_advice import Advice


def edit_plan(
    plan_name: str | None,
    edit: Callable[[Plan], EditResult],
    options: WriteOptions,
    next_command: str,
    *,
    finishes: bool = False,
) -> Answer:
    """Edit the named plan and report the result, with the command that makes sense next.

    `finishes`: if no task is open afterward, the commands that finish the plan come next.
    """
    plan = Plan.find(plan_name)
    amended = edit(plan)
    name = name_in_commands(plan.project, plan.ref)
    if not finishes:
        return edit_answer(amended, options, next_command.format(id=name))
    advice = advise_after_tasks(plan, amended, name, next_command)
    return edit_answer(amended, options, *advice.commands)._replace(work=None if options.dry_run else advice.work)


def advise_after_tasks(plan: Plan, amended: EditResult, name: str, next_command: str) -> Advice:
    """Return the advice after tasks were checked off; if no task is open, those that finish the plan."""
    from execplan.advice import execution_status
    from execplan.advice.plan_advice import Advice, advise_completion
    from execplan.plan_store.worktree_plan import is_plan_of_worktree

    if amended.open_tasks or amended.expected is None or not amended.expected.tasks:
        claims_next = next_command.startswith("execplan next ") and has_claims(plan.project, plan.ref)
        return Advice((next_command.format(id=name) + (" --claim" if claims_next else ""),))
    run = execution_status.find_open_run(plan.project, plan.ref)
    if run:
        return Advice(tuple(execution_status.finish_run_commands(plan.project, plan.ref, run, name)))
    return advise_completion(name, plan.read(), is_worktree_plan=is_plan_of_worktree(plan.project, plan.ref))


def edit_answer(amended: EditResult, options: WriteOptions, *commands: str) -> Answer:
    """Build the answer of a command that edits a plan; its exit status is 1 if someone else had done a task before."""
    lines = list(amended.messages)
    diff = amended.diff if options.dry_run and amended.changed else ""
    if options.dry_run:
        action = "remove" if amended.diff.split("\n", 2)[1:2] == ["+++ /dev/null"] else "write"
        lines = [f"would {action} {amended.path}"] if amended.changed else [*lines, "nothing to write"]
    elif amended.commit:
        lines.append(f"committed {amended.commit[:12]}")
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
