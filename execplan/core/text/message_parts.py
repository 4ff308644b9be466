"""Parts of messages: counts with their nouns, durations, lists, texts of limited length, and words of commands."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_PLAIN_MARKS = str.maketrans(dict.fromkeys("_@%+=:,./-", "x"))
"""Characters with which a word needs no quotes in a shell, in addition to letters and digits."""


def format_count(count: int, noun: str) -> str:
    """Format a count with its noun, as in `1 step`, `2 steps`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def format_duration(seconds: float) -> str:
    """Format a duration, as in `0.1 s`, `12 s`, `2 min 5 s`, `1 h 3 min`."""
    if round(seconds, 1) < 10:
        return f"{seconds:.1f} s"
    whole_seconds = round(seconds)
    if whole_seconds < 60:
        return f"{whole_seconds} s"
    if whole_seconds < 3600:
        return f"{whole_seconds // 60} min {whole_seconds % 60} s"
    return f"{whole_seconds // 3600} h {whole_seconds % 3600 // 60} min"


def format_excess(total: int, limit: int, lead: str = " ") -> str:
    """Format the number of items beyond a limit, as in ` and 2 more`; empty if there are none."""
    return f"{lead}and {total - limit} more" if total > limit else ""


def join_first(items: Sequence[str], limit: int) -> str:
    """Join the first items of a list with commas, followed by the number of the others."""
    return ", ".join(items[:limit]) + format_excess(len(items), limit)


def shorten(text: str, max_length: int = 120) -> str:
    """Cut a text to a maximum length, by default enough to recognize it; an ellipsis replaces the end.

    The cut is between words, if possible: half a secret is one that nobody recognizes.
    """
    if len(text) <= max_length:
        return text
    beginning = text[: max_length - 1]
    return (beginning if text[max_length - 1] == " " else beginning.rpartition(" ")[0] or beginning) + "…"


def printable_line(text: str, max_length: int) -> str:
    """Format text as one line of visible characters, with a maximum length."""
    line = "".join([char if char.isprintable() else repr(char)[1:-1] for char in " ".join(text.split())])
    return shorten(line, max_length)


def quote(word: str) -> str:
    """Quote a word for a shell as `shlex.quote` does, whose module takes half as long to load as Python itself."""
    if word.isascii() and word.translate(_PLAIN_MARKS).isalnum():
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def align_descriptions(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Return lines with names and their descriptions in two columns."""
    width = max([len(name) for name, _ in rows], default=0)
    return [f"{name:{width}}  {description}".rstrip() for name, description in rows]
