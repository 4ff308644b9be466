"""Steps that run beside each other: which of them has changed what, so that each change counts once."""

from __future__ import annotations

from threading import Lock

from execplan.engine.steps.named import declared
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.engine.entries import Change
    from execplan.engine.steps.bench import Bench
    from execplan.execution.model import Step
    from execplan.execution.world import State


class _Side(NamedTuple):
    """The steps of a run that are under way, and what those have changed that ended meanwhile."""

    running: dict[str, Step]
    claimed: dict[str, State]
    """By path, how the last of them has left it."""


_sides: dict[str, _Side] = {}
_lock = Lock()


def begin(bench: Bench, step: Step) -> None:
    """A step is about to run."""
    with _lock:
        side = _sides.setdefault(bench.place.id, _Side({}, {}))
        if not side.running:
            side.claimed.clear()
        side.running[step.id] = step


def end(bench: Bench, step: Step, changes: Sequence[Change], *, ok: bool) -> tuple[Change, ...]:
    """Those of the changes, seen while a step ran, that are its own.

    What another one declares that ran beside it is not, nor what one that has ended was told to be its own. Of a step that
    failed only what it declares, while others run: taking back more might take their work.
    """
    own = set(declared(step))
    with _lock:
        side = _sides.setdefault(bench.place.id, _Side({}, {}))
        side.running.pop(step.id, None)
        others = [path for each in side.running.values() for path in declared(each)]
        found = []
        for change in changes:
            mine = _is_in(change.path, own)
            if not mine and (_is_in(change.path, others) or (side.running and not ok)):
                continue
            if mine or side.claimed.get(change.path) != change.after:
                found.append(change)
        side.claimed.update({change.path: change.after for change in found})
        if not side.running:
            _sides.pop(bench.place.id, None)
    return tuple(found)


def suppose(bench: Bench, step: Step) -> None:
    """Let a step that was cut short, with all that may have run beside it, be under way again."""
    others = [each for each in bench.document.steps if step.parallel and each.parallel]
    with _lock:
        _sides[bench.place.id] = _Side({each.id: each for each in [step, *others]}, {})


def forget(bench: Bench) -> None:
    """No step is under way."""
    with _lock:
        _sides.pop(bench.place.id, None)


def _is_in(path: str, declared: Sequence[str] | set[str]) -> bool:
    """Whether a path is one of these, or lies in one."""
    return any([path == each or path.startswith(f"{each}/") for each in declared])
