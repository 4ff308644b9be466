"""The decisions and packs of `context`: one variant or both, and single items."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from execplan.clock import now
from execplan.context.baseline import select_newest_first
from execplan.context.budget import allocate_budget
from execplan.context.choose import RELEVANCE_THRESHOLD, select_by_relevance
from execplan.context.decide import build_decision
from execplan.context.decision import Decision, Experiment, SessionHygiene
from execplan.context.experiment import CONTROL, OPTIMIZED, assign_variant
from execplan.context.hygiene import assess_session, hygiene_without_session
from execplan.context.intent import Intent, classify_intent
from execplan.context.models import recommend_model, load_models
from execplan.context.printing import PackPrinter
from execplan.context.render import FORMATS
from execplan.context.score import score_units
from execplan.context.tokens import make_counter
from execplan.context.unit import KEEP, MESSAGE, PRUNE
from execplan.errors import INPUT, ExecplanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.cli.context_options import Options
    from execplan.context.models import LanguageModel
    from execplan.context.printing import PackItem
    from execplan.context.tokens import Counter
    from execplan.context.unit import ContextPack, Unit
    from execplan.repo.gathering.gather import Gathered
    from execplan.repo.gathering.terms import Terms


class Made(NamedTuple):
    """A decision, and the pack that it is about."""

    decision: Decision
    text: str
    items: list[PackItem]


def make(gathered: Gathered, settings: Terms, options: Options) -> Made:
    """The decision and the pack of the variant that the experiment assigns; without an experiment the optimized one."""
    experiment = Experiment()
    if options.experiment is not None and options.key is not None:
        experiment = Experiment(
            enabled=True,
            id=options.experiment,
            variant=assign_variant(options.experiment, options.key),
            assignment_key=options.key,
        )
    return _made(gathered, settings, options, experiment)


def make_both(gathered: Gathered, settings: Terms, options: Options) -> tuple[Made, Made]:
    """The control, and the optimized pack."""
    one, other = [_made(gathered, settings, options, Experiment(variant=each)) for each in (CONTROL, OPTIMIZED)]
    return one, other


def _made(gathered: Gathered, settings: Terms, options: Options, experiment: Experiment) -> Made:
    pack = gathered.pack
    known = load_models(settings.models)
    budget = settings.budget if options.budget is None else options.budget
    target, warnings = _target(settings, options, gathered)
    if budget > target.window:
        warnings.append(f"the budget of {budget:,} tokens is more than {target.name} reads, which is {target.window:,}")
    allocation = allocate_budget(budget, settings.shares)
    aim = Intent(options.intent, 1.0) if options.intent else classify_intent(pack.task or pack.purpose)
    counts, form = make_counter(options.exact), FORMATS[options.form]
    is_control = experiment.variant == CONTROL
    way = select_newest_first if is_control else select_by_relevance
    items = way(pack, score_units(pack, aim), allocation, counts, form)
    decision = build_decision(
        pack,
        items,
        allocation,
        counts,
        created_at=f"{now():%Y-%m-%dT%H:%M:%SZ}",
        intent=aim,
        threshold=0.0 if is_control else RELEVANCE_THRESHOLD,
        target_model=target.name,
        model=recommend_model(known, target, aim.name, budget),
        hygiene=_hygiene(pack, items, target.window),
        experiment=experiment,
        warnings=(*gathered.warnings, *warnings),
    )
    pieces = [form.render_unit(each.unit, each.text, each.action) for each in items if each.action != PRUNE]
    shortened = any([each.action != KEEP for each in items])
    return Made(decision, form.render_pack(pack, pieces, is_shortened=shortened), items)


def _target(settings: Terms, options: Options, gathered: Gathered) -> tuple[LanguageModel, list[str]]:
    """The model that reads: named, that of the session, of the settings, of the table; and a warning where it is not known."""
    known = load_models(settings.models)
    named = (
        ("--model", options.model),
        ("the session", gathered.model or None),
        ("the setting context.model", settings.model or None),
    )
    for source, name in named:
        if name is not None:
            model, warning = known.resolve(name, source, settings.model)
            return model, [warning] if warning else []
    return known.resolve(known.default, "the table")[0], []


def _hygiene(pack: ContextPack, items: Sequence[PackItem], window: int) -> SessionHygiene:
    """The advice for the session, by what is in it; files on disk do not fill its window."""
    own = [each for each in items if each.unit.id in pack.session]
    if not own:
        return hygiene_without_session()
    messages = len([each for each in own if each.unit.type == MESSAGE])
    return assess_session(messages, sum([each.original_tokens for each in own]), sum([each.tokens for each in own]), window)


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
    counts, form = make_counter(options.exact), FORMATS[options.form]
    aim = classify_intent(pack.task or pack.purpose)
    allocation = allocate_budget(options.budget, settings.shares) if options.budget is not None else None
    scored = score_units(pack, aim)
    if allocation is not None:
        chosen = select_by_relevance(pack, scored, allocation, counts, form)
        found = [(each.unit, each.action, each.text, each.tokens) for each in chosen]
    else:
        printer = PackPrinter(pack, scored, counts, form)
        found = [
            (each.unit, KEEP, printer.full_renderings[each.unit.id].text, printer.full_renderings[each.unit.id].tokens)
            for each in printer.candidates
        ]
    return Fetched("".join([form.render_unit(unit, text, action) for unit, action, text, _ in found]), found, counts)
