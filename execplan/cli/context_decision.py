"""The decisions and packs of `context`: one variant or both, and single items."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from execplan.clock import now
from execplan.context.baseline import newest_first
from execplan.context.budget import allocate
from execplan.context.choose import THRESHOLD, choose
from execplan.context.decide import decide
from execplan.context.decision import Decision, Experiment, SessionHygiene
from execplan.context.experiment import CONTROL, OPTIMIZED, variant
from execplan.context.hygiene import hygiene, no_session
from execplan.context.intent import Intent, intent
from execplan.context.models import recommend, table
from execplan.context.printing import Printer
from execplan.context.render import FORMS
from execplan.context.score import score
from execplan.context.tokens import counter
from execplan.context.unit import KEEP, MESSAGE, PRUNE
from execplan.errors import INPUT, ExecplanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.cli.context_options import Options
    from execplan.context.models import Model
    from execplan.context.printing import Item
    from execplan.context.tokens import Counter
    from execplan.context.unit import Pack, Unit
    from execplan.repo.gathering.gather import Gathered
    from execplan.repo.gathering.terms import Terms


class Made(NamedTuple):
    """A decision, and the pack that it is about."""

    decision: Decision
    text: str
    items: list[Item]


def make(gathered: Gathered, settings: Terms, options: Options) -> Made:
    """The decision and the pack of the variant that the experiment assigns; without an experiment the optimized one."""
    experiment = Experiment()
    if options.experiment is not None and options.key is not None:
        experiment = Experiment(
            enabled=True,
            id=options.experiment,
            variant=variant(options.experiment, options.key),
            assignment_key=options.key,
        )
    return _made(gathered, settings, options, experiment)


def make_both(gathered: Gathered, settings: Terms, options: Options) -> tuple[Made, Made]:
    """The control, and the optimized pack."""
    one, other = [_made(gathered, settings, options, Experiment(variant=each)) for each in (CONTROL, OPTIMIZED)]
    return one, other


def _made(gathered: Gathered, settings: Terms, options: Options, experiment: Experiment) -> Made:
    pack = gathered.pack
    known = table(settings.models)
    budget = settings.budget if options.budget is None else options.budget
    target, warnings = _target(settings, options, gathered)
    if budget > target.window:
        warnings.append(f"the budget of {budget:,} tokens is more than {target.name} reads, which is {target.window:,}")
    allocation = allocate(budget, settings.shares)
    aim = Intent(options.intent, 1.0) if options.intent else intent(pack.task or pack.purpose)
    counts, form = counter(options.exact), FORMS[options.form]
    is_control = experiment.variant == CONTROL
    way = newest_first if is_control else choose
    items = way(pack, score(pack, aim), allocation, counts, form)
    decision = decide(
        pack,
        items,
        allocation,
        counts,
        created_at=f"{now():%Y-%m-%dT%H:%M:%SZ}",
        intent=aim,
        threshold=0.0 if is_control else THRESHOLD,
        target_model=target.name,
        model=recommend(known, target, aim.name, budget),
        hygiene=_hygiene(pack, items, target.window),
        experiment=experiment,
        warnings=(*gathered.warnings, *warnings),
    )
    pieces = [form.piece(each.unit, each.text, each.action) for each in items if each.action != PRUNE]
    shortened = any([each.action != KEEP for each in items])
    return Made(decision, form.whole(pack, pieces, shortened=shortened), items)


def _target(settings: Terms, options: Options, gathered: Gathered) -> tuple[Model, list[str]]:
    """The model that reads: named, that of the session, of the settings, of the table; and a warning where it is not known."""
    known = table(settings.models)
    named = (
        ("--model", options.model),
        ("the session", gathered.model or None),
        ("the setting context.model", settings.model or None),
    )
    for source, name in named:
        if name is not None:
            model, warning = known.target(name, source, settings.model)
            return model, [warning] if warning else []
    return known.target(known.default, "the table")[0], []


def _hygiene(pack: Pack, items: Sequence[Item], window: int) -> SessionHygiene:
    """The advice for the session, by what is in it; files on disk do not fill its window."""
    own = [each for each in items if each.unit.id in pack.session]
    if not own:
        return no_session()
    messages = len([each for each in own if each.unit.type == MESSAGE])
    return hygiene(messages, sum([each.original_tokens for each in own]), sum([each.tokens for each in own]), window)


class Fetched(NamedTuple):
    """Items that were asked for by id."""

    text: str
    items: list[tuple[Unit, str, str, int]]
    """Each with what was done with it, its text and its tokens."""
    counter: Counter


def fetch(gathered: Gathered, settings: Terms, options: Options) -> Fetched:
    """Items by their ids: whole, or shortened to a budget that was given; raises ExecplanError for an id that there is not."""
    by_id = {unit.id: unit for unit in gathered.pack.units}
    units = []
    for name in dict.fromkeys(options.items):
        if name not in by_id:
            near = get_close_matches(name, by_id, n=5, cutoff=0.3)
            message = f"this context has no item {name!r}"
            hint = "list the items: execplan context --explain; an item of --file, --units or --session needs that flag again"
            raise ExecplanError("no-such-item", message, exit=INPUT, hint=hint, candidates=near)
        units.append(by_id[name]._replace(pinned="asked for by id"))
    pack = gathered.pack._replace(units=tuple(units))
    counts, form = counter(options.exact), FORMS[options.form]
    aim = intent(pack.task or pack.purpose)
    allocation = allocate(options.budget, settings.shares) if options.budget is not None else None
    scored = score(pack, aim)
    if allocation is not None:
        chosen = choose(pack, scored, allocation, counts, form)
        found = [(each.unit, each.action, each.text, each.tokens) for each in chosen]
    else:
        printer = Printer(pack, scored, counts, form)
        found = [
            (each.unit, KEEP, printer.whole[each.unit.id].text, printer.whole[each.unit.id].tokens)
            for each in printer.scored
        ]
    return Fetched("".join([form.piece(unit, text, action) for unit, action, text, _ in found]), found, counts)
