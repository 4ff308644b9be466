"""How fast a plan went on, from the stamps of its ticks."""

from __future__ import annotations

import itertools

from execplan.context.summary import facts
from execplan.context.summary.piece import SummaryPiece, Segment, Subject, unquoted_piece
from execplan.context.summary.words import quote_text
from execplan.plan.model import DONE

_HOUR, _DAY = 60, 1440


def pace_pieces(subject: Subject, rank: int) -> list[SummaryPiece]:
    """From when to when, on how many days; where times are known, the usual and the longest time between two ticks."""
    done_tasks = [task for task in subject.plan.tasks if task.state == DONE]
    timestamps = facts.sorted_timestamps(done_tasks)
    if not timestamps:
        return []
    days = len({timestamp.date for timestamp in timestamps})
    ticks = "tick" if len(done_tasks) == 1 else "ticks"
    first, last = facts.format_timestamp(timestamps[0]), facts.format_timestamp(timestamps[-1])
    range_text = f", from {first} to {last}, on {days} {'days' if days > 1 else 'day'}" if first != last else f", {first}"
    pieces = [unquoted_piece(f"{len(timestamps)} of {len(done_tasks)} {ticks} with a stamp{range_text}.", rank)]
    timed_tasks = sorted(
        [
            (minute, task.number, task)
            for task in done_tasks
            if task.timestamp and task.timestamp.time and (minute := facts.earliest_minute(task.timestamp)) is not None
        ]
    )
    gaps = [(later[0] - earlier[0], later[2]) for earlier, later in itertools.pairwise(timed_tasks)]
    if len(gaps) < 2:
        return pieces
    usual_gap = sorted([gap for gap, _ in gaps])[len(gaps) // 2]
    longest_gap, task = max(gaps, key=lambda gap_and_task: gap_and_task[0])
    if not longest_gap:
        return pieces
    usual_text = f"Usually {_format_duration(usual_gap)} from one tick to the next" if usual_gap else "Mostly no time from one tick to the next"
    lead = f"{usual_text}; the longest, {_format_duration(longest_gap)}, before: "
    quote = quote_text(subject, task.text)
    return [*pieces, SummaryPiece((Segment(lead, quote),), "", rank + 1, task.box_line + 1, task.end)] if quote else pieces


def _format_duration(minutes: int) -> str:
    """A time in whole minutes, hours or days, whichever is short."""
    for size, name in ((_DAY, "day"), (_HOUR, "hour"), (1, "minute")):
        if minutes >= 2 * size or size == 1:
            number = round(minutes / size)
            return f"{number:,} {name}{'' if number == 1 else 's'}"
    raise AssertionError
