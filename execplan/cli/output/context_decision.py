"""Decisions and context packs of `context`: one variant, both variants, or single items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from execplan.cli.output.text_table import format_table_with_head
from execplan.context.baseline_selection import select_newest_first
from execplan.context.context_pack import FILE, FORMATS, KEEP, MESSAGE, PRUNE, SUMMARIZE, TRUNCATE, ContextPack, Unit
from execplan.context.context_settings import ContextSettings, allocate_budget
from execplan.context.decision import Chosen, Decision, Experiment, SessionHygiene
from execplan.context.decision_builder import CONTROL, OPTIMIZED, assign_variant, build_decision
from execplan.context.gathering.pack_gathering import GatheredPack
from execplan.context.model_table import LanguageModel, load_models, recommend_model
from execplan.context.pack_printer import PackItem, PackPrinter
from execplan.context.relevance import score_units
from execplan.context.relevance_selection import RELEVANCE_THRESHOLD, select_by_relevance
from execplan.context.session_hygiene import assess_session, hygiene_without_session
from execplan.context.task_intent import TaskIntent, classify_intent
from execplan.context.token_counter import Counter, make_counter
from execplan.core.clock import now
from execplan.core.errors import ExecplanError
from execplan.core.text.suggestions import closest_names

_RESULTS = {KEEP: "kept", SUMMARIZE: "shortened", TRUNCATE: "shortened", PRUNE: "left out"}
_GROUPS = tuple(dict.fromkeys(_RESULTS.values()))
_COLUMNS = ("result", "tokens", "item", "why")


INTENTS = ("code_generation", "debugging", "explanation", "search", "planning", "review", "generic")
FORMS = ("markdown", "xml")


class ContextOptions(NamedTuple):
    """What the flags say."""

    budget: int | None
    model: str | None
    intent: str | None
    form: str
    exact: bool | None
    experiment: str | None
    key: str | None
    explain: bool
    plain_decision: bool
    compare: bool
    items: tuple[str, ...]


def decision_summary(decision: Decision) -> str:
    """Summarize a decision in one line."""
    statistics, valid, token_counter = decision.statistics, decision.validation, decision.explainability.counter
    counts = [
        f"{count} {label}"
        for label, count in (
            ("kept", statistics.units_kept),
            ("summarized", statistics.units_summarized),
            ("truncated", statistics.units_truncated),
            ("left out", statistics.units_pruned),
        )
        if count or label == "kept"
    ]
    token_limit = decision.recommendations.budget_allocation.context
    savings = f", {statistics.reduction_percentage}% less than all items" if statistics.tokens_saved else ""
    action = decision.session_hygiene.recommended_action
    session = f"; session: {action.replace('_', ' ')}" if action != "continue" else ""
    precision = "" if token_counter.exact else "about "
    return f"items: {', '.join(counts)}; {precision}{valid.total_tokens:,} of {token_limit:,} tokens ({token_counter.name}){savings}{session}"


def explanation_table(decision: Decision) -> str:
    """Return a table of all items, grouped into kept, shortened and left out, with the most important first."""
    items = sorted(decision.optimized_context, key=lambda item: (_GROUPS.index(_RESULTS[item.action]), -item.priority))
    return format_table_with_head(
        _COLUMNS, [[_RESULTS[item.action], _tokens(item), item.id, item.reason] for item in items]
    )


def comparison_table(control: Decision, optimized: Decision) -> str:
    """Return both decisions side by side: their totals, then one row per item."""
    both = (control, optimized)
    sums = [
        ["strategy", *[decision.explainability.strategy_used for decision in both]],
        ["tokens", *[f"{decision.validation.total_tokens:,}" for decision in both]],
        ["kept", *[f"{decision.statistics.units_kept:,}" for decision in both]],
        [
            "shortened",
            *[f"{decision.statistics.units_summarized + decision.statistics.units_truncated:,}" for decision in both],
        ],
        ["left out", *[f"{decision.statistics.units_pruned:,}" for decision in both]],
    ]
    optimized_items = {item.id: item for item in optimized.optimized_context}
    rows = [[item.id, _result(item), _result(optimized_items[item.id])] for item in control.optimized_context]
    head = ("item", "control", "optimized")
    return f"{format_table_with_head(('total', *head[1:]), sums)}\n\n{format_table_with_head(head, rows)}"


def _result(item: Chosen) -> str:
    return f"{_RESULTS[item.action]} {_tokens(item)}" if item.action != PRUNE else f"left out {item.original_tokens:,}"


def _tokens(item: Chosen) -> str:
    if item.action == KEEP:
        return f"{item.tokens:,}"
    return f"{item.tokens:,} of {item.original_tokens:,}"


class PackResult(NamedTuple):
    """A decision with the text and the items of its context pack."""

    decision: Decision
    text: str
    items: list[PackItem]


def decide_pack(gathered: GatheredPack, settings: ContextSettings, options: ContextOptions) -> PackResult:
    """Build the decision and pack of the experiment's variant; without an experiment, of the optimized variant."""
    experiment = Experiment()
    if options.experiment is not None and options.key is not None:
        experiment = Experiment(
            enabled=True,
            id=options.experiment,
            variant=assign_variant(options.experiment, options.key),
            assignment_key=options.key,
        )
    return _decide_variant(gathered, settings, options, experiment)


