"""Tools for agents from Python: typed functions that do what the commands do, in any project, without a person's rights."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest

import execplan
from execplan.agents.toolkit.project_tools import ProjectTools
from execplan.agents.toolkit.tool_list import PROJECT_TOOLS, project_tools
from execplan.cli.commands import COMMANDS
from execplan.core.project import project_discovery, project_state
from execplan.execution.revision.agent_plan_creation import create_execution_plan
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Folder

PERSONS = {"approve", "run", "resume", "rollback", "install", "uninstall", "init", "edit", "drop", "merge", "guard"}
PLAN_STEPS = (
    "\n## Concrete Steps\n\n```text {execution mode=agent}\nAn agent does it.\n```\n\n```sh {#build}\nmake all\n```\n"
)


@pytest.fixture
def tools(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> dict[str, execplan.AgentTool]:
    """The tools for a repository with a plan."""
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    repo.plan()
    return {tool.name: tool for tool in execplan.agent_tools(repo.path)}


def call(tools: dict[str, execplan.AgentTool], name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool and expect success."""
    document = asyncio.run(tools[name](**arguments))
    assert document["ok"], document
    data: dict[str, Any] = document["data"]
    return data


def test_schemas_describe_the_typed_arguments() -> None:
    for tool in execplan.agent_tools():
        assert tool.description.endswith(".")
        assert len(tool.description.splitlines()) == 1
        assert inspect.iscoroutinefunction(tool.function)
        parameters = inspect.signature(tool.function).parameters
        assert set(tool.input_schema["properties"]) == set(parameters)
        assert set(get_type_hints(tool.function)) == {*parameters, "return"}
        required = [name for name, parameter in parameters.items() if parameter.default is parameter.empty]
        assert tool.input_schema.get("required", []) == required
        assert tool.input_schema["additionalProperties"] is False


def test_descriptions_are_short() -> None:
    """Under 5 KB together, so that they leave an agent's context to its work."""
    tools = project_tools()
    assert len(tools) <= 14
    texts = [
        text
        for tool in tools
        for text in (
            tool.name,
            tool.description,
            *[part.get("description", "") for part in tool.input_schema["properties"].values()],
        )
    ]
    assert len("".join(texts)) < 2048
    schemas = [json.dumps(tool.input_schema, separators=(",", ":")) for tool in tools]
    assert len("".join([*[tool.name + tool.description for tool in tools], *schemas])) < 5 * 1024


def test_a_plan_from_the_first_task_to_the_archive(tools: dict[str, execplan.AgentTool], repo: Folder) -> None:
    new_plan = call(tools, "new_plan", title="Build the lexer", purpose="Text is cut.", tasks=["Cut words", "@ test"])
    assert new_plan["id"].endswith("build-the-lexer")
    assert call(tools, "next_task", plan="lexer", claim=True, agent="robot")["task"]["text"] == "Cut words"
    call(tools, "edit_task", action="done", task="1", plan="lexer", agent="robot")
    call(tools, "edit_task", action="add", text="Write docs", plan="lexer")
    call(tools, "edit_task", action="reword", task="docs", text="Write the page", plan="lexer")
    call(tools, "edit_task", action="split", task="page", text="Write a draft", remaining="Review it", plan="lexer")
    call(tools, "edit_task", action="reopen", task="draft", plan="lexer")
    for kind in ("decision", "discovery", "outcome", "note", "revision"):
        detail = {"decision": "It is fast.", "discovery": "10 ms"}.get(kind, "")
        call(tools, "record", kind=kind, text=f"A {kind}.", detail=detail, plan="lexer", agent="robot")
    call(tools, "set_section", section="Context", text="The lexer is `src/lexer.py`.\n\n- @ and -\n", plan="lexer")
    shown = call(tools, "show", plan="lexer")
    assert [task["text"] for task in shown["tasks"]] == ["Cut words", "@ test", "Write a draft", "Review it"]
    assert [task["state"] for task in shown["tasks"]] == ["done", "open", "open", "open"]
    assert shown["decisions"][0]["text"] == "A decision."
    assert "- @ and -" in repo.path.joinpath(shown["path"]).read_text()
    call(tools, "archive", plan="lexer", ended="abandoned", reason="An example.", commit=True)
    assert "lexer" in repo.git("log", "-1", "--format=%s")
    assert call(tools, "status", state="archived")["plans"][0]["id"] == new_plan["id"]


