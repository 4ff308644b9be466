"""A step that was cut short: by what it has left behind, how far it came."""

from __future__ import annotations

from execplan.engine.entries import Change, Performed
from execplan.engine.steps import looks
from execplan.engine.steps.acted import Acted
from execplan.engine.steps.execute import judge
from execplan.engine.steps.named import is_command, marks, runs
from execplan.engine.steps.perform import Opened, finish, outside
from execplan.engine.steps.write import ballast, drop, folders_made, planned
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.execution.binding import describe_difference
from execplan.execution.evaluation.outcome import ImpossibleError
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.engine.course import Attempt
    from execplan.engine.steps.bench import RunContext
    from execplan.execution.model import Step

UNDONE: Final = "undone"
DONE: Final = "done"
PARTIAL: Final = "partial"
UNKNOWN: Final = "unknown"


class Settled(NamedTuple):
    """How far an attempt came whose end nobody has written down."""

    kind: str
    """`undone`: nothing of it happened. `done`: it came to its end, well or not. `partial`: something of it happened, which
    is to be taken back, and it may run again. `unknown`: it may run only once, and nobody knows whether it did its work."""
    performed: Performed | None = None
    """How it ended; of an unknown one, how it did if it has done its work."""
    changes: tuple[Change, ...] = ()
    """What is to be taken back before it runs again."""
    folders: tuple[str, ...] = ()


def settle(bench: RunContext, step: Step, attempt: Attempt) -> Settled:
    """How far an attempt came; what has not been checked by then is checked now. Raises ExecplanError.

    What it does not declare may be the work of steps that ran beside it.
    """
    return _command(bench, step, attempt) if is_command(step) else _files(bench, step, attempt)


def _files(bench: RunContext, step: Step, attempt: Attempt) -> Settled:
    drop(ballast(bench, step))
    try:
        changes = [change for _, change in planned(bench, step, attempt.before)]
    except ImpossibleError:
        return Settled(UNDONE)  # it would have failed before it wrote anything
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:
            raise
        return Settled(UNDONE)  # as above: a hunk that does not fit
    folders = folders_made(bench, attempt.before)
    found = [bench.ground.state(change.path) for change in changes]
    if not any([describe_difference(change.after, now) for change, now in zip(changes, found, strict=True)]):
        return _done(bench, step, attempt, Acted(changes=tuple(changes), folders=folders))
    if not folders and not any([describe_difference(change.before, now) for change, now in zip(changes, found, strict=True)]):
        return Settled(UNDONE)
    if runs(step) and looks.known(bench, step):  # its test may have changed the same files
        seen, made, _ = looks.changed(bench, step)
        return Settled(PARTIAL, None, seen, made)
    return Settled(PARTIAL, None, tuple(changes), folders)


def _command(bench: RunContext, step: Step, attempt: Attempt) -> Settled:
    from execplan.engine.commands.launch import read_marks

    left = read_marks(marks(bench.place, step, attempt.number))
    if left == "never" and looks.known(bench, step):  # without the state of the run no mark says anything
        return Settled(UNDONE)
    if not isinstance(left, str) and (step.expect is None or judge(step, left).cause):
        return _done(bench, step, attempt, judge(step, left))
    # what it printed is not known any more: nobody can say whether that was what is expected
    changes, folders, hidden = looks.changed(bench, step)
    if step.effect == "idempotent":
        return Settled(PARTIAL, None, changes, folders)
    reason = "it was cut short, and somebody said that it has done its work"
    told = Performed(True, "", reason, changes=changes, folders=folders, outside=outside(bench, step, hidden))
    return Settled(UNKNOWN, told, changes, folders)


def _done(bench: RunContext, step: Step, attempt: Attempt, acted: Acted) -> Settled:
    """The rest of it: what it should have made and printed is looked at, and its test runs."""
    opened = Opened(bench, step, attempt.number, again=True)
    with opened as transcript:
        performed = finish(bench, step, attempt.number, acted, transcript)._replace(transcript=opened.shown)
    return Settled(DONE, performed, performed.changes, performed.folders)
