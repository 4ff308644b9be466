"""The `execplan audit` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, new_options
from execplan.cli.plan_arguments import plan_argument
from execplan.errors import USAGE, ExecplanError
from execplan.plan_store import plan_selection
from execplan.project import project_discovery

if TYPE_CHECKING:
    from execplan.edits.plan_writer import WriteOptions


@define_command(
    reads="the ledger among the plan's artifacts, and its anchor; with --verify the journals and the approvals beside it, and "
    "without PLAN those of every plan, archived ones too.",
    writes="nothing; with --accept a record in the ledger, and its anchor.",
    examples=(
        "execplan audit",
        "execplan audit parser --json",
        "execplan audit --verify",
        "execplan audit parser --accept 'The disk was lost; this is the backup.' --dry-run",
    ),
)
@plan_argument()
@click.option("--verify", "verifies", is_flag=True, help="Check the chain, its anchor and what lies beside it.")
@click.option("--run", "run_", metavar="RUN", help="Only this run, and the approval that let it run.")
@click.option("--accept", "reason", metavar="REASON", help="Go on with a ledger that is broken, on record.")
@new_options
def audit(
    call: Call, plan: str | None, *, verifies: bool, run_: str | None, reason: str | None, options: WriteOptions
) -> Answer:
    """Tell who approved what, what ran, what changed on which file, and what was rolled back, from the plan's ledger.

    The ledger is a chain: each record holds the hash of the one before. --verify says whether it is as it was written,
    and exits 1 at the first bad record.
    """
    from execplan.cli.output import audit_output

    _ensure_compatible_options(verifies=verifies, run=run_, reason=reason, options=options)
    if verifies and plan is None and not plan_selection.plan_from_environment():
        return audit_output.verify_all_answer(project_discovery.require(os.getcwd()))
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    project_discovery.require_existing(project)
    if reason is not None:
        return audit_output.accept_broken_log(project, ref, reason, options)
    return audit_output.verify_plan_answer(project, ref) if verifies else audit_output.audit_answer(project, ref, run_)


def _ensure_compatible_options(*, verifies: bool, run: str | None, reason: str | None, options: WriteOptions) -> None:
    """Refuse what does not go together; raises ExecplanError."""
    chosen_flags = [
        name
        for name, is_given in (("--verify", verifies), ("--run", run is not None), ("--accept", reason is not None))
        if is_given
    ]
    message = f"{' and '.join(chosen_flags)} exclude each other" if len(chosen_flags) > 1 else ""
    if reason is not None and (not reason.strip() or len(reason) > 1000):
        message = message or "--accept takes a reason, in words, at most 1000 characters"
    if reason is None and (options.dry_run or options.commit is not None):
        message = message or "--dry-run and --commit go with --accept"
    if message:
        raise ExecplanError("usage", message, exit=USAGE, hint="see execplan audit --help")


command = audit
