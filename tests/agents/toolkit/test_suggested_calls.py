"""In every situation of a plan, each suggestion of each tool can be followed: calls fit the schemas, no command has a tool."""

from __future__ import annotations

import ast
import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from execplan.agents.guard.execplan_commands import ALLOWED_COMMANDS
from execplan.agents.toolkit.command_calls import TEXT_PLACEHOLDER, as_call
from execplan.agents.toolkit.field_names import name_calls, name_document
from execplan.agents.toolkit.mcp_server import _argument_problem
from execplan.agents.toolkit.project_tools import ProjectTools
from execplan.agents.toolkit.tool_list import PROJECT_TOOLS, project_tools
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Folder

SCHEMAS = {tool.name: tool.input_schema for tool in project_tools()}
CALL = re.compile(rf"\b(?:{'|'.join(PROJECT_TOOLS)})\((?:[^()']|'[^']*')*\)")
COMMAND = re.compile(r"execplan (?:-C \S+ )?(\w+)((?: (?:'[^']*'|[^\s;,`'\"\\)]+))*)")
FOR_PERSON = re.compile(r"(a person reviews the command and runs this once in a terminal: |ask a person to [^;`]*)$")
STEPS = "\n## Concrete Steps\n\n```sh {#build}\ntouch a\n```\n"
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("status", {}),
    ("show", {}),
    ("next_task", {}),
    ("lint", {}),
    ("context", {"budget": 400}),
    ("steps", {}),
    ("steps", {"view": "evaluation"}),
    ("summarize", {}),
    ("report_step", {"step": "build", "status": "completed", "result": "Done."}),
    ("replan", {"reason": "It failed."}),
    ("edit_task", {"action": "verify", "task": "1"}),
    ("edit_task", {"action": "done", "task": "99"}),
    ("record", {"kind": "decision", "text": "Use it."}),
    ("set_section", {"section": "Nothing", "text": "x"}),
    ("new_plan", {"title": ""}),
    ("archive", {}),
)
"""A call of every tool; those that write come last, and most of them fail."""


def write_situation(folder: Folder, name: str) -> None:
    """Make a plan in a situation."""
    text = CLEAN
    if name == "steps":
        text = CLEAN.partition("\n## Concrete Steps")[0] + STEPS
    if name == "conflict":
        text = CLEAN.replace("## Progress", "<<<<<<< a\n## Progress\n=======\n## Progress\n>>>>>>> b", 1)
    if name == "complete":
        text = CLEAN.replace("- [ ]", "- [x]")
    if name != "empty":
        folder.plan(text)
    if name == "archived":
        asyncio.run(ProjectTools(folder.path).archive(ended="abandoned", reason="Too late."))


def check_texts(printed: str) -> None:
    """Check that calls fit the schemas of their tools, and that no command is left that a tool replaces."""
    for match in COMMAND.finditer(printed):
        before = printed[max(0, match.start() - 100) : match.start()]
        is_for_person = FOR_PERSON.search(before) is not None
        if not is_for_person:
            assert as_call(match[1], match[2].rstrip(".:")) is None, match[0]
        if before.endswith('"'):
            assert match[1] in ALLOWED_COMMANDS, f"only a person may: {match[0]}"
    for match in CALL.finditer(printed):
        call = ast.parse(match[0], mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        if not call.args and (call.keywords or match[0].endswith("()")):
            fields = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
            if fields or call.func.id in ("show", "status", "lint", "next_task"):
                assert not _argument_problem(SCHEMAS[call.func.id], fields), match[0]


@pytest.mark.parametrize("situation", ["empty", "draft", "steps", "complete", "conflict", "archived"])
def test_every_suggestion_can_be_followed(plain: Folder, situation: str) -> None:
    write_situation(plain, situation)
    tools = ProjectTools(plain.path)

    def call(name: str, fields: dict[str, Any]) -> str:
        return json.dumps(asyncio.run(getattr(tools, name)(**fields)), ensure_ascii=False)

    with ThreadPoolExecutor(2) as pool:
        for printed in pool.map(lambda item: call(*item), CALLS):
            check_texts(printed)


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("run p", "steps(plan='p')"),
        ("compile p", "steps(view='evaluation', plan='p')"),
        ("evaluate p", "steps(view='evaluation', plan='p')"),
        ("compile p --check", None),
        ("show p --run 0001", None),
        ("done 1 --verify -p p", "edit_task(action='verify', task='1', plan='p')"),
        ("done 1 2", None),
        ("discover X --evidence Y", "record(kind='discovery', text='X', detail='Y')"),
        (
            "report two --status=completed --result Done --evidence FILE",
            f"report_step(step='two', status='completed', result='Done', evidence='{TEXT_PLACEHOLDER}')",
        ),
        ("context p --budget 900", "context(plan='p', budget=900)"),
        ("new 'A b' --task a --task b --as me", "new_plan(title='A b', tasks=['a', 'b'])"),
        ("archive p --as abandoned --reason Why --keep-links", "archive(plan='p', ended='abandoned', reason='Why')"),
        ("summarize p --as summary", "summarize(plan='p', form='summary')"),
        ("undo", None),
        ("show 'p", None),
    ],
)
def test_a_command_is_the_call_that_does_the_same(command: str, call: str | None) -> None:
    name, _, arguments = command.partition(" ")
    assert as_call(name, arguments) == call
    if call is not None:
        check_texts(call)


