"""The setting `roles`: titles of sections with a meaning that only the repository knows."""

from __future__ import annotations

import asyncio

import pytest

import execplan
from execplan.core.plan.reader import parse
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from tests.conftest import Folder

TABLE = "docs/plans/portal.md"
TABLE_TEXT = """# Portal

**Zustand:** offen

## Worum es geht

A portal.

## Arbeitspakete

| Paket | Zustand |
| --- | --- |
| Log in | offen |
| Search | offen |

## Beschlussliste

- The portal is blue.
"""
BOXES = "docs/plans/shop.md"
BOXES_TEXT = """# Shop

## Arbeitspakete

- [ ] Fill the cart
- [x] Show prices

## Freigabe

- [ ] The manager has seen it
"""
ROLES = """
[roles]
tasks = ["Arbeitspakete"]
status = ["Zustand"]
validation = ["Freigabe"]
decisions = ["Beschlussliste"]
"""


@pytest.fixture
def german(repo: Folder) -> Folder:
    """A repository whose plans have titles that are in no list, with settings."""
    (repo.path / ".agent/execplans").rmdir()
    repo.write(TABLE, TABLE_TEXT)
    repo.write(BOXES, BOXES_TEXT)
    repo.ok("init")
    return repo


def set_roles(folder: Folder, text: str = ROLES) -> None:
    path = folder.path / ".agent/execplan.toml"
    path.write_text(path.read_text() + text)


def counts(folder: Folder) -> dict[str, tuple[int, int]]:
    return {plan["id"]: (plan["counts"]["open"], plan["counts"]["total"]) for plan in folder.ok("list")["plans"]}


def test_plans_are_read_as_the_setting_says_and_the_index_follows_it(german: Folder) -> None:
    assert counts(german) == {"shop": (2, 3)}
    assert german.ok("list", "--state", "document")["plans"][0]["id"] == "portal"
    set_roles(german)
    assert counts(german) == {"portal": (2, 2), "shop": (1, 2)}
    path = german.path / ".agent/execplan.toml"
    path.write_text(path.read_text().replace(ROLES, ""))
    assert counts(german) == {"shop": (2, 3)}


def test_commands_on_a_plan_with_own_titles(german: Folder) -> None:
    set_roles(german)
    assert german.ok("next", "portal")["task"]["text"] == "Log in"
    german.ok("done", "Log in", "-p", "portal")
    german.ok("decide", "It is green", "--why", "Blue was taken", "-p", "portal")
    text = (german.path / TABLE).read_text()
    assert "| Log in | erledigt |" in text
    assert "- The portal is blue.\n\n- Decision: It is green\n" in text
    assert german.ok("show", "portal")["decisions"][-1]["text"] == "It is green"
    german.ok("reopen", "Log in", "-p", "portal")
    german.ok("undo", "-p", "portal")
    german.ok("add", "Take money", "-p", "shop")
    assert BOXES_TEXT.replace("prices\n", "prices\n- [ ] Take money\n") == (german.path / BOXES).read_text()
    german.ok("done", "Fill the cart", "-p", "shop")
    german.ok("done", "Take money", "-p", "shop")
    cards = {card["id"]: card for column in german.ok("board")["columns"] for card in column["plans"]}
    assert {name: card["counts"]["total"] for name, card in cards.items()} == {"portal": 2, "shop": 3}
    assert german.ok("search", "money")["match_count"]
    assert german.run("lint").exit == 0
    german.ok("archive", "shop")


def test_convert_uses_the_roles(german: Folder) -> None:
    set_roles(german)
    german.ok("convert", "portal")
    text = (german.path / TABLE).read_text()
    assert "## Decision Log\n\n- The portal is blue." in text
    assert "## Progress\n\n- [ ] Log in\n- [ ] Search\n" in text


def test_packages_have_their_own_roles(german: Folder) -> None:
    set_roles(german)
    german.write("packages/api/docs/plans/portal.md", TABLE_TEXT)
    german.write("packages/api/.agent/execplan.toml", 'plans = "docs/plans"\n')
    settings = german.path / ".agent/execplan.toml"
    settings.write_text('homes = ["packages/api"]\n' + settings.read_text())
    outer, nested = project_discovery.with_nested_projects(project_discovery.find(str(german.path)))
    assert len(plan_store.parse(outer, TABLE_TEXT.encode()).tasks) == 2
    assert plan_store.parse(nested, TABLE_TEXT.encode()).is_document
    assert counts(german) == {"portal": (2, 2), "shop": (1, 2)}


def test_explain_shows_them(german: Folder) -> None:
    set_roles(german)
    answer = german.ok("explain", "dialects")
    assert answer["roles"][".agent/execplan.toml"]["tasks"] == ["Arbeitspakete"]
    assert "'Arbeitspakete': tasks, as .agent/execplan.toml says" in german.run("explain", "dialects").out


@pytest.mark.parametrize(
    ("table", "line", "message"),
    [
        ('[roles]\ntask = ["Arbeit"]\n', 2, "roles accepts only purpose, tasks, validation"),
        ('[roles]\n\ntasks = "Arbeit"\n', 3, "roles.tasks must be a list of strings"),
        ('[roles]\ntasks = [""]\n', 2, "roles.tasks can't have an empty text"),
        (
            '[roles]\ntasks = ["Arbeit"]\nstatus = ["ARBEIT:"]\n',
            3,
            "roles.status has 'ARBEIT:', which is also in roles.tasks",
        ),
        ("roles = 3\n", 0, "roles must be a table of lists of titles"),
    ],
)
def test_wrong_settings(repo: Folder, table: str, line: int, message: str) -> None:
    repo.write(".agent/execplan.toml", table)
    error = repo.run("list", "--json").json["error"]
    file = f".agent/execplan.toml:{line}: " if line else ".agent/execplan.toml: "
    assert error["message"].startswith(f"{file}{message}")
    assert error["hint"]


def test_tools_of_agents_read_them(german: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The MCP server calls the same functions."""
    for name, value in german.env.items():
        monkeypatch.setenv(name, value)
    set_roles(german)
    tools = {tool.name: tool for tool in execplan.agent_tools(german.path)}
    assert asyncio.run(tools["next_task"](plan="portal"))["data"]["task"]["text"] == "Log in"
    asyncio.run(tools["edit_task"](action="done", task="Log in", plan="portal"))
    assert asyncio.run(tools["next_task"](plan="portal"))["data"]["task"]["text"] == "Search"


def test_the_log_of_a_plan_without_progress_is_the_section_with_the_role() -> None:
    plan = parse(
        "# Shop\n\n## Tasks\n\n- [ ] Pay\n\n## 3. Key decisions\n\n- Cash only.\n\n## Findings\n\n- [ ] Look\n"
    )
    assert [section.name for section in plan.sections] == [None, "Decision Log", None]
    assert [entry.text for entry in plan.decisions] == ["Cash only."]
