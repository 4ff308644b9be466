"""Errors of tools name tools and fields."""

from __future__ import annotations

import ast
import asyncio
from typing import Any

import pytest

from execplan.agents.toolkit.field_names import name_step_calls
from execplan.agents.toolkit.project_tools import ProjectTools
from tests.conftest import Folder

TASK_HINT = "name a task by its number, ID or unique text: see show()"


@pytest.mark.parametrize(
    ("tool", "arguments", "message", "hint"),
    [
        ("next_task", {}, "no plan specified; 2 are open", "specify one with `plan`"),
        (
            "record",
            {"kind": "decision", "text": "x", "plan": "a"},
            "missing option `detail`",
            "see the fields of the tool",
        ),
        (
            "archive",
            {"plan": "a", "ended": "abandoned"},
            "`ended` abandoned requires `reason`",
            "archive(plan='a', ended='abandoned', reason='Why it is abandoned')",
        ),
        (
            "edit_task",
            {"action": "done", "task": "nothing", "plan": "a"},
            "",
            "see the tasks: show(plan='2026-01-01_a')",
        ),
        ("edit_task", {"action": "done", "plan": "a"}, "done requires `task`", TASK_HINT),
        ("context", {"budget": 10, "plan": "a"}, "`budget` must be a whole number", "see the fields of the tool"),
    ],
)
def test_an_error_names_fields(plain: Folder, tool: str, arguments: dict[str, object], message: str, hint: str) -> None:
    for name in ("2026-01-01_a", "2026-01-01_b"):
        plain.plan(name=name)
    document = asyncio.run(getattr(ProjectTools(plain.path), tool)(**arguments))
    assert message in document["error"]["message"]
    assert document["error"]["hint"] == hint


def test_suggestions_are_calls_that_lead_to_the_archive(plain: Folder) -> None:
    tools = ProjectTools(plain.path)

    def call(suggestion: str, **fields: object) -> dict[str, Any]:
        expression = ast.parse(suggestion, mode="eval").body
        assert isinstance(expression, ast.Call)
        assert isinstance(expression.func, ast.Name)
        fields = {str(word.arg): ast.literal_eval(word.value) for word in expression.keywords} | fields
        document = asyncio.run(getattr(tools, expression.func.id)(**fields))
        assert document["ok"], (suggestion, document)
        commands = [text for text in document["next"] if "execplan " in text]
        assert all(text.startswith("execplan explain ") for text in commands), commands
        return dict(document)

    document = call("new_plan()", title="Build it", tasks=["Read lines", "Write lines"])
    plan, calls = document["data"]["id"], [""]
    while not calls[-1].startswith("archive("):
        do = document["data"].get("do")
        calls.append(do["then"] if do else next((text for text in document["next"] if "(" in text), "next_task()"))
        document = call(calls[-1], **({"text": "Text for it."} if "'…'" in calls[-1] else {}))
        assert len(calls) < 30, calls
    assert calls[1] == f"set_section(section='Purpose / Big Picture', text='…', plan='{plan}')"
    assert calls[-2:] == [
        f"record(kind='outcome', text='What works now', plan='{plan}')",
        f"archive(plan='{plan}')",
    ]


def test_suggestions_for_a_named_agent_name_it(plain: Folder) -> None:
    plain.plan(name="2026-01-01_a")
    tools = ProjectTools(plain.path)
    claimed = asyncio.run(tools.next_task(claim=True, agent="a1"))
    task = claimed["data"]["task"]["id"]
    assert claimed["data"]["do"]["then"] == f"edit_task(action='done', task='{task}', plan='2026-01-01_a', agent='a1')"
    assert claimed["next"] == ["show(plan='2026-01-01_a')"]
    done = asyncio.run(tools.edit_task("done", task, agent="a1"))
    assert done["next"] == ["next_task(plan='2026-01-01_a', claim=True, agent='a1')"]


def test_a_step_of_the_instructions_stays_as_it_runs() -> None:
    page = "execplan report build --status completed\n\n## Steps\n\nexecplan show a\n\nnext: execplan -C /a show a\n"
    assert name_step_calls(page) == (
        "report_step(step='build', status='completed')\n\n## Steps\n\nexecplan show a\n\nnext: show(plan='a')\n"
    )
