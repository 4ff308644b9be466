"""What of a summary is printed: the pieces that are wanted most, as long as its words last."""

from __future__ import annotations

from execplan.context.summary.sentences import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.context.summary.piece import Part


def fitted(parts: Sequence[Part], words: int, *, headed: bool) -> list[Part]:
    """The parts with the pieces that fit into so many words; what was quoted already only where a part has nothing else.

    Pieces are taken by rank; where one of a part does not fit, none of that part is taken any more, so that what is
    left out is always its end.
    """
    frames = [_frame(part, headed=headed) for part in parts]
    left = words - sum([frame for part, frame in zip(parts, frames, strict=True) if part.none])
    wanted = [(piece.rank, at, place) for at, part in enumerate(parts) for place, piece in enumerate(part.pieces)]
    taken: list[list[int]] = [[] for _ in parts]
    again = [0 for _ in parts]
    full: set[int] = set()
    seen: set[str] = set()
    for _, at, place in sorted(wanted):
        piece = parts[at].pieces[place]
        quotes = set(piece.quotes)
        if quotes and quotes <= seen and taken[at]:
            again[at] += 1
            continue
        if at in full:
            continue
        size = count(piece.text) + (frames[at] if not (taken[at] or parts[at].none) else 0)
        if size > left or (parts[at].most and len(taken[at]) == parts[at].most):
            full.add(at)
            continue
        left -= size
        seen |= quotes
        taken[at].append(place)
    return [
        part._replace(
            pieces=tuple([part.pieces[place] for place in sorted(places)]),
            left=part.left + len(part.pieces) - len(places) - twice,
        )
        for part, places, twice in zip(parts, taken, again, strict=True)
    ]


def _frame(part: Part, *, headed: bool) -> int:
    """The words of ours around its pieces; a part that says what it lacks is always printed, others with pieces only."""
    around = left_out(part._replace(left=part.left + len(part.pieces))) if part.pieces else part.none
    return count(around) + (count(part.heading) if headed else 0)


def left_out(part: Part) -> str:
    """How many pieces are left out, where that is said."""
    return f"… {part.left:,} {part.rest}" if part.rest and part.left else ""
