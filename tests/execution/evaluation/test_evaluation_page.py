"""What a person is asked to approve stands there: on a terminal, on the page and in the JSON."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from markdown_it import MarkdownIt

from execplan.cli.output.evaluation_output import evaluation_json, evaluation_text
from execplan.core.project import project_discovery
from execplan.execution.approvals.current_plan import CurrentPlan
from execplan.execution.approvals.disk_world import SnapshotWorld
from execplan.execution.approvals.plan_evaluation import EvaluatedPlan
from execplan.execution.evaluation.evaluation_page import render_page
from execplan.execution.execution_plan import ExecutionPlan
from execplan.execution.policy import Policy
from tests.conftest import Folder
from tests.execution.approval_documents import binding, document
from tests.execution.evaluated_steps import Step, create, evaluate_steps, modify, refactor, run, splice

FIELDS: list[dict[str, Any]] = [
    {"env": {"SEEN": "canary"}},
    {"cwd": "canary"},
    {"timeout_s": 4711},
    {"on_failure": {"strategy": "retry", "max_retries": 7}},
    {"on_failure": {"triggers": ["exit:177"]}},
    {"when": {"kind": "missing", "of": "canary"}},
    {"checkpoint": True},
    {"effect": "idempotent"},
    {"parallel": True},
    {"network": True},
    {"inputs": ["canary"]},
    {"outputs": ["canary"]},
    {"expect": "canary"},
    {"exit": 177},
    {"validation": {"syntax_check": False}},
    {"validation": {"test_after": ["canary"]}},
    {"rollback": {"enabled": False}},
    {"task": "canary"},
    {"confirm": True},
    {"max_invocations": 177},
    {"allow": ["canary"]},
    {"deny": ["canary"]},
]


def views(repo: Folder, *steps: Step, **fields: Any) -> tuple[str, str, str]:
    """The evaluation of steps as a terminal, a page and a JSON document show it."""
    evaluation = evaluate_steps(repo, *steps, **fields)
    plan = _document(evaluation.steps[0].step.model_dump(), **fields)
    evaluated_plan = EvaluatedPlan(CurrentPlan(plan, b"", "x", False, "", ()), Policy(), evaluation, binding(), "p.md")
    data = json.dumps(evaluation_json(evaluated_plan), ensure_ascii=False)
    return evaluation_text(evaluated_plan), render_page(plan, evaluation, "p.md", "a" * 64, "execplan approve p"), data


def _document(step: Step, **fields: Any) -> ExecutionPlan:
    return document(step, intent={"summary": "x", "category": "mixed", "risk_level": step["risk"]["level"]}, **fields)


@pytest.mark.parametrize("given", FIELDS, ids=str)
def test_every_field_of_a_step_is_shown(repo: Folder, given: dict[str, Any]) -> None:
    bare, detailed = views(repo, run("true")), views(repo, run("true", **given))
    for before, after in zip(bare, detailed, strict=True):
        texts = [json.dumps(leaf).strip('"') for leaf in _leaves(given)]
        assert all([after.count(text) > before.count(text) for text in texts if text not in ("true", "false")])
        assert after != before


def _leaves(value: object) -> list[object]:
    if isinstance(value, dict):
        return [leaf for child in value.values() for leaf in _leaves(child)]
    return [leaf for child in value for leaf in _leaves(child)] if isinstance(value, list) else [value]


@pytest.mark.parametrize(
    "step",
    [
        create("src/made.py", "canary = 1\n"),
        modify("src/made.py", "@@ -1 +1 @@\n-x\n+canary\n"),
        splice("src/made.py", 1, 1, "canary = 1\n"),
        refactor("--- a/src/made.py\n+++ b/src/made.py\n@@ -1 +1 @@\n-x\n+canary\n"),
        create("src/other.py", "canary = 1\n", when={"kind": "exists", "of": "later"}),
        create("src/other.py", "\0\ncanary\n"),
        {"type": "use_tool", "tool": "a.b", "parameters": {"it": ["canary"]}},
    ],
    ids=lambda step: f"{step['type']} {step.get('target')} {'when' in step}",
)
def test_what_no_diff_shows_is_shown_as_it_stands(repo: Folder, step: Step) -> None:
    mode = {"mode": "agent"} if step["type"] == "use_tool" else {}
    for view in views(repo, run("true", outputs=["src/made.py"]), step, **mode):
        assert "canary" in view


def test_what_becomes_a_program_is_shown(repo: Folder) -> None:
    repo.write("src/app.py", "x\n")
    head = "diff --git a/src/app.py b/src/app.py\nold mode 100644\nnew mode 100755\n"
    body = "--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n-x\n+y\n"
    (step,) = evaluate_steps(repo, refactor(head + body)).steps
    assert step.dry_run.diff == head + body
    repo.write("change.diff", step.dry_run.diff)
    repo.git("apply", "change.diff")
    assert os.stat(repo.path / "src/app.py").st_mode & 0o777 == 0o755
    (created,) = evaluate_steps(repo, refactor(CREATED_PATCH)).steps
    assert created.dry_run.diff == CREATED_PATCH


CREATED_PATCH = "diff --git a/go b/go\nnew file mode 100755\n--- /dev/null\n+++ b/go\n@@ -0,0 +1 @@\n+x\n"


def test_a_folder_s_name_is_no_markdown(repo: Folder) -> None:
    (_, page, _) = views(repo, run("true", cwd="**fine** <b> [x](y)"))
    assert "Runs in `**fine** <b> [x](y)`:" in page
    rendered = MarkdownIt().render(page)
    assert not [tag for tag in ("<strong>fine", "<b>", "<a ") if tag in rendered]


def test_what_is_shown_is_of_the_state_that_is_bound(repo: Folder) -> None:
    file = repo.write("src/app.py", "x\n")
    world = SnapshotWorld(project_discovery.find(str(repo.path)))
    state = world.state("src/app.py")
    file.write_text("y\n")
    assert world.state("src/app.py") == state
    with pytest.raises(Exception, match="changed while it was being inspected"):
        world.read("src/app.py")


def test_many_conditions_in_a_row(repo: Folder) -> None:
    steps = [create("0")]  # a step looked at within the one behind it would go deeper than Python does
    steps += [create(str(number), when={"kind": "succeeded", "of": f"s{number}"}) for number in range(1, 999)]
    evaluation = evaluate_steps(repo, *steps, constraints={"max_steps": 1000})
    assert len(evaluation.steps) == 999


def test_steps_that_the_plan_does_not_say_are_told_as_such(repo: Folder) -> None:
    warning = "the steps are those of stored revision 2, not those in the plan's text"
    for view in views(repo, run("true")):
        assert "the steps are those of a stored document, not those in the plan's text" in view
    source = {"path": "p.md", "sha256": "a" * 64}
    for view in views(repo, run("true"), source=source):
        assert warning not in view
        assert "not from the plan's lines" not in view
    history = [{"revision": 1, "sha256": "b" * 64, "reason": "It failed"}]
    for view in views(repo, run("true"), source=source, revision=2, metadata={"history": history}):
        assert warning in view
