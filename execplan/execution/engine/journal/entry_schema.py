"""The schema of journal entries: required and optional fields by kind.

Entries are checked because another program may have written to the file.
"""

from __future__ import annotations

from execplan.core.timestamps import is_utc_timestamp
from execplan.execution import states
from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.journal.journal_entries import AttemptResult, JournaledChecks, StateChange
from execplan.execution.world import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Final

    Check = Callable[[Any], bool]


_MAX_NUMBER: Final = 1 << 53
"""Upper limit for any count or duration in an entry."""


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _optional_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_NUMBER


def _revision_number(value: Any) -> bool:
    return _count(value) and value > 1


def _code(value: Any) -> bool:
    return value is None or _count(value) or (isinstance(value, int) and _count(-value))


def _signal(value: Any) -> bool:
    return value is None or (_count(value) and value <= 64)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MAX_NUMBER


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all([check(element) for element in value])


def _one_of(*choices: str) -> Check:
    return lambda value: isinstance(value, str) and value in choices


_texts = _list_of(_text)
_counts = _list_of(_count)


def _digest(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and not value.strip("0123456789abcdef")


def _digest_or_none(value: Any) -> bool:
    return value == "" or _digest(value)


_STATE = (_text, _digest_or_none, _count, _text, _count)


def _state(value: Any) -> bool:
    is_list = isinstance(value, list) and 0 < len(value) <= len(State._fields)
    return is_list and all([check(component) for check, component in zip(_STATE, value, strict=False)])


def _states(value: Any) -> bool:
    return isinstance(value, dict) and all([_state(state) for state in value.values()])


_PROGRAM = (_text, _text, _digest_or_none, _text)


def _programs(value: Any) -> bool:
    programs = value.values() if isinstance(value, dict) else [None]
    return all(
        [
            isinstance(program, list) and 2 < len(program) <= len(_PROGRAM) and all(map(_passes, _PROGRAM, program))
            for program in programs
        ]
    )


def _passes(check: Check, value: Any) -> bool:
    return check(value)


_COUNTED = {"added": _count, "removed": _count, "declared": _boolean}
_CHANGE = {"path": _text, "before": _state, "after": _state}


def _change(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) <= set(StateChange._fields)
        and has_valid_fields(_CHANGE, value, _COUNTED)
    )


_changes = _list_of(_change)
_OUTCOME = _one_of("passed", "failed", "not_run")
_CHECKS = {"pre": _OUTCOME, "post": _OUTCOME, "tests_run": _count, "tests_passed": _count}


def _checks(value: Any) -> bool:
    return (
        isinstance(value, dict) and set(value) <= set(JournaledChecks._fields) and has_valid_fields({}, value, _CHECKS)
    )


_PERFORMED: Mapping[str, Check] = {
    **dict.fromkeys(AttemptResult._fields, _text),
    "ok": _boolean,
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
_WHO = {
    "approval": _digest,
    "approval_id": _text,
    "approver": _optional_text,
    "how": _text,
    "user": _text,
    "session": _optional_text,
}
_BEGUN = {"run": _text, "plan_id": _text, "revision": _count, "document": _digest, "jobs": _count, "states": _states}
_ROLLBACK = {"steps": _texts, "changes": _changes, "folders": _texts, "undone_not": _texts, "whole": _boolean}
_REPLANNED = {
    "revision": _revision_number,
    "document": _digest,
    "reason": _text,
    "completed": _counts,
    "failed": _counts,
}
_REQUIRED_FIELDS: Final[Mapping[str, Mapping[str, Check]]] = {
    journal_entries.BEGUN: {**_WHO, **_BEGUN, "sandbox": _text, "chosen": lambda value: value is None or _texts(value)},
    journal_entries.INTENT: {**_STEP, "by": _text, "before": _states},
    journal_entries.QUESTION: {
        "step": _text,
        "call": _text,
        "tool": _text,
        "paths": _texts,
        "by": _text,
        "further": _boolean,
        "session": _optional_text,
    },
    journal_entries.CALLED: {
        **_STEP,
        "tool": _text,
        "what": _text,
        "paths": _texts,
        "session": _optional_text,
        "asked": _boolean,
    },
    journal_entries.DENIED: {"tool": _text, "what": _text, "step": _optional_text, "session": _optional_text},
    journal_entries.RESULT: {**_STEP, "ok": _boolean},
    journal_entries.RETAKEN: {**_STEP, "changes": _changes},
    journal_entries.SKIPPED: {"step": _text, "reason": _text},
    journal_entries.BLOCKED: {"step": _text, "reason": _text},
    journal_entries.RECOVERED: {"step": _text, "by": _text},
    journal_entries.TICKED: {"step": _text, "task": _text, "transcript": _text},
    journal_entries.REOPENED: {"step": _text, "task": _text},
    journal_entries.PAUSED: {
        "why": _one_of(*journal_entries.QUESTION_REASONS),
        "step": _optional_text,
        "question": _text,
    },
    journal_entries.ANSWERED: {"why": _text, "step": _optional_text, "answer": _text},
    journal_entries.REPLANNED: _REPLANNED,
    journal_entries.INTERRUPTED: {"signal": _text},
    journal_entries.RESUMED: _WHO,
    journal_entries.ENDED: {
        "status": _one_of(states.COMPLETED, states.FAILED),
        "cause": _text,
        "reason": _text,
        "seconds": _number,
    },
    journal_entries.ROLLBACK: {**_ROLLBACK, "automatic": _text, "user": _text},
    journal_entries.RESTORED: {"path": _text},
    journal_entries.ROLLED_BACK: {"steps": _texts, "whole": _boolean},
}
_OPTIONAL_FIELDS: Final[Mapping[str, Mapping[str, Check]]] = {
    journal_entries.BEGUN: {
        "mode": _one_of("agent"),
        "programs": _programs,
        "executor": _text,
        "traceparent": _text,
    },
    journal_entries.INTENT: {"worker": _text},
    journal_entries.CALLED: {"further": _boolean, "call": _text},
    journal_entries.RESULT: {**_PERFORMED, "programs": _programs},
    journal_entries.RETAKEN: {"programs": _programs},
    journal_entries.RESUMED: {"states": _states, "programs": _programs, "failed": _texts, "executor": _text},
    journal_entries.PAUSED: {"seconds": _number},
    journal_entries.ANSWERED: {"seconds": _number},
    journal_entries.INTERRUPTED: {"seconds": _number},
}


def is_valid_entry(kind: str, number: int, at: str, fields: Mapping[str, Any]) -> bool:
    """Return whether an entry is valid at its position.

    The first entry, and no other, records the beginning of the run.
    """
    if not is_utc_timestamp(at):
        return False
    return (
        (kind == journal_entries.BEGUN) == (number == 1)
        and kind in _REQUIRED_FIELDS
        and has_valid_fields(_REQUIRED_FIELDS[kind], fields, _OPTIONAL_FIELDS.get(kind, {}))
    )


def has_valid_fields(required: Mapping[str, Check], fields: Mapping[str, Any], optional: Mapping[str, Check]) -> bool:
    """Return whether all required fields are present and valid, and all present optional fields are valid."""
    is_complete = all([name in fields and check(fields[name]) for name, check in required.items()])
    return is_complete and all([check(fields[name]) for name, check in optional.items() if name in fields])
