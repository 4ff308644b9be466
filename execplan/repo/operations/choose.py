"""Which operation `undo` and `redo` are about."""

from __future__ import annotations

import os

from execplan.errors import NO, ExecplanError
from execplan.record import NamedTuple
from execplan.repo import homes, pick, shelf
from execplan.repo.author import actor
from execplan.repo.edits import order
from execplan.repo.edits.entries import REDO, UNDO
from execplan.repo.edits.stack import Stack, entries, stack, stack_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.repo.edits.entries import Journaled
    from execplan.repo.edits.stack import Step
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Chosen(NamedTuple):
    """An operation and its plan."""

    home: Home
    ref: Ref
    step: Step
    is_next: bool = True
    """Whether it is the one on its plan that comes next."""


def steps_of(found: Stack, command: str) -> tuple[Step, ...]:
    """The operations that the command can take, the next one last."""
    return found.done if command == UNDO else found.undone


def acted(step: Step, command: str) -> str:
    """Who did what the command takes back: the operation, or for `redo` its undoing."""
    return (step.operation if command == UNDO else step.latest).by


def is_others(home: Home, step: Step, command: str) -> bool:
    """Whether another author did it; journals of older versions do not say who."""
    by = acted(step, command)
    return bool(by) and by != actor(home)


def choose_operation(start: str, query: str | None, command: str, *, other_authors: bool) -> Chosen:
    """The last operation on the plan that is named, or the last one of this author on any plan; raises ExecplanError."""
    query = query if query is not None else os.environ.get("EXECPLAN_PLAN") or None
    if query is not None:
        return named(*find_plan(start, query), command, other_authors=other_authors)
    home = homes.require(start)
    others: Chosen | None = None
    for chosen in newest(home, command):
        if other_authors or not is_others(chosen.home, chosen.step, command):
            return chosen
        others = others or chosen
    if others is not None:
        raise by_another(others, command)
    plans = [(each, ref) for each in homes.together(home) for ref in shelf.refs(each)]
    if len(plans) == 1 and command == UNDO:  # its journal may be one of an older version, which kept no order
        return named(*plans[0], command, other_authors=other_authors)
    raise nothing_to(home, None, command)


def find_plan(start: str, query: str) -> tuple[Home, Ref]:
    """The plan that is named; one that an operation removed is named by its path or its id. Raises ExecplanError."""
    try:
        return pick.open_plan(start, query)
    except ExecplanError as error:
        if error.code not in ("no-such-plan", "no-plan"):
            raise
        for home in homes.together(homes.require(start)):
            for name in {query, os.path.basename(query)}:
                path = home.file(home.plans, name.removesuffix(".md"))
                if not os.path.lexists(path) and any(stack(home, path)):
                    return home, shelf.by_file(home, path)
        raise


def named(home: Home, ref: Ref, command: str, *, other_authors: bool) -> Chosen:
    """The last operation on a plan; raises ExecplanError where there is none, or where it is another author's."""
    steps = steps_of(stack(home, ref.path), command)
    if not steps:
        raise nothing_to(home, ref, command)
    chosen = Chosen(home, ref, steps[-1])
    if not other_authors and is_others(home, chosen.step, command):
        raise by_another(chosen, command)
    return chosen


def newest(home: Home, command: str) -> Iterator[Chosen]:
    """The next operation on each plan of a project that the command can take, the newest first; raises ExecplanError."""
    return (chosen for chosen in every(home, command) if chosen.is_next)


def every(home: Home, command: str) -> Iterator[Chosen]:
    """All operations on the plans of a project that the command can take, the newest first; raises ExecplanError.

    What was undone before this author did something new, on whatever plan, is not redone without naming its plan.
    """
    among = homes.together(home)
    journals: dict[str, tuple[dict[str, Journaled], tuple[Step, ...]]] = {}
    for each in {found.state: found for found in among}.values():
        for operation, path in order.newest(each):
            owner = next((found for found in among if _is_in(found, path)), None)
            if owner is None:
                continue
            if path not in journals:
                found = entries(owner, path)
                journals[path] = {entry.id: entry for entry in found}, steps_of(stack_of(found), command)
            entries_by_id, steps = journals[path]
            step = next((step for step in steps if step.latest.id == operation), None)
            if step is not None:
                yield Chosen(owner, shelf.by_file(owner, path), step, step == steps[-1])
            elif command == REDO and _is_new(owner, entries_by_id.get(operation)):
                break


def _is_new(home: Home, entry: Journaled | None) -> bool:
    """Whether this author did something new with it."""
    return (
        entry is not None
        and entry.made
        and entry.verb not in (UNDO, REDO)
        and (not entry.by or entry.by == actor(home))
    )


def _is_in(home: Home, path: str) -> bool:
    return any([path.startswith(f"{folder}/") for folder in (home.plans, *home.archives)])


def by_another(chosen: Chosen, command: str) -> ExecplanError:
    """The error where the last operation is another author's."""
    step = chosen.step
    by, what = acted(step, command), describe(chosen)
    return ExecplanError(
        "another-author",
        f"{by} did this, not you ({actor(chosen.home)}): {'' if command == UNDO else 'undo of '}{what}",
        exit=NO,
        hint=f"{command} it all the same: execplan {command} -p {chosen.ref.typed} --any",
    )


def describe(chosen: Chosen) -> str:
    """An operation: what was done, when, and on which plan."""
    operation = chosen.step.operation
    return f"{operation.summary}, made {operation.moment.replace('T', ' ')}, in {chosen.ref.id}"


def nothing_to(home: Home, ref: Ref | None, command: str) -> ExecplanError:
    """The error where there is nothing to undo or redo."""
    where = f"on {home.shown(ref.path)}" if ref is not None else "in this project"
    if command == UNDO:
        return ExecplanError(
            "nothing-to-undo",
            f"nothing to undo: the journal has no operation {where}",
            exit=NO,
            hint="only what execplan did in this checkout can be undone; for the rest: git log -p",
        )
    return ExecplanError(
        "nothing-to-redo",
        f"nothing to redo: the last operation {where} is not an undo",
        exit=NO,
        hint="see what can be undone and redone: execplan undo --list",
    )
