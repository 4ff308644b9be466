"""Token counts of units in printed form, in full or shortened by their kind of content, and the resulting items."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from execplan.context.context_pack import (
    ARTIFACT,
    DIFF,
    FILE,
    KEEP,
    MESSAGE,
    PRUNE,
    TOOL_RESULT,
    TRUNCATE,
    ContextPack,
    PackFormat,
    Unit,
    make_visible,
)
from execplan.context.context_settings import Allocation, smallest_budget
from execplan.context.relevance import ScoredUnit
from execplan.context.shortening import data_outline, text_ranking
from execplan.context.shortening.code_definitions import read_definitions
from execplan.context.shortening.code_outline import CodeFile, read_code
from execplan.context.shortening.excerpt import Excerpt, TextPart, render_excerpt
from execplan.context.token_counter import Counter
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple

Summarizer = Callable[[int, bool], str | None]

_MAX_CHARS: Final = 1_000_000
"""Maximum characters of a unit that is analyzed completely; a larger one is only cut, unless it is a log or text."""
_MAX_TOKEN_CHARS: Final = 64
"""Maximum characters of a token."""
_MAX_WORD_CHARS: Final = 64
"""Maximum characters of a word that is not cut."""
_MAX_MARKER_CHARS: Final = 32
"""Maximum characters of an omission marker."""
_CODE_EXTENSIONS = frozenset(
    "bash c cc clj cpp cs cu dart ex exs fs go gradle graphql h hpp hs java jl js jsx kt kts lua m metal mjs mm ml nim "
    "php pl proto ps1 rb rs scala scss sh slang sol sql svelte swift tf ts tsx vue wgsl zig zsh".split()
)
_PROSE_EXTENSIONS = frozenset(("adoc", "markdown", "md", "mdx", "rst", "tex"))
_TABLE_EXTENSIONS = frozenset(("csv", "tsv"))
_LOG_EXTENSIONS = frozenset(("err", "log", "out"))
_SETTINGS_EXTENSIONS = frozenset("cfg conf css env html ini properties toml xml yaml yml".split())
_SPLITTERS = {
    "diff": text_ranking.split_diff,
    "log": text_ranking.split_log,
    "text": text_ranking.split_text,
    "message": text_ranking.split_message,
    "prose": text_ranking.split_prose,
    "settings": data_outline.split_settings,
    "table": data_outline.split_table,
}
"""Function for each kind of content that splits it into ranked parts."""
_DIFF_START = re.compile(r"(?:diff --git |--- \S+.*\n\+\+\+ )")
_SPACE = re.compile(r"\s")
MIN_PINNED_TOKENS: Final = 24
"""Minimum content tokens of a pinned unit."""


def read_unit_code(unit: Unit) -> CodeFile:
    """Read the definitions of a unit; what is no code, or too long, has none."""
    kind, lines = content_kind(unit), _split_lines(unit)
    is_code = kind in ("python", "code") and len(unit.content) <= _MAX_CHARS
    return read_code(lines, read_definitions(lines, is_python=kind == "python") if is_code else ())


def _split_lines(unit: Unit) -> list[str]:
    return unit.content.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def make_summarizer(
    unit: Unit, keywords: Collection[str], counter: Counter, groups: Sequence[Sequence[int]] = ()
) -> Summarizer:
    """Return a function that summarizes a unit to any number of tokens; the unit is split only once.

    `groups` are the lines of code that are printed together, the most important ones first.
    """
    kind = content_kind(unit)
    if len(unit.content) > _MAX_CHARS and kind not in ("log", "text"):
        return lambda max_tokens, include_rest: None
    count_tokens = counter.count
    if kind == "json":
        return lambda max_tokens, include_rest: data_outline.summarize_json(
            unit.content, keywords, max_tokens, count_tokens, include_rest=include_rest
        )
    lines = _split_lines(unit)
    if kind in ("python", "code"):
        text_parts = [TextPart(line, at) for at, line in enumerate(lines)]
        excerpt = Excerpt(text_parts, count_tokens, unit.line_start or 1, groups=groups)
    else:
        text_parts = _SPLITTERS[kind](lines, keywords)
        excerpt = Excerpt(text_parts, count_tokens, noun="row" if kind == "table" else "line")
    return lambda max_tokens, include_rest: render_excerpt(excerpt, max_tokens, include_rest=include_rest)


def content_kind(unit: Unit) -> str:
    """Return the kind of a unit's content: python, code, prose, message, diff, log, text, settings, table or json."""
    extension = unit.path.rsplit("/", 1)[-1].rpartition(".")[2].lower() if "." in unit.path else ""
    if unit.type == DIFF or extension in ("diff", "patch") or _DIFF_START.match(unit.content):
        return "diff"
    if extension in ("py", "pyi"):
        return "python"
    if extension in _CODE_EXTENSIONS:
        return "code"
    if extension in _TABLE_EXTENSIONS:
        return "table"
    if extension == "json" or (unit.type == TOOL_RESULT and unit.content[:1] in ("{", "[")):
        return "json" if unit.content.strip()[-1:] in ("}", "]") else "log"
    if extension in _SETTINGS_EXTENSIONS:
        return "settings"
    if extension in _PROSE_EXTENSIONS:
        return "prose"
    if unit.type == MESSAGE:
        return "message"
    if extension in _LOG_EXTENSIONS or unit.type == TOOL_RESULT:
        return "log"
    return "text" if unit.type in (ARTIFACT, FILE) else "prose"


def truncate_unit(unit: Unit, max_tokens: int, counter: Counter) -> str:
    """Return the beginning of a unit with a note on how much is left out, or only the note if nothing else fits.

    Returns all of the content if the note would be longer than the omitted text.
    """
    content = unit.content
    if len(content) <= max_tokens * _MAX_TOKEN_CHARS and counter.count(content) <= max_tokens:
        return content
    low, high = 0, min(len(content), max_tokens * _MAX_TOKEN_CHARS)
    while high > 8 * max_tokens and counter.count(content[: high // 2]) > max_tokens:
        high //= 2
    while low < high:
        middle = (low + high + 1) // 2
        if counter.count(_truncated_text(content, middle)) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    size = low
    while size > max(low - _MAX_WORD_CHARS, low // 2) and size < len(content) and not _SPACE.match(content[size]):
        size -= 1
    if size <= max(low - _MAX_WORD_CHARS, low // 2) or counter.count(_truncated_text(content, size)) > max_tokens:
        size = low
    return _truncated_text(content, size)


def _truncated_text(content: str, size: int) -> str:
    """Cut a text to at most `size` characters with a note on the rest, or return all of it if that is not longer."""
    size = max(min(size, len(content) - _MAX_MARKER_CHARS), 0)
    head, tail = content[:size].rstrip(), content[size:]
    line_count = tail.rstrip().count("\n")
    omitted = f"{line_count:,} lines" if line_count > 1 else f"{len(tail):,} characters"
    marker = f"\n… {omitted} left out" if head else f"… {omitted} left out"
    return head + marker if len(marker) < len(content) - len(head) else content


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
                hint=f"the smallest sufficient budget is {budget:,}: --budget {budget}",
            )
        return renderings


def _ensure_unique_ids(candidates: Sequence[ScoredUnit]) -> None:
    seen_ids: set[str] = set()
    for candidate in candidates:
        if candidate.unit.id in seen_ids:
            hint = "give each item a unique ID"
            raise ExecplanError("double-unit", f"two items have the ID {candidate.unit.id!r}", hint=hint)
        seen_ids.add(candidate.unit.id)