def named_hint(hint: str) -> str:
    error = {"code": "x", "exit": 1, "message": "m", "hint": hint, "candidates": []}
    return str(name_document({"data": None, "error": error, "warnings": [], "next": []})["error"]["hint"])


@pytest.mark.parametrize(
    ("hint", "named"),
    [
        ("create one: execplan -C /a init", "ask a person to create one: execplan -C /a init"),
        (
            "a person reviews the command and runs this once in a terminal: execplan done 1 --verify -p p",
            "a person reviews the command and runs this once in a terminal: execplan done 1 --verify -p p",
        ),
        (
            "write one: execplan add 'A step', or omit --verify",
            "write one: edit_task(action='add', text='A step'), or use action='done'",
        ),
        ("undo this one: execplan undo -p p", "undo this one: execplan undo -p p"),
        ("what comes first: execplan -C /a compile p", "what comes first: steps(view='evaluation', plan='p')"),
    ],
)
def test_a_hint_says_who_does_what(hint: str, named: str) -> None:
    assert named_hint(hint) == named


def test_warnings_and_messages_in_data_name_calls_but_content_stays() -> None:
    document = {
        "data": {"findings": [{"message": "see `execplan show p`"}], "text": "run `execplan show p`"},
        "error": None,
        "warnings": ["see execplan show p"],
        "next": ["execplan approve p", "execplan undo", "execplan evaluate p", "execplan compile p"],
    }
    assert name_document(document) == {
        "data": {"findings": [{"message": "see `show(plan='p')`"}], "text": "run `execplan show p`"},
        "error": None,
        "warnings": ["see show(plan='p')"],
        "next": ["ask a person to run: execplan approve p", "execplan undo", "steps(view='evaluation', plan='p')"],
    }


def test_the_prompt_repeats_nothing_and_says_what_to_fill_in() -> None:
    prompt = "> a\nContinue:\n  execplan replan 1 -p p --reason 'What was wrong'\n  execplan show p --as a\n  execplan show p\n"
    assert name_calls(prompt) == (
        f"> a\nContinue:\n  replan(plan='p', reason='{TEXT_PLACEHOLDER}')\n  show(plan='p')\n"
        f"Put your own text in place of '{TEXT_PLACEHOLDER}'.\n"
    )


def test_an_archive_without_a_commit_can_still_be_committed(repo: Folder) -> None:
    plan = repo.plan(CLEAN.replace("- [ ]", "- [x]")).stem
    tools = ProjectTools(repo.path)
    first = asyncio.run(tools.archive(plan))
    again = asyncio.run(tools.archive(plan, commit=True))
    assert (first["data"]["changed"], again["data"]["changed"], again["data"]["commit"]) == (True, False, None)
    assert first["next"] == again["next"] == [f"execplan -C {repo.path} commit {plan}"]
