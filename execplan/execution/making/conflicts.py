"""What keeps several execution plans from being one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.execution.documents.touched import written_paths
from execplan.execution.model import PROGRAM_TYPES, ExecutionPlan, Type
from execplan.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class SourcePlan(NamedTuple):
    """One of the plans."""

    prefix: str
    document: ExecutionPlan
    steps: list[dict[str, Any]]
    """With their new ids."""


def find_conflicts(plans: list[SourcePlan]) -> Iterator[str]:
    """Everything that keeps plans from being one, a line each."""
    positions: dict[str, int] = {}
    for index, plan in enumerate(plans):
        first_index = positions.setdefault(plan.document.plan_id, index)
        if first_index != index:
            yield f"the plan {plan.document.plan_id} is there twice, at places {first_index + 1} and {index + 1}"
    if len(positions) == len(plans):
        yield from _path_conflicts(plans)
        yield from _order_conflicts(plans)
    for name in ("mode", "constraints.allow_unplanned"):
        values = {_nested_attribute(plan.document, name) for plan in plans}
        if len(values) > 1:
            yield f"{name} differs: " + ", ".join([f"{plan.prefix} has {_nested_attribute(plan.document, name)}" for plan in plans])
    durations = [plan for plan in plans if plan.document.constraints.max_duration_s is not None]
    if durations and len(durations) < len(plans):
        yield f"{durations[0].prefix} has a limit constraints.max_duration_s, and another plan has none"
    count = sum([len(plan.steps) for plan in plans])
    max_steps = max([plan.document.constraints.max_steps for plan in plans], default=count)
    if count > max_steps:
        yield f"{count} steps in all; the largest constraints.max_steps is {max_steps}"


def _path_conflicts(plans: list[SourcePlan]) -> Iterator[str]:
    """A file has one plan that writes it."""
    owners: dict[str, tuple[int, str]] = {}
    folders: dict[str, tuple[int, str]] = {}
    for index, plan in enumerate(plans):
        for step in plan.steps:
            for path in _written_files(step):
                owner = owners.setdefault(path, (index, step["id"]))
                if owner[0] != index:
                    yield f"{path} is written by {owner[1]} and by {step['id']}"
                for folder in _parent_directories(path):
                    folders.setdefault(folder, (index, step["id"]))
    for path, (index, name) in owners.items():
        if path in folders and folders[path][0] != index:
            yield f"{path} is a file for {name} and a folder for {folders[path][1]}"


def _written_files(step: dict[str, Any]) -> list[str]:
    """The files that a step itself writes; what a command puts out may be put out again."""
    runs = step["type"] in PROGRAM_TYPES
    return [] if runs else list(dict.fromkeys([os.path.normpath(path) for path in written_paths(step)]))


def _parent_directories(path: str) -> Iterator[str]:
    folder = os.path.dirname(path)
    while folder not in ("", "/"):
        yield folder
        folder = os.path.dirname(folder)


def _order_conflicts(plans: list[SourcePlan]) -> Iterator[str]:
    """No plan needs what a later one makes; two that need each other go in a circle."""
    makers = _find_makers(plans)
    needs: dict[tuple[int, int], str] = {}
    for index, plan in enumerate(plans):
        for step in plan.steps:
            for path in step["inputs"]:
                maker = makers.get(os.path.normpath(path), (index, ""))
                if maker[0] != index:
                    needs.setdefault((index, maker[0]), f"{step['id']} needs {path}, which {maker[1]} makes")
    for (consumer, producer), why in needs.items():
        if consumer < producer and (producer, consumer) in needs:
            names = [plans[index].prefix for index in (consumer, producer, consumer)]
            yield f"the plans need each other, {' → '.join(names)}: {why}; {needs[producer, consumer]}"
        elif consumer < producer:
            yield f"{why} later: put {plans[producer].prefix} before {plans[consumer].prefix}"


def _find_makers(plans: list[SourcePlan]) -> dict[str, tuple[int, str]]:
    """Which plan and which step makes a file, by its path."""
    makers: dict[str, tuple[int, str]] = {}
    for index, plan in enumerate(plans):
        for step in plan.steps:
            if step["type"] not in (Type.MODIFY, Type.DELETE, Type.REFACTOR):
                for path in written_paths(step):
                    makers.setdefault(os.path.normpath(path), (index, step["id"]))
    return makers


def _nested_attribute(document: ExecutionPlan, name: str) -> object:
    value: object = document
    for field in name.split("."):
        value = getattr(value, field)
    return value
