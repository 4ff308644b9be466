"""`execplan approve`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call, typed
from execplan.cli.plan_name import plan_argument
from execplan.cli.verb import new_options, verb
from execplan.errors import NO, USAGE, ExecplanError
from execplan.execution.attributes import LEVELS
from execplan.repo import pick
from execplan.repo.amend import Options

if TYPE_CHECKING:
    from execplan.execution.evaluation.scope import ApprovalScope
    from execplan.repo.execution.approve import Yes
    from execplan.repo.execution.evaluated import Evaluated
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


@verb(
    reads="what evaluate reads; the approvals among the plan's artifacts; your key, and the register of approvals that were "
    "used or revoked.",
    writes="the execution plan and the approval among the plan's artifacts, and a record in its ledger; the first time your key, in ~/.config/execplan. "
    "--revoke: the ledger, and the register in ~/.local/state/execplan. --list and --check: nothing.",
    examples=(
        "execplan approve",
        "execplan approve parser --dry-run",
        "execplan approve parser --step api --max-risk MEDIUM --expires 2h",
        "execplan approve parser --check",
        "execplan approve parser --list",
        "execplan approve parser --revoke all",
    ),
)
@plan_argument()
@click.option("--digest", metavar="PREFIX", help="What evaluate --json says as data.digest: 8 of its digits, or more.")
@click.option("--by", metavar="NAME", help="Who approves; else as for decide.")
@click.option("--expires", metavar="TIME", default="24h", help="How long it holds: 30m, 24h, 7d; at most 30d.")
@click.option("--max-risk", type=click.Choice(LEVELS, case_sensitive=False), help="Cover no step above this.")
@click.option("--step", "steps", metavar="ID", multiple=True, help="Cover only this step; may be given several times.")
@click.option("--allow-inferred", is_flag=True, help="Cover steps that were inferred from prose, too.")
@click.option("--list", "listing", is_flag=True, help="Show every approval, and whether it holds.")
@click.option("--check", is_flag=True, help="Exit 0 when what would run now is approved; else say what drifted.")
@click.option(
    "--revoke", metavar="[DIGEST|all]", is_flag=False, flag_value="", help="Let it hold no more; the only one, or this."
)
@new_options
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
    options: Options,
) -> Answer:
    """Approve what a plan would do now: its execution plan, the files that it touches as they are, and the policy.

    On a terminal it shows the evaluation and asks. Elsewhere it takes --digest, the digest that you have read; only steps
    that the policy approves by itself need neither. The approval holds for one run with its resumes, until something of
    that changes.
    """
    from execplan.cli import approving

    giving = (digest, by, max_risk, steps, allow_inferred)
    _stop_usage(listing=listing, check=check, revoke=revoke, giving=any(giving) or expires != "24h", options=options)
    seconds = approving.seconds(expires)
    if digest is not None:
        approving.check_digest(digest)
    home, ref = pick.open_plan(os.getcwd(), plan)
    if listing or check:
        return _listed(home, ref) if listing else _checked(home, ref)
    if revoke is not None:
        return _revoked(home, ref, revoke, options)
    from execplan.engine import approving as engine
    from execplan.engine.underway import find_active_run
    from execplan.execution.evaluation.scope import approval_scope as scope_of
    from execplan.repo.author import author
    from execplan.repo.execution import approve as approval
    from execplan.repo.execution.approve import Yes

    found = approval.look(home, ref, find_active_run(home, ref))
    if digest is not None:
        approval.stop_other(home, ref, found, digest)
    approval.stop_unfit(home, ref, found)
    scope = scope_of(found.evaluation, max_risk, steps or None)
    yes = Yes(_by(by) or author(home), "digest", seconds, max_risk, steps or None)
    if not scope.covered and (scope.uncovered or not scope.finished):
        left = [f"{each.evaluated.step.id}: {each.why}" for each in scope.uncovered]
        what = "no step is covered: there is nothing to approve"
        raise ExecplanError("nothing-to-approve", what, exit=NO, hint="raise --max-risk", candidates=left)
    warnings = [] if found.current.document.mode == "agent" else _warnings(home, found, scope)
    if not options.dry_run:
        try:
            yes, warnings = _said(call, ref, found, scope, yes, digest, warnings, allow_inferred=allow_inferred)
        except ExecplanError as error:
            if error.code == "declined":
                engine.decline(home, ref, found, scope, yes.by)
            raise
    given = engine.approve_and_record(home, ref, found, scope, yes, options)
    given = given._replace(warnings=(*warnings, *given.warnings))
    return approving.given_answer(given, scope, found, typed(ref.id, home.shown(ref.path)))


def _warnings(home: Home, found: Evaluated, scope: ApprovalScope) -> list[str]:
    """What somebody should know before the steps that would be approved run."""
    from execplan.engine.command_warnings import command_warnings

    return command_warnings(home, found.policy, [each.step for each in scope.covered])


def _said(
    call: Call,
    ref: Ref,
    found: Evaluated,
    scope: ApprovalScope,
    yes: Yes,
    digest: str | None,
    warnings: list[str],
    *,
    allow_inferred: bool,
) -> tuple[Yes, list[str]]:
    """How it is approved: by the policy, by the digest, or on a terminal; and the warnings that are not shown yet.

    Raises ExecplanError when it is not approved.
    """
    from execplan.cli import approving

    if not scope.manual_steps:
        return yes._replace(how="policy"), warnings
    if digest is None and (call.as_json or not approving.is_terminal()):
        raise ExecplanError(
            "usage",
            "approve asks on a terminal, and elsewhere takes --digest, which says that what it names was read",
            exit=USAGE,
            hint=f"run it in a terminal; or read the evaluation, which names the command with the digest: execplan evaluate {ref.typed}",
        )
    if digest is None:
        approving.ask(found, scope, warnings)
        return yes._replace(how="terminal", inferred="terminal" if scope.inferred_steps else None), []
    if not allow_inferred:
        approving.stop_inferred(scope, found.path)
    return yes._replace(inferred="flag" if scope.inferred_steps else None), warnings


def _stop_usage(*, listing: bool, check: bool, revoke: str | None, giving: bool, options: Options) -> None:
    """Refuse what does not go together; raises ExecplanError."""
    chosen = [name for name, on in (("--list", listing), ("--check", check), ("--revoke", revoke is not None)) if on]
    why = ""
    if len(chosen) > 1:
        why = f"{' and '.join(chosen)} exclude each other"
    elif chosen and (giving or options.commit):
        why = f"{chosen[0]} approves nothing and commits nothing, so it goes without the flags for that"
    elif chosen and options.dry_run and revoke is None:
        why = f"{chosen[0]} writes nothing, so --dry-run goes without it"
    if why:
        raise ExecplanError("usage", why, exit=USAGE, hint="see execplan approve --help")


def _by(name: str | None) -> str | None:
    """The name that is given; raises ExecplanError for one that says nothing."""
    if name is not None and (not name.strip() or not name.isprintable() or len(name) > 200):
        what = "--by takes a name: some characters that can be seen, 200 at most"
        raise ExecplanError("usage", what, exit=USAGE, hint="such as --by Ann")
    return name


def _listed(home: Home, ref: Ref) -> Answer:
    """Every approval of a plan."""
    from execplan.cli import approving
    from execplan.repo.execution import standing

    return approving.listed(home, standing.every(home, ref, _waiting(home, ref)))


def _checked(home: Home, ref: Ref) -> Answer:
    """The approval that holds; raises ExecplanError when none does."""
    from execplan.cli import approving
    from execplan.repo.execution import standing

    return approving.stands(home, standing.required(home, ref, run=_waiting(home, ref)))


def _waiting(home: Home, ref: Ref) -> str:
    """The last run of a plan, if it waits with a new revision; or nothing."""
    from execplan.engine.entries import REVISION_REASONS
    from execplan.engine.last import find_last_run

    found = find_last_run(home, ref)
    return found.id if found is not None and found.why in REVISION_REASONS else ""


def _revoked(home: Home, ref: Ref, prefix: str, options: Options) -> Answer:
    """Let approvals hold no more."""
    from execplan.engine import approving as engine
    from execplan.repo.execution import approvals, register

    chosen = approvals.named(approvals.every(home, ref), prefix)
    ids = {each.digest: each.approval.id for each in chosen if each.approval is not None}
    gone = [name for name, found in ids.items() if not register.state(home, found).revoked]
    if not options.dry_run:
        engine.revoke(home, ref, {name: ids[name] for name in gone})
    did = "would revoke" if options.dry_run else "revoked"
    lines = [f"{did} {name[:12]}" for name in gone] or ["nothing to revoke"]
    warnings = tuple([f"{home.shown(each.path)} is no approval: {each.why}" for each in chosen if not each.approval])
    data = {"revoked": gone, "changed": bool(gone) and not options.dry_run}
    return Answer(data, "\n".join(lines), warnings=warnings, wanted=options.dry_run)


command = approve
