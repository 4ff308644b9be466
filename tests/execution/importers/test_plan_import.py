"""Documents of other systems: carried in full, or refused with the place of all that can't be."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from execplan.core.documents.document_io import document_bytes, load_document
from execplan.core.errors import ExecplanError
from execplan.execution.execution_plan import ExecutionPlan
from execplan.execution.importers.plan_import import import_plan
from tests.execution.invalid_plans import REMOVED, change, good
from tests.execution.plan_documents import loaded

GOVERNANCE: dict[str, Any] = {
    "version": "1.0.0",
    "planId": "p-1",
    "sessionId": "session-7",
    "description": "Write the page",
    "intent": {"userMessage": "Please write the page", "category": "file_write", "riskLevel": "high"},
    "operations": [
        {
            "id": "op-001",
            "tool": "file.create",
            "arguments": {"path": "docs/page.md", "content": "# Page\n"},
            "allow": ["docs/*"],
            "deny": ["*.py"],
        },
        {
            "id": "op-002",
            "tool": "shell.run",
            "arguments": {"command": "CI=1 make docs", "outputs": ["build/page.html"]},
            "allow": [],
            "requires": ["op-001"],
            "maxInvocations": 2,
            "requiresConfirmation": True,
            "timeout": 60_000,
        },
        {"id": "op-003", "tool": "file.delete", "arguments": {"target": "old.md"}, "allow": [], "parallel": True},
    ],
    "constraints": {
        "allowUnplanned": False,
        "requireSequential": False,
        "maxTotalOperations": 5,
        "maxDurationMs": 120_000,
    },
    "recoveryPaths": [
        {
            "triggerStep": 1,
            "triggerErrors": ["exit:2", "timeout"],
            "strategy": "retry",
            "maxRetries": 2,
            "backoffMs": 100,
        },
        {"triggerStep": 2, "strategy": "skip"},
    ],
    "conditionals": [{"condition": "step_0_success", "ifTrue": [1]}, {"condition": "exists:old.md", "ifTrue": [2]}],
    "executionMode": "governance_driven",
    "metadata": {"generatedBy": "a model", "qualityScore": 80},
}
TYPED: dict[str, Any] = {
    "plan_id": "plan_abc123",
    "request": "Check weather and set timer",
    "selected_tools": ["weather.get_current_weather", "timer.set_timer"],
    "steps": [
        {
            "step_number": 1,
            "tool_name": "weather.get_current_weather",
            "description": "Get the weather",
            "parameters": {"city": "Seattle"},
            "status": "pending",
            "result": None,
            "error": None,
        },
        {"step_number": 2, "tool_name": "timer.set_timer", "description": "Set the timer", "depends_on": [1]},
    ],
    "reasoning": "One after the other",
    "created_at": 1_700_000_000.5,
    "updated_at": None,
    "status": "pending",
    "metadata": {"confidence": 0.9},
}
STEPWISE: dict[str, Any] = {
    "id": "plan_20240101_120000",
    "description": "Add a feature",
    "created_at": "2024-01-01T12:00:00Z",
    "status": "pending",
    "risk_level": "MEDIUM",
    "steps": [
        {
            "type": "modify_file",
            "target": "src/main.py",
            "action": "add_function",
            "content": "def new_feature():\n    pass",
            "line_range": [50, 55],
            "validation": {"syntax_check": True, "test_after": "make test"},
            "rollback": {"enabled": True},
        },
        {"type": "create_file", "target": "src/new.py", "content": "", "checkpoint": True, "timeout": 10},
        {"type": "delete_file", "target": "src/old.py"},
        {"type": "execute_command", "command": "make test"},
        {"type": "install_package", "content": "pip install -r requirements.txt"},
    ],
    "validation": {},
    "metadata": {"author": "ann"},
}


def import_document(value: dict[str, Any]) -> ExecutionPlan:
    """Import it; what comes of it is a document like any other."""
    document = import_plan(json.dumps(value).encode(), "other.json", "2026-01-01_parser")
    assert document.plan_id == "2026-01-01_parser"
    assert document.source is None
    assert load_document(document_bytes(document), ExecutionPlan, "x") == document
    assert document_bytes(import_plan(json.dumps(value).encode(), "other.json", "2026-01-01_parser")) == document_bytes(
        document
    )
    return document


def import_violations(value: object) -> list[str]:
    """Expect a refusal; every place and why."""
    with pytest.raises(ExecplanError) as caught:
        import_plan(value if isinstance(value, bytes) else json.dumps(value).encode(), "other.json", "x")
    assert caught.value.exit == 3
    assert isinstance(caught.value.data, dict)
    return [f"{violation['pointer']} {violation['message']}" for violation in caught.value.data["violations"]]


def imported_context(document: ExecutionPlan) -> dict[str, Any]:
    """What is kept beside the steps."""
    imported: Any = document.metadata.context["imported"]
    context: dict[str, Any] = imported
    return context


def test_governance() -> None:
    plan = import_document(GOVERNANCE)
    write, make, drop = plan.steps
    assert (plan.description, plan.mode, plan.intent.category) == ("Write the page", "engine", "file_write")
    assert plan.intent.summary == "Please write the page"
    assert plan.intent.risk_level == "HIGH"
    assert (write.type, write.target, write.content) == ("create_file", "docs/page.md", "# Page\n")
    assert (write.allow, write.deny) == (("write:docs/*",), ("write:*.py",))
    assert write.risk.level == "HIGH", "the plan says so"
    assert make.argv == ("make", "docs")
    assert make.env == {"CI": "1"}
    assert make.outputs == ("build/page.html",)
    assert make.depends_on == ("op-001",)
    assert (make.max_invocations, make.confirm, make.timeout_s) == (2, True, 60)
    assert make.on_failure.model_dump() == {
        "strategy": "retry",
        "max_retries": 2,
        "backoff_ms": 100,
        "triggers": ["exit:2", "timeout"],
    }
    assert make.when is not None
    assert (make.when.kind, make.when.of) == ("succeeded", "op-001")
    assert drop.on_failure.strategy == "skip"
    assert drop.when is not None
    assert (drop.when.kind, drop.when.of) == ("exists", "old.md")
    assert drop.parallel
    assert (plan.constraints.max_steps, plan.constraints.max_duration_s) == (5, 120)
    assert imported_context(plan) == {
        "shape": "governance",
        "plan_id": "p-1",
        "version": "1.0.0",
        "session_id": "session-7",
        "metadata": {"generatedBy": "a model", "qualityScore": 80},
        "risk_level": "high",
    }


def test_both_spellings_of_keys() -> None:
    snake = {
        "plan_id": "p-1",
        "intent": {"user_message": "Do it"},
        "operations": [{"id": "a", "tool": "shell.run", "arguments": {"command": "ls"}, "max_invocations": 3}],
        "constraints": {"max_total_operations": 2, "execution_mode": "engine"},
        "recovery_paths": [{"trigger_step": 0, "strategy": "retry"}],
        "conditionals": [{"condition": "missing:a.txt", "if_true": [0]}],
    }
    step = import_document(snake).steps[0]
    assert (step.max_invocations, step.on_failure.max_retries, step.on_failure.backoff_ms) == (3, 3, 1000)
    assert import_violations({**snake, "planId": "p-1"}) == ["/planId plan_id has the same meaning"]
    assert import_document(
        {**TYPED, "steps": [{"stepNumber": 1, "toolName": "weather.get_current_weather", "description": "x"}]}
        | {"selected_tools": ["weather.get_current_weather"]}
    )


@pytest.mark.parametrize(
    ("said", "mode"),
    [
        ("engine", "engine"),
        ("agent", "agent"),
        ("governance_driven", "engine"),
        ("agent_guided", "agent"),
        (None, "engine"),
    ],
)
def test_modes_and_their_other_names(said: str | None, mode: str) -> None:
    assert import_document({**GOVERNANCE, "executionMode": said}).mode == mode
    constraints = {**GOVERNANCE["constraints"], "executionMode": said}
    assert import_document({**GOVERNANCE, "executionMode": None, "constraints": constraints}).mode == mode


def test_tools_that_are_none_of_ours() -> None:
    value = deepcopy(GOVERNANCE)
    value["operations"].append({"id": "op-004", "tool": "web.search", "arguments": {"query": "x"}, "allow": []})
    for mode, expected_mode in (("engine", "engine"), ("agent_guided", "agent"), (None, "agent")):
        plan = import_document({**value, "executionMode": mode})
        assert plan.mode == expected_mode
        assert plan.steps[3].type == "use_tool"
        assert plan.steps[3].parameters == {"query": "x"}
        assert plan.steps[3].risk.level == "HIGH"


def test_no_operation_may_take_longer_than_the_plan() -> None:
    plan = import_document(GOVERNANCE)
    assert plan.constraints.max_duration_s == 120
    assert [step.timeout_s for step in plan.steps] == [120, 60, 120]


def test_a_strategy_in_its_other_spelling() -> None:
    value = {**GOVERNANCE, "recoveryPaths": [{"triggerStep": 1, "strategy": "fail-fast"}]}
    assert import_document(value).steps[1].on_failure.strategy == "fail_fast"


def test_a_condition_and_its_opposite() -> None:
    value = deepcopy(GOVERNANCE)
    value["recoveryPaths"] = []
    value["conditionals"] = [{"condition": "step_0_success", "ifTrue": [1], "ifFalse": [2]}]
    kinds = [step.when.kind for step in import_document(value).steps if step.when is not None]
    assert kinds == ["succeeded", "failed"]
    value["conditionals"].insert(0, {"condition": "exists:a", "ifTrue": [0]})
    assert import_violations(value) == [
        "/conditionals/1/ifFalse/0 the opposite of the condition can't be expressed, because the step may also be skipped"
    ]


GOVERNANCE_BAD: tuple[tuple[dict[str, Any], str], ...] = (
    ({"/planId": REMOVED}, "/plan_id missing"),
    ({"/operations": []}, "/operations "),
    ({"/operations": REMOVED}, "/operations missing"),
    ({"/intent": REMOVED}, "/intent missing"),
    ({"/operations/0/id": "op 1"}, "/operations/0/id should be an ID: a letter, then letters, digits and `_.-`"),
    ({"/operations/1/id": "op-001"}, "/operations/1/id `op-001` is also the ID of step 1"),
    (
        {"/operations/0/tool": "write"},
        "/operations/0/tool should be `domain.tool`: letters, digits and `_-`, with exactly one dot",
    ),
    ({"/operations/0/tool": 3}, "/operations/0/tool should be a string"),
    ({"/operations/0/arguments/mode": "a"}, "/operations/0/arguments/mode file.create takes target, content"),
    ({"/operations/0/arguments/target": "b"}, "/operations/0/arguments/target target is given twice"),
    ({"/operations/0/arguments": {}}, "/operations/0/arguments/target create_file needs it"),
    ({"/operations/1/arguments/command": 3}, "/operations/1/arguments/command expected `str"),
    ({"/operations/1/requires": ["op-009"]}, "/operations/1/requires/0 unknown step `op-009`"),
    ({"/operations/0/requires": ["op-002"]}, "/operations/0/requires "),
    (
        {"/operations/1/requires": ["the tests pass"]},
        "/operations/1/requires/0 should be an ID: a letter, then letters, digits and `_.-`",
    ),
    ({"/operations/1/maxInvocations": 0}, "/operations/1/maxInvocations expected `int` >= 1"),
    ({"/operations/1/timeout": 1500}, "/operations/1/timeout is 1500 ms"),
    ({"/operations/1/riskScore": 3}, "/operations/1/riskScore unknown key"),
    ({"/operations/0": 3}, "/operations/0 should be an object"),
    ({"/intent/riskLevel": "extreme"}, "/intent/riskLevel should be one of info, low, medium, high, critical"),
    ({"/executionMode": "hybrid"}, "/executionMode should be one of engine, governance_driven, agent, agent_guided"),
    ({"/constraints/executionMode": "agent"}, "/executionMode differs from the one in the constraints"),
    ({"/constraints/maxTotalOperations": 2}, "/operations 3 steps; constraints.max_steps is 2"),
    ({"/constraints/maxTotalOperations": -1}, "/constraints/maxTotalOperations expected `int` >= 1"),
    ({"/constraints/maxDurationMs": 1500}, "/constraints/maxDurationMs is 1500 ms"),
    ({"/constraints/requireSequential": True}, "/operations/2/parallel constraints.require_sequential forbids it"),
    ({"/constraints/budget": 3}, "/constraints/budget unknown key"),
    (
        {"/recoveryPaths/0/triggerStep": -99},
        "/recoveryPaths/0/triggerStep unknown operation -99; operations are counted from 0",
    ),
    (
        {"/recoveryPaths/0/triggerStep": 3},
        "/recoveryPaths/0/triggerStep unknown operation 3; operations are counted from 0",
    ),
    ({"/recoveryPaths/0/triggerStep": 2}, "/recoveryPaths/1/triggerStep operation 2 already has a recovery path"),
    (
        {"/recoveryPaths/0/triggerErrors": ["TimeoutError"]},
        "/recoveryPaths/0/triggerErrors/0 should be one of exit, exit:1",
    ),
    (
        {"/recoveryPaths/0/strategy": "hope"},
        "/recoveryPaths/0/strategy should be one of retry, skip, fail_fast, replan, ask, alternative:ID",
    ),
    (
        {"/recoveryPaths/0/strategy": "alternative"},
        "/recoveryPaths/0/strategy specifies no alternative operation; use alternative:ID",
    ),
    ({"/recoveryPaths/0/maxRetries": -1}, "/recoveryPaths/0/maxRetries expected `int` >= 0"),
    ({"/recoveryPaths/0/backoffMs": -1}, "/recoveryPaths/0/backoffMs expected `int` >= 0"),
    ({"/conditionals/0/condition": "the sun shines"}, "/conditionals/0/condition can't be imported: conditions are"),
    (
        {"/conditionals/0/condition": "step_9_success"},
        "/conditionals/0/condition unknown operation 9; operations are counted from 0",
    ),
    ({"/conditionals/0/ifTrue": [9]}, "/conditionals/0/ifTrue/0 unknown operation 9; operations are counted from 0"),
    ({"/conditionals/0/ifTrue": [0]}, "/conditionals/0/condition `op-001` is the step itself"),
    ({"/conditionals/1/ifTrue": [1]}, "/conditionals/1/ifTrue/0 operation 1 already has a condition"),
    ({"/state": {"status": "running"}}, "/state unknown key"),
    ({"/createdAt": "2999-01-01T00:00:00Z"}, "/createdAt 2999-01-01T00:00:00Z is in the future"),
    ({"/createdAt": "soon"}, "/createdAt should be a time, such as 2025-01-31T12:00:00Z"),
    ({"/expiresAt": "2999-01-01T00:00:00Z"}, "/expiresAt can't be imported: here the approval expires, not the plan"),
    ({"/sessionId": 3}, "/sessionId should be a string"),
)
TYPED_BAD: tuple[tuple[dict[str, Any], str], ...] = (
    ({"/status": "in_progress"}, "/status is in_progress: only pending plans and steps can be imported"),
    ({"/steps/0/status": "completed"}, "/steps/0/status is completed: only pending plans and steps can be imported"),
    ({"/steps/0/result": {"a": 1}}, "/steps/0/result is a result"),
    ({"/steps/0/error": "late"}, "/steps/0/error is a result"),
    ({"/steps/0/tool_name": "get_weather"}, "/steps/0/tool_name should be `domain.tool`"),
    ({"/steps/0/tool_name": "a.b.c"}, "/steps/0/tool_name should be `domain.tool`"),
    ({"/steps/1/depends_on": [2]}, "/steps/1/depends_on/0 `step-2` needs itself"),
    ({"/steps/0/depends_on": [2], "/steps/1/depends_on": []}, "/steps/0/depends_on/0 `step-2` comes later"),
    ({"/steps/1/depends_on": [7]}, "/steps/1/depends_on/0 unknown step `step-7`"),
    ({"/steps/1/depends_on": ["1"]}, "/steps/1/depends_on/0 should be the number of a step"),
    ({"/steps/1/step_number": 3}, "/steps/1/step_number is 3, not 2"),
    ({"/steps/1/step_number": True}, "/steps/1/step_number should be an integer"),
    ({"/steps": []}, "/steps "),
    ({"/selected_tools": ["calendar.add"]}, "/selected_tools/0 no step calls calendar.add"),
    ({"/created_at": 9e11}, "/created_at 900000000000.0 is in the future"),
    ({"/request": ""}, "/request "),
    ({"/steps/0/retries": 3}, "/steps/0/retries unknown key"),
)
STEPWISE_BAD: tuple[tuple[dict[str, Any], str], ...] = (
    ({"/status": "active"}, "/status is active: only pending plans and steps can be imported"),
    ({"/steps/0/rollback/backup_id": "bak_001"}, "/steps/0/rollback/backup_id refers to a backup of another system"),
    ({"/steps/0/validation/test_after": True}, "/steps/0/validation/test_after specifies no command"),
    ({"/steps/0/validation/test_after": "a | b"}, "/steps/0/validation/test_after needs a shell"),
    ({"/steps/0/validation/test_after": "A=1 make test"}, "/steps/0/validation/test_after needs a shell"),
    ({"/steps/0/line_range": REMOVED}, "/steps/0/line_range the lines that the content replaces are missing"),
    ({"/steps/0/line_range": [5, 2]}, "/steps/0/line_range line 5 comes after line 2"),
    ({"/steps/0/line_range": [5]}, "/steps/0/line_range expected `array` of length 2"),
    ({"/steps/1/content": REMOVED}, "/steps/1/content create_file needs it"),
    ({"/steps/2/target": "src/"}, "/steps/2/target is a directory; the step requires a file"),
    ({"/steps/3/command": REMOVED}, "/steps/3/content execute_command needs it"),
    ({"/steps/3/type": "query"}, "/steps/3/type should be"),
    ({"/steps/3/target": "a"}, "/steps/3/target execute_command doesn't accept it"),
    ({"/steps/1/timeout": 0}, "/steps/1/timeout expected `int` >= 1"),
    ({"/steps/1/shell": "sh"}, "/steps/1/shell unknown key"),
    ({"/risk_level": "NONE"}, "/risk_level should be one of LOW, MEDIUM, HIGH, CRITICAL"),
    ({"/metadata/execution": {"started": "x"}}, "/metadata/execution is a result"),
    ({"/validation": {"pre_checks": "passed"}}, "/validation is a result"),
    ({"/created_at": "2999-01-01T00:00:00Z"}, "/created_at 2999-01-01T00:00:00Z is in the future"),
)


@pytest.mark.parametrize(
    ("shape", "changes", "told"),
    [
        *[(GOVERNANCE, *case) for case in GOVERNANCE_BAD],
        *[(TYPED, *case) for case in TYPED_BAD],
        *[(STEPWISE, *case) for case in STEPWISE_BAD],
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_cannot_be_carried_is_refused(shape: dict[str, Any], changes: dict[str, Any], told: str) -> None:
    value = deepcopy(shape)
    for pointer, new in changes.items():
        change(value, pointer, new)
    violations = import_violations(value)
    assert any(violation.startswith(told) for violation in violations), violations


def test_all_at_once_with_how_it_is_written() -> None:
    value = deepcopy(TYPED)
    value["steps"][0]["status"] = "failed"
    value["extra"] = 1
    value["steps"][1]["depends_on"] = [9]
    data = json.dumps(value).replace('"plan_id"', '"created_at": NaN, "plan_id"', 1).encode()
    places = [violation.split(" ")[0] for violation in import_violations(data)]
    assert places == ["/created_at", "/created_at", "/steps/0/status", "/extra", "/steps/1/depends_on/0"]


def test_typed() -> None:
    plan = import_document(TYPED)
    assert plan.mode == "agent"
    assert [(step.id, step.tool, step.depends_on) for step in plan.steps] == [
        ("step-1", "weather.get_current_weather", ()),
        ("step-2", "timer.set_timer", ("step-1",)),
    ]
    assert plan.steps[0].parameters == {"city": "Seattle"}
    assert plan.steps[1].parameters is None
    assert plan.intent.summary == TYPED["request"]
    assert imported_context(plan) == {
        "shape": "typed",
        "plan_id": "plan_abc123",
        "reasoning": "One after the other",
        "metadata": {"confidence": 0.9},
        "created_at": 1_700_000_000.5,
        "selected_tools": TYPED["selected_tools"],
    }


def test_typed_steps_go_in_the_order_of_their_numbers() -> None:
    assert document_bytes(import_document({**TYPED, "steps": TYPED["steps"][::-1]})) == document_bytes(
        import_document(TYPED)
    )


def test_typed_with_our_own_tools() -> None:
    steps = [
        {"step_number": 1, "tool_name": "shell.run", "description": "Test", "parameters": {"command": "make test"}},
        {"step_number": 2, "tool_name": "file.delete", "description": "Drop", "parameters": {"path": "x"}},
    ]
    plan = import_document({**TYPED, "steps": steps, "selected_tools": ["shell.run", "file.delete"]})
    assert plan.mode == "engine"
    assert plan.steps[0].argv == ("make", "test")
    assert plan.steps[1].target == "x"


def test_stepwise() -> None:
    plan = import_document(STEPWISE)
    change_, create, delete, run, install = plan.steps
    assert (change_.lines, change_.action, change_.validation.test_after) == (
        (50, 55),
        "add_function",
        ("make", "test"),
    )
    assert change_.content == "def new_feature():\n    pass"
    assert (create.checkpoint, create.timeout_s, create.risk.level) == (True, 10, "MEDIUM")
    assert (delete.type, delete.risk.level) == ("delete_file", "HIGH")
    assert run.argv == ("make", "test")
    assert install.argv == ("pip", "install", "-r", "requirements.txt")
    assert [step.id for step in plan.steps] == ["step-1", "step-2", "step-3", "step-4", "step-5"]
    assert imported_context(plan)["plan_id"] == "plan_20240101_120000"
    assert imported_context(plan)["metadata"] == {"author": "ann"}
    assert imported_context(plan)["created_at"] == "2024-01-01T12:00:00Z"


@pytest.mark.parametrize(
    "value", [{}, [], 3, {"steps": []}, {"plan_id": "x", "recommendations": {}}, {"schema": "other"}]
)
def test_other_shapes(value: object) -> None:
    assert import_violations(value) == [
        " not a plan in a known format: it needs operations or steps; execplan's own documents have a schema"
    ]


def test_our_own() -> None:
    document = loaded(good())
    moved = import_plan(document_bytes(document), "own.json", "2026-02-02_other")
    assert moved.plan_id == "2026-02-02_other"
    assert moved.source is None
    assert all(step.source is None for step in moved.steps)
    assert imported_context(moved)["plan_id"] == document.plan_id
    assert imported_context(moved)["lines"] == {"make": {"line_start": 3, "line_end": 5}}
    assert moved.metadata.context["by"] == "a test"
    assert [step.id for step in moved.steps] == [step.id for step in document.steps]
    assert import_plan(document_bytes(moved), "own.json", "2026-02-02_other") == moved, (
        "what was imported is taken as it is"
    )
    context = imported_context(import_plan(document_bytes(moved), "own.json", "third"))
    assert context["imported"]["plan_id"] == document.plan_id
    value = good()
    value["steps"][0]["number"] = 3
    assert import_violations(value) == ["/steps/0/number is 3, not 1: steps are numbered 1…n in order"]


def test_hidden_characters_are_refused_by_policy() -> None:
    value = deepcopy(STEPWISE)
    value["steps"][3]["command"] = "make \u202etest"
    with pytest.raises(ExecplanError) as caught:
        import_plan(json.dumps(value).encode(), "other.json", "x")
    assert caught.value.exit == 7
    assert "\\u202e" in caught.value.message
