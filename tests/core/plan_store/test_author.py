"""Who acts: `--as`, EXECPLAN_AGENT, git, in this order."""

from __future__ import annotations

from pathlib import Path

import pytest

from execplan.cli.app import load_command
from execplan.cli.commands import COMMANDS
from execplan.core.edits import edit_journal
from execplan.core.project import project_discovery
from tests.conftest import Folder
from tests.plans import CLEAN


def journaled(repo: Folder, path: Path) -> list[str]:
    """Who made each edit of a plan."""
    return [edit.author for edit in edit_journal.read_entries(project_discovery.require(str(repo.path)), str(path))]


def deciders(repo: Folder) -> list[str]:
    """The authors of the decisions."""
    return [decision["author"] for decision in repo.ok("show")["decisions"]]


def test_the_first_name_that_is_given_counts(repo: Folder) -> None:
    path = repo.plan(CLEAN)
    before = len(deciders(repo))
    repo.ok("decide", "Git knows", "--why", "No other name.")
    repo.env["EXECPLAN_AGENT"] = "agent-1"
    repo.ok("decide", "The agent", "--why", "The environment names it.")
    repo.ok("decide", "Another agent", "--why", "The option names it.", "--as", "agent-2")
    repo.ok("--as", "agent-3", "decide", "A third", "--why", "The option comes first.")
    repo.ok("decide", "A person", "--why", "Who decided may be somebody else.", "--author", "Eve", "--as", "agent-2")
    assert journaled(repo, path) == ["Ann", "agent-1", "agent-2", "agent-3", "agent-2"]
    assert deciders(repo)[before:] == ["Ann", "agent-1", "agent-2", "agent-3", "Eve"]


def test_the_setting_names_authors_and_not_who_acts(repo: Folder) -> None:
    path = repo.plan(CLEAN)
    repo.write(".agent/execplan.toml", 'author = "The team"\n')
    repo.ok("decide", "One", "--why", "Because.")
    assert (deciders(repo)[-1], journaled(repo, path)) == ("The team", ["Ann"])
    repo.ok("decide", "Two", "--why", "Because.", "--as", "agent-1")
    assert (deciders(repo)[-1], journaled(repo, path)[1:]) == ("agent-1", ["agent-1"])


def test_git_is_asked_where_its_environment_says_nothing(repo: Folder) -> None:
    path = repo.plan(CLEAN)
    del repo.env["GIT_AUTHOR_NAME"]
    repo.git("config", "user.name", "Gus Git")
    repo.ok("add", "One")
    assert journaled(repo, path) == ["Gus Git"]


@pytest.mark.parametrize("name", ["", "  "])
def test_a_blank_name(repo: Folder, name: str) -> None:
    repo.plan(CLEAN)
    assert repo.run("add", "One", "--as", name, "--json").json["error"]["code"] == "usage"
    repo.env["EXECPLAN_AGENT"] = name
    repo.ok("add", "One")


def test_every_command_that_writes_has_it() -> None:
    for name in COMMANDS:
        command = load_command(name)
        writes = any(param.name == "lock_timeout" for param in command.params)
        has_actor = any(param.name == "actor" for param in command.params)
        assert has_actor == (writes and name != "archive") or name in (
            "board",
            "context",
            "evaluate",
            "handoff",
            "list",
            "prime",
            "review",
            "show",
            "status",
            "use",
        ), name
