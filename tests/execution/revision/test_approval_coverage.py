"""Which revisions an approval covers: what is in the list of what may differ, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.execution.execution_plan import (
    Constraints,
    ExecutionPlan,
    Intent,
    Level,
    Lines,
    OnFailure,
    Replacement,
    Risk,
    Rollback,
    Source,
    Step,
    Type,
    Validation,
    When,
)
from execplan.execution.revision.approval_coverage import RunProgress, find_uncovered_changes
from tests.execution.plan_documents import command, loaded, plan, step

NOTHING = RunProgress((), {})
OTHER_STEP_FIELDS: dict[str, Any] = {
    "id": "other",
    "type": Type.INSTALL,
    "tool": "shell.other",
    "description": "Run make none",
    "target": "other.txt",
    "lines": (1, 2),
    "action": "Other",
    "command": "make none",
    "argv": ("make", "none"),
    "content": "other\n",
    "patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
    "parameters": {"a": 1},
    "depends_on": (),
    "timeout_s": 301,
    "on_failure": OnFailure(strategy="skip"),
    "when": When(kind="exists", of="x"),
    "checkpoint": True,
    "effect": "idempotent",
    "parallel": True,
    "cwd": "src",
    "env": {"A": "b"},
    "shell": "sh",
    "network": True,
    "service": "port:8000",
    "inputs": ("x",),
    "outputs": ("x",),
    "expect": "other",
    "exit": 1,
    "validation": Validation(syntax_check=False),
    "rollback": Rollback(enabled=False),
    "task": "Other",
    "risk": Risk(level=Level.LOW),
    "confirm": True,
    "max_invocations": 2,
    "allow": ("*",),
    "deny": ("*",),
    "inferred": True,
    "phase": "validate",
    "source": Lines(line_start=1, line_end=2),
    "from_": "other.txt",
    "overwrite": True,
    "replacement": Replacement(paths=("x",), find="a", with_="b", count=1),
    "files": ("x",),
}
"""By field of a step, another value than `approved` has."""
OTHER_PLAN_FIELDS: dict[str, Any] = {
    "version": 2,
    "schema_": "other",
    "plan_id": "2026-01-01_other",
    "source": Source(path="a.md", sha256="0" * 64),
    "description": "Other",
    "mode": "agent",
}
OTHER_LIMITS: dict[str, Any] = {
    "max_steps": 101,
    "max_duration_s": 5,
    "require_sequential": True,
    "allow_unplanned": True,
    "forbidden_paths": ("x",),
    "forbidden_commands": ("x",),
}


def approved(*steps: dict[str, Any], **fields: Any) -> ExecutionPlan:
    """Steps of which the second needs the first; or those that are given."""
    risk = {"level": "HIGH", "reasons": ["unknown"]}
    return loaded(plan(*(steps or (step(1), command(2, depends_on=["s1"], risk=risk), step(3))), **fields))


def revised(
    old: ExecutionPlan, *names: str, changes: dict[str, dict[str, Any]] | None = None, **fields: Any
) -> ExecutionPlan:
    """A revision with these steps in this order; none named: all."""
    by_id = {plan_step.id: plan_step for plan_step in old.steps}
    steps = [
        by_id[name].model_copy(update={"number": number, **(changes or {}).get(name, {})})
        for number, name in enumerate(names or by_id, 1)
    ]
    return old.model_copy(update={"revision": old.revision + 1, "steps": tuple(steps), **fields})


def test_trying_again_dropping_and_putting_in_another_order_are_covered() -> None:
    old = approved()
    for names in ((), ("s1", "s2"), ("s3",), ("s1",), ("s3", "s1", "s2"), ("s1", "s3", "s2")):
        assert find_uncovered_changes(old, revised(old, *names), NOTHING) == [], names


def test_the_table_knows_every_field() -> None:
    assert OTHER_STEP_FIELDS.keys() | {"number"} == set(Step.__struct_fields__)
    assert OTHER_PLAN_FIELDS.keys() | {"revision", "intent", "steps", "constraints", "metadata"} == set(
        ExecutionPlan.__struct_fields__
    )
    assert OTHER_LIMITS.keys() == set(Constraints.__struct_fields__)


@pytest.mark.parametrize("field", sorted(OTHER_STEP_FIELDS.keys() - {"source", "files"}))
def test_any_other_field_of_a_step_needs_approval(field: str) -> None:
    old = approved()
    new = revised(old, changes={"s2": {field: OTHER_STEP_FIELDS[field]}})
    assert new.steps[1] != old.steps[1]
    assert find_uncovered_changes(old, new, NOTHING)


@pytest.mark.parametrize("field", [*OTHER_PLAN_FIELDS, *OTHER_LIMITS])
def test_any_other_field_of_the_plan_needs_approval(field: str) -> None:
    old = approved()
    limits = old.constraints.model_copy(update={field: OTHER_LIMITS[field]}) if field in OTHER_LIMITS else None
    new = revised(old, **({"constraints": limits} if limits is not None else {field: OTHER_PLAN_FIELDS[field]}))
    assert find_uncovered_changes(old, new, NOTHING)


def test_what_around_the_steps_may_differ() -> None:
    old = approved()
    intent = old.intent.model_dump() | {"risk_level": Level.LOW}
    assert find_uncovered_changes(old, revised(old, intent=Intent.model_validate(intent)), NOTHING) == []
    assert find_uncovered_changes(
        old, revised(old, intent=Intent.model_validate({**intent, "summary": "Other"})), NOTHING
    )
    context = old.metadata.model_copy(update={"context": {"a": 1}})
    assert find_uncovered_changes(old, revised(old, metadata=context), NOTHING)
    assert find_uncovered_changes(old, revised(old).model_copy(update={"revision": 1}), NOTHING) == [
        "it is not a later revision"
    ]


def test_a_new_step_needs_approval() -> None:
    old = approved()
    new = revised(old)
    added = old.steps[2].model_copy(update={"id": "more", "number": 4, "target": "more.txt"})
    new = new.model_copy(update={"steps": (*new.steps, added)})
    assert find_uncovered_changes(old, new, NOTHING) == ["step more was added"]


def test_the_lines_of_a_step_may_differ() -> None:
    """A task that is checked off gets a line with its transcript, which moves the steps below."""
    old = approved(step(1, source={"line_start": 3, "line_end": 5}), source={"path": "a.md", "sha256": "0" * 64})
    for lines in (None, Lines(line_start=4, line_end=6)):
        assert find_uncovered_changes(old, revised(old, changes={"s1": {"source": lines}}), NOTHING) == []


@pytest.mark.parametrize(
    ("first", "settled", "covered"),
    [
        ({}, (), False),
        ({"on_failure": {"strategy": "skip"}}, (), True),
        ({"on_failure": {"strategy": "skip", "triggers": ["timeout"]}}, (), False),
        ({}, ("s1",), True),
    ],
)
def test_a_need_goes_only_where_the_run_would_have_gone_on_without_it(
    first: dict[str, Any], settled: tuple[str, ...], covered: bool
) -> None:
    """Who approves a step that needs another has not approved it alone."""
    old = approved(step(1, **first), step(2, depends_on=["s1"]))
    new = revised(old, "s2", changes={"s2": {"depends_on": ()}})
    assert (find_uncovered_changes(old, new, RunProgress(settled, {})) == []) is covered
    kept = revised(old, changes={"s2": {"depends_on": ()}})
    assert (find_uncovered_changes(old, kept, RunProgress(settled, {})) == []) is (settled != ())


ALTERNATIVE = (step(1, on_failure={"strategy": "alternative:s2"}), step(2), step(3, depends_on=["s1"]))


def test_the_alternative_that_was_approved_stands_in_for_a_step_that_failed() -> None:
    old = approved(*ALTERNATIVE)
    new = revised(old, "s2", "s3", changes={"s3": {"depends_on": ("s2",)}})
    assert find_uncovered_changes(old, new, RunProgress((), {"s1": "s2"})) == []
    assert find_uncovered_changes(old, new, NOTHING), "s1 has not failed"
    assert find_uncovered_changes(old, revised(old, "s2", changes={}), NOTHING) == [
        "step s2 is the alternative to s1, which has not failed"
    ]
    alone = revised(old, "s3", changes={"s3": {"depends_on": ()}})
    assert find_uncovered_changes(old, alone, RunProgress((), {"s1": "s2"})) == ["step s3 no longer needs s2"]
    assert find_uncovered_changes(old, revised(old), RunProgress((), {"s1": "s2"})) == [], "s1 is tried again"


def test_an_alternative_does_not_run_because_what_it_was_for_is_done() -> None:
    """A step that is done falls back on nothing any more; its alternative would run by itself then."""
    old = approved(*ALTERNATIVE)
    plain = {"s1": {"on_failure": OnFailure()}}
    assert find_uncovered_changes(old, revised(old, "s1", "s3", changes=plain), RunProgress(("s1",), {})) == []
    assert find_uncovered_changes(old, revised(old, changes=plain), RunProgress(("s1",), {}))
    assert find_uncovered_changes(old, revised(old, "s1", "s3", changes=plain), NOTHING), "s1 is not done"


@pytest.mark.parametrize("gate", [{"checkpoint": True}, {"confirm": True}])
def test_no_step_comes_past_a_question(gate: dict[str, Any]) -> None:
    old = approved(step(1), step(2, **gate), step(3))
    assert find_uncovered_changes(old, revised(old, "s1", "s3", "s2"), NOTHING)
    assert find_uncovered_changes(old, revised(old, "s1", "s3"), NOTHING)
    assert find_uncovered_changes(old, revised(old, "s1", "s2"), NOTHING) == []
    assert find_uncovered_changes(old, revised(old, "s1"), NOTHING) == []
    assert find_uncovered_changes(old, revised(old, "s2", "s3"), NOTHING) == []
    assert find_uncovered_changes(old, revised(old, "s1", "s3"), RunProgress(("s2",), {})) == []


def test_a_validation_stays_and_stays_behind_the_work() -> None:
    old = approved(step(1), step(2), step(3, phase="validate"))
    assert find_uncovered_changes(old, revised(old, "s1", "s2"), NOTHING) == ["validation s3 was removed"]
    assert find_uncovered_changes(old, revised(old, "s1", "s3", "s2"), NOTHING)
    assert find_uncovered_changes(old, revised(old, "s2", "s3"), NOTHING) == []


def test_steps_in_strict_order_stay_in_it() -> None:
    old = approved(step(1), step(2), step(3), constraints={"require_sequential": True})
    assert find_uncovered_changes(old, revised(old, "s2", "s1", "s3"), NOTHING)
    assert find_uncovered_changes(old, revised(old, "s1", "s3"), NOTHING)
    assert find_uncovered_changes(old, revised(old, "s1", "s2"), NOTHING) == []
    assert find_uncovered_changes(old, revised(old, "s2", "s3"), RunProgress(("s1",), {})) == []


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"outputs": ["made"]}, {"inputs": ["made/x"]}),
        ({"inputs": ["x"]}, {"outputs": ["x"]}),
        ({"outputs": ["x"]}, {"outputs": ["./x"]}),
        ({"outputs": ["x"]}, {"when": {"kind": "exists", "of": "x"}}),
        ({"outputs": ["src/x"]}, {"cwd": "src"}),
    ],
)
def test_steps_that_share_a_path_stay_in_their_order(one: dict[str, Any], two: dict[str, Any]) -> None:
    old = approved(command(1, **one), command(2, **two))
    assert find_uncovered_changes(old, revised(old, "s2", "s1"), NOTHING)
    readers = approved(command(1, inputs=["x"]), command(2, inputs=["x"]))
    assert find_uncovered_changes(readers, revised(readers, "s2", "s1"), NOTHING) == [], "both only read it"


@st.composite
def revisions(draw: st.DrawFn) -> tuple[ExecutionPlan, list[str], dict[str, str]]:
    """A plan whose steps need some before them, which of them are left in which order, and a field that is changed of some."""
    count = draw(st.integers(2, 6))
    needs = {
        number: draw(st.lists(st.integers(1, number - 1), unique=True, max_size=2)) if number > 1 else []
        for number in range(1, count + 1)
    }
    old = approved(*[step(number, depends_on=[f"s{need}" for need in needs[number]]) for number in needs])
    kept = draw(st.lists(st.sampled_from([plan_step.id for plan_step in old.steps]), unique=True, min_size=1))
    fields = st.sampled_from(sorted(OTHER_STEP_FIELDS.keys() - {"id", "depends_on", "source", "files"}))
    changes = draw(st.dictionaries(st.sampled_from(kept), fields, max_size=2))
    return old, kept, changes


@given(revisions())
def test_a_revision_is_covered_exactly_where_its_steps_and_their_needs_are_those_that_were_approved(
    case: tuple[ExecutionPlan, list[str], dict[str, str]],
) -> None:
    old, kept, fields = case
    by_id = {plan_step.id: plan_step for plan_step in old.steps}
    new = revised(old, *kept, changes={name: {field: OTHER_STEP_FIELDS[field]} for name, field in fields.items()})
    is_unchanged = all(getattr(by_id[name], field) == OTHER_STEP_FIELDS[field] for name, field in fields.items())
    ordered = all(
        need in kept and kept.index(need) < kept.index(name) for name in kept for need in by_id[name].depends_on
    )
    uncovered = find_uncovered_changes(old, new, NOTHING)
    if not is_unchanged:
        assert uncovered
    else:
        assert (not uncovered) is ordered


@given(revisions(), st.data())
def test_no_need_is_lost_or_put_in(case: tuple[ExecutionPlan, list[str], dict[str, str]], data: st.DataObject) -> None:
    old, kept, _ = case
    name = data.draw(st.sampled_from(kept))
    names = [plan_step.id for plan_step in old.steps]
    needs = tuple(data.draw(st.lists(st.sampled_from(names), unique=True, max_size=3)))
    new = revised(old, *kept, changes={name: {"depends_on": needs}})
    old_needs = next(plan_step for plan_step in old.steps if plan_step.id == name).depends_on
    if set(needs) != set(old_needs):
        assert find_uncovered_changes(old, new, NOTHING)
