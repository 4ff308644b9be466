"""The `execplan rollback` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, new_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.run_output.run_text import format_run_command
from execplan.core.plan_store.hint_reader import require_person
from execplan.core.plan_store.plan_store import quote_plan_name

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.execution.engine.run_observer import RollbackResult


@define_command(
    reads="the journal of the run, the files that it changed, and their backups.",
    writes="these files as they were, the tasks that the run checked off, the run's journal and the audit log.",
    examples=(
        "execplan rollback --dry-run",
        "execplan rollback -p parser",
        "execplan rollback 1 -p parser --step api",
    ),
)
@click.argument("run", required=False, metavar="[PLAN] [RUN]")
@click.option("--step", metavar="ID", help="Roll back only this step.")
@plan_option
@new_options
def rollback(call: Call, run: str | None, *, step: str | None, plan: str | None, options: WriteOptions) -> Answer:
    """Roll back the changes of a run.

    Default: the plan's last run. Restores the content, modes, links and directories that the run changed, and unchecks
    its tasks. Every backup is checked before anything is written. Files changed after the run are never overwritten:
    they are listed, the command exits 4, and nothing is changed. Replaced content is backed up. Effects of commands
    elsewhere can't be rolled back; they are listed. Only a person rolls back a run: an agent with a name, from --as or
    $EXECPLAN_AGENT, exits 3.
    """
    from execplan.cli.run_output.run_lookup import find_run_to_roll_back
    from execplan.cli.run_output.run_observers import plain_observer
    from execplan.cli.run_output.run_outcome import rollback_answer
    from execplan.execution.engine.plan_choice import choose_plan_with_run
    from execplan.execution.engine.recovery.rollback import rollback as roll_back
    from execplan.execution.engine.run_observer import RunObserver

    project, ref = choose_plan_with_run(os.getcwd(), plan)
    run_paths = find_run_to_roll_back(project, ref, run)

    def start(observer: RunObserver, options: WriteOptions) -> RollbackResult:
        return roll_back(run_paths, step=step, automatic="", observer=observer, options=options)

    if not options.dry_run:
        step_arguments = ("--step", step) if step else ()
        command = format_run_command("rollback", str(run_paths.number), ref.shell_name, *step_arguments)
        require_person(command, lambda: start(RunObserver(), options._replace(dry_run=True)))
    rolled_back = start(plain_observer(call, "rollback"), options)
    return rollback_answer(
        rolled_back, quote_plan_name(ref.id, project.display_path(ref.path)), dry_run=options.dry_run
    )
