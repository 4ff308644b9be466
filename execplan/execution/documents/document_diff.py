"""Differences between two execution plans as text; lines that moved in the Markdown are no difference."""

from __future__ import annotations

from typing import Any

from execplan.core.text.message_parts import shorten
from execplan.execution.execution_plan import ExecutionPlan

_MAX_VALUE_LENGTH = 60
_MAX_EQUAL_LENGTH = 20
"""Maximum number of equal characters before the first difference of two long values."""
_SOURCE_DIGEST = "source.sha256 "
"""Prefix of the digest's line: the digest differs with any other change and means nothing to a person."""


def describe_differences(old: ExecutionPlan, new: ExecutionPlan) -> tuple[str, ...]:
    """Return the differences of the new plan, one line each: plan fields, then removed, new and changed steps."""
    lines = diff_documents(_comparable_fields(old), _comparable_fields(new))
    relevant = tuple([line for line in lines if not line.startswith(_SOURCE_DIGEST)])
    return relevant or (("the text of the lines with its steps has changed",) if lines else ())


def diff_documents(old: dict[str, Any], new: dict[str, Any]) -> tuple[str, ...]:
    """Return all differences between two documents given as plain data, one line each."""
    before, after = dict(old), dict(new)
    steps = [{step["id"]: step for step in document.pop("steps")} for document in (before, after)]
    removed = [f"step {name} was removed" for name in steps[0] if name not in steps[1]]
    added = [f"step {name} was added" for name in steps[1] if name not in steps[0]]
    changed = [
        f"step {name}: {change}"
        for name in steps[0]
        if name in steps[1]
        for change in _diff_step(steps[0][name], steps[1][name])
    ]
    return (*_diff_fields(before, after), *removed, *added, *changed)


def _diff_step(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return a line for each field of a step that differs; what follows from a changed command has no line of its own."""
    if old.get("command") == new.get("command"):
        return _diff_fields(old, new)
    same = {"argv": None}
    if all([step.get("description") == f"Run {step.get('command')}" for step in (old, new)]):
        same["description"] = None
    return _diff_fields(old | same, new | same)


def _comparable_fields(document: ExecutionPlan) -> dict[str, Any]:
    """Return the document as plain data, without the source lines of its steps."""
    fields = document.model_dump()
    for step in fields["steps"]:
        step["source"] = None
    return fields


def _diff_fields(old: dict[str, Any], new: dict[str, Any], prefix: str = "") -> list[str]:
    """Return a line for each field that differs; nested fields have dotted names."""
    lines = []
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        if isinstance(before, dict) and isinstance(after, dict):
            lines += _diff_fields(before, after, f"{prefix}{name}.")
        else:
            lines.append(f"{prefix}{name} {_format_change(before, after)}")
    return lines


def _format_change(before: object, after: object) -> str:
    """Format a change of a value; long texts begin shortly before their first difference."""
    import json

    if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > _MAX_VALUE_LENGTH:
        pairs = enumerate(zip(before, after, strict=False))
        shorter = min(len(before), len(after))
        start = next((at for at, (old, new) in pairs if old != new), shorter) - _MAX_EQUAL_LENGTH
        before, after = [f"…{text[start:]}" if start > 0 else text for text in (before, after)]
    old, new = [shorten(json.dumps(value, ensure_ascii=False), _MAX_VALUE_LENGTH) for value in (before, after)]
    return f"was {old} and is now {new}"