def test_a_complete_plan_is_created_from_markdown(tools: dict[str, execplan.AgentTool], repo: Folder) -> None:
    new_plan = call(tools, "new_plan", markdown=CLEAN.replace("parser", "lexer"))
    assert "lexer" in repo.path.joinpath(new_plan["path"]).read_text()
    assert "findings" in call(tools, "lint", plan=new_plan["id"])


def test_texts_for_the_model(tools: dict[str, execplan.AgentTool]) -> None:
    assert call(tools, "context", plan="parser", budget=2000)["text"].startswith("# Context")
    assert "Open tasks" in call(tools, "steps", plan="parser")["text"]


def test_steps_are_evaluated_and_reported_but_not_approved(tools: dict[str, execplan.AgentTool], repo: Folder) -> None:
    path = repo.plan(CLEAN)
    path.write_text(CLEAN.partition("\n## Concrete Steps")[0] + PLAN_STEPS)
    assert call(tools, "steps", view="evaluation")["digest"]
    page = call(tools, "steps")["text"]
    plan_name = path.stem
    assert f"\nreport_step(step='STEP', plan='{plan_name}', status='completed', result='What it did.')\n" in page
    assert f"\nreplan(plan='{plan_name}', reason='…')\n" in page
    assert "pass it as `evidence`" in page
    document = asyncio.run(tools["report_step"](step="build", status="completed", result="Done."))
    assert document["error"]["code"] == "not-approved"


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("show", {"plan": "nothing"}, "no-such-plan"),
        ("show", {"plan": "/etc/passwd"}, "path-outside"),
        ("show", {"plan": "../other/plan.md"}, "path-outside"),
        ("edit_task", {"action": "done", "task": "99"}, "no-such-task"),
        ("edit_task", {"action": "add", "text": " "}, "no-words"),
        ("record", {"kind": "decision", "text": "x\0"}, "nul-byte"),
        ("new_plan", {"title": ""}, "no-words"),
    ],
)
def test_errors_are_documents(
    tools: dict[str, execplan.AgentTool], name: str, arguments: dict[str, Any], code: str
) -> None:
    document = asyncio.run(tools[name](**arguments))
    assert (document["ok"], document["error"]["code"]) == (False, code), document
    assert document["error"]["hint"]


def test_a_text_is_never_a_file(tools: dict[str, execplan.AgentTool], repo: Folder) -> None:
    repo.write("secret.txt", "SECRET")
    for text in ("@secret.txt", "@@secret.txt", "-"):
        asyncio.run(tools["edit_task"](action="add", text=text))
        asyncio.run(tools["record"](kind="decision", text=text, detail=text))
        asyncio.run(tools["new_plan"](title=text, tasks=[text], purpose=text))
    for path in repo.path.glob(".agent/execplans/*.md"):
        assert "SECRET" not in path.read_text()
    assert "@secret.txt" in (repo.path / ".agent/execplans/2026-01-01_parser.md").read_text()


def test_options_cannot_be_smuggled_in(tools: dict[str, execplan.AgentTool], repo: Folder) -> None:
    for text in ("--commit", "-C/tmp", "--help"):
        call(tools, "edit_task", action="add", text=text)
        asyncio.run(tools["show"](section=text))
        asyncio.run(tools["edit_task"](action="done", task=text))
    assert repo.git("log", "--format=%s").splitlines() == ["First"]
    assert [task["text"] for task in call(tools, "show")["tasks"]][-3:] == ["--commit", "-C/tmp", "--help"]


