"""Calls of the tools of `execplan mcp`: allowed as the commands that they run are, and denied as they are."""

from __future__ import annotations

import asyncio
import json
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from execplan.agents.guard import mcp_tools, self_protection
from execplan.agents.guard.execplan_calls import denial_reason
from execplan.agents.toolkit.command_process import make_document
from execplan.agents.toolkit.project_tools import ProjectTools
from execplan.agents.toolkit.tool_list import project_tools
from execplan.execution.permission import PLANS
from tests.agents.guard.call_sandbox import CallSandbox
from tests.agents.guard.guard_repository import GuardRepository, guard, hook

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from execplan.agents.toolkit.command_process import Document
    from tests.conftest import Folder

SAMPLES: list[tuple[str, dict[str, Any]]] = [
    ("status", {"state": "active"}),
    ("show", {"section": "Progress"}),
    ("next_task", {"claim": True}),
    ("new_plan", {"title": "Build it", "purpose": "Text is read.", "tasks": ["Read"], "template": "small"}),
    ("new_plan", {"markdown": "# Build it\n"}),
    ("edit_task", {"action": "add", "text": "Read"}),
    ("edit_task", {"action": "done", "task": "1"}),
    ("edit_task", {"action": "split", "task": "1", "text": "Read", "remaining": "Write"}),
    ("record", {"kind": "decision", "text": "Read lines", "detail": "It is fast."}),
    ("record", {"kind": "revision", "text": "Read lines"}),
    ("set_section", {"section": "Purpose", "text": "Text is read.", "create": True}),
    ("lint", {}),
    ("context", {"task": "1", "budget": 1000}),
    ("steps", {"view": "evaluation"}),
    ("steps", {}),
    ("report_step", {"step": "make", "status": "completed", "result": "Done.", "evidence": "ok\n"}),
    ("replan", {"reason": "Wrong.", "failed": ["make"]}),
    ("summarize", {"form": "report", "length": "long"}),
    ("archive", {"ended": "abandoned", "reason": "Not needed."}),
]


@pytest.fixture
def sandbox(repo: Folder) -> CallSandbox:
    """A repository with a plan."""
    return CallSandbox(repo)


class CommandRecorder(ProjectTools):
    """Tools that keep the command that they would run."""

    argv: Sequence[str] = ()

    async def _run(
        self,
        arguments: Sequence[str],
        plan: str | None = None,
        *,
        operands: Sequence[str] = (),
        stdin: str = "",
        agent: str | None = None,
        as_text: bool = False,
    ) -> Document:
        self.argv = ["execplan", *arguments, *([f"--plan={plan}"] if plan else []), *operands]
        self.argv += [f"--as={agent}"] if agent else []
        return make_document("", None)


