"""Units in their order: what both versions have stays as it stands, what one side adds goes behind its neighbour."""

from __future__ import annotations

from execplan.plan.merging.match import Slot, slots
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from execplan.plan.merging.units import Unit

    Runs = Callable[[list["Piece"], list["Piece"]], list["Piece"]]


class Three(NamedTuple):
    """The units of the three versions."""

    base: Sequence[Unit]
    ours: Sequence[Unit]
    theirs: Sequence[Unit]


class Piece(NamedTuple):
    """What became of a unit."""

    slot: Slot
    unit: Unit
    """It, in the version that it is taken from or that has it."""
    lines: list[str]


def merged(three: Three, one: Callable[[Slot], list[str] | None], together: Runs, found: list[Slot]) -> list[str]:
    """The lines of all units; `one` merges a unit or says that it is gone, `together` puts two runs of additions in one."""
    pieces = []
    for slot in found:
        lines = one(slot)
        if lines is not None:
            unit = three.ours[slot.ours[0]] if slot.ours else three.theirs[slot.theirs[0]]
            pieces.append(Piece(slot, unit, lines))
    return _joined(three, _arranged(pieces, together))


def matched(three: Three) -> list[Slot]:
    """The units of the three versions, matched."""
    return slots(*three)


def behind(ours: list[Piece], theirs: list[Piece]) -> list[Piece]:
    """Ours, then theirs; what is nested deeper first, so that it stays with the item above both."""
    if not ours or not theirs:
        return ours + theirs
    top = min([piece.unit.depth for piece in (*ours, *theirs)])
    cuts = [next((at for at, each in enumerate(run) if each.unit.depth == top), len(run)) for run in (ours, theirs)]
    if cuts == [0, 0]:
        return ours + theirs
    return [*behind(ours[: cuts[0]], theirs[: cuts[1]]), *ours[cuts[0] :], *theirs[cuts[1] :]]


def ranked(rank: Callable[[Unit], Any], *, falling: bool = False) -> Runs:
    """Runs put together by rank; what has none stays behind its neighbour."""

    def together(ours: list[Piece], theirs: list[Piece]) -> list[Piece]:
        one, two = _chunks(ours, rank), _chunks(theirs, rank)
        out: list[Piece] = []
        while one and two:
            first, second = one[0][0], two[0][0]
            later = first is not None and (second is None or (second > first if falling else second < first))
            out += (two if later else one).pop(0)[1]
        return out + [piece for _, chunk in (*one, *two) for piece in chunk]

    return together


def _chunks(run: list[Piece], rank: Callable[[Unit], Any]) -> list[tuple[Any, list[Piece]]]:
    chunks: list[tuple[Any, list[Piece]]] = []
    for piece in run:
        value = rank(piece.unit)
        if value is None and chunks:
            chunks[-1][1].append(piece)
        else:
            chunks.append((value, [piece]))
    return chunks


def _arranged(pieces: list[Piece], together: Runs) -> list[Piece]:
    """The pieces in the order of ours, or of theirs where only they moved something; the others behind their neighbours."""
    ours = sorted([piece for piece in pieces if piece.slot.ours], key=lambda each: each.slot.ours)
    theirs = sorted([piece for piece in pieces if piece.slot.theirs], key=lambda each: each.slot.theirs)
    swapped = _is_moved(theirs) and not _is_moved(ours)
    frame, other = (theirs, ours) if swapped else (ours, theirs)
    known = {piece.slot for piece in frame}
    runs: dict[Slot | None, list[Piece]] = {}
    anchor = None
    for piece in other:
        if piece.slot in known:
            anchor = piece.slot
        else:
            runs.setdefault(anchor, []).append(piece)
    shared = {piece.slot for piece in other}
    out: list[Piece] = []
    own: list[Piece] = []
    anchor = None
    for piece in frame:
        if piece.slot not in shared:
            own.append(piece)
            continue
        new = runs.pop(anchor, [])
        out += [*(together(new, own) if swapped else together(own, new)), piece]
        own = []
        anchor = piece.slot
    new = runs.pop(anchor, [])
    return out + (together(new, own) if swapped else together(own, new))


def _is_moved(pieces: list[Piece]) -> bool:
    """Whether units that all three versions have stand in another order than in the base."""
    places = [piece.slot.base for piece in pieces if piece.slot.base and piece.slot.ours and piece.slot.theirs]
    return places != sorted(places)


def _joined(three: Three, pieces: list[Piece]) -> list[str]:
    """The lines of the pieces with the blank lines between them that stand there in one of the versions."""
    out: list[str] = []
    for at, piece in enumerate(pieces):
        out += piece.lines
        out += _gap(three, piece, pieces[at + 1] if at + 1 < len(pieces) else None, first=not out)
    return out


def _gap(three: Three, piece: Piece, after: Piece | None, *, first: bool) -> tuple[str, ...]:
    """The blank lines between two pieces: of the side that changed them, else those above the one that was added."""
    base, ours, theirs = [_between(*each) for each in zip(three, piece.slot, _places(three, after), strict=True)]
    if ours is not None and theirs is not None:
        return theirs if ours == base else ours if theirs == base else min(ours, theirs)
    if ours is not None or theirs is not None:
        return (theirs if ours is None else ours) or ()
    if after is None or first:
        return ()
    units, places = (three.ours, after.slot.ours) if not after.slot.theirs else (three.theirs, after.slot.theirs)
    above = units[places[0] - 1].gap if places[0] else ()
    return above if piece.unit.item and after.unit.item else above or ("",)


def _places(three: Three, piece: Piece | None) -> Sequence[tuple[int, ...]]:
    """Where a piece stands in each version; None is the end."""
    return piece.slot if piece is not None else [(len(units),) for units in three]


def _between(units: Sequence[Unit], before: tuple[int, ...], after: tuple[int, ...]) -> tuple[str, ...] | None:
    """The blank lines between two places that are neighbours, else None."""
    return units[before[-1]].gap if before and after and before[-1] + 1 == after[0] else None
