"""`execplan context`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.shape import conflict_warnings
from execplan.cli.verb import verb
from execplan.context.budget import LEAST
from execplan.errors import USAGE, About, ExecplanError
from execplan.repo import pick, shelf

if TYPE_CHECKING:
    from execplan.context.choose import Item
    from execplan.context.decision import Decision, Experiment
    from execplan.context.models import Model, Table
    from execplan.context.render import Form
    from execplan.context.unit import Pack
    from execplan.repo.gathering.gather import Gathered
    from execplan.repo.gathering.terms import Terms

INTENTS = ("code_generation", "debugging", "explanation", "search", "planning", "review", "generic")
FORMS = ("markdown", "xml")
_ONE = "--experiment and --key go together"


class Asked(NamedTuple):
    """What the flags say."""

    budget: int | None
    model: str | None
    intent: str | None
    form: str
    exact: bool | None
    experiment: str | None
    key: str | None

    def check(self, call: Call) -> None:
        """Refuse what does not go together; raises ExecplanError."""
        for wrong, why in (
            ((self.experiment is None) != (self.key is None), _ONE),
            ("" in (self.experiment, self.key), "--experiment and --key take words"),
            (call.as_json and self.form != FORMS[0], "--json prints the decision, and --format a pack"),
        ):
            if wrong:
                hint = "execplan context --experiment ID --key KEY" if not call.as_json else "leave one of them out"
                raise ExecplanError("usage", why, exit=USAGE, hint=hint)


@verb(
    reads="the plan, the files that it names, its artifacts, git's index and tree; what --file, --units and --session name.",
    writes="nothing.",
    examples=(
        "execplan context",
        "execplan context parser --budget 4000 --task 3",
        "execplan context parser --json",
        "execplan context --file build.log --format xml",
    ),
)
@click.argument("plan", required=False)
@click.option("--task", metavar="TASK", help="What is worked on, by number, id or words; else the next open task.")
@click.option("--budget", metavar="N", type=click.IntRange(min=LEAST), help="Tokens for prompt, pack and response.")
@click.option("--model", metavar="NAME", help="The model that reads; else that of the session, or of the settings.")
@click.option("--intent", type=click.Choice(INTENTS), help="What is to be done; else told from the task's words.")
@click.option("--file", "files", metavar="PATH", multiple=True, help="A file that must be in; of a folder, what fits.")
@click.option("--units", metavar="FILE", multiple=True, help="More units, a JSON object a line.")
@click.option("--session", "sessions", metavar="FILE", multiple=True, help="A log of Claude Code or Codex.")
@click.option("--format", "form", type=click.Choice(FORMS), default=FORMS[0], help="How the pack is printed.")
@click.option("--experiment", metavar="ID", help="Assign a variant of this experiment, by --key.")
@click.option("--key", metavar="KEY", help="Equal keys get the same variant.")
@click.option("--exact/--estimate", default=None, help="How tokens are counted; exactly where that is installed.")
def context(
    call: Call,
    plan: str | None,
    task: str | None,
    files: tuple[str, ...],
    units: tuple[str, ...],
    sessions: tuple[str, ...],
    **flags: Any,
) -> Answer:
    """Choose what an agent should read to go on with a plan, within a budget of tokens, and print it.

    The pack goes to standard output, a line about it to standard error; with --json, the decision about every unit and
    why, and no pack.
    """
    from execplan.repo.gathering.gather import Wanted, gather
    from execplan.repo.gathering.terms import terms

    asked = Asked(**flags)
    asked.check(call)
    home, ref = pick.open_plan(os.getcwd(), plan)
    shelved = shelf.load(home, ref)
    if shelved.plan is None:
        assert shelved.error is not None
        with About(home.shown(ref.path)):
            raise shelved.error
    settings = terms(home.settings.context)
    gathered = gather(home, ref, shelved.plan, Wanted(task, settings.decisions, files, units, sessions))
    gathered = gathered._replace(warnings=(*conflict_warnings([shelved]), *gathered.warnings))
    decision, text = _decided(gathered, settings, asked)
    if not call.as_json and not call.quiet:
        sys.stdout.flush()
        print(f"execplan: {_line(decision)}", file=sys.stderr)
    return Answer(decision.model_dump(mode="json"), text, warnings=decision.warnings)


def _decided(gathered: Gathered, settings: Terms, asked: Asked) -> tuple[Decision, str]:
    """The decision, and the pack that it comes to."""
    from execplan.clock import now
    from execplan.context.budget import allocate
    from execplan.context.choose import THRESHOLD, choose
    from execplan.context.decision import decide
    from execplan.context.hygiene import hygiene
    from execplan.context.intent import Intent
    from execplan.context.intent import intent as told
    from execplan.context.models import recommend, table
    from execplan.context.render import FORMS as MADE
    from execplan.context.score import score
    from execplan.context.tokens import counter
    from execplan.context.unit import MESSAGE

    pack = gathered.pack
    known = table(settings.models)
    target, warnings = _target(known, settings, asked, gathered)
    budget = settings.budget if asked.budget is None else asked.budget
    if budget > target.window:
        warnings.append(f"the budget of {budget:,} tokens is more than {target.name} reads, which is {target.window:,}")
    allocation = allocate(budget, settings.shares)
    intent = Intent(asked.intent, 1.0) if asked.intent else told(pack.task or pack.purpose)
    counts, form = counter(asked.exact), MADE[asked.form]
    items = choose(pack, score(pack, intent), allocation, counts, form)
    given, final = (sum([each.original_tokens for each in items]), sum([each.tokens for each in items]))
    messages = len([unit for unit in pack.units if unit.type == MESSAGE])
    decision = decide(
        pack,
        items,
        allocation,
        counts,
        created_at=f"{now():%Y-%m-%dT%H:%M:%SZ}",
        intent=intent,
        threshold=THRESHOLD,
        target_model=target.name,
        model=recommend(known, target, intent.name, budget),
        hygiene=hygiene(messages, given, final, target.window),
        experiment=_experiment(asked),
        warnings=(*gathered.warnings, *warnings),
    )
    return decision, _printed(pack, items, form)


def _target(known: Table, settings: Terms, asked: Asked, gathered: Gathered) -> tuple[Model, list[str]]:
    """The model that reads: named, that of the session, of the settings, of the table; and a warning where it is unknown."""
    if asked.model is not None:
        return known.find(asked.model), []
    if gathered.model:
        try:
            return known.find(gathered.model), []
        except ExecplanError:
            other = known.find(settings.model or known.default)
            return other, [f"the session ran with {gathered.model}, which is not known: {other.name} is taken instead"]
    return known.find(settings.model or known.default), []


def _experiment(asked: Asked) -> Experiment:
    from execplan.context.decision import Experiment
    from execplan.context.experiment import variant

    if asked.experiment is None or asked.key is None:
        return Experiment()
    given = variant(asked.experiment, asked.key)
    return Experiment(enabled=True, id=asked.experiment, variant=given, assignment_key=asked.key)


def _printed(pack: Pack, items: list[Item], form: Form) -> str:
    from execplan.context.unit import PRUNE

    pieces = [form.piece(each.unit, each.text, each.action) for each in items if each.action != PRUNE]
    return form.whole(pack, pieces)


def _line(decision: Decision) -> str:
    """The decision in a line."""
    told, valid, counter = decision.statistics, decision.validation, decision.explainability.counter
    counts = [
        f"{count} {what}"
        for what, count in (
            ("kept", told.units_kept),
            ("summarized", told.units_summarized),
            ("truncated", told.units_truncated),
            ("left out", told.units_pruned),
        )
        if count or what == "kept"
    ]
    room = decision.recommendations.budget_allocation.context
    less = f", {told.reduction_percentage} % less than all of it" if told.tokens_saved else ""
    action = decision.session_hygiene.recommended_action
    session = f"; session: {action.replace('_', ' ')}" if action != "continue" else ""
    exact = "" if counter.exact else "about "
    return f"{', '.join(counts)}: {exact}{valid.total_tokens:,} of {room:,} tokens ({counter.name}){less}{session}"


command = context
