"""Search for cycles in a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

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


def find_components(successors: Mapping[Point, Sequence[Point]]) -> list[set[Point]]:
    """Return the sets of points that can reach each other: two points or more, or one that leads to itself.

    This is Tarjan's algorithm, without recursion.
    """
    numbers: dict[Point, int] = {}
    lowest: dict[Point, int] = {}
    open_points: dict[Point, None] = {}
    components: list[set[Point]] = []
    for start in successors:
        stack = [(start, iter(successors[start]))] if start not in numbers else []
        while stack:
            point, remaining = stack[-1]
            if point not in numbers:
                numbers[point] = lowest[point] = len(numbers)
                open_points[point] = None
            successor = next(remaining, None)
            if successor is not None:
                if successor not in numbers:
                    stack.append((successor, iter(successors.get(successor, ()))))
                elif successor in open_points:
                    lowest[point] = min(lowest[point], numbers[successor])
                continue
            stack.pop()
            if stack:
                lowest[stack[-1][0]] = min(lowest[stack[-1][0]], lowest[point])
            if lowest[point] == numbers[point]:
                component = _pop_component(open_points, point)
                if len(component) > 1 or point in successors.get(point, ()):
                    components.append(component)
    return components


def _pop_component(open_points: dict[Point, None], first: Point) -> set[Point]:
    """Remove and return the points that were opened since a point, with that point."""
    component: set[Point] = set()
    while first not in component:
        component.add(open_points.popitem()[0])
    return component


def find_cycle_through(successors: Mapping[Point, Sequence[Point]], start: Point) -> tuple[Point, ...]:
    """Return a shortest cycle through a point, which is first and last; empty if there is none."""
    previous: dict[Point, Point] = {}
    pending = [start]
    for point in pending:
        for successor in successors.get(point, ()):
            if successor == start:
                path = [start]
                while point != start:
                    path.append(point)
                    point = previous[point]  # noqa: PLW2901 - walks from the last point to the first
                return (start, *reversed(path))
            if successor not in previous:
                previous[successor] = point
                pending.append(successor)
    return ()
