"""The `execplan audit` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, new_options
from execplan.cli.option_rules import exclusive, option_rules, requires
from execplan.cli.plan_arguments import plan_argument
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.plan_store import plan_selection
from execplan.core.project import project_discovery

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions


@define_command(
    reads=(
        "the audit log in the plan's artifacts, and its last hash, which is stored outside it; with --verify also the journals and approvals next to it; "
        "without PLAN those of every plan, including archived plans."
    ),
    writes=(
        "nothing; with --attest the attestation in the plan's artifacts; with --accept a record in the audit log, and its "
        "last hash."
    ),
    examples=(
        "execplan audit",
        "execplan audit parser --json",
        "execplan audit --verify",
        "execplan audit parser --attest --dry-run",
        "execplan audit parser --accept 'This is the backup.' --dry-run",
    ),
    may_page=True,
)
@plan_argument(default="all plans")
@click.option("--verify", "verifies", is_flag=True, help="Verify that the log and the files next to it are intact.")
@click.option("--run", "run_", metavar="RUN", help="Show only this run and the approval that allowed it.")
@click.option(
    "--attest",
    "attests",
    is_flag=True,
    help="Write the result of the last run as an in-toto Statement that others can verify.",
)
@click.option("--accept", "reason", metavar="REASON", help="Accept a broken audit log; the reason is recorded.")
@new_options
@option_rules(
    exclusive("--verify", "--run", "--attest", "--accept"),
    requires("--dry-run", "--accept", "--attest"),
    requires("--commit", "--accept", "--attest"),
)
def audit(
    call: Call,
    plan: str | None,
    *,
    verifies: bool,
    run_: str | None,
    attests: bool,
    reason: str | None,
    options: WriteOptions,
) -> Answer:
    """Show who approved what, what ran and what changed.

    The plan's audit log records approvals, steps, the changes to each file, and rollbacks. Each record contains the
    hash of the previous one, and the last hash is also stored outside the log, so --verify finds changed, removed and
    added records. It exits 1 at the first bad record.

    --attest writes execplan-attestation.json: an in-toto Statement with the digests of the plan, its artifacts and the
    commit, and the steps of the last run as a Test Result. It is not signed.
    """
    from execplan.cli.output import audit_output

    if reason is not None and (not reason.strip() or len(reason) > 1000):
        message = "--accept requires a reason of at most 1000 characters"
        raise usage_error(message, "see execplan audit --help")
    if verifies and plan is None and not plan_selection.plan_from_environment():
        return audit_output.verify_all_answer(project_discovery.require(os.getcwd()))
    try:
        project, ref = plan_selection.select_plan(os.getcwd(), plan)
    except ExecplanError as error:
        if error.code == "no-plan" and error.candidates:
            error.hint = f"name an archived one, as in: execplan audit {error.candidates[0]}"
        raise
    project_discovery.require_existing(project)
    if attests:
        return audit_output.attestation_answer(project, ref, options)
    if reason is not None:
        return audit_output.accept_broken_log(project, ref, reason, options)
    return audit_output.verify_plan_answer(project, ref) if verifies else audit_output.audit_answer(project, ref, run_)
