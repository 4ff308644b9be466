"""The fields of journal entries by kind, each with its type.

Entries are checked because another program may have written to the file.
"""

from __future__ import annotations

from execplan.core.timestamps import is_utc_timestamp
from execplan.execution import states
from execplan.execution.engine.journal import journal_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Final

    Check = Callable[[Any], bool]

_STEP: Final = "step:text attempt:count"
_USER: Final = "user:text session:text|null"
_APPROVAL: Final = f"approval:digest approval_id:text approver:text|null how:text covered_by:any? {_USER}"
_CHANGE: Final = "path:text before:state after:state added:count? removed:count? declared:flag?"
_CHECKS: Final = "pre:outcome? post:outcome? tests_run:count? tests_passed:count?"
_RESULT: Final = (
    f"{_STEP} ok:flag cause:text? reason:text? exit:status? signal:signal? seconds:number? cpu_s:number? "
    "peak_memory_bytes:count? changes:changes? folders:texts? checks:checks? transcript:text? stdout:text? outside:text? "
    "programs:programs?"
)
FIELDS: Final[Mapping[str, str]] = {
    journal_entries.BEGUN: (
        f"run:text plan_id:text revision:count document:digest {_APPROVAL} policy:any? sandbox:text jobs:count "
        "chosen:texts|null replays:any? head:any? states:states mode:agent? programs:programs? executor:text? traceparent:text?"
    ),
    journal_entries.INTENT: f"{_STEP} by:text before:states snapshot:any? worker:text?",
    journal_entries.QUESTION: "step:text call:text tool:text paths:texts by:text further:flag session:text|null",
    journal_entries.CALLED: (
        f"{_STEP} tool:text what:text paths:texts session:text|null asked:flag further:flag? call:text?"
    ),
    journal_entries.DENIED: "tool:text what:text step:text|null session:text|null",
    journal_entries.RESULT: _RESULT,
    journal_entries.SERVICE_ENDED: _RESULT,
    journal_entries.RETAKEN: f"{_STEP} changes:changes programs:programs?",
    journal_entries.SKIPPED: "step:text reason:text",
    journal_entries.BLOCKED: "step:text reason:text",
    journal_entries.RECOVERED: "step:text by:text",
    journal_entries.TICKED: "step:text task:text transcript:text",
    journal_entries.REOPENED: "step:text task:text",
    journal_entries.PAUSED: "why:question step:text|null question:text seconds:number?",
    journal_entries.ANSWERED: "why:text step:text|null answer:text user:any? session:any? how:any? seconds:number?",
    journal_entries.REPLANNED: (
        "revision:revision document:digest reason:text completed:counts failed:counts step:any? plan_steps:any? "
        "generation_s:any? user:any? session:any?"
    ),
    journal_entries.INTERRUPTED: "signal:text seconds:number?",
    journal_entries.RESUMED: (
        f"{_APPROVAL} document:any? revision:any? failed:texts? states:states? programs:programs? executor:text?"
    ),
    journal_entries.ENDED: "status:ending cause:text reason:text seconds:number",
    journal_entries.ROLLBACK: (
        "steps:texts automatic:text user:text session:any? changes:changes folders:texts undone_not:texts whole:flag"
    ),
    journal_entries.RESTORED: "path:text? restored:texts? removed:texts? displaced:any?",
    journal_entries.ROLLED_BACK: "steps:texts restored:any? removed:any? whole:flag",
}
"""The fields of each kind with their types; `?` marks those that may be absent."""
_MAX_NUMBER: Final = 1 << 53
"""Upper limit for any count or duration in an entry."""


def is_valid_entry(kind: str, number: int, at: str, fields: Mapping[str, Any]) -> bool:
    """Return whether an entry is valid at its position.

    The first entry, and no other, records the beginning of the run.
    """
    is_in_place = (kind == journal_entries.BEGUN) == (number == 1)
    return is_utc_timestamp(at) and is_in_place and kind in FIELDS and _has_valid_fields(FIELDS[kind], fields)


def _has_valid_fields(notation: str, fields: Mapping[str, Any]) -> bool:
    """Return whether all required fields are present, and all that are present are valid."""
    for field in notation.split(" "):
        name, _, type_name = field.partition(":")
        if name in fields:
            if not _TYPES[type_name.removesuffix("?")](fields[name]):
                return False
        elif not type_name.endswith("?"):
            return False
    return True


def _record_of(notation: str) -> Check:
    """Return the check of an object that has no other fields than these."""
    names = {field.partition(":")[0] for field in notation.split(" ")}
    return lambda value: isinstance(value, dict) and value.keys() <= names and _has_valid_fields(notation, value)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all([check(element) for element in value])


def _map_of(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and all([check(element) for element in value.values()])


def _tuple_of(min_length: int, *type_names: str) -> Check:
    """Return the check of a list with components of these types, of which later ones may be missing."""
    return lambda value: (
        isinstance(value, list)
        and min_length <= len(value) <= len(type_names)
        and all([_TYPES[type_name](component) for type_name, component in zip(type_names, value, strict=False)])
    )


def _or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _one_of(*choices: str) -> Check:
    return lambda value: isinstance(value, str) and value in choices


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MAX_NUMBER


def _count(value: Any) -> bool:
    return isinstance(value, int) and _number(value)


def _digest(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and not value.strip("0123456789abcdef")


_state = _tuple_of(1, "text", "digest|empty", "count", "text", "count")
_TYPES: Final[Mapping[str, Check]] = {
    "any": lambda value: True,
    "text": _text,
    "text|null": _or_null(_text),
    "texts": _list_of(_text),
    "texts|null": _or_null(_list_of(_text)),
    "flag": lambda value: isinstance(value, bool),
    "number": _number,
    "count": _count,
    "counts": _list_of(_count),
    "revision": lambda value: _count(value) and value > 1,
    "digest": _digest,
    "digest|empty": lambda value: value == "" or _digest(value),
    "status": _or_null(lambda value: _count(value) or (isinstance(value, int) and _count(-value))),
    "signal": _or_null(lambda value: _count(value) and value <= 64),
    "agent": _one_of("agent"),
    "outcome": _one_of("passed", "failed", "not_run"),
    "question": _one_of(*journal_entries.QUESTION_REASONS),
    "ending": _one_of(states.COMPLETED, states.FAILED),
    "state": _state,
    "states": _map_of(_state),
    "programs": _map_of(_tuple_of(3, "text", "text", "digest|empty", "text")),
    "changes": _list_of(_record_of(_CHANGE)),
    "checks": _record_of(_CHECKS),
}
