"""How fast a plan went on, from the stamps of its ticks."""

from __future__ import annotations

import itertools

from execplan.context.summary import facts
from execplan.context.summary.piece import Piece, Said, Subject, ours
from execplan.context.summary.words import said
from execplan.plan.model import DONE

_HOUR, _DAY = 60, 1440


def pace(subject: Subject, rank: int) -> list[Piece]:
    """From when to when, on how many days; where times are known, the usual and the longest time between two ticks."""
    done = [task for task in subject.plan.tasks if task.state == DONE]
    stamps = facts.stamped(done)
    if not stamps:
        return []
    days = len({stamp.date for stamp in stamps})
    ticks = "tick" if len(done) == 1 else "ticks"
    first, last = facts.when(stamps[0]), facts.when(stamps[-1])
    way = f", from {first} to {last}, on {days} {'days' if days > 1 else 'day'}" if first != last else f", {first}"
    pieces = [ours(f"{len(stamps)} of {len(done)} {ticks} with a stamp{way}.", rank)]
    timed = sorted(
        [
            (moment, task.number, task)
            for task in done
            if task.stamp and task.stamp.time and (moment := facts.moment(task.stamp)) is not None
        ]
    )
    gaps = [(two[0] - one[0], two[2]) for one, two in itertools.pairwise(timed)]
    if len(gaps) < 2:
        return pieces
    usual = sorted([gap for gap, _ in gaps])[len(gaps) // 2]
    longest, task = max(gaps, key=lambda each: each[0])
    if not longest:
        return pieces
    most = f"Usually {_shown(usual)} from one tick to the next" if usual else "Mostly no time from one tick to the next"
    lead = f"{most}; the longest, {_shown(longest)}, before: "
    words = said(subject, task.text)
    return [*pieces, Piece((Said(lead, words),), "", rank + 1, task.box + 1, task.end)] if words else pieces


def _shown(minutes: int) -> str:
    """A time in whole minutes, hours or days, whichever is short."""
    for size, name in ((_DAY, "day"), (_HOUR, "hour"), (1, "minute")):
        if minutes >= 2 * size or size == 1:
            number = round(minutes / size)
            return f"{number:,} {name}{'' if number == 1 else 's'}"
    raise AssertionError
