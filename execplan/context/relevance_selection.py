"""Which units are printed whole, which shortened, and which not at all, so that all of it fits.

What is pinned gets its floor first, then fair parts of the room. The rest comes by its priority for each token that it takes,
large units as summaries; what room is left then makes these whole, or longer, until the room is full.
"""

from __future__ import annotations

from execplan.context.context_pack import FILE, KEEP, PLAN_TYPES, PRUNE, SUMMARIZE, TRUNCATE
from execplan.context.keywords import extract_keywords
from execplan.context.pack_printer import OMITTED, PackItem, PackPrinter, Rendering
from execplan.context.unit_summarizer import make_summarizer, truncate_unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from execplan.context.context_pack import ContextPack, Unit
    from execplan.context.pack_formats import PackFormat
    from execplan.context.relevance import ScoredUnit
    from execplan.context.token_budget import Allocation
    from execplan.context.token_counter import Counter
    from execplan.context.unit_summarizer import Summarizer


_ACTION_REASONS = {
    SUMMARIZE: "shortened: no room for all of it",
    TRUNCATE: "cut: no room for all of it",
    PRUNE: "left out: others need the room more",
}


def explain_action(candidate: ScoredUnit, action: str, *, is_filtered: bool) -> str:
    """What makes a unit relevant, the strongest first, and why it is not printed whole, where it is not."""
    clauses = list(candidate.reasons[:2])
    if is_filtered:
        clauses = [
            f"shares only {clause[7:]}" if clause.startswith("shares ") and "shares no " not in clause else clause
            for clause in clauses
        ]
    elif action in _ACTION_REASONS:
        clauses.append(_ACTION_REASONS[action])
    explanation = "; ".join(clauses)
    return explanation[:1].upper() + explanation[1:]


RELEVANCE_THRESHOLD: Final = 0.15
"""The least relevance of what is not left out, room or not."""
_PINNED_SHARE: Final = 0.7
"""The part of the room that pinned units may take while others want some."""
_MIN_OFFER_TOKENS: Final = 160
"""The least tokens that a large unit is first offered, so that several find room."""
_OFFER_COUNT: Final = 14
"""Into how many such offers a larger room is split."""
_HIGH_RELEVANCE: Final = 0.5
"""The relevance of what comes before all others, such as a file that the task names."""
_HIGH_RELEVANCE_SHARE: Final = 0.75
"""The part of the room that is left which this may take."""
_FILES_SHARE: Final = 0.4
"""The part of the room that is left then which files may take before all else competes for it: a plan is long in words."""
_MIN_SUMMARY_TOKENS: Final = 64
"""Tokens: a summary in less room than this says nothing."""
_MIN_GAIN_TOKENS: Final = 8
"""Tokens: for less more than this nothing is shortened again."""
_MAX_ATTEMPTS: Final = 8
"""How often a unit is shortened until what is around it fits, too."""


def select_by_relevance(
    pack: ContextPack,
    candidates: Sequence[ScoredUnit],
    allocation: Allocation,
    counter: Counter,
    pack_format: PackFormat,
    threshold: float = RELEVANCE_THRESHOLD,
) -> list[PackItem]:
    """What becomes of each unit, in their order.

    Raises ExecplanError for two units with one id, and for a budget in which what is never left out has no room.
    """
    selector = _RelevanceSelector(pack, candidates, counter, pack_format)
    minimums = selector.render_minimums(allocation)
    available_tokens = allocation.context - selector.frame_tokens
    while True:  # tokens of a whole are not always those of its parts
        renderings = selector.select_renderings(minimums, available_tokens, threshold)
        excess_tokens = selector.count_tokens(renderings) - allocation.context
        if excess_tokens <= 0:
            return selector.build_items(renderings, threshold)
        available_tokens -= excess_tokens


