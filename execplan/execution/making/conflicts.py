"""What keeps several execution plans from being one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.execution.documents.touched import written
from execplan.execution.model import RUNNING, ExecutionPlan, Type
from execplan.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Part(NamedTuple):
    """One of the plans."""

    prefix: str
    document: ExecutionPlan
    steps: list[dict[str, Any]]
    """With their new ids."""


def conflicts_of(parts: list[Part]) -> Iterator[str]:
    """Everything that keeps plans from being one, a line each."""
    seen: dict[str, int] = {}
    for at, part in enumerate(parts):
        other = seen.setdefault(part.document.plan_id, at)
        if other != at:
            yield f"the plan {part.document.plan_id} is there twice, at places {other + 1} and {at + 1}"
    if len(seen) == len(parts):
        yield from _paths(parts)
        yield from _order(parts)
    for name in ("mode", "constraints.allow_unplanned"):
        values = {_value(part.document, name) for part in parts}
        if len(values) > 1:
            yield f"{name} differs: " + ", ".join([f"{p.prefix} has {_value(p.document, name)}" for p in parts])
    durations = [part for part in parts if part.document.constraints.max_duration_s is not None]
    if durations and len(durations) < len(parts):
        yield f"{durations[0].prefix} has a limit constraints.max_duration_s, and another plan has none"
    count = sum([len(part.steps) for part in parts])
    most = max([part.document.constraints.max_steps for part in parts], default=count)
    if count > most:
        yield f"{count} steps in all; the largest constraints.max_steps is {most}"


def _paths(parts: list[Part]) -> Iterator[str]:
    """A file has one plan that writes it."""
    owners: dict[str, tuple[int, str]] = {}
    folders: dict[str, tuple[int, str]] = {}
    for at, part in enumerate(parts):
        for step in part.steps:
            for path in _changed(step):
                owner = owners.setdefault(path, (at, step["id"]))
                if owner[0] != at:
                    yield f"{path} is written by {owner[1]} and by {step['id']}"
                for folder in _above(path):
                    folders.setdefault(folder, (at, step["id"]))
    for path, (at, name) in owners.items():
        if path in folders and folders[path][0] != at:
            yield f"{path} is a file for {name} and a folder for {folders[path][1]}"


def _changed(step: dict[str, Any]) -> list[str]:
    """The files that a step itself writes; what a command puts out may be put out again."""
    runs = step["type"] in RUNNING
    return [] if runs else list(dict.fromkeys([os.path.normpath(path) for path in written(step)]))


def _above(path: str) -> Iterator[str]:
    folder = os.path.dirname(path)
    while folder not in ("", "/"):
        yield folder
        folder = os.path.dirname(folder)


def _order(parts: list[Part]) -> Iterator[str]:
    """No plan needs what a later one makes; two that need each other go in a circle."""
    makers = _makers(parts)
    needs: dict[tuple[int, int], str] = {}
    for at, part in enumerate(parts):
        for step in part.steps:
            for path in step["inputs"]:
                maker = makers.get(os.path.normpath(path), (at, ""))
                if maker[0] != at:
                    needs.setdefault((at, maker[0]), f"{step['id']} needs {path}, which {maker[1]} makes")
    for (one, other), why in needs.items():
        if one < other and (other, one) in needs:
            names = [parts[at].prefix for at in (one, other, one)]
            yield f"the plans need each other, {' → '.join(names)}: {why}; {needs[other, one]}"
        elif one < other:
            yield f"{why} later: put {parts[other].prefix} before {parts[one].prefix}"


def _makers(parts: list[Part]) -> dict[str, tuple[int, str]]:
    """Which plan and which step makes a file, by its path."""
    makers: dict[str, tuple[int, str]] = {}
    for at, part in enumerate(parts):
        for step in part.steps:
            if step["type"] not in (Type.MODIFY, Type.DELETE, Type.REFACTOR):
                for path in written(step):
                    makers.setdefault(os.path.normpath(path), (at, step["id"]))
    return makers


def _value(document: ExecutionPlan, name: str) -> object:
    value: object = document
    for field in name.split("."):
        value = getattr(value, field)
    return value
