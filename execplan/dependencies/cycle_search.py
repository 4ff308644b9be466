"""Search for a cycle in a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Point = TypeVar("Point")


def find_cycle(successors: Mapping[Point, Sequence[Point]]) -> tuple[Point, ...]:
    """Return the points of a cycle, the first one also last; empty if there is none.

    The first cycle in the order of the graph is found, so the result is the same in each run.
    """
    finished: set[Point] = set()
    for start in successors:
        if start in finished:
            continue
        path: dict[Point, Iterator[Point]] = {start: iter(successors[start])}
        while path:
            point = next(reversed(path))
            successor = next(path[point], None)
            if successor is None:
                finished.add(point)
                del path[point]
            elif successor in path:
                points = list(path)
                return (*points[points.index(successor) :], successor)
            elif successor not in finished:
                path[successor] = iter(successors.get(successor, ()))
    return ()