def decide_variants(
    gathered: GatheredPack, settings: ContextSettings, options: ContextOptions
) -> tuple[PackResult, PackResult]:
    """Build the control pack and the optimized pack."""
    control, optimized = [
        _decide_variant(gathered, settings, options, Experiment(variant=name)) for name in (CONTROL, OPTIMIZED)
    ]
    return control, optimized


def _decide_variant(
    gathered: GatheredPack, settings: ContextSettings, options: ContextOptions, experiment: Experiment
) -> PackResult:
    pack = gathered.pack
    model_table = load_models(settings.models)
    budget = settings.budget if options.budget is None else options.budget
    target, warnings = _target(settings, options, gathered)
    if budget > target.window:
        warnings.append(
            f"the budget of {budget:,} tokens exceeds the context window of {target.name}: {target.window:,} tokens"
        )
    allocation = allocate_budget(budget, settings.shares)
    task_intent = TaskIntent(options.intent, 1.0) if options.intent else classify_intent(pack.task or pack.purpose)
    token_counter, form = make_counter(options.exact), FORMATS[options.form]
    is_control = experiment.variant == CONTROL
    strategy = select_newest_first if is_control else select_by_relevance
    items = strategy(pack, score_units(pack, task_intent), allocation, token_counter, form)
    pieces = [form.render_unit(item.unit, item.text, item.action) for item in items if item.action != PRUNE]
    shortened = any([item.action != KEEP for item in items])
    text = form.render_pack(pack, pieces, is_shortened=shortened)
    decision = build_decision(
        pack,
        items,
        allocation,
        token_counter,
        printed_tokens=token_counter.count(text),
        created_at=f"{now():%Y-%m-%dT%H:%M:%SZ}",
        intent=task_intent,
        threshold=0.0 if is_control else RELEVANCE_THRESHOLD,
        target_model=target.name,
        model=recommend_model(model_table, target, task_intent.name, budget),
        hygiene=_hygiene(pack, items, target.window),
        experiment=experiment,
        warnings=(*gathered.warnings_for([item.unit for item in items if item.action != PRUNE]), *warnings),
    )
    return PackResult(decision, text, items)


def _target(
    settings: ContextSettings, options: ContextOptions, gathered: GatheredPack
) -> tuple[LanguageModel, list[str]]:
    """Return the target model, from `--model`, session, settings or the model table, and a warning if it is unknown."""
    model_table = load_models(settings.models)
    model_sources = (
        ("--model", options.model),
        ("the session", gathered.model or None),
        ("the setting context.model", settings.model or None),
    )
    for source, name in model_sources:
        if name is not None:
            model, warning = model_table.resolve(name, source, settings.model)
            return model, [warning] if warning else []
    return model_table.resolve(model_table.default, "the table")[0], []


def _hygiene(pack: ContextPack, items: Sequence[PackItem], window: int) -> SessionHygiene:
    """Return advice for the session by its own items; files on disk do not fill its context window."""
    session_items = [item for item in items if item.unit.id in pack.session]
    if not session_items:
        return hygiene_without_session()
    messages = len([item for item in session_items if item.unit.type == MESSAGE])
    return assess_session(
        messages,
        sum([item.original_tokens for item in session_items]),
        sum([item.tokens for item in session_items]),
        window,
    )


class FetchedItems(NamedTuple):
    """The items that a user requested by ID."""

    text: str
    items: list[tuple[Unit, str, str, int]]
    """Each item with its action, its text and its number of tokens."""
    counter: Counter


def fetch_items(gathered: GatheredPack, settings: ContextSettings, options: ContextOptions) -> FetchedItems:
    """Return items by ID, or a file by its path, in full or shortened to a given budget; raises ExecplanError for an unknown ID."""
    by_name = {unit.path: unit for unit in gathered.pack.units if unit.type == FILE}
    by_name |= {unit.id: unit for unit in gathered.pack.units}
    chosen: dict[str, Unit] = {}
    for name in options.items:
        if name not in by_name:
            message = f"unknown context item {name!r}"
            hint = "for an item that --file, --units or --session added, repeat that option; list the items: execplan context --explain"
            raise ExecplanError("no-such-item", message, hint=hint, candidates=closest_names(name, by_name))
        chosen[by_name[name].id] = by_name[name]._replace(pinned="requested by ID")
    pack = gathered.pack._replace(units=tuple(chosen.values()))
    token_counter, form = make_counter(options.exact), FORMATS[options.form]
    task_intent = classify_intent(pack.task or pack.purpose)
    allocation = allocate_budget(options.budget, settings.shares) if options.budget is not None else None
    scored = score_units(pack, task_intent)
    if allocation is not None:
        chosen_items = select_by_relevance(pack, scored, allocation, token_counter, form)
        fetched = [(item.unit, item.action, item.text, item.tokens) for item in chosen_items]
    else:
        printer = PackPrinter(pack, scored, token_counter, form)
        fetched = [
            (
                scored_unit.unit,
                KEEP,
                printer.full_renderings[scored_unit.unit.id].text,
                printer.full_renderings[scored_unit.unit.id].tokens,
            )
            for scored_unit in printer.candidates
        ]
    return FetchedItems(
        "".join([form.render_unit(unit, text, action) for unit, action, text, _ in fetched]), fetched, token_counter
    )