def variants(root: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the samples with each combination of the arguments that several tools have."""
    plans = (None, "parser", ".agent/execplans/x.md", "/etc/passwd", "../x.md", ".env")
    for (name, arguments), plan, agent, commit in product(SAMPLES, plans, (None, "robot"), (False, True)):
        further = {"plan": plan, "agent": agent, **({"commit": True} if commit else {})}
        (tool,) = [tool for tool in project_tools(root) if tool.name == name]
        yield name, {**arguments, **{key: further[key] for key in further if key in tool.input_schema["properties"]}}


def test_a_tool_is_allowed_exactly_as_its_command_is(sandbox: CallSandbox) -> None:
    denied = 0
    for commits, (name, arguments) in product(((), (PLANS,)), list(variants(sandbox.root))):
        scope = sandbox.around._replace(commits=commits)
        recorder = CommandRecorder(sandbox.root)
        asyncio.run(getattr(recorder, name)(**arguments))
        command_reason = denial_reason(recorder.argv, scope, (sandbox.root,))
        call = sandbox.tool(f"mcp__execplan__{name}", **arguments)
        tool_reason = mcp_tools.tool_denial_reason(call, scope)
        assert bool(tool_reason) == bool(command_reason), (name, arguments, recorder.argv, tool_reason, command_reason)
        assert self_protection.is_execplan_call(call, scope) == (not command_reason)
        denied += bool(command_reason)
    assert denied > len(SAMPLES)


def test_every_tool_and_every_argument_is_decided_upon(sandbox: CallSandbox) -> None:
    """A new argument of a tool is denied until somebody says what it does."""
    for tool in project_tools(sandbox.root):
        for argument in (*tool.input_schema["properties"], "root", "other"):
            sample = next(arguments for name, arguments in SAMPLES if name == tool.name)
            call = sandbox.tool(f"mcp__execplan__{tool.name}", **{**sample, argument: sample.get(argument, "x")})
            reason = mcp_tools.tool_denial_reason(call, sandbox.around)
            assert ("whose effect is unknown" in reason) == (argument == "other"), (tool.name, argument, reason)


HOSTILE: list[tuple[str, dict[str, Any]]] = [
    ("mcp__execplan__approve", {}),
    ("mcp__execplan__run", {"plan": "parser"}),
    ("mcp__execplan__Status", {}),
    ("mcp__execplan__status__x", {}),
    ("mcp__my-execplan__status", {}),
    ("mcp__execplan2__status", {}),
    ("execplan", {}),
    ("execplan__status", {}),
    ("mcp__execplan__status", {"root": "/"}),
    ("mcp__execplan__status", {"root": ".."}),
    ("mcp__execplan__status", {"root": "src"}),
    ("mcp__execplan__status", {"root": ["/"]}),
    ("mcp__execplan__status", {"root": "{root}/../other"}),
    ("mcp__execplan__show", {"plan": "@/etc/passwd"}),
    ("mcp__execplan__show", {"plan": "~/plan.md"}),
    ("mcp__execplan__show", {"root": "{root}/src", "plan": "../../x.md"}),
    ("mcp__execplan__edit_task", {"action": "approve"}),
    ("mcp__execplan__edit_task", {"action": ["done"]}),
    ("mcp__execplan__edit_task", {"action": "add", "text": "x", "agent": "somebody"}),
    ("mcp__execplan__record", {"kind": "decision", "text": "x", "agent": "somebody"}),
    ("mcp__execplan__record", {"kind": "decision", "text": "x", "commit": "yes"}),
    ("mcp__execplan__record", {"text": "x"}),
    ("mcp__execplan__archive", {"force": True}),
    ("read_mcp_resource", {"server": "execplan", "uri": "file:///etc/passwd"}),
    ("read_mcp_resource", {"server": "execplan", "uri": "execplan://plans/x", "cursor": "1"}),
    ("ReadMcpResourceTool", {"server": "execplan"}),
]


@pytest.mark.parametrize(("name", "arguments"), HOSTILE)
def test_other_calls_are_denied(sandbox: CallSandbox, name: str, arguments: dict[str, Any]) -> None:
    call = sandbox.tool(name, **json.loads(json.dumps(arguments).replace("{root}", sandbox.root)))
    scope = sandbox.around._replace(commits=(PLANS,))
    assert self_protection.escape_reason(call, scope, sandbox.project)
    assert not self_protection.is_execplan_call(call, scope)


def test_a_resource_of_another_server_is_no_tool_of_ours(sandbox: CallSandbox) -> None:
    call = sandbox.tool("read_mcp_resource", server="files", uri="execplan://plans/x")
    assert not self_protection.is_execplan_call(call, sandbox.around)


ALLOWED: list[tuple[str, dict[str, Any]]] = [
    ("mcp__execplan__status", {"root": "{root}", "state": None}),
    ("mcp__execplan__next_task", {"root": ".", "claim": True, "agent": "robot"}),
    ("mcp__plugin_execplan_execplan__status", {}),
    ("mcp__execplan__record", {"kind": "note", "text": "A person has to call execplan approve; .claude/settings.json"}),
    ("mcp__execplan__set_section", {"section": "Purpose", "text": "rm -rf .git\n", "commit": True}),
    ("read_mcp_resource", {"server": "execplan", "uri": "execplan://plans/2026-01-01_parser"}),
    ("ReadMcpResourceTool", {"server": "plugin_execplan_execplan", "uri": "execplan://packs/2026-01-01_parser"}),
]


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_the_guard_allows_them_whatever_is_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    desk = GuardRepository(tmp_path / "repo", monkeypatch)
    desk.plan("# Build it\n\n## Progress\n\n- [ ] Build it.\n")
    desk.commit()
    for name, arguments in ALLOWED:
        call = hook(name, str(desk.path), **arguments)
        fields = {"turn_id": "t", "model": "m"} if program == "codex" else {}
        data = json.dumps({**call, **fields}).replace("{root}", str(desk.path)).encode()
        answer = guard(data, "--program", program, program=program)
        assert answer.kind == "allow", (name, arguments, answer.why)