def test_modules_of_the_project_are_not_imported(
    tools: dict[str, execplan.AgentTool], repo: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("json.py", "raise SystemExit(99)\n")
    repo.write("execplan/__init__.py", "raise SystemExit(99)\n")
    monkeypatch.chdir(repo.path)
    assert call(tools, "status")["plans"]


def test_no_tool_has_the_rights_of_a_person() -> None:
    source = inspect.getsource(ProjectTools)
    assert set(COMMANDS) >= PERSONS - {"edit"}
    for command in PERSONS:
        assert f'["{command}"' not in source
    assert "--force" not in source


def test_a_canceled_call_ends_its_process(tools: dict[str, execplan.AgentTool], repo: Folder) -> None:
    """The process waits for a lock until the call is canceled; without its end, it would then write."""
    [path] = (repo.path / ".agent/execplans").glob("*.md")
    project, real_path = project_discovery.require(str(repo.path)), os.path.realpath(path)

    async def cancel() -> None:
        with project_state.lock(project, real_path, "the test"):
            task = asyncio.create_task(tools["set_section"](section="Purpose", text="x"))
            await asyncio.sleep(0.3)
            task.cancel()
            await asyncio.sleep(0.1)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert "\n\nx\n" not in path.read_text()


def test_a_plan_has_the_names_of_the_reference() -> None:
    plan = create_execution_plan("Check the weather", ["weather.now", "timer.set"])
    assert plan.selected_tools == ["weather.now", "timer.set"]
    assert plan.reasoning == "Sequential execution of 2 selected tools"


def test_planning_tools_create_and_revise_an_execution_plan(tools: dict[str, execplan.AgentTool]) -> None:
    plan = call(tools, "create_execution_plan", request="Read and write", selected_tools=["file.read", "file.write"])[
        "plan"
    ]
    assert [step["tool"] for step in plan["steps"]] == ["file.read", "file.write"]
    revised = call(
        tools,
        "replan_execution_plan",
        current_plan=plan,
        reason="The disk is full.",
        completed_steps=[1],
        failed_steps=[2],
    )["plan"]
    assert revised["revision"] == 2
    document = asyncio.run(tools["create_execution_plan"](request="x", selected_tools=["nodot"]))
    assert document["error"]["code"] == "bad-document"
    document = asyncio.run(tools["replan_execution_plan"](current_plan={}, reason="x"))
    assert document["error"]["code"] == "bad-document"


@pytest.mark.parametrize("form", ["summary", "report", "itinerary", "analysis", "structured", "bullet_points"])
def test_text_is_summarized_in_its_own_words(tools: dict[str, execplan.AgentTool], form: str) -> None:
    data = call(tools, "summarize_text", markdown=CLEAN, form=form, length="detailed")
    assert "parser" in data["text"]
    assert 0 < data["words"] <= data["limit"]


@pytest.mark.parametrize(("name", "value"), [("form", "haiku"), ("length", "long")])
def test_an_unknown_form_or_length_is_an_error(tools: dict[str, execplan.AgentTool], name: str, value: str) -> None:
    tool = tools["summarize_text"]
    for function, code, said in ((tool, "usage", value), (tool.function, "bad-document", f"/{name}: should be")):
        document = asyncio.run(asyncio.wait_for(function(markdown=CLEAN, **{name: value}), 20))
        assert document["error"]["code"] == code
        assert said in document["error"]["message"]
    assert asyncio.run(tools["summarize"](**{name: value}))["error"]["code"] == "usage"


def test_a_plan_is_summarized(tools: dict[str, execplan.AgentTool], repo: Folder) -> None:
    repo.plan()
    assert "parser" in call(tools, "summarize", form="report")["text"]


def test_the_tools_are_those_of_the_class() -> None:
    methods = [name for name, _ in inspect.getmembers(ProjectTools, inspect.iscoroutinefunction) if name[0] != "_"]
    assert sorted(PROJECT_TOOLS) == sorted(methods)
