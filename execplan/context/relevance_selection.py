"""Selection of the units that are printed in full, shortened or left out, so that everything fits the budget.

Pinned units get their minimum first, then fair parts of the room. The other units follow by their priority per token,
large ones as summaries. The remaining room then makes these complete or longer, until the room is full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from execplan.context.context_pack import (
    FILE,
    KEEP,
    PLAN_TYPES,
    PRUNE,
    SUMMARIZE,
    TRUNCATE,
    ContextPack,
    PackFormat,
    Unit,
)
from execplan.context.context_settings import Allocation
from execplan.context.pack_printer import (
    OMITTED,
    PackItem,
    PackPrinter,
    Rendering,
    Summarizer,
    make_summarizer,
    read_unit_code,
    truncate_unit,
)
from execplan.context.relevance import FIRST_RELEVANCE, NO_SHARED_WORD, SHARES, ScoredUnit
from execplan.context.shortening.code_outline import group_lines, weigh_rare_words
from execplan.context.text_search import extract_keywords, extract_symbols, split_words
from execplan.context.token_counter import Counter as TokenCounter

_ACTION_REASONS = {
    SUMMARIZE: "shortened to fit the budget",
    TRUNCATE: "truncated to fit the budget",
    PRUNE: "left out: more relevant items fill the budget",
}


def explain_action(candidate: ScoredUnit, action: str, *, is_filtered: bool) -> str:
    """Explain what makes a unit relevant, strongest reason first, and why it is not printed in full if it is not."""
    clauses = list(candidate.reasons[:2])
    if is_filtered:
        clauses = [
            f"{SHARES}only {clause.removeprefix(SHARES)}"
            if clause.startswith(SHARES) and not clause.startswith(NO_SHARED_WORD)
            else clause
            for clause in clauses
        ]
    elif action in _ACTION_REASONS:
        clauses.append(_ACTION_REASONS[action])
    explanation = "; ".join(clauses)
    return explanation[:1].upper() + explanation[1:]


RELEVANCE_THRESHOLD: Final = 0.15
"""Minimum relevance of a unit that may be included, regardless of room."""
_OFFER_COUNT: Final = 120
"""Number of first offers that a larger room is split into."""
_MAX_OFFERS: Final = 32
"""Maximum number of files that get a first offer: more would be outlines of what nobody needs."""
_PLAN_SHARE: Final = 0.15
"""Part of the room remaining after that which other units, such as parts of the plan, may take."""
_RELEVANCE_POWER: Final = 2
"""How much more the definitions in a more relevant file count."""
_PIECE_TOKENS: Final = 8
"""Tokens around a definition, such as the note on what is left out before it."""
_FIRST_SHARE: Final = 0.75
"""Part of the remaining room that units may take that come before all others, such as a file that the task names."""
_FILES_SHARE: Final = 0.5
"""Part of the room remaining after that which files may take first, because the text of a plan is long."""
_MIN_SUMMARY_TOKENS: Final = 64
"""Minimum tokens of a useful summary."""
_MIN_MISSING_TOKENS: Final = 100
"""Minimum tokens that a shortened unit lacks; for fewer, something less useful is left out."""
_MIN_GAIN_TOKENS: Final = 8
"""Minimum gain in tokens for which a unit is rendered again."""
_MAX_ATTEMPTS: Final = 8
"""Maximum attempts to shorten a unit until it fits together with its heading."""


def select_by_relevance(
    pack: ContextPack,
    candidates: Sequence[ScoredUnit],
    allocation: Allocation,
    counter: TokenCounter,
    pack_format: PackFormat,
    threshold: float = RELEVANCE_THRESHOLD,
) -> list[PackItem]:
    """Choose an action for each unit, and return the items in candidate order.

    Raises ExecplanError for two units with the same ID, and for a budget that is too small for the pinned units.
    """
    selector = _RelevanceSelector(pack, candidates, counter, pack_format)
    minimums = selector.render_minimums(allocation)
    available_tokens = allocation.context - selector.frame_tokens
    while True:  # the token count of a text can differ from the sum of its parts
        renderings = selector.select_renderings(minimums, available_tokens, threshold)
        excess_tokens = selector.count_tokens(renderings) - allocation.context
        if excess_tokens <= 0:
            return selector.build_items(renderings, threshold)
        available_tokens -= excess_tokens


def _weigh_words(pack: ContextPack, candidates: Sequence[ScoredUnit]) -> dict[str, float]:
    """Return the words and symbols of the plan's parts with their relevance, and those of the task with 1."""
    weights: dict[str, float] = {}
    for candidate in candidates:
        if candidate.unit.type in PLAN_TYPES:
            text = candidate.unit.content
            for word in (*map(str.lower, extract_symbols(text)), *split_words(text)):
                weights[word] = max(weights.get(word, 0.0), min(candidate.relevance / 2, 0.5))
    goal = pack.task or pack.purpose
    task_words = (*extract_keywords(goal), *map(str.lower, extract_symbols(goal)), *split_words(goal))
    return weights | dict.fromkeys(task_words, 1.0)


