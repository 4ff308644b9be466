"""What each kind of entry must say, so that whoever reads a journal finds it: somebody else may have written there."""

from __future__ import annotations

from execplan.clock import is_utc
from execplan.engine import entries as kinds
from execplan.engine.entries import Change, Checks, Performed
from execplan.execution import states
from execplan.execution.world import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Final

    Fits = Callable[[Any], bool]


_MOST: Final = 1 << 53
"""What no count and no time of ours comes near."""


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _maybe(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _yes_or_no(value: Any) -> bool:
    return isinstance(value, bool)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _later(value: Any) -> bool:
    return _count(value) and value > 1


def _code(value: Any) -> bool:
    return value is None or _count(value) or (isinstance(value, int) and _count(-value))


def _signal(value: Any) -> bool:
    return value is None or (_count(value) and value <= 64)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST


def _every(fits: Fits) -> Fits:
    return lambda value: isinstance(value, list) and all([fits(each) for each in value])


def _one_of(*known: str) -> Fits:
    return lambda value: isinstance(value, str) and value in known


_texts = _every(_text)
_counts = _every(_count)


def _digest(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and not value.strip("0123456789abcdef")


def _digest_or_none(value: Any) -> bool:
    return value == "" or _digest(value)


_STATE = (_text, _digest_or_none, _count, _text, _count)


def _state(value: Any) -> bool:
    fits = isinstance(value, list) and 0 < len(value) <= len(State._fields)
    return fits and all([each(part) for each, part in zip(_STATE, value, strict=False)])


def _states(value: Any) -> bool:
    return isinstance(value, dict) and all([_state(each) for each in value.values()])


_PROGRAM = (_text, _text, _digest_or_none, _text)


def _programs(value: Any) -> bool:
    each = value.values() if isinstance(value, dict) else [None]
    return all([isinstance(it, list) and 2 < len(it) <= len(_PROGRAM) and all(map(_fits, _PROGRAM, it)) for it in each])


def _fits(check: Fits, value: Any) -> bool:
    return check(value)


_COUNTED = {"added": _count, "removed": _count, "declared": _yes_or_no}
_CHANGE = {"path": _text, "before": _state, "after": _state}


def _change(value: Any) -> bool:
    return isinstance(value, dict) and set(value) <= set(Change._fields) and fit(_CHANGE, value, _COUNTED)


_changes = _every(_change)
_OUTCOME = _one_of("passed", "failed", "not_run")
_CHECKS = {"pre": _OUTCOME, "post": _OUTCOME, "tests_run": _count, "tests_passed": _count}


def _checks(value: Any) -> bool:
    return isinstance(value, dict) and set(value) <= set(Checks._fields) and fit({}, value, _CHECKS)


_PERFORMED: Mapping[str, Fits] = {
    **dict.fromkeys(Performed._fields, _text),
    "ok": _yes_or_no,
    "exit": _code,
    "signal": _signal,
    "seconds": _number,
    "cpu_s": _number,
    "peak_memory_bytes": _count,
    "changes": _changes,
    "folders": _texts,
    "checks": _checks,
}
_STEP = {"step": _text, "attempt": _count}
_WHO = {"approval": _digest, "approval_id": _text, "approver": _maybe, "how": _text, "user": _text, "session": _maybe}
_BEGUN = {"run": _text, "plan_id": _text, "revision": _count, "document": _digest, "jobs": _count, "states": _states}
_ROLLBACK = {"steps": _texts, "changes": _changes, "folders": _texts, "undone_not": _texts, "whole": _yes_or_no}
_REPLANNED = {"revision": _later, "document": _digest, "reason": _text, "completed": _counts, "failed": _counts}
_SAYS: Final[Mapping[str, Mapping[str, Fits]]] = {
    kinds.BEGUN: {**_WHO, **_BEGUN, "sandbox": _text, "chosen": lambda value: value is None or _texts(value)},
    kinds.INTENT: {**_STEP, "by": _text, "before": _states},
    kinds.CALLED: {**_STEP, "tool": _text, "what": _text, "paths": _texts, "session": _maybe, "asked": _yes_or_no},
    kinds.DENIED: {"tool": _text, "what": _text, "step": _maybe, "session": _maybe},
    kinds.RESULT: {**_STEP, "ok": _yes_or_no},
    kinds.RETAKEN: {**_STEP, "changes": _changes},
    kinds.SKIPPED: {"step": _text, "reason": _text},
    kinds.BLOCKED: {"step": _text, "reason": _text},
    kinds.RECOVERED: {"step": _text, "by": _text},
    kinds.TICKED: {"step": _text, "task": _text, "transcript": _text},
    kinds.REOPENED: {"step": _text, "task": _text},
    kinds.PAUSED: {"why": _one_of(*kinds.WHYS), "step": _maybe, "question": _text},
    kinds.ANSWERED: {"why": _text, "step": _maybe, "answer": _text},
    kinds.REPLANNED: _REPLANNED,
    kinds.INTERRUPTED: {"signal": _text},
    kinds.RESUMED: _WHO,
    kinds.ENDED: {
        "status": _one_of(states.COMPLETED, states.FAILED),
        "cause": _text,
        "reason": _text,
        "seconds": _number,
    },
    kinds.ROLLBACK: {**_ROLLBACK, "automatic": _text, "user": _text},
    kinds.RESTORED: {"path": _text},
    kinds.ROLLED_BACK: {"steps": _texts, "whole": _yes_or_no},
}
_MAY_SAY: Final[Mapping[str, Mapping[str, Fits]]] = {
    kinds.BEGUN: {"mode": _one_of("agent"), "programs": _programs},
    kinds.CALLED: {"further": _yes_or_no},
    kinds.RESULT: {**_PERFORMED, "programs": _programs},
    kinds.RETAKEN: {"programs": _programs},
    kinds.RESUMED: {"states": _states, "programs": _programs, "failed": _texts},
    kinds.PAUSED: {"seconds": _number},
    kinds.INTERRUPTED: {"seconds": _number},
}


def fits(kind: str, number: int, at: str, said: Mapping[str, Any]) -> bool:
    """Whether an entry may stand at this place of a journal; the first one, and no other, says that the run has begun."""
    if not is_utc(at):
        return False
    return (kind == kinds.BEGUN) == (number == 1) and kind in _SAYS and fit(_SAYS[kind], said, _MAY_SAY.get(kind, {}))


def fit(must: Mapping[str, Fits], said: Mapping[str, Any], may: Mapping[str, Fits]) -> bool:
    """Whether all that must be said is, as it must be, and what may be said as well."""
    wanted = all([name in said and check(said[name]) for name, check in must.items()])
    return wanted and all([check(said[name]) for name, check in may.items() if name in said])
