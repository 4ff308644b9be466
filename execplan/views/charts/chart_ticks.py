"""Positions on the horizontal axis of charts, and which of them have labels."""

from __future__ import annotations

from datetime import date, timedelta


def day_positions(days: tuple[str, ...]) -> list[int]:
    """Return the days between the first and each of some days."""
    first = date.fromisoformat(days[0])
    return [(date.fromisoformat(day) - first).days for day in days]


def day_ticks(days: tuple[str, ...], max_count: int) -> list[tuple[int, str]]:
    """Return positions of evenly distributed days, with their labels: the first day, the last, and some between."""
    span = day_positions(days)[-1]
    count = max(1, min(max_count - 1, span))
    first = date.fromisoformat(days[0])
    positions = sorted({span * at // count for at in range(count + 1)})
    return [(position, (first + timedelta(days=position)).isoformat()) for position in positions]


def bar_ticks(labels: tuple[str, ...], max_count: int) -> list[tuple[int, str]]:
    """Return the positions of every bar, or of every second, third … one, with their labels."""
    step = max(1, -(-len(labels) // max_count))
    return [(position, labels[position]) for position in range(0, len(labels), step)]


def value_ticks(highest: int, max_count: int) -> list[int]:
    """Return round numbers from 0 up to the highest value: multiples of 1, 2 or 5 times a power of ten."""
    step = 1
    while highest // step > max_count - 1:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return list(range(0, highest + 1, step))