class _RelevanceSelector(PackPrinter):
    """Printer that selects renderings by relevance and caches shortened ones."""

    def __init__(
        self, pack: ContextPack, candidates: Sequence[ScoredUnit], counter: TokenCounter, pack_format: PackFormat
    ) -> None:
        super().__init__(pack, candidates, counter, pack_format)
        self.plan_paths = {
            path for candidate in candidates if candidate.unit.type in PLAN_TYPES for path in candidate.unit.references
        }
        word_weights = _weigh_words(pack, candidates)
        self.keywords = [word for word, weight in word_weights.items() if weight >= 1]
        self.code = {
            candidate.unit.id: read_unit_code(candidate.unit)
            for candidate in self.candidates
            if candidate.unit.type == FILE
        }
        self.weights = weigh_rare_words(self.code.values(), word_weights)
        self.chosen: dict[str, frozenset[int]] = {}
        """Indexes of the definitions that come first in a file."""
        self.shortened_renderings: dict[tuple[str, frozenset[int], int, bool], Rendering | None] = {}
        self.summarizers: dict[tuple[str, frozenset[int]], Summarizer] = {}

    def _is_eligible(self, candidate: ScoredUnit, threshold: float) -> bool:
        """Return whether a unit may be included if there is room.

        It may be if it is relevant enough, is a part of the plan, or is a file that the plan names.
        """
        return not candidate.unit.omission and (
            candidate.relevance >= threshold
            or candidate.unit.type in PLAN_TYPES
            or candidate.unit.path in self.plan_paths
        )

    def select_renderings(
        self, minimums: dict[str, Rendering], available_tokens: int, threshold: float
    ) -> dict[str, Rendering]:
        """Select renderings for the available tokens; units without a rendering are pruned."""
        renderings = dict(minimums)
        self.chosen = {}
        remaining_tokens = available_tokens - sum([rendering.tokens for rendering in minimums.values()])
        pinned = [candidate for candidate in self.candidates if candidate.unit.pinned]
        unpinned = [
            candidate
            for candidate in self.candidates
            if not candidate.unit.pinned and self._is_eligible(candidate, threshold)
        ]
        remaining_tokens -= self._expand_evenly(renderings, pinned, remaining_tokens)
        by_relevance = sorted(unpinned, key=lambda candidate: (-candidate.relevance, candidate.unit.id))
        first = [candidate for candidate in by_relevance if candidate.relevance >= FIRST_RELEVANCE]
        remaining_tokens -= self._expand_evenly(renderings, first, int(remaining_tokens * _FIRST_SHARE))
        files = [candidate for candidate in by_relevance if candidate.unit.type == FILE]
        remaining_tokens -= self._expand_in_order(
            renderings,
            files[:_MAX_OFFERS],
            int(remaining_tokens * _FILES_SHARE),
            max(_MIN_SUMMARY_TOKENS, available_tokens // _OFFER_COUNT),
        )
        other_units = [candidate for candidate in by_relevance if candidate.unit.type != FILE]
        remaining_tokens -= self._expand_in_order(
            renderings, other_units, int(remaining_tokens * _PLAN_SHARE), remaining_tokens
        )
        remaining_tokens -= self._expand_definitions(renderings, files, remaining_tokens)
        for include_rest in (False, True):  # first the most informative parts of every unit, then the rest
            for candidate in [*pinned, *files, *other_units]:
                remaining_tokens -= self._expand(
                    renderings, candidate.unit, remaining_tokens, include_rest=include_rest
                )
            remaining_tokens = self._complete(renderings, [*pinned, *by_relevance], remaining_tokens)
        return renderings

    def _expand_evenly(
        self, renderings: dict[str, Rendering], candidates: Sequence[ScoredUnit], available_tokens: int
    ) -> int:
        """Expand units, the shortest first, each with a fair part of the remaining room; return the tokens used."""
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

    def _expand_definitions(
        self, renderings: dict[str, Rendering], files: Sequence[ScoredUnit], available_tokens: int
    ) -> int:
        """Give the room to the definitions that are most probably needed, whatever file they are in; return the tokens used."""
        pieces = []
        for candidate in files:
            code = self.code[candidate.unit.id]
            scores = code.score_definitions(self.weights)
            # that one of many is needed is less certain: the definitions of a file share its relevance
            weight = candidate.relevance**_RELEVANCE_POWER / (sum(scores) or 1.0)
            pieces += [
                (-weight * score, candidate.unit.id, at, share)
                for at, (score, share) in enumerate(zip(scores, code.shares(), strict=True))
                if score and share
            ]
        allowances: Counter[str] = Counter()
        chosen: dict[str, set[int]] = {}
        for _, unit_id, at, share in sorted(pieces):
            cost = _PIECE_TOKENS + round(share * self.full_renderings[unit_id].tokens)
            if cost <= available_tokens - allowances.total():
                allowances[unit_id] += cost
                chosen.setdefault(unit_id, set()).add(at)
        self.chosen = {unit_id: frozenset(indexes) for unit_id, indexes in chosen.items()}
        used_tokens = 0
        for candidate in files:
            used_tokens += self._expand(
                renderings,
                candidate.unit,
                min(allowances[candidate.unit.id], available_tokens - used_tokens),
            )
        return used_tokens

    def _complete(
        self, renderings: dict[str, Rendering], candidates: Sequence[ScoredUnit], remaining_tokens: int
    ) -> int:
        """Print units in full that lack little, the most useful first; the least useful ones are left out for them.

        Return the remaining tokens.
        """
        for index, candidate in enumerate(candidates):
            previous, full = renderings.get(candidate.unit.id, OMITTED), self.full_renderings[candidate.unit.id]
            missing_tokens = full.tokens - previous.tokens
            if previous.action == PRUNE or not 0 < missing_tokens < _MIN_MISSING_TOKENS:
                continue
            lesser = [
                other.unit.id
                for other in candidates[index + 1 :]
                if other.unit.id in renderings and not other.unit.pinned
            ]
            if missing_tokens <= remaining_tokens + sum([renderings[unit_id].tokens for unit_id in lesser]):
                while missing_tokens > remaining_tokens:
                    remaining_tokens += renderings.pop(lesser.pop()).tokens
                renderings[candidate.unit.id] = full
                remaining_tokens -= missing_tokens
        return remaining_tokens

    def _expand_in_order(
        self, renderings: dict[str, Rendering], candidates: Sequence[ScoredUnit], max_tokens: int, max_unit_tokens: int
    ) -> int:
        """Add the first units, each up to a limit, until a part of the room is used; return the tokens used."""
        used_tokens = 0
        for candidate in candidates:
            if candidate.unit.id not in renderings and max_tokens - used_tokens >= _MIN_SUMMARY_TOKENS:
                used_tokens += self._expand(renderings, candidate.unit, min(max_unit_tokens, max_tokens - used_tokens))
        return used_tokens

    def _expand(
        self, renderings: dict[str, Rendering], unit: Unit, max_extra_tokens: int, *, include_rest: bool = False
    ) -> int:
        """Expand a unit by at most `max_extra_tokens`; return the tokens used."""
        previous = renderings.get(unit.id, OMITTED)
        if previous.action != KEEP and max_extra_tokens >= _MIN_GAIN_TOKENS:
            rendering = self._largest_rendering(unit, previous.tokens + max_extra_tokens, include_rest=include_rest)
        else:
            rendering = None
        if rendering is None or rendering.tokens <= previous.tokens:
            return 0
        renderings[unit.id] = rendering
        return rendering.tokens - previous.tokens

    def _largest_rendering(self, unit: Unit, max_tokens: int, *, include_rest: bool) -> Rendering | None:
        """Return the largest rendering of a unit within a token limit: its full text, a summary, or else its beginning.

        A summary has the most informative parts of the unit. With `include_rest`, it has as much of the rest as fits.
        """
        if self.full_renderings[unit.id].tokens <= max_tokens:
            return self.full_renderings[unit.id]
        if max_tokens < _MIN_SUMMARY_TOKENS:
            return None
        key = (unit.id, self.chosen.get(unit.id, frozenset()), max_tokens, include_rest)
        if key not in self.shortened_renderings:
            self.shortened_renderings[key] = self._shorten(unit, max_tokens, include_rest=include_rest)
        return self.shortened_renderings[key]

    def _summarizer(self, unit: Unit) -> Summarizer:
        key = (unit.id, self.chosen.get(unit.id, frozenset()))
        if key not in self.summarizers:
            groups = group_lines(self.code[unit.id], self.weights, key[1]) if unit.id in self.code else ()
            self.summarizers[key] = make_summarizer(unit, self.keywords, self.content_counter, groups)
        return self.summarizers[key]

    def _shorten(self, unit: Unit, max_tokens: int, *, include_rest: bool) -> Rendering | None:
        summarize = self._summarizer(unit)
        content_tokens = max_tokens - self.render(unit, SUMMARIZE, "").tokens
        for attempt in range(_MAX_ATTEMPTS):  # a text with its heading may take more tokens than the two separately
            if content_tokens <= 0:
                return None
            text = summarize(content_tokens, include_rest)
            action = SUMMARIZE if text is not None else TRUNCATE
            rendering = self.render(
                unit, action, truncate_unit(unit, content_tokens, self.content_counter) if text is None else text
            )
            if rendering.tokens <= max_tokens:
                return rendering if rendering.tokens < self.full_renderings[unit.id].tokens else None
            content_tokens -= rendering.tokens - max_tokens + (1 << attempt) - 1
        return None

    def build_items(self, renderings: dict[str, Rendering], threshold: float) -> list[PackItem]:
        """Return an item for each unit, with its action and the reason."""
        items = []
        for candidate in self.candidates:
            rendering, original_tokens = (
                renderings.get(candidate.unit.id, OMITTED),
                self.full_renderings[candidate.unit.id].tokens,
            )
            is_filtered = rendering.action == PRUNE and not self._is_eligible(candidate, threshold)
            omission = candidate.unit.omission if is_filtered else ""
            scored = candidate._replace(reasons=(omission,)) if omission else candidate
            explanation = explain_action(scored, rendering.action, is_filtered=is_filtered)
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
