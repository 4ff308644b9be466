"""Who works on which task, for a limited time; kept in the main git folder, so that all worktrees see it."""

from __future__ import annotations

import os

from execplan.clock import now
from execplan.errors import INPUT, NO, POLICY, ExecplanError
from execplan.plan.lineage import lineage
from execplan.plan.model import DONE, OPEN
from execplan.plan.seek import find_task, ids_of, task_ids
from execplan.record import NamedTuple
from execplan.repo import shelf, state
from execplan.repo.author import actor
from execplan.text import disk, files
from execplan.text.lock import Lock, is_held
from execplan.trace import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.change import Change
    from execplan.plan.model import Plan
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

HOURS = 2.0
"""How long a claim lasts by default."""
_ENFORCE = "enforce"
"""The setting under which an edit of a task that somebody else has claimed is an error, not a warning."""
_LIMIT = 1 << 20
_LONGEST = 30 * 24 * 3600
"""Seconds that a claim may last, and the length of one whose length is not known."""


class Claim(NamedTuple):
    """A task that somebody works on."""

    plan: str
    """The plan's path from the root of the repository, the same in every worktree; without git from the home."""
    task: str
    """The task's id."""
    name: str
    until: int
    """In seconds since 1970."""
    seconds: int = _LONGEST
    """How long it was made for; older versions did not write it down."""

    def end(self) -> str:
        """When it ends, as a timestamp in UTC."""
        from datetime import UTC, datetime

        from execplan.clock import PLAIN, write_stamp

        return write_stamp(datetime.fromtimestamp(self.until, UTC), PLAIN).strip("()")


def taken(home: Home, ref: Ref, plan: Plan) -> dict[str, Claim]:
    """The current claims on open tasks of a plan, by the id of the task."""
    open_ids = _open_ids(plan)
    return {claim.task: claim for claim in _of_plan(home, ref) if claim.task in open_ids}


def take(home: Home, ref: Ref, name: str, hours: float, task: str | None = None) -> str | None:
    """Claim a task for `name`; its id, or None where no task is free. Raises ExecplanError.

    Without `task`, a number, an id or unique words, that is the one that `name` has claimed already, else the first
    open one without a claim.
    """
    holder = f"claim of {name}"
    with state.lock(home, ref.real, holder), _lock(home, holder):  # no edit gives the task another id meanwhile
        plan = _read(home, ref)
        held = taken(home, ref, plan)
        ids = _open_ids(plan)
        if task is None:
            chosen = next((each for each in ids if each in held and held[each].name == name), None)
            chosen = chosen or next((each for each in ids if each not in held), None)
        else:
            chosen = _free(ref, plan, held, task, name)
        if chosen is not None:
            seconds = int(hours * 3600)
            claim = Claim(_key(home, ref), chosen, name, int(now().timestamp()) + seconds, seconds)
            _save(home, [*[each for each in every(home) if each[:2] != claim[:2]], claim])
    return chosen


def give_back(home: Home, ref: Ref, name: str, task: str | None = None) -> list[str]:
    """Drop the claims of `name` on a plan, or on one task of it; the ids of the tasks. Raises ExecplanError."""
    with _lock(home, f"release of {name}"):
        mine = _claims_of(home, ref, name, task)
        if mine:
            _save(home, [each for each in every(home) if each not in mine])
    return [each.task for each in mine]


def hand_over(
    home: Home, ref: Ref, name: str, to: str, task: str | None = None, hours: float | None = None
) -> list[str]:
    """Give the claims of `name` on a plan, or on one task of it, to somebody else, in one step; the ids of the tasks.

    Each lasts as long as it would have, or the hours that are given. Raises ExecplanError.
    """
    with _lock(home, f"release of {name} to {to}"):
        mine = _claims_of(home, ref, name, task)
        given = [each._replace(name=to) for each in mine]
        if hours is not None:
            seconds = int(hours * 3600)
            given = [each._replace(until=int(now().timestamp()) + seconds, seconds=seconds) for each in given]
        if mine:
            _save(home, [*[each for each in every(home) if each not in mine], *given])
    return [each.task for each in mine]


