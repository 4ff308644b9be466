"""`execplan replan`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call, typed
from execplan.cli.plan_name import plan_option
from execplan.cli.printing import one_per_line
from execplan.cli.verb import new_options, verb
from execplan.cli.words import body, words
from execplan.repo.amend import Options

if TYPE_CHECKING:
    from execplan.engine.replan import ReplanResult


@verb(
    reads="the journal and the document of the run; with @FILE or - what was found out.",
    writes="the next revision among the plan's artifacts and in the run's folder, the run's journal and record, the ledger.",
    examples=(
        "execplan replan --reason 'The compiler is too old.'",
        "execplan replan 1 -p parser --reason 'The test needs a server.' --new-information @steps.json",
        "execplan replan --reason 'It never ends.' --failed api --dry-run",
    ),
)
@click.argument("run", required=False, metavar="[PLAN] [RUN]")
@click.option("--reason", metavar="WORDS", required=True, help="Why; @FILE and - as for all words.")
@click.option("--failed", metavar="ID", multiple=True, help="A step that counts as failed too, by its id or number.")
@click.option(
    "--new-information",
    "information",
    metavar="TEXT",
    help="What was found out: words, or a JSON object whose `steps` take the place of all that is not done; @FILE, -.",
)
@plan_option
@new_options
def replan(
    call: Call,
    run: str | None,
    *,
    reason: str,
    failed: tuple[str, ...],
    information: str | None,
    plan: str | None,
    options: Options,
) -> Answer:
    """Make the next revision of what a run does, after what was found out; the last one of the plan, if none is named.

    What is done stays done and is not run again. A failed step that names an alternative makes room for it, any other is
    tried again; with new steps these take the place of all that is not done. The run goes on once the revision is approved.
    """
    from execplan.engine import place
    from execplan.engine.plan_choice import choose_plan_with_run
    from execplan.engine.replan import replan_run
    from execplan.engine.watch import RunObserver

    home, ref = choose_plan_with_run(os.getcwd(), plan)
    made = replan_run(
        home,
        ref,
        place.find_run(home, ref, run),
        reason=words(reason, "the reason"),
        failed=failed,
        information="\n".join(body(information, "the new information")) if information is not None else None,
        observer=RunObserver(),
        options=options,
    )
    return _answer(made, typed(ref.id, home.shown(ref.path)), dry_run=options.dry_run)


def _answer(made: ReplanResult, name: str, *, dry_run: bool) -> Answer:
    """What differs, what stays done, and how it goes on."""
    from execplan.cli.steps import steps_json

    data: dict[str, Any] = {
        "id": made.document.plan_id,
        "run": made.run,
        "revision": made.revision,
        "path": made.path,
        "digest": made.digest,
        "changed": not dry_run,
        "commit": made.commit,
        "done": list(made.completed_steps),
        "covered_by": made.coverage.approval.digest if made.coverage.approval is not None else None,
        "needs_approval": list(made.coverage.reasons),
        "differences": list(made.differences),
        "steps": steps_json(made.document),
    }
    same = ("the steps are as they were: those that failed are tried again",)
    lines = [f"revision {made.revision}, for the run {made.run}:", *[f"  {each}" for each in made.differences or same]]
    lines += [f"done, and not run again: {', '.join(made.completed_steps)}"] if made.completed_steps else []
    lines += _approval(made)
    lines += [f"would write {made.path}" if dry_run else f"wrote {made.path}"]
    lines += [f"committed {made.commit[:12]}"] if made.commit else []
    if dry_run:
        return Answer({**data, "diff": made.diff}, one_per_line(lines, made.diff), warnings=made.warnings)
    verbs = () if made.coverage.derived_approval is not None else ("evaluate", "approve")
    follow = [f"execplan {verb} {name}" for verb in verbs] + [f"execplan resume {made.run} -p {name}"]
    return Answer(data, one_per_line(lines), warnings=made.warnings, next=tuple(follow), wanted=False)


def _approval(made: ReplanResult) -> list[str]:
    """Whether somebody has to approve it, and why."""
    from execplan.engine.questions import coverage_reason

    if made.coverage.approval is not None:
        return [f"needs no new approval: {coverage_reason(made.coverage.approval)}"]
    more = f" and {len(made.coverage.reasons) - 1} more" if len(made.coverage.reasons) > 1 else ""
    return [f"needs a new approval: {made.coverage.reasons[0]}{more}"]


command = replan
