"""Rules between fields: told all at once, together with those of fields, to readers of files and to Python programs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from execplan.core.documents.document_io import document_bytes, load_document
from execplan.core.documents.document_model import validate_document
from execplan.core.errors import ExecplanError
from execplan.execution.documents.written_paths import diff_paths
from execplan.execution.execution_plan import Constraints, ExecutionPlan, Intent, Level, OnFailure, Risk, Step, Type
from execplan.execution.run_record import Record
from tests.execution.invalid_plans import good
from tests.execution.plan_documents import PATCH, command, loaded, plan, step
from tests.execution.run_records import record


def violations_of(value: Any, kind: Any = ExecutionPlan) -> list[str]:
    """What is wrong with plain data, read as a file is."""
    with pytest.raises(ExecplanError) as caught:
        load_document(value if isinstance(value, bytes) else json.dumps(value).encode(), kind, "plan.json")
    assert caught.value.exit == 3
    assert caught.value.code == "bad-document"
    violations = [f"{violation['pointer']} {violation['message']}" for violation in _data(caught.value)]
    assert list(caught.value.candidates) == (
        [] if len(violations) == 1 else [violation.replace(" ", ": ", 1) for violation in violations]
    )
    return violations


def _data(error: ExecplanError) -> list[dict[str, str]]:
    assert isinstance(error.data, dict)
    violations: list[dict[str, str]] = error.data["violations"]
    return violations


def test_all_at_once() -> None:
    """What is wrong with how it is written, with fields, and between fields, in one refusal."""
    value = plan(
        step(1, depends_on=["s2"]),
        command(2, depends_on=["s1"], timeout_s=0),
        step(5, id="s1", target=...),
        mode="robot",
    )
    data = json.dumps(value).replace('"version": 1,', '"version": 1, "revision": NaN, "version": 1,').encode()
    pointers = [violation.split(" ")[0] for violation in violations_of(data)]
    assert pointers[:2] == ["/revision", "/version"]
    assert set(pointers[2:]) == {
        "/mode",
        "/steps/1/timeout_s",
        "/steps/0/depends_on",
        "/steps/2/id",
        "/steps/2/number",
        "/steps/2/target",
    }


def test_a_thing_is_told_once() -> None:
    value = good()
    value["steps"][0]["target"] = 3
    assert violations_of(value) == ["/steps/0/target expected `str | null`, got `int`"]
    value["steps"] = [3, None]
    assert {violation.split(" ")[0] for violation in violations_of(value)} == {"/steps/0", "/steps/1"}


def test_python_programs_get_them_too() -> None:
    bad_step = Step(
        number=2,
        id="a",
        type=Type.CREATE,
        tool="shell.run",
        description="x",
        risk=Risk(level=Level.LOW),
        depends_on=("a",),
    )
    intent = Intent(summary="x", category="files", risk_level=Level.HIGH)
    with pytest.raises(ExecplanError) as caught:
        ExecutionPlan(plan_id="x", description="x", intent=intent, steps=(bad_step,))
    message = "\n".join(caught.value.candidates)
    for text in ("/steps/0/number: is 2", "/steps/0/tool: is shell.run", "/steps/0/content: create_file needs it"):
        assert text in message
    assert "/intent/risk_level: is HIGH" in message
    assert "`a` needs itself" in message


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**19, "\ud800"])
def test_python_programs_make_nothing_that_cannot_be_read_back(value: Any) -> None:
    with pytest.raises(ExecplanError, match="/metadata/context"):
        ExecutionPlan.model_validate({**plan(), "metadata": {"context": {"deep": {"x": value}}}})


def test_depth_is_counted_from_the_top() -> None:
    def nested(depth: int) -> dict[str, Any]:
        value: Any = 1
        for _ in range(depth):
            value = [value]
        return {**plan(), "metadata": {"context": {"x": value}}}

    deepest = ExecutionPlan.model_validate(nested(61))
    assert load_document(document_bytes(deepest), ExecutionPlan, "x") == deepest
    with pytest.raises(ExecplanError, match="nested more than 64 levels deep"):
        ExecutionPlan.model_validate(nested(62))
    assert any("nested more than 64 levels deep" in violation for violation in violations_of(nested(62)))


def test_lists_strings_and_plain_data_are_taken_in_python() -> None:
    constraints = Constraints.model_validate({"forbidden_paths": ["a"], "max_steps": 3})
    assert constraints.forbidden_paths == ("a",)
    assert Risk.model_validate({"level": "HIGH"}).level is Level.HIGH
    for value in ({"max_steps": True}, {"max_steps": "3"}, {"max_steps": 3.0}, {"require_sequential": 1}):
        with pytest.raises(ExecplanError):
            Constraints.model_validate(value)


def test_documents_do_not_change() -> None:
    document = loaded(plan())
    with pytest.raises(AttributeError, match="immutable type: 'ExecutionPlan'"):
        document.revision = 2  # type: ignore[misc]  # wrong on purpose
    with pytest.raises(AttributeError, match="immutable type: 'Step'"):
        del document.steps[0].id
    assert isinstance(document.steps, tuple)


def test_bytes_are_canonical() -> None:
    value = good()
    document = loaded(value)
    data = document_bytes(document)
    assert data.endswith(b"}\n")
    assert data.decode().startswith('{\n  "schema": "execplan-execution-plan",\n  "version": 1,\n')
    assert "…" in data.decode()
    reloaded = load_document(json.dumps(dict(reversed(value.items()))).encode(), ExecutionPlan, "x")
    assert document_bytes(reloaded) == data, "the order of keys in what was read does not count"
    assert document_bytes(load_document(data, ExecutionPlan, "x")) == data


def test_a_long_circle_is_shown_by_its_shortest_way() -> None:
    value = plan(
        step(1, depends_on=["s4", "s2"]),
        step(2, depends_on=["s3"]),
        step(3, depends_on=["s4"]),
        step(4, depends_on=["s1"]),
        step(5, depends_on=["s1", "s6"]),
        step(6),
    )
    assert violations_of(value) == [
        "/steps/0/depends_on contains a cycle: s1 → s4 → s1",
        "/steps/4/depends_on/1 `s6` comes later: a step can only need steps before it",
    ]


def test_two_circles() -> None:
    value = plan(
        step(1, depends_on=["s2"]), step(2, depends_on=["s1"]), step(3, depends_on=["s4"]), step(4, depends_on=["s3"])
    )
    assert [violation.partition("contains a cycle: ")[2] for violation in violations_of(value)] == [
        "s1 → s2 → s1",
        "s3 → s4 → s3",
    ]


def test_many_steps_in_a_circle_end() -> None:
    steps = [step(at, depends_on=[f"s{at % 900 + 1}"]) for at in range(1, 901)]
    assert any(
        "contains a cycle: s1 → s2" in violation
        for violation in violations_of(plan(*steps, constraints={"max_steps": 1000}))
    )


def test_parallel_steps_in_an_order_may_share_a_path() -> None:
    one = step(1, target="a", parallel=True)
    between = step(2, depends_on=["s1"])
    assert loaded(plan(one, between, step(3, target="a", parallel=True, depends_on=["s2"])))
    assert loaded(plan(one, between, step(3, target="./a", depends_on=[])))
    assert violations_of(plan(one, between, step(3, target="./a", parallel=True))) == [
        "/steps/2/parallel a is shared with step 1, which may run at the same time"
    ]
    reads = command(3, inputs=["a"], parallel=True)
    assert violations_of(plan(one, between, reads)) == [
        "/steps/2/parallel a is shared with step 1, which may run at the same time"
    ]
    assert loaded(plan(command(1, inputs=["a"], parallel=True), command(2, inputs=["a"], parallel=True)))


def test_a_patch_says_which_paths_it_touches() -> None:
    one = step(1, type="refactor_code", tool="code.refactor", target=..., content=..., patch=PATCH, parallel=True)
    assert violations_of(plan(one, step(2, target="src/app.py", parallel=True))) == [
        "/steps/1/parallel src/app.py is shared with step 1, which may run at the same time"
    ]


@pytest.mark.parametrize(
    ("patch", "paths"),
    [
        (PATCH, ["src/app.py"]),
        ("--- a.txt\t2026-01-01\n+++ a.txt\t2026-01-02\n@@ -1 +1 @@\n-x\n+y\n", ["a.txt"]),
        ("--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\n", ["new.py"]),
        ("--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", ["old.py"]),
        ("diff --git a/x b/y\nrename from x\nrename to y\n", ["x", "y"]),
        ("diff --git a/run b/run\nold mode 100644\nnew mode 100755\n", ["run"]),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/no\n-+++ b/no\n+-- a/no\n++++ b/no\n", ["x"]),
        ("--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", ["x"]),
        ('--- "a/\\303\\251.txt"\n+++ "b/\\303\\251.txt"\n@@ -1 +1 @@\n-a\n+b\n', ["é.txt"]),
        ("--- a/x y\n+++ b/x y\n@@ -1 +1 @@\n-a\n+b\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n", ["x y", "z"]),
        ("@@ -1 +1 @@\n-a\n+b\n", []),
        ("", []),
    ],
)
def test_files_of_a_patch(patch: str, paths: list[str]) -> None:
    assert diff_paths(patch) == paths


def test_a_folder_without_slash_is_found_where_the_disk_is_seen() -> None:
    assert loaded(plan(step(1, type="delete_file", tool="file.delete", target="src", content=...)))


def test_a_path_that_leads_out_is_taken() -> None:
    """Whether a path may be written is said by `evaluate`, which sees the disk."""
    for target in ("../x", "/etc/passwd", ".git/config"):
        assert loaded(plan(step(1, target=target))).steps[0].target == target


def test_retry_with_retries() -> None:
    assert loaded(plan(step(1, on_failure={"strategy": "retry", "max_retries": 1})))
    recovery = OnFailure(strategy="alternative:x", triggers=("exit:255", "timeout"))
    assert recovery.max_retries == 0


def test_records() -> None:
    assert load_document(json.dumps(record()).encode(), Record, "r").resources.cpu_s == 2.0
    bad = record(completed_steps=[1, 2], failed_steps=[1], status="failed")
    bad["steps"][0]["attempts"] = 3
    assert set(violations_of(bad, Record)) == {
        "/completed_steps is [1, 2]; according to the states of the steps, it is [1]",
        "/failed_steps step 1 is also among the completed steps",
        "/failed_steps is [1]; according to the states of the steps, it is []",
        "/steps/0/attempts is 3; max_attempts is 2",
    }


@pytest.mark.parametrize(("seconds", "taken"), [(0, True), (60, True), (61, False)])
def test_times_are_not_in_the_future(monkeypatch: pytest.MonkeyPatch, seconds: int, taken: bool) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")  # 2026-01-01 00:00 UTC
    minute, second = divmod(seconds, 60)
    value = record(started=f"2026-01-01T00:{minute:02}:{second:02}Z")
    assert (validate_document(value, Record)[0] is not None) == taken


def test_a_clock_that_was_set_back_spoils_no_record() -> None:
    """Order is that of the steps, and durations are of a clock that is never set."""
    assert (
        validate_document(record(started="2025-12-31T23:05:00Z", ended="2025-12-31T23:00:00Z"), Record)[0] is not None
    )
