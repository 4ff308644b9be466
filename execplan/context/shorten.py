"""Units made shorter, by what they are; what is printed stands in them, and what was left out is marked."""

from __future__ import annotations

import re

from execplan.context.shortening import code, log, prose, shape
from execplan.context.shortening.part import Excerpt, pick
from execplan.context.unit import ARTIFACT, DIFF, FILE, MESSAGE, TOOL_RESULT, Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Final

    from execplan.context.tokens import Counter

    Summarizer = Callable[[int, bool], str | None]

_LARGEST: Final = 1_000_000
"""Characters of a unit that is looked at as a whole; a larger one, if it is no log, is only cut."""
_CHARS: Final = 64
"""Characters of the longest tokens."""
_WORD: Final = 64
"""Characters of the longest word that is not cut."""
_MARK: Final = 32
"""Characters of the longest mark."""
_CODE = frozenset(
    "bash c cc clj cpp cs cu dart ex exs fs go gradle graphql h hpp hs java jl js jsx kt kts lua m metal mjs mm ml nim "
    "php pl proto ps1 rb rs scala scss sh slang sol sql svelte swift tf ts tsx vue wgsl zig zsh".split()
)
_PROSE = frozenset(("adoc", "markdown", "md", "mdx", "rst", "tex"))
_TABLES = frozenset(("csv", "tsv"))
_LOGS = frozenset(("err", "log", "out"))
_SETTINGS = frozenset("cfg conf css env html ini properties toml xml yaml yml".split())
_PARTS = {
    "python": code.other,
    "code": code.other,
    "diff": log.diff,
    "log": log.log,
    "text": log.text,
    "message": prose.message,
    "prose": prose.prose,
    "settings": shape.outline,
    "table": shape.table,
}
"""What takes a unit apart."""
_DIFF = re.compile(r"(?:diff --git |--- \S+.*\n\+\+\+ )")
_SPACE = re.compile(r"\s")


def summarize(unit: Unit, words: Collection[str], tokens: int, counter: Counter, *, rest: bool = False) -> str | None:
    """The most telling parts of a unit, in at most so many tokens; None where there is no telling, or no room.

    With `rest` all its other parts follow, until the room is full.
    """
    return summarizer(unit, words, counter)(tokens, rest)


def summarizer(unit: Unit, words: Collection[str], counter: Counter) -> Summarizer:
    """What makes summaries of a unit, of any number of tokens, with the rest or without; the unit is taken apart once."""
    kind = kind_of(unit)
    if len(unit.content) > _LARGEST and kind not in ("log", "text"):
        return lambda tokens, rest: None
    count = counter.count
    if kind == "json":
        return lambda tokens, rest: shape.of_json(unit.content, words, tokens, count, rest=rest)
    lines = unit.content.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    parts = code.python(lines, words) if kind == "python" else None
    first = (unit.line_start or 1) if kind in ("python", "code") else 0
    excerpt = Excerpt(parts or _PARTS[kind](lines, words), count, first, "row" if kind == "table" else "line")
    return lambda tokens, rest: pick(excerpt, tokens, rest=rest)


def kind_of(unit: Unit) -> str:
    """How a unit is shortened: python, code, prose, message, diff, log, text, settings, table or json."""
    ending = unit.path.rsplit("/", 1)[-1].rpartition(".")[2].lower() if "." in unit.path else ""
    if unit.type == DIFF or ending in ("diff", "patch") or _DIFF.match(unit.content):
        return "diff"
    if ending in ("py", "pyi"):
        return "python"
    if ending in _CODE:
        return "code"
    if ending in _TABLES:
        return "table"
    if ending == "json" or (unit.type == TOOL_RESULT and unit.content[:1] in ("{", "[")):
        return "json" if unit.content.strip()[-1:] in ("}", "]") else "log"
    if ending in _SETTINGS:
        return "settings"
    if ending in _PROSE:
        return "prose"
    if unit.type == MESSAGE:
        return "message"
    if ending in _LOGS or unit.type == TOOL_RESULT:
        return "log"
    return "text" if unit.type in (ARTIFACT, FILE) else "prose"


def truncate(unit: Unit, tokens: int, counter: Counter) -> str:
    """The beginning of a unit, with a mark of how much is left out; the mark alone where nothing else fits.

    All of it where the mark would be longer than what it stands for.
    """
    content = unit.content
    if len(content) <= tokens * _CHARS and counter.count(content) <= tokens:
        return content
    low, high = 0, min(len(content), tokens * _CHARS)
    while high > 8 * tokens and counter.count(content[: high // 2]) > tokens:
        high //= 2
    while low < high:
        middle = (low + high + 1) // 2
        if counter.count(_beginning(content, middle)) <= tokens:
            low = middle
        else:
            high = middle - 1
    size = low
    while size > max(low - _WORD, low // 2) and size < len(content) and not _SPACE.match(content[size]):
        size -= 1
    if size <= max(low - _WORD, low // 2) or counter.count(_beginning(content, size)) > tokens:
        size = low
    return _beginning(content, size)


def _beginning(content: str, size: int) -> str:
    """So many characters of a text, or fewer, with a mark of what is left out, which is shorter than that; or all of it."""
    size = max(min(size, len(content) - _MARK), 0)
    head, rest = content[:size].rstrip(), content[size:]
    lines = rest.rstrip().count("\n")
    left = f"{lines:,} lines" if lines > 1 else f"{len(rest):,} characters"
    mark = f"\n… {left} left out" if head else f"… {left} left out"
    return head + mark if len(mark) < len(content) - len(head) else content
