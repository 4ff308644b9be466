"""Rules for the names and order of steps: numbers, IDs, dependencies, conditions and alternatives."""

from __future__ import annotations

from execplan.core.text.violation import Violation
from execplan.execution.attributes import ALTERNATIVE, STEP_OUTCOMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    Steps = Sequence[dict[str, Any]]


def check_identity(steps: Steps) -> Iterator[Violation]:
    """Check that steps are numbered 1…n in order and that no ID is used twice."""
    first_indexes: dict[str, int] = {}
    for index, step in enumerate(steps):
        number, name = step.get("number"), step.get("id")
        if isinstance(number, int) and number is not True and number != index + 1:
            yield Violation(f"/steps/{index}/number", f"is {number}, not {index + 1}: steps are numbered 1…n in order")
        if isinstance(name, str):
            if name in first_indexes:
                yield Violation(f"/steps/{index}/id", f"`{name}` is also the ID of step {first_indexes[name] + 1}")
            first_indexes.setdefault(name, index)


def check_dependencies(steps: Steps) -> Iterator[Violation]:
    """Check that each step depends only on earlier steps, once each; a cycle is reported as a path."""
    index_by_id = _index_by_id(steps)
    needs = [_string_list(step.get("depends_on")) for step in steps]
    edges = [
        [index_by_id[name] for name in names if name in index_by_id and index_by_id[name] != step_index]
        for step_index, names in enumerate(needs)
    ]
    cycles = _find_cycles(edges)
    for members in sorted({tuple(cycle) for cycle in cycles.values()}):
        path = _find_cycle_path(members, edges)
        cycle_text = " → ".join([str(steps[step_index].get("id")) for step_index in path])
        yield Violation(f"/steps/{path[0]}/depends_on", f"contains a cycle: {cycle_text}")
    for step_index, names in enumerate(needs):
        for position, name in enumerate(names):
            location = f"/steps/{step_index}/depends_on/{position}"
            if name not in index_by_id:
                yield Violation(location, f"unknown step `{name}`")
            elif index_by_id[name] == step_index:
                yield Violation(location, f"`{name}` needs itself")
            elif index_by_id[name] > step_index and cycles.get(step_index) != cycles.get(index_by_id[name], ()):
                yield Violation(location, f"`{name}` comes later: a step can only need steps before it")
            elif name in names[:position]:
                yield Violation(location, f"`{name}` is listed twice")


def check_conditions(steps: Steps) -> Iterator[Violation]:
    """Check that a condition on a step's outcome names an earlier step."""
    index_by_id = _index_by_id(steps)
    for step_index, step in enumerate(steps):
        when = step.get("when")
        if not isinstance(when, dict) or when.get("kind") not in STEP_OUTCOMES or not isinstance(when.get("of"), str):
            continue
        target_index = index_by_id.get(when["of"])
        if target_index is None:
            yield Violation(f"/steps/{step_index}/when/of", f"unknown step `{when['of']}`")
        elif target_index >= step_index:
            problem = "is the step itself" if target_index == step_index else "comes later"
            yield Violation(
                f"/steps/{step_index}/when/of",
                f"`{when['of']}` {problem}: a condition can only refer to steps before it",
            )


def check_recoveries(steps: Steps) -> Iterator[Violation]:
    """Check that an alternative is a later step that does not need the step it replaces, and `retry` has retries."""
    index_by_id = _index_by_id(steps)
    for step_index, step in enumerate(steps):
        recovery = step.get("on_failure")
        strategy = recovery.get("strategy") if isinstance(recovery, dict) else None
        if not isinstance(recovery, dict) or not isinstance(strategy, str):
            continue
        location = f"/steps/{step_index}/on_failure/strategy"
        if strategy == "retry" and recovery.get("max_retries", 0) == 0:
            yield Violation(f"/steps/{step_index}/on_failure/max_retries", "is 0, so retry never tries again")
        if not strategy.startswith(ALTERNATIVE):
            continue
        name = strategy.removeprefix(ALTERNATIVE)
        alternative_index = index_by_id.get(name)
        if alternative_index is None:
            yield Violation(location, f"unknown step `{name}`")
        elif alternative_index <= step_index:
            problem = "is the step itself" if alternative_index == step_index else "comes earlier and has already run"
            yield Violation(location, f"`{name}` {problem}: an alternative must come later")
        elif step.get("id") in _string_list(steps[alternative_index].get("depends_on")):
            yield Violation(location, f"`{name}` needs the step that it replaces on failure, so it would never run")


def ancestors(steps: Steps) -> list[int]:
    """Return the direct and indirect dependencies of each step, as bits by index; forward dependencies are ignored."""
    index_by_id = _index_by_id(steps)
    ancestor_bits = [0] * len(steps)
    for step_index, step in enumerate(steps):
        for name in _string_list(step.get("depends_on")):
            dependency = index_by_id.get(name, step_index)
            if dependency < step_index:
                ancestor_bits[step_index] |= ancestor_bits[dependency] | 1 << dependency
    return ancestor_bits


def _index_by_id(steps: Steps) -> dict[str, int]:
    """Return the index of the first step with each ID."""
    index_by_id: dict[str, int] = {}
    for index, step in enumerate(steps):
        if isinstance(step.get("id"), str):
            index_by_id.setdefault(step["id"], index)
    return index_by_id


def _string_list(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list | tuple) else []


def _find_cycles(edges: Sequence[Iterable[int]]) -> dict[int, tuple[int, ...]]:
    """Return the members of the cycle for each index that can reach itself (Tarjan's algorithm, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    cycles: dict[int, tuple[int, ...]] = {}
    for root in range(len(edges)):
        if root in order:
            continue
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        pending = [(root, iter(edges[root]))]
        while pending:
            node, successors = pending[-1]
            for successor in successors:
                if successor not in order:
                    order[successor] = low[successor] = len(order)
                    stack.append(successor)
                    on_stack.add(successor)
                    pending.append((successor, iter(edges[successor])))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], order[successor])
            else:
                pending.pop()
                if pending:
                    low[pending[-1][0]] = min(low[pending[-1][0]], low[node])
                if low[node] == order[node]:
                    members = _pop_through(stack, node)
                    on_stack.difference_update(members)
                    if len(members) > 1:
                        cycles |= dict.fromkeys(members, tuple(sorted(members)))
    return cycles


def _pop_through(stack: list[int], root: int) -> list[int]:
    members = [stack.pop()]
    while members[-1] != root:
        members.append(stack.pop())
    return members


def _find_cycle_path(members: tuple[int, ...], edges: Sequence[Iterable[int]]) -> list[int]:
    """Return the shortest path from the first member of a cycle back to itself."""
    start, member_set = members[0], set(members)
    predecessors: dict[int, int] = {}
    queue = [start]
    for node in queue:
        for successor in edges[node]:
            if successor in member_set and successor not in predecessors:
                predecessors[successor] = node
                queue.append(successor)
    path = [start]
    while len(path) == 1 or path[-1] != start:
        path.append(predecessors[path[-1]])
    return path[::-1]