class _RelevanceSelector(PackPrinter):
    """All units, and those that were shortened."""

    def __init__(
        self, pack: ContextPack, candidates: Sequence[ScoredUnit], counter: Counter, pack_format: PackFormat
    ) -> None:
        super().__init__(pack, candidates, counter, pack_format)
        self.plan_paths = {
            path for candidate in candidates if candidate.unit.type in PLAN_TYPES for path in candidate.unit.references
        }
        self.keywords = frozenset(extract_keywords(pack.task) or extract_keywords(pack.purpose))
        self.shortened_renderings: dict[tuple[str, int, bool], Rendering | None] = {}
        self.summarizers: dict[str, Summarizer] = {}

    def _is_eligible(self, candidate: ScoredUnit, threshold: float) -> bool:
        """Whether a unit is relevant enough; a part of the plan, and a file that the plan names, always is, if there is room."""
        return (
            candidate.relevance >= threshold
            or candidate.unit.type in PLAN_TYPES
            or candidate.unit.path in self.plan_paths
        )

    def select_renderings(
        self, minimums: dict[str, Rendering], available_tokens: int, threshold: float
    ) -> dict[str, Rendering]:
        """What is printed of each unit in so much room; what is not named is pruned."""
        renderings = dict(minimums)
        remaining_tokens = available_tokens - sum([rendering.tokens for rendering in minimums.values()])
        pinned = [candidate for candidate in self.candidates if candidate.unit.pinned]
        unpinned = [
            candidate
            for candidate in self.candidates
            if not candidate.unit.pinned and self._is_eligible(candidate, threshold)
        ]
        unpinned_tokens = sum([self.full_renderings[candidate.unit.id].tokens for candidate in unpinned])
        remaining_tokens -= self._expand_evenly(
            renderings, pinned, remaining_tokens - min(unpinned_tokens, int(available_tokens * (1 - _PINNED_SHARE)))
        )
        remaining_tokens -= self._expand_evenly(
            renderings,
            [candidate for candidate in unpinned if candidate.relevance >= _HIGH_RELEVANCE],
            int(remaining_tokens * _HIGH_RELEVANCE_SHARE),
        )
        files = sorted(
            [candidate for candidate in unpinned if candidate.unit.type == FILE],
            key=lambda candidate: (-candidate.relevance, candidate.unit.id),
        )
        remaining_tokens -= self._expand_in_order(
            renderings,
            files,
            int(remaining_tokens * _FILES_SHARE),
            max(_MIN_SUMMARY_TOKENS, available_tokens // _OFFER_COUNT),
        )
        offer_tokens = max(_MIN_OFFER_TOKENS, available_tokens // _OFFER_COUNT)
        unpinned.sort(
            key=lambda candidate: (
                -(candidate.relevance**2) / min(self.full_renderings[candidate.unit.id].tokens, offer_tokens),
                candidate.unit.id,
            )
        )
        for candidate in unpinned:
            if candidate.unit.id not in renderings:
                remaining_tokens -= self._expand(renderings, candidate.unit, min(offer_tokens, remaining_tokens))
        by_relevance = [*pinned, *sorted(unpinned, key=lambda candidate: (-candidate.relevance, candidate.unit.id))]
        for include_rest in (False, True):  # first what tells most about every unit, then all else of them
            for candidate in by_relevance:
                remaining_tokens -= self._expand(
                    renderings, candidate.unit, remaining_tokens, include_rest=include_rest
                )
        return renderings

    def _expand_evenly(
        self, renderings: dict[str, Rendering], candidates: Sequence[ScoredUnit], available_tokens: int
    ) -> int:
        """Print more of units, the shortest first and each with a fair part of what is left; tells what it took."""
        used_tokens = 0
        for index, candidate in enumerate(
            sorted(
                candidates, key=lambda candidate: (self.full_renderings[candidate.unit.id].tokens, candidate.unit.id)
            )
        ):
            used_tokens += self._expand(
                renderings, candidate.unit, (available_tokens - used_tokens) // (len(candidates) - index)
            )
        return used_tokens

    def _expand_in_order(
        self, renderings: dict[str, Rendering], candidates: Sequence[ScoredUnit], max_tokens: int, max_unit_tokens: int
    ) -> int:
        """Print something of the first units, each at most so large, until a part of the room is taken; tells what it took."""
        used_tokens = 0
        for candidate in candidates:
            if candidate.unit.id not in renderings and max_tokens - used_tokens >= _MIN_SUMMARY_TOKENS:
                used_tokens += self._expand(renderings, candidate.unit, min(max_unit_tokens, max_tokens - used_tokens))
        return used_tokens

    def _expand(
        self, renderings: dict[str, Rendering], unit: Unit, max_extra_tokens: int, *, include_rest: bool = False
    ) -> int:
        """Print more of a unit, by at most so many tokens; returns how many these are."""
        previous = renderings.get(unit.id, OMITTED)
        rendering = (
            self._largest_rendering(unit, previous.tokens + max_extra_tokens, include_rest=include_rest)
            if previous.action != KEEP and max_extra_tokens >= _MIN_GAIN_TOKENS
            else None
        )
        if rendering is None or rendering.tokens <= previous.tokens:
            return 0
        renderings[unit.id] = rendering
        return rendering.tokens - previous.tokens

    def _largest_rendering(self, unit: Unit, max_tokens: int, *, include_rest: bool) -> Rendering | None:
        """The most of a unit that takes so many tokens: all of it, a summary, or its beginning where there is no summary.

        A summary holds what tells most about the unit, and with `include_rest` as much of all else as there is room for.
        """
        if self.full_renderings[unit.id].tokens <= max_tokens:
            return self.full_renderings[unit.id]
        if max_tokens < _MIN_SUMMARY_TOKENS:
            return None
        if (unit.id, max_tokens, include_rest) not in self.shortened_renderings:
            self.shortened_renderings[unit.id, max_tokens, include_rest] = self._shorten(
                unit, max_tokens, include_rest=include_rest
            )
        return self.shortened_renderings[unit.id, max_tokens, include_rest]

    def _shorten(self, unit: Unit, max_tokens: int, *, include_rest: bool) -> Rendering | None:
        if unit.id not in self.summarizers:
            self.summarizers[unit.id] = make_summarizer(unit, self.keywords, self.counter)
        content_tokens = max_tokens - self.render(unit, SUMMARIZE, "").tokens
        for attempt in range(
            _MAX_ATTEMPTS
        ):  # a text and what is around it may take more tokens than each of them alone
            if content_tokens <= 0:
                return None
            text = self.summarizers[unit.id](content_tokens, include_rest)
            action = SUMMARIZE if text is not None else TRUNCATE
            rendering = self.render(
                unit, action, truncate_unit(unit, content_tokens, self.counter) if text is None else text
            )
            if rendering.tokens <= max_tokens:
                return rendering if rendering.tokens < self.full_renderings[unit.id].tokens else None
            content_tokens -= rendering.tokens - max_tokens + (1 << attempt) - 1
        return None

    def build_items(self, renderings: dict[str, Rendering], threshold: float) -> list[PackItem]:
        """The units with what became of them, and why."""
        items = []
        for candidate in self.candidates:
            rendering, original_tokens = (
                renderings.get(candidate.unit.id, OMITTED),
                self.full_renderings[candidate.unit.id].tokens,
            )
            is_filtered = rendering.action == PRUNE and not self._is_eligible(candidate, threshold)
            explanation = explain_action(candidate, rendering.action, is_filtered=is_filtered)
            items.append(
                PackItem(
                    candidate.unit,
                    rendering.action,
                    rendering.text,
                    rendering.tokens,
                    original_tokens,
                    candidate.priority,
                    explanation,
                    is_filtered,
                )
            )
        return items
