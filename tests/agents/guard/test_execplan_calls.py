"""Calls of execplan by an agent: where they run, whom they name, and what a denial says about the others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.agents.guard.guard_repository import GuardRepository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuardRepository:
    """A repository with another worktree, beside another repository."""
    repository = GuardRepository(tmp_path / "repo", monkeypatch)
    repository.write("notes.md", "x\n")
    repository.commit()
    repository.git("worktree", "add", "-q", "../other")
    (tmp_path / "other/.env").write_text("TOKEN=x\n")
    os.symlink(tmp_path / "repo/notes.md", tmp_path / "other/link.md")
    repository.git("init", "-q", "../foreign")
    return repository


def test_another_worktree_of_the_repository_is_not_outside(desk: GuardRepository) -> None:
    for command in (
        "execplan -C ../other next",
        "execplan next -C ../other",
        "execplan -C ../other decide x --why y -p parser",
        "execplan -C ../other note x --excerpt @notes.md",
        f"execplan -C {desk.path.parent}/other/src status",
        "cd ../other && execplan next",
    ):
        (desk.path.parent / "other/src").mkdir(exist_ok=True)
        answer = desk.ask(command)
        assert answer.kind == "allow", (command, answer.why)


def test_the_rest_of_the_disk_is_outside(desk: GuardRepository) -> None:
    for command in (
        "execplan -C .. next",
        "execplan -C ../foreign next",
        "execplan -C ../other -C ../foreign next",
        "execplan -C ../other next -C ../foreign",
        "execplan -C ../other -C . next",
        "execplan -C '' next",
        "cd ../foreign && execplan next",
        "execplan -C ../other approve",
        "execplan -C ../other show ../repo/notes.md",
        "execplan -C ../other show ../foreign/x.md",
        "execplan -C ../other note x --excerpt @.env",
        "execplan -C ../other note x --excerpt @link.md",
    ):
        assert desk.ask(command).kind == "deny", command


def test_a_directory_that_only_says_it_is_a_worktree_is_outside(desk: GuardRepository) -> None:
    claimed = desk.path.parent / "claimed"
    claimed.mkdir()
    (claimed / ".git").write_text((desk.path.parent / "other/.git").read_text())
    assert desk.ask("execplan -C ../claimed next").kind == "deny"


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("EXECPLAN_AGENT=ann execplan next --claim", "allow"),
        ("EXECPLAN_AGENT=agent-1.b execplan done 1", "allow"),
        ("EXECPLAN_AGENT=ann execplan search parser", "allow"),
        ("git status && EXECPLAN_AGENT=ann execplan -C . next", "allow"),
        ("EXECPLAN_AGENT=own execplan decide x --why y", "allow"),
        ("EXECPLAN_AGENT=ann execplan decide x --why y", "deny"),
        ("EXECPLAN_AGENT=ann execplan -q decide x --why y", "deny"),
        ("EXECPLAN_AGENT=ann execplan archive", "deny"),
        ("EXECPLAN_AGENT=ann execplan approve", "deny"),
        ("EXECPLAN_AGENT='' execplan next", "deny"),
        ("EXECPLAN_AGENT='a b' execplan next", "deny"),
        ("EXECPLAN_AGENT=-a execplan next", "deny"),
        ('EXECPLAN_AGENT="$USER" execplan next', "deny"),
        ("EXECPLAN_AGENT=ann HOME=/tmp execplan next", "deny"),
        ("EXECPLAN_AGENT=ann EXECPLAN_AGENT=bo execplan next", "deny"),
        ("env EXECPLAN_AGENT=ann execplan next", "deny"),
        ("EXECPLAN_AGENT=ann timeout 5 execplan next", "deny"),
        ("EXECPLAN_AGENT=ann make all", "deny"),
        ("export EXECPLAN_AGENT=ann && execplan next", "deny"),
    ],
)
def test_an_agent_names_itself_where_it_may_give_its_name(
    desk: GuardRepository, monkeypatch: pytest.MonkeyPatch, command: str, kind: str
) -> None:
    monkeypatch.setenv("EXECPLAN_AGENT", "own")
    assert desk.ask(command).kind == kind


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ('execplan decide "Use `foo`" --why x', "`` `…` `` is expanded; put the text in single quotes"),
        ('execplan decide "costs $5" --why x', "`$5` is expanded; put the text in single quotes"),
        ('execplan decide "$(date)" --why x', "`$(…)` is expanded; put the text in single quotes"),
        ("execplan add *.md", "a glob pattern; put the text in single quotes"),
        ("execplan decide don't --why x", r"an unclosed quote; write ' in a text as '\''"),
        ("execplan set Purpose - <<EOF\n$x\nEOF", "a here-document with a quoted delimiter"),
        ("execplan show > x.md", "its output can't go to a file"),
        ('cd "$(execplan status)"', "call it alone, not in $(…)"),
        ("HOME=/tmp execplan show", "leave out the variable HOME"),
        ("EXECPLAN_AGENT=Pat execplan decide x --why y", "in whose name `execplan decide` writes: leave out EXECPLAN_AGENT"),
        ("EXECPLAN_AGENT='a b' execplan next", "EXECPLAN_AGENT must be a plain name"),
        (".venv/bin/execplan show", "not as .venv/bin/execplan"),
        ("make x | execplan note x --excerpt -", "only commands that read can stand before the pipe"),
        ("execplan done 1 --verify --yes", "`execplan done` with --yes: leave it out, or ask a person to run it"),
        ("execplan done 1 --verify -y", "`execplan done` with -y: leave it out"),
        ("execplan archive --force", "`execplan archive` with --force: leave it out"),
        ("execplan done 1 --new-option", "agents can't use `execplan done` with --new-option"),
        ("execplan -C /tmp show", "execplan -C leads outside the repository"),
    ],
)  # fmt: skip
def test_a_denial_says_what_was_not_understood_and_how_to_write_it(
    desk: GuardRepository, command: str, part: str
) -> None:
    answer = desk.ask(command)
    assert answer.kind == "deny"
    assert part in answer.why


def test_the_texts_in_single_quotes_that_a_denial_asks_for_are_allowed(desk: GuardRepository) -> None:
    for command in (
        "execplan decide 'Use `foo`' --why 'costs $5'",
        r"execplan decide 'don'\''t' --why x",
        "execplan set Purpose - <<'EOF'\n$x `y`\nEOF",
    ):
        assert desk.ask(command).kind == "allow", command
