"""The `execplan approve` command."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, new_options
from execplan.cli.option_rules import excludes, exclusive, option_rules
from execplan.cli.plan_arguments import plan_argument
from execplan.cli.time_options import parse_duration
from execplan.core import features
from execplan.core.errors import usage_error
from execplan.core.plan_store import author, plan_selection
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.execution.attributes import LEVELS

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.approvals.approval_creation import Confirmation
    from execplan.execution.approvals.plan_evaluation import EvaluatedPlan
    from execplan.execution.evaluation.approval_scope import ApprovalScope


_APPROVAL_OPTIONS = ("--digest", "--by", "--expires", "--max-risk", "--step", "--allow-inferred", "--commit")


@define_command(
    reads="what evaluate reads; the approvals in the plan's artifacts; your key; and the registry of used and revoked approvals.",
    writes=(
        "the execution plan and the approval in the plan's artifacts, and a record in its audit log; the first time also your key, in ~/.config/execplan. "
        "--revoke: the audit log, and the registry in ~/.local/state/execplan. --list and --check: nothing."
    ),
    examples=(
        "execplan approve",
        "execplan approve parser --dry-run",
        "execplan approve parser --step api --max-risk medium --expires 2h",
        "execplan approve parser --check",
        "execplan approve parser --list",
        "execplan approve parser --revoke all",
    ),
)
@plan_argument()
@click.option(
    "--digest",
    metavar="PREFIX",
    help="What you have reviewed: data.digest of `evaluate --json`, or its first 8 or more digits.",
)
@click.option("--by", metavar="NAME", help="Who approves. Default: as for `decide --author`.")
@click.option(
    "--expires",
    metavar="TIME",
    default="24h",
    help="How long the approval is valid: 30m, 24h, 7d; at most 30d (default: 24h).",
)
@click.option("--max-risk", type=click.Choice(LEVELS, case_sensitive=False), help="Cover no step above this risk.")
@click.option("--step", "steps", metavar="ID", multiple=True, help="Cover only this step; can be repeated.")
@click.option("--allow-inferred", is_flag=True, help="Also cover steps inferred from prose.")
@click.option("--list", "listing", is_flag=True, help="List all approvals and their status.")
@click.option("--check", is_flag=True, help="Exit 0 if what would run now is approved; otherwise show what changed.")
@click.option(
    "--revoke",
    metavar="[DIGEST|all]",
    is_flag=False,
    flag_value="",
    help="Revoke the only approval, the one with this digest, or all.",
)
@new_options
@option_rules(
    exclusive("--list", "--check", "--revoke"),
    *[
        excludes(option, *_APPROVAL_OPTIONS, reason="doesn't approve or commit anything")
        for option in ("--list", "--check", "--revoke")
    ],
    *[excludes(option, "--dry-run", reason="writes nothing") for option in ("--list", "--check")],
)
def approve(
    call: Call,
    plan: str | None,
    *,
    digest: str | None,
    by: str | None,
    expires: str,
    max_risk: str | None,
    steps: tuple[str, ...],
    allow_inferred: bool,
    listing: bool,
    check: bool,
    revoke: str | None,
    options: WriteOptions,
) -> Answer:
    """Approve what a plan would do, for one run.

    Use it after you have reviewed the evaluation; `run` runs only approved steps. On a terminal, the command shows the
    evaluation and asks; the names of CRITICAL steps also with --digest. Elsewhere it requires --digest, the digest that
    you have read. Only steps that the policy approves automatically need neither. An agent with a name, from --as or
    $EXECPLAN_AGENT, can approve only these.

    The approval covers the execution plan, the current state of the files that it touches, and the policy. It is valid
    for one run and its resumes, until any of this changes. If the settings say so, your SSH key signs it, and the answer
    lists who else must approve.
    """
    from execplan.cli.output import approval_output

    valid_seconds = parse_duration(expires)
    if valid_seconds is None:
        message = f"--expires must be a number of minutes, hours or days, at most 30d, not {expires!r}"
        raise usage_error(message, "for example 30m, 24h or 7d; every approval expires")
    if digest is not None:
        from execplan.execution.approvals.approval_creation import require_digest_prefix

        require_digest_prefix(digest)
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    if listing or check:
        return _list_approvals(project, ref) if listing else _check_approval(project, ref)
    if revoke is not None:
        return _revoke_approvals(project, ref, revoke, options)
    from execplan.execution.engine import approval_audit

    def confirm(
        evaluated: EvaluatedPlan, scope: ApprovalScope, confirmation: Confirmation, warnings: list[str]
    ) -> tuple[Confirmation, list[str]]:
        if digest is not None:
            if not call.as_json and author.can_ask():
                approval_output.confirm_critical_steps(scope)
            return confirmation, warnings
        if call.as_json or not author.can_ask():
            message = "without a terminal, approve requires --digest, the digest of the evaluation that you read"
            options = [f"--step {quote(step)}" for step in steps] + ([f"--max-risk {max_risk}"] if max_risk else [])
            # the digest is not filled in: whoever only follows hints has to read the evaluation for it
            command = approval_output.digest_command(ref.shell_name, "DIGEST", scope, options)
            hint = f"read the evaluation, then approve its digest: execplan evaluate {ref.shell_name}; {command}"
            unbound = approval_output.unbound_code(evaluated, scope)
            raise usage_error(message, hint, [f"the approval won't cover {code}" for code in unbound])
        changes_text, _ = features.load(features.APPROVAL_CHANGES)(project, ref, evaluated)
        approval_output.ask_for_approval(evaluated, scope, warnings, changes_text)
        return confirmation._replace(how="terminal", inferred="terminal" if scope.inferred_steps else None), []

    approval_result = approval_audit.approve(
        project,
        ref,
        digest,
        by=_require_name(by),
        valid_seconds=valid_seconds,
        max_risk=max_risk,
        steps=steps,
        allow_inferred=allow_inferred,
        confirm=confirm,
        options=options,
    )
    name = quote_plan_name(ref.id, project.display_path(ref.path))
    missing: tuple[str, ...] = ()
    if approval_result.approval is not None and approval_result.approval.ssh is not None:
        from execplan.execution.approvals.approval_status import list_missing_approvers

        missing = list_missing_approvers(project, ref, _waiting_run_id(project, ref))
    commands = () if missing else features.load(features.APPROVED_COMMANDS)(project, ref, name)
    return approval_output.approval_answer(approval_result, commands[:1], missing)


def _require_name(name: str | None) -> str | None:
    """Return the name; raises ExecplanError if it is blank, not printable or too long."""
    if name is not None and (not name.strip() or not name.isprintable() or len(name) > 200):
        message = "--by requires a visible name of at most 200 printable characters"
        raise usage_error(message, "for example: --by Ann")
    return name


def _list_approvals(project: Project, ref: PlanRef) -> Answer:
    """List all approvals of a plan."""
    from execplan.cli.output import approval_output
    from execplan.execution.approvals import approval_status

    return approval_output.approvals_answer(
        project, approval_status.check_all_approvals(project, ref, _waiting_run_id(project, ref))
    )


def _check_approval(project: Project, ref: PlanRef) -> Answer:
    """Show the valid approval; raises ExecplanError if there is none."""
    from execplan.cli.output import approval_output
    from execplan.execution.approvals.approved_plan import require_approved_plan

    return approval_output.valid_approval_answer(
        project, require_approved_plan(project, ref, run_id=_waiting_run_id(project, ref))
    )


def _waiting_run_id(project: Project, ref: PlanRef) -> str:
    """Return the ID of a plan's last run if it is paused with a new revision, otherwise an empty string."""
    from execplan.execution.engine.journal.journal_entries import REVISION_REASONS
    from execplan.execution.engine.run_records.run_statuses import find_last_run

    last_run = find_last_run(project, ref)
    return last_run.id if last_run is not None and last_run.why in REVISION_REASONS else ""


