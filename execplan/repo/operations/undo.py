"""Undo and redo: the last operation is reversed by the way that it was done."""

from __future__ import annotations

from execplan.errors import CHANGED, NO, ExecplanError
from execplan.record import NamedTuple
from execplan.repo.amend import stop_archived, tidy
from execplan.repo.edits.entries import CREATE, MOVE, REDO, REMOVE, UNDO
from execplan.repo.edits.stack import stack
from execplan.repo.operations.choose import Chosen, choose_operation, describe, find_plan, steps_of
from execplan.repo.operations.lines import SupersededError, reverse_edit
from execplan.repo.operations.places import reverse_attachment, reverse_move
from execplan.repo.operations.whole import create_again, remove_created

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.repo.amend import Amended, Options
    from execplan.repo.home import Home
    from execplan.repo.moving.move import Moved
    from execplan.repo.shelf import Ref

    Check = Callable[[Home, Ref], object]

_TRIES = 20
"""How often another operation is chosen, because others did something meanwhile."""
_RUNS = {"run": "rollback {id}", "rollback": "run {id}"}
"""Commands whose edits belong to a run, and the command that is to be used instead of `undo`."""


def _always(home: Home, ref: Ref) -> None:
    """Let every plan move."""


class Undone(NamedTuple):
    """What was undone or redone."""

    chosen: Chosen
    result: Amended | Moved
    said: str


def undo(
    start: str, plan: str | None, options: Options, *, other_authors: bool = False, may_move: Check = _always
) -> Undone:
    """Undo the last operation on the plan that is named, or on any plan; raises ExecplanError.

    `may_move` raises it for a plan that must stay where it is.
    """
    return _reverse(start, plan, options, UNDO, may_move, other_authors=other_authors)


def redo(
    start: str, plan: str | None, options: Options, *, other_authors: bool = False, may_move: Check = _always
) -> Undone:
    """Redo the operation that was undone last, unless something new was done since; raises ExecplanError."""
    return _reverse(start, plan, options, REDO, may_move, other_authors=other_authors)


def _reverse(
    start: str, plan: str | None, options: Options, command: str, may_move: Check, *, other_authors: bool
) -> Undone:
    for _ in range(_TRIES):
        try:
            chosen = choose_operation(start, plan, command, other_authors=other_authors)
        except ExecplanError as error:
            if plan is not None and error.code.startswith("nothing-to-") and not options.dry_run:
                tidy(*find_plan(start, plan), verb=command)  # the same command may have been killed before it was done
            raise
        require_reversible(chosen)
        if chosen.step.latest.kind in (MOVE, CREATE):
            may_move(chosen.home, chosen.ref)
        try:
            result = _reversed(chosen, options, command)
        except SupersededError:
            continue
        except ExecplanError as error:
            if error.code in ("plan-gone", "no-such-file") and _is_superseded(chosen, command):
                continue
            raise
        verb = "undone" if command == UNDO else "redone"
        return Undone(chosen, result, f"{verb}: {describe(chosen)}")
    raise ExecplanError(
        "changed-underneath", "others kept working on the plan", exit=CHANGED, hint=f"try again: execplan {command}"
    )


def _reversed(chosen: Chosen, options: Options, command: str) -> Amended | Moved:
    latest = chosen.step.latest
    if latest.kind == MOVE:
        return reverse_move(chosen, options, command)
    if latest.kind == CREATE:
        return remove_created(chosen, options, command)
    if latest.kind == REMOVE:
        return create_again(chosen, options, command)
    stop_archived(chosen.home, chosen.ref)
    if latest.details != "-":
        return reverse_attachment(chosen, options, command)
    return reverse_edit(chosen, options, command)


def _is_superseded(chosen: Chosen, command: str) -> bool:
    """Whether something was done meanwhile to the plan of an operation."""
    steps = steps_of(stack(chosen.home, chosen.ref.path), command)
    return not steps or steps[-1].latest.id != chosen.step.latest.id


def require_reversible(chosen: Chosen) -> None:
    """Refuse what another command undoes; raises ExecplanError."""
    operation = chosen.step.operation
    if operation.is_old_move:
        ways = {
            "archive": f"execplan restore {chosen.ref.typed}",
            "restore": f"execplan archive {chosen.ref.typed}",
            "rename": f"execplan rename {chosen.ref.typed} 'Its old title'",
        }
        why, way = "an older version of execplan did this", ways[operation.verb]
    elif operation.verb in _RUNS:
        why, way = "this belongs to a run", f"execplan {_RUNS[operation.verb].format(id=chosen.ref.typed)}"
    else:
        return
    raise ExecplanError("undone-otherwise", f"{why}: {describe(chosen)}", exit=NO, hint=f"undo it with: {way}")
