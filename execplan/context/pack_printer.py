"""Token counts of units in printed form, full or shortened, and the resulting items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.context.context_pack import KEEP, PRUNE, TRUNCATE, make_visible
from execplan.context.context_settings import smallest_budget
from execplan.context.unit_summarizer import truncate_unit
from execplan.core.errors import INPUT, ExecplanError
from execplan.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

    from execplan.context.context_pack import ContextPack, PackFormat, Unit
    from execplan.context.context_settings import Allocation
    from execplan.context.relevance import ScoredUnit
    from execplan.context.token_counter import Counter

MIN_PINNED_TOKENS: Final = 24
"""Minimum content tokens of a pinned unit."""


class PackItem(NamedTuple):
    """A unit with the action that was chosen for it and its printed content."""

    unit: Unit
    action: str
    text: str
    """Printed part of the unit's content; empty if the unit is pruned."""
    tokens: int
    """Tokens of everything that is printed for the unit; 0 if it is pruned."""
    original_tokens: int
    """Tokens if the unit were printed in full."""
    priority: int
    """Priority from 0 to 100."""
    reason: str
    is_filtered: bool = False
    """Whether the unit was pruned because it is not relevant, regardless of room."""


class Rendering(NamedTuple):
    """One way to print a unit, with its tokens."""

    action: str
    text: str
    tokens: int


OMITTED: Final = Rendering(PRUNE, "", 0)


class PackPrinter:
    """All units with their full renderings and token counts."""

    def __init__(
        self, pack: ContextPack, candidates: Sequence[ScoredUnit], counter: Counter, pack_format: PackFormat
    ) -> None:
        """Render all units in full. Raises ExecplanError if two units have the same ID."""
        _ensure_unique_ids(candidates)
        self.pack, self.counter, self.pack_format = pack, counter, pack_format
        self.content_counter = counter._replace(count=lambda text: counter.count(pack_format.escape(text)))
        """Counter of the tokens that a part of a unit's content takes in this format."""
        self.candidates = [
            candidate._replace(unit=candidate.unit._replace(content=make_visible(candidate.unit.content)))
            for candidate in candidates
        ]
        self.full_renderings = {
            candidate.unit.id: self.render(candidate.unit, KEEP, candidate.unit.content)
            for candidate in self.candidates
        }
        self.frame_tokens = counter.count(pack_format.render_pack(pack, (), is_shortened=True))
        """Tokens of the text around the units."""

    def render(self, unit: Unit, action: str, text: str) -> Rendering:
        """Render a unit with the given text, and count its tokens."""
        return Rendering(action, text, self.counter.count(self.pack_format.render_unit(unit, text, action)))

    def count_tokens(self, renderings: Mapping[str, Rendering]) -> int:
        """Count the tokens of the pack with these renderings."""
        unit_renderings = [
            (candidate.unit, renderings.get(candidate.unit.id, OMITTED)) for candidate in self.candidates
        ]
        rendered_units = [
            self.pack_format.render_unit(unit, rendering.text, rendering.action)
            for unit, rendering in unit_renderings
            if rendering.action != PRUNE
        ]
        is_shortened = any([rendering.action != KEEP for _, rendering in unit_renderings])
        return self.counter.count(self.pack_format.render_pack(self.pack, rendered_units, is_shortened=is_shortened))

    def render_minimums(self, allocation: Allocation) -> dict[str, Rendering]:
        """Return the shortest renderings of the pinned units. Raises ExecplanError if they exceed the budget."""
        renderings = {}
        for candidate in self.candidates:
            if candidate.unit.pinned:
                full_rendering = self.full_renderings[candidate.unit.id]
                shortened = self.render(
                    candidate.unit, TRUNCATE, truncate_unit(candidate.unit, MIN_PINNED_TOKENS, self.content_counter)
                )
                renderings[candidate.unit.id] = (
                    shortened if shortened.tokens < full_rendering.tokens else full_rendering
                )
        needed_tokens = max(
            self.frame_tokens + sum([rendering.tokens for rendering in renderings.values()]),
            self.count_tokens(renderings),
        )
        if needed_tokens > allocation.context:
            budget = smallest_budget(needed_tokens, allocation.shares)
            raise ExecplanError(
                "budget-too-small",
                f"{sum(allocation[:3]):,} tokens leave {allocation.context:,} for content, but the items that can't be left out take {needed_tokens:,}",
                exit=INPUT,
                hint=f"the smallest sufficient budget is {budget:,}: --budget {budget}",
            )
        return renderings


def _ensure_unique_ids(candidates: Sequence[ScoredUnit]) -> None:
    seen_ids: set[str] = set()
    for candidate in candidates:
        if candidate.unit.id in seen_ids:
            hint = "give each item a unique ID"
            raise ExecplanError("double-unit", f"two items have the ID {candidate.unit.id!r}", exit=INPUT, hint=hint)
        seen_ids.add(candidate.unit.id)
