"""A text taken apart, and put together again from some of its parts, with a mark wherever something was left out."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Final

NEVER: Final = 9
"""The rank of what a summary does without."""
_WIDE: Final = 240
"""Characters of a line or sentence in a summary; the rest of it is cut."""
_CHARS: Final = 12
"""More characters than a token has in any text worth a summary."""


class Part(NamedTuple):
    """A line, or a sentence of one."""

    text: str
    line: int
    """Which line it is on, from 0."""
    rank: int = NEVER
    """What has the lowest is taken first."""


def put_together(parts: Sequence[Part], picked: Sequence[int], first: int = 0) -> str:
    """Some parts of a text, in order; `first`: the number of its first line, where lines are to have numbers."""
    shown: list[str] = []
    last, line = -1, -1
    for at in [*sorted(picked), len(parts)]:
        here = parts[at].line if at < len(parts) else -1
        left = {part.line for part in parts[last + 1 : at] if part.text.strip()}
        if line in left:
            shown[-1] += " …"
        skipped = len(left - {line, here})
        if skipped:
            shown.append(f"… {skipped:,} line{'s' * (skipped > 1)} left out")
        if at == len(parts):
            break
        if here == line:
            shown[-1] += f" {cut(parts[at].text.strip())}"
        else:
            lead = "… " if here in left else ""
            shown.append((f"{first + here:>4}  " if first else "") + lead + cut(parts[at].text.rstrip()))
        last, line = at, here
    return "\n".join(shown)


def cut(words: str) -> str:
    """Words that are not too long, with what was cut counted."""
    if len(words) <= _WIDE:
        return words
    return f"{words[:_WIDE].rstrip()} … {len(words) - _WIDE:,} characters left out"


def pick(parts: Sequence[Part], tokens: int, count: Callable[[str], int], first: int = 0) -> str | None:
    """As much of a text as so many tokens hold, the most telling parts first; None where nothing fits or is telling."""
    ranked = sorted([at for at in range(len(parts)) if parts[at].rank < NEVER], key=lambda at: (parts[at].rank, at))
    size, most = 0, 0
    for at in ranked:
        size += min(len(parts[at].text), _WIDE) + 1
        if size > tokens * _CHARS:
            break
        most += 1
    low, high, best = 1, most, None
    while low <= high:
        middle = (low + high) // 2
        text = put_together(parts, ranked[:middle], first)
        if count(text) <= tokens:
            best, low = text, middle + 1
        else:
            high = middle - 1
    return best
