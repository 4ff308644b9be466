"""How two execution plans differ, in words; that lines have moved in the markdown is no difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from execplan.execution.model import ExecutionPlan

_LONGEST = 60
_LINES = "source.sha256 "
"""It differs whenever something else does, and tells a person nothing."""


def differences(old: ExecutionPlan, new: ExecutionPlan) -> tuple[str, ...]:
    """What is other in the new one, a line each: fields of the plan, then steps that are gone, new or changed."""
    told = differing(_plain(old), _plain(new))
    more = tuple([each for each in told if not each.startswith(_LINES)])
    return more or (("the lines that its steps come from read otherwise",) if told else ())


def differing(old: dict[str, Any], new: dict[str, Any]) -> tuple[str, ...]:
    """The same of two documents as plain data, whatever it tells a person."""
    before, after = dict(old), dict(new)
    steps = [{step["id"]: step for step in each.pop("steps")} for each in (before, after)]
    gone = [f"step {name} is gone" for name in steps[0] if name not in steps[1]]
    come = [f"step {name} is new" for name in steps[1] if name not in steps[0]]
    changed = [
        f"step {name}: {each}"
        for name in steps[0]
        if name in steps[1]
        for each in _fields(steps[0][name], steps[1][name])
    ]
    return (*_fields(before, after), *gone, *come, *changed)


def _plain(document: ExecutionPlan) -> dict[str, Any]:
    """The document as plain data, without the lines of its steps."""
    told = document.model_dump(mode="json", by_alias=True)
    for step in told["steps"]:
        step["source"] = None
    return told


def _fields(old: dict[str, Any], new: dict[str, Any], above: str = "") -> list[str]:
    """The fields that differ, those within fields by their dotted names."""
    told = []
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        if isinstance(before, dict) and isinstance(after, dict):
            told += _fields(before, after, f"{above}{name}.")
        else:
            told.append(f"{above}{name} was {_short(before)}, is {_short(after)}")
    return told


def _short(value: object) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
