"""`new --interactive`: a question for each section, on a terminal."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from execplan.core.plan import outline, reader
from tests.cli.terminal import Terminal
from tests.conftest import ENVIRONMENT, Folder

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan

PATH = ".agent/execplans/2026-01-01_build-the-parser.md"
SECTIONS = list(outline.NAMES)


@pytest.fixture
def current_repo(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A repository without a plan, in which commands run."""
    for name in ("EXECPLAN_PLAN", "EXECPLAN_AGENT", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**ENVIRONMENT, **repo.env}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    return repo


def begin(patch: pytest.MonkeyPatch, *arguments: str, **env: str) -> Terminal:
    """Start the command on a terminal."""
    from execplan.cli.main import main

    patch.setattr(sys, "argv", ["execplan", "new", *arguments])
    return Terminal(main, columns=100, env=env)


def section_text(plan: ParsedPlan, name: str) -> str:
    """What a section holds."""
    (section,) = [section for section in plan.sections if section.name == name]
    return "\n".join(plan.text.lines[section.start + 1 : section.end]).strip()


def parse_plan(folder: Folder) -> ParsedPlan:
    return reader.read((folder.path / PATH).read_bytes())


def test_each_section_is_asked_for(current_repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = begin(monkeypatch, "Build the parser", "-i")
    typed = {
        outline.PURPOSE: "Plans can be read.\nBy everybody.\n\n",
        outline.PROGRESS: "Read lines\n- Write tests\n\n",
        outline.SURPRISES: "Tabs count\n\nA test fails\n",
        outline.DECISIONS: "Read line by line\n\nA task is a line\n",
        outline.OUTCOMES: "\n",
        outline.CONTEXT: "The reader is `src/reader.py`.\n\n",
    }
    for number, name in enumerate(SECTIONS, 1):
        terminal.until(f"{name} ({number} of {len(SECTIONS)})")
        terminal.type(typed.get(name, "\n"))
    result = terminal.end()
    assert result.exit == 0, result.raw
    assert any(line.strip().startswith("What can someone do afterward that they") for line in result.lines)
    assert "filled in 5 of 12 sections" in result.lines
    assert PATH in result.lines
    plan = parse_plan(current_repo)
    assert section_text(plan, outline.PURPOSE) == "Plans can be read.\nBy everybody."
    assert [task.text for task in plan.tasks] == ["Read lines", "Write tests"]
    assert [(discovery.text, discovery.evidence) for discovery in plan.discoveries] == [("Tabs count", "A test fails")]
    (decision,) = plan.decisions
    assert (decision.text, decision.rationale, decision.author) == ("Read line by line", "A task is a line", "Ann")
    assert section_text(plan, outline.CONTEXT) == "The reader is `src/reader.py`."
    unfilled = {
        section.name for at in plan.placeholder_lines for section in plan.sections if section.start < at < section.end
    }
    assert unfilled == set(SECTIONS) - set(typed) | {outline.OUTCOMES}


def test_what_is_given_is_not_asked_for(current_repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = begin(monkeypatch, "Build the parser", "-i", "--purpose", "Plans can be read.", "--task", "Read lines")
    terminal.until(f"{outline.SURPRISES} (1 of {len(SECTIONS) - 2})")
    terminal.type("q\n")
    assert terminal.end().exit == 0


def test_the_title_is_asked_for(current_repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = begin(monkeypatch, "--interactive")
    terminal.until("Title: ")
    terminal.type("Build the parser\n")
    terminal.until("(1 of")
    terminal.type("q\n")
    assert terminal.end().exit == 0
    assert parse_plan(current_repo).title == "Build the parser"


def test_the_editor_is_opened_with_the_question(current_repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    current_repo.write(
        "../ed.sh",
        'grep -q "What can someone do" "$1" || exit 1\nprintf "### First\\n\\nOne.\\n" >"$1.new"\ncat "$1" >>"$1.new"\nmv "$1.new" "$1"\n',
    )
    terminal = begin(monkeypatch, "Build the parser", "-i", EDITOR=f"sh {current_repo.path.parent}/ed.sh")
    terminal.until("(1 of")
    terminal.type("e\n")
    terminal.until("(2 of")
    terminal.type("q\n")
    assert terminal.end().exit == 0
    assert section_text(parse_plan(current_repo), outline.PURPOSE) == "### First\n\nOne."


def test_an_answer_that_does_not_fit_is_asked_for_again(current_repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = begin(monkeypatch, "Build the parser", "-i")
    terminal.until("(1 of")
    terminal.type("## Another section\n\n")
    terminal.until("hint: ")
    terminal.type("Plans can be read.\n\n")
    terminal.until("(2 of")
    terminal.type("q\n")
    result = terminal.end()
    assert "a heading of level 2" in result.raw
    assert section_text(parse_plan(current_repo), outline.PURPOSE) == "Plans can be read."


@pytest.mark.parametrize(("keys", "status"), [("\x03", 130), ("\x04", 0)])
def test_answers_are_kept_when_it_is_stopped(
    current_repo: Folder, monkeypatch: pytest.MonkeyPatch, keys: str, status: int
) -> None:
    terminal = begin(monkeypatch, "Build the parser", "-i")
    terminal.until("(1 of")
    terminal.type("Plans can be read.\n\n")
    terminal.until("(2 of")
    terminal.type(keys)
    result = terminal.end()
    assert result.exit == status, result.raw
    assert "Traceback" not in result.raw
    assert (f"execplan: your answers so far are in {PATH}" in result.lines) == (status == 130)
    assert section_text(parse_plan(current_repo), outline.PURPOSE) == "Plans can be read."


def test_a_plan_without_answers_can_be_dropped_when_it_is_stopped(
    current_repo: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = begin(monkeypatch, "Build the parser", "-i")
    terminal.until("(1 of")
    terminal.type("\x03")
    (hint,) = [line for line in terminal.end().lines if line.startswith("hint: ")]
    assert current_repo.run(*shlex.split(hint.partition("execplan ")[2])).exit == 0
    assert not (current_repo.path / PATH).exists()


def test_it_is_committed_once_at_the_end(current_repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = begin(monkeypatch, "Build the parser", "-i", "--commit")
    terminal.until("(1 of")
    terminal.type("Plans can be read.\n\n")
    terminal.until("(2 of")
    terminal.type("q\n")
    result = terminal.end()
    assert result.exit == 0, result.raw
    assert "committed " in result.raw
    assert current_repo.git("log", "--format=%s").splitlines() == [
        "plan(2026-01-01_build-the-parser): new, Build the parser",
        "First",
    ]
    assert current_repo.git("status", "--porcelain") == ""
    assert "Plans can be read." in current_repo.git("show", f"HEAD:{PATH}")


def test_without_git(plain: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(plain.path)
    terminal = begin(monkeypatch, "Build the parser", "-i", SOURCE_DATE_EPOCH=ENVIRONMENT["SOURCE_DATE_EPOCH"])
    terminal.until("(1 of")
    terminal.type("Plans can be read.\n\n")
    terminal.until("(2 of")
    terminal.type("q\n")
    result = terminal.end()
    assert result.exit == 0, result.raw
    assert section_text(parse_plan(plain), outline.PURPOSE) == "Plans can be read."


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["A title"], "no-terminal"),
        (["A title", "--json"], "usage"),
        (["A title", "--dry-run"], "usage"),
        (["--from", "draft.md"], "usage"),
        (["--list-templates"], "usage"),
    ],
)
def test_where_nobody_can_be_asked_nothing_is_written(repo: Folder, arguments: list[str], code: str) -> None:
    result = repo.run("new", "-i", *arguments)
    assert result.exit == (6 if code == "no-terminal" else 2)
    assert ("--interactive requires a terminal" in result.err) == (code == "no-terminal")
    assert os.listdir(repo.path / ".agent/execplans") == []