def followed(home: Home, old: str, new: str | None) -> tuple[str, ...]:
    """Let the claims on a plan follow it to another path, or end where it has none; warnings where they can't."""
    if not os.path.exists(_path(home)):
        return ()
    try:
        with _lock(home, "claims of a plan that moves"):
            was, then = [each and os.path.relpath(each, os.path.realpath(home.anchor)) for each in (old, new)]
            claims = every(home)
            moved = [each._replace(plan=then) if each.plan == was and then else each for each in claims]
            moved = [each for each in moved if each.plan != was]
            if moved != claims:
                _save(home, moved)
    except ExecplanError as error:
        return (f"claims on the plan stay where they were: {error.message}",)
    return ()


class Protection:
    """Protects the claims on a plan while it is edited: others' tasks are reported, and claims follow their tasks."""

    def __init__(self, home: Home, ref: Ref, *, dry_run: bool, enforced: bool) -> None:
        self.home = home
        self.ref = ref
        self._lock = _lock(home, f"edit of {ref.id}") if not dry_run and os.path.exists(_path(home)) else None
        self._enforced = enforced and home.settings.claims == _ENFORCE

    def __enter__(self) -> Protection:
        if self._lock is not None:
            self._lock.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.__exit__(None, None, None)

    def check(self, old: bytes, change: Change) -> tuple[str, ...]:
        """Warnings about the tasks of others that a change is about; raises ExecplanError where claims are enforced."""
        if not change.edits or not (claims := _of_plan(self.home, self.ref)):
            return ()
        from execplan.plan import reader

        who = actor(self.home)
        others = {claim.task: claim for claim in claims if claim.name != who}
        plan = reader.read(old)
        found = [each for each in _touched(plan, change) if each in others]
        if not found:
            return ()
        numbers = dict(zip(task_ids(plan.tasks), plan.tasks, strict=True))
        lines = [
            f"task {numbers[each].number} is claimed by {others[each].name} until {others[each].end()}, and you act as {who}"
            for each in found
        ]
        if self._enforced:
            raise ExecplanError(
                "claimed-task",
                "; ".join(lines),
                exit=POLICY,
                hint=_handover(self.ref, others[found[0]].name, who),
            )
        return tuple(lines)

    def follow(self, old: bytes, change: Change) -> tuple[str, ...]:
        """Let claims follow the tasks that a change has reworded or split; warnings where they can't."""
        try:
            mine = _of_plan(self.home, self.ref)
            if not mine or self._lock is None:
                return ()
            from execplan.plan import reader

            before, after = reader.read(old).tasks, [text for _, text in change.expected.tasks]
            ids, new_ids = task_ids(before), ids_of(after)
            places = dict(zip(ids, lineage([task.text for task in before], after), strict=True))
            moved = [claim._replace(task=new_ids[to]) for claim in mine for to in places.get(claim.task, ())]
            if moved != mine:
                key = _key(self.home, self.ref)
                _save(self.home, [*[each for each in every(self.home) if each.plan != key], *dict.fromkeys(moved)])
        except ExecplanError as error:
            return (f"claims on the plan are as they were: {error.message}",)
        return ()


def _touched(plan: Plan, change: Change) -> list[str]:
    """The ids of the tasks that a change rewords, splits, ticks, reopens or removes."""
    after = change.expected.tasks
    places = lineage([task.text for task in plan.tasks], [text for _, text in after])
    kept = [[after[at] for at in to] for to in places]
    return [
        name
        for name, task, new in zip(task_ids(plan.tasks), plan.tasks, kept, strict=True)
        if new != [(task.mark, task.text)]
    ]


