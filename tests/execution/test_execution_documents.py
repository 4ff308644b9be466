"""The Python API: plans made, revised, with their states."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from execplan import (
    ExecutionPlan,
    ExecutionState,
    ReplanRequest,
    advance,
    create_execution_plan,
    document_bytes,
    load_document,
    replan_document,
)
from execplan.core.errors import ExecplanError
from execplan.core.text.text_lines import digest
from execplan.execution import states
from execplan.execution.run_record import RunStatus, StepStatus
from tests.execution.plan_documents import command, loaded, plan, step

TOOLS = ["weather.get_current_weather", "timer.set_timer"]


def replan_request(current: ExecutionPlan, **fields: Any) -> ReplanRequest:
    """A request with a reason."""
    return ReplanRequest.model_validate({"current_plan": current, "reason": "It failed.", **fields})


def test_create() -> None:
    created = create_execution_plan("Check weather and set timer", TOOLS, {"user_id": "user123"})
    assert created.mode == "agent"
    assert [
        (plan_step.number, plan_step.id, plan_step.type, plan_step.tool, plan_step.depends_on)
        for plan_step in created.steps
    ] == [
        (1, "step-1", "use_tool", TOOLS[0], ()),
        (2, "step-2", "use_tool", TOOLS[1], ("step-1",)),
    ]
    assert created.metadata.context == {"user_id": "user123"}
    assert created.intent.summary == "Check weather and set timer"
    assert load_document(document_bytes(created), ExecutionPlan, "x") == created
    assert created.selected_tools == TOOLS
    assert "2 selected tools" in created.reasoning


def test_ids_are_unique_unless_given() -> None:
    plans = [create_execution_plan("Check weather and set timer", TOOLS) for _ in range(100)]
    assert len({document.plan_id for document in plans}) == len(plans)
    given = [create_execution_plan("x", TOOLS, plan_id="mine") for _ in range(2)]
    assert [document.plan_id for document in given] == ["mine", "mine"]
    assert document_bytes(given[0]) == document_bytes(given[1]), "the same input gives the same bytes"


@pytest.mark.parametrize(
    ("request_", "tools", "told"),
    [
        ("", TOOLS, "/description"),
        ("x", [], "/steps"),
        ("x", ["weather"], "/steps/0/tool"),
        ("x", ["a.b", "a.b.c"], "/steps/1/tool"),
        ("x", ["a.b"] * 101, "/steps: 101 steps"),
        ("x" * 2001, TOOLS, "/description"),
    ],
)
def test_create_refuses(request_: str, tools: list[str], told: str) -> None:
    with pytest.raises(ExecplanError) as caught:
        create_execution_plan(request_, tools)
    assert caught.value.exit == 3
    assert any(told in text for text in (caught.value.message, *caught.value.candidates))


def test_create_refuses_a_context_that_cannot_be_written() -> None:
    with pytest.raises(ExecplanError):
        create_execution_plan("x", TOOLS, {"a": float("nan")})


def test_replan_as_the_reference_shows_it() -> None:
    current = create_execution_plan("Check weather and set timer", TOOLS)
    before = document_bytes(current)
    revised = replan_document(
        ReplanRequest(
            current_plan=current,
            execution_state=ExecutionState.model_validate({"current_step": 1}),
            reason="Weather API timeout",
            failed_steps=(1,),
        )
    )
    assert document_bytes(current) == before, "the old one is not touched"
    assert revised.revision == 2
    assert revised.steps == current.steps, "a step that failed is kept to be tried again"
    (entry,) = revised.metadata.history
    assert (entry.revision, entry.sha256, entry.reason) == (1, digest(before), "Weather API timeout")
    assert (entry.completed_steps, entry.failed_steps) == ((), (1,))
    assert load_document(document_bytes(revised), ExecutionPlan, "x") == revised
    third = replan_document(replan_request(revised, new_information="The API is back.", failed_steps=[1]))
    assert third.revision == 3
    assert [revision.revision for revision in third.metadata.history] == [1, 2]
    assert third.metadata.history[1].new_information == {"note": "The API is back."}
    assert third.metadata.history[1].sha256 == digest(document_bytes(revised))


CURRENT = loaded(
    plan(
        step(1, id="make"),
        command(2, id="build", depends_on=["make"], on_failure={"strategy": "alternative:plain"}),
        command(3, id="test", depends_on=["build"]),
        command(4, id="plain", depends_on=["make"], when={"kind": "failed", "of": "build"}),
    )
)


def test_an_alternative_stands_in() -> None:
    revised = replan_document(replan_request(CURRENT, completed_steps=[1], failed_steps=[2]))
    assert [(plan_step.number, plan_step.id, plan_step.depends_on) for plan_step in revised.steps] == [
        (1, "make", ()),
        (2, "plain", ("make",)),
        (3, "test", ("plain",)),
    ]
    assert revised.steps[1].when is None
    assert [plan_step.id for plan_step in CURRENT.steps] == ["make", "build", "test", "plain"]


def test_alternatives_of_alternatives() -> None:
    current = loaded(
        plan(
            step(1, id="a", on_failure={"strategy": "alternative:b"}),
            step(2, id="b", target="b", on_failure={"strategy": "alternative:c"}),
            step(3, id="c", target="c"),
            step(4, id="d", target="d", depends_on=["a"]),
        )
    )
    both = replan_document(replan_request(current, failed_steps=[1, 2]))
    assert [(plan_step.id, plan_step.depends_on) for plan_step in both.steps] == [("c", ()), ("d", ("c",))]


def test_what_looks_at_a_step_that_is_gone() -> None:
    current = loaded(
        plan(
            step(1, id="a", on_failure={"strategy": "alternative:c"}),
            step(2, id="b", target="b", when={"kind": "succeeded", "of": "a"}),
            step(3, id="c", target="c"),
        )
    )
    with pytest.raises(ExecplanError, match="b refers to a, which is removed"):
        replan_document(replan_request(current, failed_steps=[1]))


def test_new_steps_take_the_place_of_all_that_is_not_done() -> None:
    new = [
        {"id": "lint", "type": "execute_command", "command": "CI=1 make lint", "depends_on": ["make"]},
        {"id": "ask", "type": "delete_file", "target": "old.txt", "depends_on": ["lint"]},
    ]
    revised = replan_document(
        replan_request(CURRENT, completed_steps=[1], failed_steps=[2], new_information={"steps": new, "seen": 1})
    )
    assert [(plan_step.number, plan_step.id, plan_step.tool) for plan_step in revised.steps] == [
        (1, "make", "file.create"),
        (2, "lint", "shell.run"),
        (3, "ask", "file.delete"),
    ]
    assert revised.steps[0] == CURRENT.steps[0]
    assert revised.steps[1].argv == ("make", "lint")
    assert revised.steps[1].env == {"CI": "1"}
    assert revised.steps[2].risk.level == "HIGH"
    assert revised.steps[2].risk.reasons
    assert revised.intent.risk_level == "HIGH"
    assert revised.metadata.history[0].new_information == {"steps": new, "seen": 1}


def test_risk_is_never_lowered() -> None:
    new = [{"id": "x", "type": "execute_command", "command": "rm -rf build", "risk": {"level": "LOW"}}]
    revised = replan_document(replan_request(CURRENT, new_information={"steps": new}))
    assert revised.steps[0].risk.level in ("HIGH", "CRITICAL")


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ([{"id": "x", "type": "create_file"}], "/new_information/steps/0/target: create_file needs it"),
        (
            [{"id": "make", "type": "delete_file", "target": "x"}],
            "/new_information/steps/0/id: `make` is also the ID of step 1",
        ),
        (
            [{"id": "x", "type": "delete_file", "target": "x", "needs": ["a"]}],
            "/new_information/steps/0/needs: unknown",
        ),
        ([{"id": "x", "type": "y"}], "/new_information/steps/0/type: should be"),
        (
            [{"id": "x", "type": "delete_file", "target": "x", "depends_on": ["build"]}],
            "x requires build, which is removed",
        ),
        (
            [{"id": "x", "type": "delete_file", "target": "x", "depends_on": ["no"]}],
            "/depends_on/0: unknown step `no`",
        ),
        (
            [{"id": "x", "type": "use_tool", "tool": "shell.other"}],
            "/new_information/steps/0/tool: shell.other is in one of execplan's own domains and not an installed tool",
        ),
        ([3], "/new_information/steps: should be an array of steps"),
        ({}, "/new_information/steps: should be an array of steps"),
    ],
)
def test_new_steps_that_are_wrong(new: Any, told: str) -> None:
    with pytest.raises(ExecplanError) as caught:
        replan_document(replan_request(CURRENT, completed_steps=[1], new_information={"steps": new}))
    assert caught.value.exit == 3
    assert caught.value.hint
    assert any(told in text for text in (caught.value.message, *caught.value.candidates)), caught.value.message


def test_dependants_of_a_dropped_step_are_named_all_at_once() -> None:
    new = [
        {"id": "x", "type": "delete_file", "target": "x", "depends_on": ["build"]},
        {"id": "y", "type": "delete_file", "target": "y", "when": {"kind": "failed", "of": "test"}},
        {"id": "z", "type": "delete_file", "target": "z", "on_failure": {"strategy": "alternative:plain"}},
    ]
    with pytest.raises(ExecplanError) as caught:
        replan_document(replan_request(CURRENT, completed_steps=[1], new_information={"steps": new}))
    assert caught.value.candidates == (
        "x requires build, which is removed",
        "y refers to test, which is removed",
        "z falls back on plain, which is removed",
    )


def test_nothing_left_to_do() -> None:
    everything = replan_document(replan_request(CURRENT, completed_steps=[1], new_information={"steps": []}))
    assert [plan_step.id for plan_step in everything.steps] == ["make"]
    with pytest.raises(ExecplanError, match="/steps"):
        replan_document(replan_request(CURRENT, new_information={"steps": []}))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"failed_steps": [9]}, "unknown step 9"),
        ({"completed_steps": [1, 2], "failed_steps": [2]}, "step 2 is both completed and failed"),
        ({"execution_state": {"current_step": 9}}, "execution_state.current_step: unknown step 9"),
        ({"execution_state": {"steps": {"no": "failed"}}}, "execution_state.steps: unknown step no"),
        (
            {"completed_steps": [1], "execution_state": {"steps": {"make": "failed"}}},
            "step 1 is listed as completed, but is failed in execution_state",
        ),
        (
            {"failed_steps": [1], "execution_state": {"steps": {"make": "completed"}}},
            "step 1 is listed as failed, but is completed in execution_state",
        ),
        ({"completed_steps": [2], "failed_steps": [1]}, "step 2 is completed, but make, which it needs, has failed"),
        ({"execution_state": {"status": "completed"}}, "a run that is completed can't be replanned"),
        ({"execution_state": {"status": "rolled_back"}}, "a run that is rolled_back can't be replanned"),
        ({"execution_state": {"status": "done"}}, "status"),
        ({"execution_state": {"weather": 1}}, "weather"),
        ({"completed_steps": [True]}, "completed_steps"),
        ({"completed_steps": [0]}, "completed_steps"),
        ({"reason": ""}, "reason"),
        ({"more": 1}, "more"),
    ],
)
def test_requests_that_contradict_themselves(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(ExecplanError) as caught:
        replan_request(CURRENT, **fields)
    assert (caught.value.code, caught.value.exit) == ("bad-document", 3)
    assert told in " ".join([caught.value.message, *caught.value.candidates])


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [
        (("R", None), "/selected_tools"),
        (("R", "file.read"), "/selected_tools"),
        (("R", 3), "/selected_tools"),
        (("R", ["file.read"], 3), "/context"),
        ((None, ["file.read"]), "/description"),
        (("R", []), "/steps"),
        (("R", ["no tool"]), "/steps/0/tool"),
    ],
)
def test_a_plan_that_can_not_be_made(arguments: tuple[Any, ...], pointer: str) -> None:
    with pytest.raises(ExecplanError) as caught:
        create_execution_plan(*arguments)
    data: Any = caught.value.data
    assert pointer in [violation["pointer"] for violation in data["violations"]]


def test_the_tables_of_states_are_those_of_advance() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "execution-plan-documents.md").read_text(
        encoding="utf-8"
    )
    tables = page.partition("## States")[2].partition("```")[0].split("| state | may become |")[1:3]
    for table, rows in zip((states.RUN_TRANSITIONS, states.STEP_TRANSITIONS), tables, strict=True):
        transitions = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", rows, re.MULTILINE))
        assert {name: tuple(re.findall(r"`(\w+)`", targets)) for name, targets in transitions.items()} == table


def test_states_count_as_well_as_numbers() -> None:
    state = {"status": "failed", "steps": {"make": "completed", "build": "failed"}}
    assert [plan_step.id for plan_step in replan_document(replan_request(CURRENT, execution_state=state)).steps] == [
        "make",
        "plain",
        "test",
    ]


def test_only_what_may_follow_follows() -> None:
    assert advance("pending", "running") == "running"
    assert advance("failed", "in_progress", states.RUN_TRANSITIONS) == "in_progress"
    for state, to, table in (
        ("completed", "running", states.STEP_TRANSITIONS),
        ("pending", "completed", states.STEP_TRANSITIONS),
        ("completed", "in_progress", states.RUN_TRANSITIONS),
        ("rolled_back", "in_progress", states.RUN_TRANSITIONS),
        ("completed", "completed", states.STEP_TRANSITIONS),
        ("pending", "rolled_back", states.STEP_TRANSITIONS),
        ("done", "pending", states.STEP_TRANSITIONS),
    ):
        with pytest.raises(ExecplanError) as caught:
            advance(state, to, table)
        assert (caught.value.code, caught.value.exit) == ("bad-transition", 3)
        assert caught.value.hint


def test_the_tables_are_closed_and_reachable() -> None:
    for table, names in ((states.RUN_TRANSITIONS, RunStatus), (states.STEP_TRANSITIONS, StepStatus)):
        assert set(table) == set(names.__args__)  # type: ignore[attr-defined] # of a Literal
        reached = {states.PENDING}
        for _ in table:
            reached |= {to for state in reached for to in table[state]}
        assert reached == set(table)
    assert states.COMPLETED not in states.STEP_TRANSITIONS[states.FAILED], "a failed step never ends as completed"


def test_execution_state() -> None:
    state = ExecutionState.model_validate({})
    advanced = state.advance("build", "running").advance("build", "failed").advance_run("in_progress")
    assert (advanced.steps, advanced.status) == ({"build": "failed"}, "in_progress")
    assert state.steps == {}
    with pytest.raises(ExecplanError):
        advanced.advance("build", "completed")


def test_import_costs_nothing_until_it_is_used() -> None:
    import subprocess
    import sys

    code = "import sys, execplan.execution; print('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == "False\n"


def test_json_of_a_request() -> None:
    value = {
        "current_plan": json.loads(document_bytes(CURRENT)),
        "reason": "x",
        "completed_steps": [1],
        "execution_state": {"steps": {"make": "completed"}},
    }
    assert ReplanRequest.model_validate(value).current_plan == CURRENT
