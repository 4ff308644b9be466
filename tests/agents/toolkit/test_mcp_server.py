"""The MCP server over a real pipe, with the client of the SDK: tools, resources, prompts, errors, many clients at once."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from execplan.agents.toolkit.tool_list import PROJECT_TOOLS
from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder

Mode = Literal["legacy", "auto"]
MODES: tuple[Mode, ...] = ("legacy", "auto")


@asynccontextmanager
async def connect(folder: Folder, cwd: Path | None = None, mode: Mode = "auto") -> AsyncIterator[Client]:
    """A client of a server that was started in a directory."""
    arguments = ["-P", "-m", "execplan", "mcp"]
    parameters = StdioServerParameters(
        command=sys.executable, args=arguments, env=folder.env, cwd=str(cwd or folder.path)
    )
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


def with_client(
    folder: Folder, use: Callable[[Client], Awaitable[None]], cwd: Path | None = None, mode: Mode = "auto"
) -> None:
    """Run a coroutine with a client."""

    async def run() -> None:
        async with connect(folder, cwd, mode) as client:
            await use(client)

    asyncio.run(run())


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool, and return its document."""
    result = await client.call_tool(name, arguments)
    document: dict[str, Any] = result.structured_content
    assert result.is_error == (document["error"] is not None)
    (content,) = result.content
    assert content.type == "text"
    assert json.loads(content.text) == document
    return document


@pytest.mark.parametrize("mode", MODES)
def test_tools_work_in_both_forms_of_the_protocol(repo: Folder, mode: Mode) -> None:
    repo.plan()

    async def use(client: Client) -> None:
        assert client.server_info is not None
        assert client.server_info.name == "execplan"
        assert "next_task" in (client.instructions or "")
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(PROJECT_TOOLS)
        listed = "".join([tool.model_dump_json(exclude_none=True, by_alias=True) for tool in tools])
        assert len(listed) < 8192
        assert all([tool.annotations is not None and tool.annotations.destructive_hint is False for tool in tools])
        assert (await call(client, "edit_task", action="done", task="2"))["data"]["changed"]
        text = await client.call_tool("context", {"budget": 1000})
        assert text.structured_content is None
        assert text.content[0].type == "text"
        assert text.content[0].text.startswith("# Context")

    with_client(repo, use, mode=mode)
    assert repo.ok("show")["counts"]["done"] == 2


def test_errors_are_structured_results(repo: Folder) -> None:
    async def use(client: Client) -> None:
        error = (await call(client, "show", plan="nothing"))["error"]
        assert error["code"] == "no-such-plan"
        assert error["hint"]
        assert (await call(client, "status", root=f"{repo.path}/missing"))["error"]["code"] == "no-such-file"
        assert (await call(client, "show", plan="/etc/passwd"))["error"]["code"] == "path-outside"
        for name, arguments in (
            ("approve", {}),
            ("show", {"force": True}),
            ("show", {"plan": 5}),
            ("edit_task", {}),
            ("edit_task", {"action": "approve"}),
            ("status", {"root": 5}),
            ("new_plan", {"tasks": [1]}),
        ):
            with pytest.raises(MCPError, match=name):
                await client.call_tool(name, arguments)

    with_client(repo, use)


def test_one_server_serves_any_project(repo: Folder, tmp_path: Path) -> None:
    """As an entry in a user's own settings starts it, in a directory without plans."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    repo.plan()

    async def use(client: Client) -> None:
        assert (await call(client, "status"))["error"]["code"] == "no-home"
        assert (await call(client, "status", root=str(repo.path)))["data"]["plans"]
        await call(client, "record", kind="decision", text="Read lines.", detail="Fast.", root=str(repo.path))

    with_client(repo, use, cwd=elsewhere)
    assert repo.ok("show")["decisions"][-1]["text"] == "Read lines."


def test_plans_and_packs_are_resources(repo: Folder) -> None:
    path = repo.plan()

    async def use(client: Client) -> None:
        (resource,) = (await client.list_resources()).resources
        assert resource.uri == "execplan://plans/2026-01-01_parser"
        (content,) = (await client.read_resource(resource.uri)).contents
        assert getattr(content, "text", "") == path.read_text()
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["execplan://plans/{id}", "execplan://packs/{id}"]
        (content,) = (await client.read_resource("execplan://packs/2026-01-01_parser")).contents
        assert getattr(content, "text", "").startswith("# Context")
        for uri in ("execplan://plans/nothing", "execplan://plans/..%2F..%2Fetc%2Fpasswd", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)

    with_client(repo, use)


def test_prompts_to_author_and_to_continue(repo: Folder) -> None:
    repo.plan()

    async def use(client: Client) -> None:
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["author", "continue"]
        (message,) = (await client.get_prompt("author", {"request": "Build a lexer"})).messages
        assert "Build a lexer" in getattr(message.content, "text", "")
        assert "Decision Log" in getattr(message.content, "text", "")
        (message,) = (await client.get_prompt("continue", {"plan": "parser"})).messages
        text = getattr(message.content, "text", "")
        assert "2026-01-01_parser" in text
        assert "edit_task(" in text
        assert "execplan done" not in text
        for name, arguments in (("author", {}), ("continue", {"plan": "nothing"}), ("other", {})):
            with pytest.raises(MCPError):
                await client.get_prompt(name, arguments)

    with_client(repo, use)


@pytest.mark.exhaustive
def test_twenty_clients_write_one_plan(repo: Folder) -> None:
    repo.plan(CLEAN)

    async def write(number: int) -> None:
        async with connect(repo) as client:
            for kind in ("decision", "discovery"):
                arguments = {"kind": kind, "text": f"{kind} {number}", "detail": "x", "agent": f"agent-{number}"}
                assert (await call(client, "record", **arguments))["ok"]
            assert (await call(client, "edit_task", action="add", text=f"Task {number}"))["ok"]

    async def run() -> None:
        await asyncio.gather(*[write(number) for number in range(20)])

    asyncio.run(run())
    shown = repo.ok("show")
    texts = [entry["text"] for name in ("decisions", "discoveries", "tasks") for entry in shown[name]]
    for number in range(20):
        for text in (f"decision {number}", f"discovery {number}", f"Task {number}"):
            assert texts.count(text) == 1, text


def test_the_server_ends_with_its_input_and_prints_nothing_else(repo: Folder) -> None:
    completed = subprocess.run(
        [sys.executable, "-P", "-m", "execplan", "mcp"],
        cwd=repo.path,
        env=repo.env,
        input=b"not json\n",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert completed.returncode == 0
    assert all([json.loads(line)["jsonrpc"] == "2.0" for line in completed.stdout.splitlines()])


def test_without_the_package_it_says_how_to_install_it(repo: Folder, tmp_path: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None; from execplan.cli.main import run; sys.argv = ['execplan', 'mcp', '--json']; sys.exit(run())"
    completed = subprocess.run(
        [sys.executable, "-c", code], cwd=repo.path, env=repo.env, capture_output=True, check=False, timeout=60
    )
    assert completed.returncode == 6
    assert json.loads(completed.stdout)["error"]["code"] == "no-mcp"