def _free(ref: Ref, plan: Plan, held: dict[str, Claim], query: str, name: str) -> str:
    """The id of the open task that is named, if nobody else has claimed it; raises ExecplanError."""
    found, task = find_task(plan, query)
    if task.state != OPEN:
        what = "done" if task.state == DONE else f"marked {task.mark!r}, not open"
        hint = (
            f"reopen it first: execplan reopen {found} -p {ref.typed}" if task.state == DONE else "claim an open task"
        )
        raise ExecplanError("task-done", f"task {task.number} is {what}: {task.text}", exit=INPUT, hint=hint)
    claim = held.get(found)
    if claim is not None and claim.name != name:
        raise ExecplanError(
            "already-claimed",
            f"task {task.number} is claimed by {claim.name} until {claim.end()}: {task.text}",
            exit=NO,
            hint=_handover(ref, claim.name, name),
        )
    return found


def _handover(ref: Ref, name: str, to: str) -> str:
    import shlex

    command = f"execplan next {ref.typed} --release {shlex.quote(name)} --to {shlex.quote(to)}"
    return f"take another task, or let it be handed over: {command}"


def _claims_of(home: Home, ref: Ref, name: str, query: str | None) -> list[Claim]:
    """The claims of somebody on tasks of a plan, or on one of them; raises ExecplanError."""
    wanted = find_task(_read(home, ref), query)[0] if query is not None else None
    return [each for each in _of_plan(home, ref) if each.name == name and wanted in (None, each.task)]


def _read(home: Home, ref: Ref) -> Plan:
    from execplan.plan import reader

    return reader.read(shelf.open_bytes(home, ref.path))


def _open_ids(plan: Plan) -> list[str]:
    return [name for name, task in zip(task_ids(plan.tasks), plan.tasks, strict=True) if task.state == OPEN]


def _of_plan(home: Home, ref: Ref) -> list[Claim]:
    claims = every(home)
    key = _key(home, ref) if claims else ""
    return [claim for claim in claims if claim.plan == key]


def _key(home: Home, ref: Ref) -> str:
    return os.path.relpath(ref.real, os.path.realpath(home.anchor))


def _path(home: Home) -> str:
    return os.path.join(home.shared, "claims.json")


def _lock_path(home: Home) -> str:
    return os.path.join(home.shared, "claims.lock")


def _lock(home: Home, holder: str) -> Lock:
    state.folder(home, "locks")
    files.make_folder(home.shared)
    return Lock(_lock_path(home), holder)


def every(home: Home) -> list[Claim]:
    """The current claims; raises ExecplanError when the file is damaged.

    A claim that was made while the clock was ahead ends its own length from now: the first command that sees it
    writes that down.
    """
    claims = _load(home)
    moment = int(now().timestamp())
    current = [_bounded(claim, moment) for claim in claims if claim.until > moment]
    if any([claim not in claims for claim in current]) and not is_held(_lock_path(home)):
        try:
            with _lock(home, "claims from the future"):
                _save(home, [_bounded(claim, moment) for claim in _load(home) if claim.until > moment])
        except ExecplanError as error:
            tell(f"claims from the future are not written down: {error.message}")
    return current


def _bounded(claim: Claim, moment: int) -> Claim:
    """The claim, ending no later than one that is made now for the same time."""
    latest = moment + claim.seconds
    return claim._replace(until=latest) if claim.until > latest else claim


def _load(home: Home) -> list[Claim]:
    """The claims as they are in the file, also those that have ended; raises ExecplanError."""
    if not os.path.exists(_path(home)):
        return []
    import json

    try:
        rows = json.loads(disk.read(_path(home), _LIMIT)[0])
        return [
            Claim(str(row[0]), str(row[1]), str(row[2]), int(row[3]), *[int(each) for each in row[4:5]]) for row in rows
        ]
    except (ValueError, TypeError, IndexError, KeyError, RecursionError, OverflowError) as error:
        raise ExecplanError(
            "claims-damaged",
            f"{_path(home)} can't be read: {error}",
            exit=INPUT,
            hint="remove that file; all claims are forgotten then",
        ) from None


def _save(home: Home, claims: Sequence[Claim]) -> None:
    import json

    data = json.dumps([list(claim) for claim in claims], indent=1).encode()
    path = _path(home)
    if os.path.exists(path):
        files.replace(path, disk.read(path, _LIMIT)[0], data)
    else:
        files.create(path, data)
