"""What the writers share: find the plan, apply the change, say what became of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.advice.plan_json import amended_json
from execplan.cli.answer import Answer, Call
from execplan.cli.output.terminal_text import printable_lines
from execplan.edits.plan_writer import EditResult, WriteOptions, amend
from execplan.plan_store import plan_selection
from execplan.plan_store.plan_store import quote_plan_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.plan.plan_change import ChangeBuilder
    from execplan.project.project import Project


def edit_plan(
    call: Call,
    plan: str | None,
    options: WriteOptions,
    command_name: str,
    changer: Callable[[Project], ChangeBuilder],
    next_command: str,
    *,
    finishes: bool = False,
) -> Answer:
    """Amend the plan that is meant and report it, with the command that makes sense then.

    `finishes`: when no task is open then, that is what finishes the plan.
    """
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    amended = amend(project, ref, changer(project), options, command=command_name)
    name = quote_plan_name(ref.id, amended.path)
    if not finishes or amended.open_tasks or amended.expected is None or not amended.expected.tasks:
        return edit_answer(amended, options, next_command.format(id=name))
    from execplan.advice import execution_status, plan_advice

    run = execution_status.find_open_run(project, ref)
    next_commands = (
        execution_status.finish_run_commands(project, ref, run, name)
        if run
        else plan_advice.advise_completion(name, amended.expected).commands
    )
    return edit_answer(amended, options, *next_commands)


def edit_answer(amended: EditResult, options: WriteOptions, *commands: str) -> Answer:
    """The answer of a writer."""
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
        warnings=amended.warnings,
        next_commands=next_commands,
        is_requested=options.dry_run,
    )
