"""Who has taken which task, for a while; kept in the main git folder, so that all worktrees see it."""

from __future__ import annotations

import os

from execplan.clock import now
from execplan.errors import INPUT, ExecplanError
from execplan.plan.model import OPEN
from execplan.plan.seek import task_ids
from execplan.record import NamedTuple
from execplan.repo import state
from execplan.text import disk, files
from execplan.text.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.model import Plan
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

HOURS = 2.0
"""How long a claim holds unless told."""

_LIMIT = 1 << 20


class Claim(NamedTuple):
    """A task that somebody has taken."""

    plan: str
    """The plan's path from the root of the repository, the same in every worktree; without git from the home."""
    task: str
    """The task's id."""
    name: str
    until: int
    """In seconds since 1970."""


def taken(home: Home, ref: Ref, plan: Plan) -> dict[str, Claim]:
    """The claims that hold on open tasks of a plan, by the id of the task."""
    claims = every(home)
    if not claims:
        return {}
    open_ids = _open_ids(plan)
    return {claim.task: claim for claim in claims if claim.plan == _key(home, ref) and claim.task in open_ids}


def take(home: Home, ref: Ref, plan: Plan, name: str, hours: float) -> str | None:
    """Claim the task that `name` holds already, else the first open one that nobody has; its id, or None for none.

    Raises ExecplanError.
    """
    with _lock(home, f"claim of {name}"):
        held = taken(home, ref, plan)
        ids = _open_ids(plan)
        task = next((each for each in ids if each in held and held[each].name == name), None)
        task = task or next((each for each in ids if each not in held), None)
        if task is not None:
            claim = Claim(_key(home, ref), task, name, int(now().timestamp() + hours * 3600))
            _save(home, [*[each for each in every(home) if each[:2] != claim[:2]], claim])
    return task


def give_back(home: Home, ref: Ref, name: str) -> list[str]:
    """Drop the claims of `name` on a plan; the ids of the tasks. Raises ExecplanError."""
    with _lock(home, f"release of {name}"):
        claims = every(home)
        mine = [each for each in claims if each.plan == _key(home, ref) and each.name == name]
        if mine:
            _save(home, [each for each in claims if each not in mine])
    return [each.task for each in mine]


def followed(home: Home, old: str, new: str | None) -> tuple[str, ...]:
    """Let the claims on a plan follow it to another path, or end where it has none; what to warn of when they can't."""
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


def _open_ids(plan: Plan) -> list[str]:
    return [name for name, task in zip(task_ids(plan.tasks), plan.tasks, strict=True) if task.state == OPEN]


def _key(home: Home, ref: Ref) -> str:
    return os.path.relpath(ref.real, os.path.realpath(home.anchor))


def _path(home: Home) -> str:
    return os.path.join(home.shared, "claims.json")


def _lock(home: Home, holder: str) -> Lock:
    state.folder(home, "locks")
    files.make_folder(home.shared)
    return Lock(os.path.join(home.shared, "claims.lock"), holder)


def every(home: Home) -> list[Claim]:
    """The claims that hold now; raises ExecplanError when the file is damaged."""
    if not os.path.exists(_path(home)):
        return []
    import json

    try:
        told = json.loads(disk.read(_path(home), _LIMIT)[0])
        claims = [Claim(str(each[0]), str(each[1]), str(each[2]), int(each[3])) for each in told]
    except (ValueError, TypeError, IndexError, KeyError) as error:
        raise ExecplanError(
            "claims-damaged",
            f"{_path(home)} can't be read: {error}",
            exit=INPUT,
            hint="remove that file; all claims are forgotten then",
        ) from None
    moment = now().timestamp()
    return [claim for claim in claims if claim.until > moment]


def _save(home: Home, claims: Sequence[Claim]) -> None:
    import json

    data = json.dumps([list(claim) for claim in claims], indent=1).encode()
    path = _path(home)
    if os.path.exists(path):
        files.replace(path, disk.read(path, _LIMIT)[0], data)
    else:
        files.create(path, data)
