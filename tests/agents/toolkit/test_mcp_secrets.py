"""Every form of a secret through every tool and resource of a running MCP server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from execplan.agents.toolkit.tool_list import PROJECT_TOOLS
from tests.agents.toolkit.test_mcp_server import with_client
from tests.core.secrets.secret_samples import remaining_secret
from tests.core.secrets.test_outlets import FORMS, ON_A_LINE, plan_of, plan_of_all_forms, strings

if TYPE_CHECKING:
    from mcp import Client

    from tests.conftest import Folder

NAME = "2026-01-01_forms"
LINE = ON_A_LINE[0].text
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("status", {}),
    ("show", {}),
    ("show", {"section": "Purpose / Big Picture"}),
    ("show", {"section": "Decision Log"}),
    ("show", {"plan": LINE}),
    ("next_task", {}),
    ("next_task", {"claim": True, "agent": "ann"}),
    ("lint", {}),
    ("context", {"budget": 190_000}),
    ("steps", {}),
    ("steps", {"view": "evaluation"}),
    ("edit_task", {"action": "done", "task": "1-3"}),
    ("edit_task", {"action": "done", "task": LINE}),
    ("edit_task", {"action": "add", "text": LINE}),
    ("edit_task", {"action": "reword", "task": "2", "text": LINE}),
    ("edit_task", {"action": "verify", "task": "4"}),
    ("record", {"kind": "decision", "text": LINE, "detail": LINE}),
    ("record", {"kind": "note", "text": LINE}),
    ("set_section", {"section": LINE, "text": "\n\n".join([form.text for form in FORMS])}),
    ("set_section", {"section": "Context", "create": True, "text": "\n\n".join([form.text for form in FORMS])}),
    ("report_step", {"step": LINE, "status": "completed", "result": LINE, "evidence": LINE}),
    ("replan", {"reason": LINE, "failed": [LINE]}),
    ("summarize", {}),
    ("archive", {}),
    ("archive", {"ended": "superseded", "superseded_by": LINE, "reason": LINE}),
    ("new_plan", {"markdown": plan_of(ON_A_LINE[0])}),
    ("new_plan", {"title": LINE, "purpose": LINE, "tasks": [LINE]}),
    ("status", {}),
)


def leaves(printed: str) -> list[str]:
    """The forms whose secrets a text contains."""
    return [form.name for form in FORMS if remaining_secret(form, printed)]


@pytest.mark.exhaustive
def test_no_form_leaves_by_a_running_server(repo: Folder) -> None:
    repo.plan(plan_of_all_forms().replace("# Use every form", f"# Use every form {LINE}"), NAME)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Forms")
    printed: dict[str, str] = {}

    async def use(client: Client) -> None:
        for resource in (await client.list_resources()).resources:
            printed["resources"] = resource.model_dump_json()
        for uri in (f"execplan://plans/{NAME}", f"execplan://packs/{NAME}"):
            printed[uri] = "".join([getattr(part, "text", "") for part in (await client.read_resource(uri)).contents])
        for message in (await client.get_prompt("continue", {"plan": NAME})).messages:
            printed["prompt"] = getattr(message.content, "text", "")
        for name, arguments in CALLS:
            result = await client.call_tool(
                name, {"plan": NAME, **arguments} if name not in ("status", "new_plan") else arguments
            )
            texts = [getattr(content, "text", "") for content in result.content]
            texts += [*strings(json.loads(texts[0]))] if texts[0].startswith("{") else []
            printed[f"{name} {list(arguments)}"] = "\0".join([*texts, *strings(result.structured_content)])

    with_client(repo, use)
    assert {name for name, _ in CALLS} == set(PROJECT_TOOLS)
    assert {name: found for name, text in printed.items() if (found := leaves(text))} == {}
    assert all(printed.values())
    assert printed["show []"].count("Task ") > len(ON_A_LINE) / 2
