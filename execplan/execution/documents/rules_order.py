"""Rules about names and order: numbers, ids, what a step needs, waits for and falls back on."""

from __future__ import annotations

from execplan.execution.attributes import ALTERNATIVE, ENDED
from execplan.execution.documents.violation import Violation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    Steps = Sequence[dict[str, Any]]


def identity(steps: Steps) -> Iterator[Violation]:
    """Numbers are 1…n in the order of the steps, and no id stands twice."""
    seen: dict[str, int] = {}
    for at, step in enumerate(steps):
        number, name = step.get("number"), step.get("id")
        if isinstance(number, int) and number is not True and number != at + 1:
            yield Violation(
                f"/steps/{at}/number", f"is {number} and not {at + 1}: steps are numbered 1…n in their order"
            )
        if isinstance(name, str):
            if name in seen:
                yield Violation(f"/steps/{at}/id", f"`{name}` is the id of step {seen[name] + 1} too")
            seen.setdefault(name, at)


def dependencies(steps: Steps) -> Iterator[Violation]:
    """A step needs only steps before it, each once; a circle is shown."""
    index = _index(steps)
    needs = [_names(step.get("depends_on")) for step in steps]
    arrows = [[index[name] for name in names if name in index and index[name] != at] for at, names in enumerate(needs)]
    circle = _circles(arrows)
    for members in sorted({tuple(each) for each in circle.values()}):
        path = _around(members, arrows)
        shown = " → ".join([str(steps[at].get("id")) for at in path])
        yield Violation(f"/steps/{path[0]}/depends_on", f"needs itself in a circle: {shown}")
    for at, names in enumerate(needs):
        for place, name in enumerate(names):
            where = f"/steps/{at}/depends_on/{place}"
            if name not in index:
                yield Violation(where, f"there is no step `{name}`")
            elif index[name] == at:
                yield Violation(where, f"`{name}` needs itself")
            elif index[name] > at and circle.get(at) != circle.get(index[name], ()):
                yield Violation(where, f"`{name}` comes later: a step needs only steps before it")
            elif name in names[:place]:
                yield Violation(where, f"`{name}` stands here twice")


def conditions(steps: Steps) -> Iterator[Violation]:
    """A condition on how a step ended names a step before it."""
    index = _index(steps)
    for at, step in enumerate(steps):
        when = step.get("when")
        if not isinstance(when, dict) or when.get("kind") not in ENDED or not isinstance(when.get("of"), str):
            continue
        found = index.get(when["of"])
        if found is None:
            yield Violation(f"/steps/{at}/when/of", f"there is no step `{when['of']}`")
        elif found >= at:
            what = "is the step itself" if found == at else "comes later"
            yield Violation(f"/steps/{at}/when/of", f"`{when['of']}` {what}: a condition looks at steps before it")


def recoveries(steps: Steps) -> Iterator[Violation]:
    """An alternative is a later step that does not need the one it stands in for; a retry is tried again."""
    index = _index(steps)
    for at, step in enumerate(steps):
        recovery = step.get("on_failure")
        strategy = recovery.get("strategy") if isinstance(recovery, dict) else None
        if not isinstance(recovery, dict) or not isinstance(strategy, str):
            continue
        where = f"/steps/{at}/on_failure/strategy"
        if strategy == "retry" and recovery.get("max_retries", 0) == 0:
            yield Violation(f"/steps/{at}/on_failure/max_retries", "is 0, so that retry tries nothing again")
        if not strategy.startswith(ALTERNATIVE):
            continue
        name = strategy.removeprefix(ALTERNATIVE)
        found = index.get(name)
        if found is None:
            yield Violation(where, f"there is no step `{name}`")
        elif found <= at:
            what = "is the step itself" if found == at else "comes earlier and has run by then"
            yield Violation(where, f"`{name}` {what}: an alternative comes later")
        elif step.get("id") in _names(steps[found].get("depends_on")):
            yield Violation(where, f"`{name}` needs the step whose failure it stands in for, and would never run")


def ancestors(steps: Steps) -> list[int]:
    """For each step those that come before it by need, at any distance, as bits by index; forward needs do not count."""
    index = _index(steps)
    before = [0] * len(steps)
    for at, step in enumerate(steps):
        for name in _names(step.get("depends_on")):
            other = index.get(name, at)
            if other < at:
                before[at] |= before[other] | 1 << other
    return before


def _index(steps: Steps) -> dict[str, int]:
    """The first step of each id."""
    found: dict[str, int] = {}
    for at, step in enumerate(steps):
        if isinstance(step.get("id"), str):
            found.setdefault(step["id"], at)
    return found


def _names(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list | tuple) else []


def _circles(arrows: Sequence[Iterable[int]]) -> dict[int, tuple[int, ...]]:
    """Each index that can reach itself, with all that it shares a circle with (Tarjan, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: dict[int, tuple[int, ...]] = {}
    for root in range(len(arrows)):
        if root in order:
            continue
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        work = [(root, iter(arrows[root]))]
        while work:
            at, rest = work[-1]
            for other in rest:
                if other not in order:
                    order[other] = low[other] = len(order)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(arrows[other])))
                    break
                if other in on_stack:
                    low[at] = min(low[at], order[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == order[at]:
                    members = _popped(stack, at)
                    on_stack.difference_update(members)
                    if len(members) > 1:
                        found |= dict.fromkeys(members, tuple(sorted(members)))
    return found


def _popped(stack: list[int], last: int) -> list[int]:
    members = [stack.pop()]
    while members[-1] != last:
        members.append(stack.pop())
    return members


def _around(members: tuple[int, ...], arrows: Sequence[Iterable[int]]) -> list[int]:
    """The shortest way from the first of a circle's members back to it."""
    start, inside = members[0], set(members)
    came: dict[int, int] = {}
    queue = [start]
    for at in queue:
        for other in arrows[at]:
            if other in inside and other not in came:
                came[other] = at
                queue.append(other)
    path = [start]
    while len(path) == 1 or path[-1] != start:
        path.append(came[path[-1]])
    return path[::-1]
