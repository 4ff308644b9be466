"""The fields of an execution plan that determine the order of its steps, read from JSON that was validated before.

The agent guard reads them from plain JSON: it does not have the time to validate the document again. Names are those
of the model.
"""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution.permission import allowed_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from execplan.execution import execution_plan


class Failure(NamedTuple):
    """The failure handling of a plain step."""

    strategy: str
    max_retries: int
    backoff_ms: int
    triggers: tuple[str, ...]


class Condition(NamedTuple):
    """The condition of a plain step."""

    kind: str
    of: str


class OrderedStep(NamedTuple):
    """The fields of a step that determine its turn, named as in the model."""

    number: int
    id: str
    description: str
    depends_on: tuple[str, ...]
    when: Condition | None
    on_failure: Failure
    checkpoint: bool
    confirm: bool
    inferred: bool
    service: str | None
    max_invocations: int
    """Maximum number of calls, already multiplied by the number of hunks of a diff."""


class OrderingFields(NamedTuple):
    """The part of an execution plan that `RunState` needs, named as in the model."""

    steps: tuple[OrderedStep, ...]


def parse_ordering_fields(document: Mapping[str, Any]) -> OrderingFields:
    """Parse an execution plan from JSON data that was validated before."""
    return OrderingFields(tuple([_parse_ordered_step(step) for step in document["steps"]]))


def _parse_ordered_step(step: Mapping[str, Any]) -> OrderedStep:
    when, failure = step.get("when"), step.get("on_failure") or {}
    return OrderedStep(
        step["number"],
        step["id"],
        step["description"],
        tuple(step.get("depends_on") or ()),
        Condition(when["kind"], when["of"]) if when else None,
        Failure(
            failure.get("strategy", "fail_fast"),
            failure.get("max_retries", 0),
            failure.get("backoff_ms", 1000),
            tuple(failure.get("triggers") or ()),
        ),
        step.get("checkpoint", False),
        step.get("confirm", False),
        step.get("inferred", False),
        step.get("service"),
        allowed_calls(step),
    )


if TYPE_CHECKING:
    Step = execution_plan.Step | OrderedStep
    When = execution_plan.When | Condition