def _revoke_approvals(project: Project, ref: PlanRef, prefix: str, options: WriteOptions) -> Answer:
    """Revoke the approvals whose digest starts with the prefix."""
    from execplan.execution.approvals import approval_files, approval_registry
    from execplan.execution.engine import approval_audit

    selected = approval_files.select_by_digest(approval_files.read_all(project, ref), prefix)
    approvals = [stored.approval for stored in approval_files.select_readable(selected)]
    current = [approval for approval in approvals if not approval_registry.read_entry(project, approval.id).is_revoked]
    if not options.dry_run:
        approval_audit.revoke(project, ref, [(approval.digest, approval.id) for approval in current])
    action = "would revoke" if options.dry_run else "revoked"
    revoked = list(dict.fromkeys([approval.digest for approval in current]))
    lines = [f"{action} {name[:12]}" for name in revoked] or ["nothing to revoke"]
    warnings = tuple(
        [
            f"{project.display_path(approval_file.path)} is not an approval: {approval_file.error}"
            for approval_file in selected
            if isinstance(approval_file, approval_files.UnreadableApproval)
        ]
    )
    data = {"revoked": revoked, "changed": bool(revoked) and not options.dry_run}
    return Answer(data, "\n".join(lines), warnings=warnings, is_requested=options.dry_run)
