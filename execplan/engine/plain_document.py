"""Of a document that was checked before what the order of its steps depends on, by the names of the model.

The guard of an agent reads it from plain JSON: to check it in full once more takes longer than it has.
"""

from __future__ import annotations

from execplan.execution.permission import allowed_calls
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from execplan.execution import execution_plan


class Failure(NamedTuple):
    """What becomes of a plain step that failed."""

    strategy: str
    max_retries: int
    backoff_ms: int
    triggers: tuple[str, ...]


class Condition(NamedTuple):
    """The condition of a plain step."""

    kind: str
    of: str


class PlainStep(NamedTuple):
    """Of a step what its turn depends on, by the names of the model."""

    number: int
    id: str
    description: str
    depends_on: tuple[str, ...]
    when: Condition | None
    on_failure: Failure
    checkpoint: bool
    confirm: bool
    inferred: bool
    max_invocations: int
    """Counting each place of a diff."""


class PlainDocument(NamedTuple):
    """Of a document what a course needs, by the names of the model."""

    steps: tuple[PlainStep, ...]


def parse_plain_document(document: Mapping[str, Any]) -> PlainDocument:
    """A document as JSON holds it, which was checked before."""
    return PlainDocument(tuple([_parse_plain_step(step) for step in document["steps"]]))


def _parse_plain_step(step: Mapping[str, Any]) -> PlainStep:
    when, failure = step.get("when"), step.get("on_failure") or {}
    return PlainStep(
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
        allowed_calls(step.get("max_invocations", 1), step.get("patch")),
    )


if TYPE_CHECKING:
    Step = execution_plan.Step | PlainStep
    When = execution_plan.When | Condition
