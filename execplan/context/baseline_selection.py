"""Control variant of an experiment: fill the budget with full units, newest first.

Units are not weighed or shortened to fit, except that pinned units are cut if there is no room for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from execplan.context.context_pack import (
    ARTIFACT,
    DIFF,
    FILE,
    INSTRUCTION,
    KEEP,
    MESSAGE,
    PRUNE,
    TOOL_RESULT,
    ContextPack,
    PackFormat,
    Unit,
)
from execplan.context.context_settings import Allocation
from execplan.context.pack_printer import OMITTED, PackItem, PackPrinter, Rendering
from execplan.context.relevance import ScoredUnit, count_newer_by_type, describe_age
from execplan.context.token_counter import Counter

_AGE_BY_TYPE = {INSTRUCTION: 0, MESSAGE: 0, TOOL_RESULT: 0, DIFF: 1, FILE: 2, ARTIFACT: 2}
"""Age rank of each unit type: the conversation is newest, then uncommitted changes, then files.

Plan parts come last.
"""
_PLAN_AGE = 3
_REASON_PRUNED = "left out: newer items fill the budget"
_REASON_CUT = "truncated to fit the budget"


def select_newest_first(
    pack: ContextPack,
    candidates: Sequence[ScoredUnit],
    allocation: Allocation,
    counter: Counter,
    pack_format: PackFormat,
) -> list[PackItem]:
    """Choose an action for each unit, newest first, and return the items in candidate order.

    Pinned units come first. A unit that does not fit is skipped, and older ones are still tried.
    Raises ExecplanError as `select_by_relevance` does.
    """
    printer = PackPrinter(pack, candidates, counter, pack_format)
    renderings = printer.render_minimums(allocation)
    available_tokens = allocation.context - printer.frame_tokens
    pinned = [candidate.unit for candidate in printer.candidates if candidate.unit.pinned]
    unpinned = [candidate.unit for candidate in printer.candidates if not candidate.unit.pinned]
    for unit in [*pinned, *_sort_newest_first(unpinned)]:
        full_rendering = printer.full_renderings[unit.id]
        remaining_tokens = available_tokens - sum([rendering.tokens for rendering in renderings.values()])
        if full_rendering.tokens - renderings.get(unit.id, OMITTED).tokens <= remaining_tokens:
            previous = renderings.get(unit.id)
            renderings[unit.id] = full_rendering
            if (
                printer.count_tokens(renderings) > allocation.context
            ):  # the token count of a text can differ from the sum of its parts
                _restore_rendering(renderings, unit, previous)
    return _build_items(printer, renderings)


def _restore_rendering(renderings: dict[str, Rendering], unit: Unit, previous: Rendering | None) -> None:
    if previous is None:
        del renderings[unit.id]
    else:
        renderings[unit.id] = previous


def _sort_newest_first(units: Sequence[Unit]) -> list[Unit]:
    """Sort units from newest to oldest; among units of the same age, the last one comes first."""
    reversed_units = list(reversed(units))
    return sorted(reversed_units, key=lambda unit: (_AGE_BY_TYPE.get(unit.type, _PLAN_AGE), -unit.order))


def _build_items(printer: PackPrinter, renderings: Mapping[str, Rendering]) -> list[PackItem]:
    newer_counts = count_newer_by_type([candidate.unit for candidate in printer.candidates])
    items = []
    for candidate in printer.candidates:
        unit, rendering = candidate.unit, renderings.get(candidate.unit.id, OMITTED)
        relevance_reason = unit.pinned or describe_age(unit, newer_counts)
        if rendering.action == KEEP:
            action_reason = ""
        elif rendering.action == PRUNE:
            action_reason = _REASON_PRUNED
        else:
            action_reason = _REASON_CUT
        explanation = "; ".join([clause for clause in (relevance_reason, action_reason) if clause]) or "fits the budget"
        items.append(
            PackItem(
                unit,
                rendering.action,
                rendering.text,
                rendering.tokens,
                printer.full_renderings[unit.id].tokens,
                candidate.priority,
                explanation[:1].upper() + explanation[1:],
            )
        )
    return items
