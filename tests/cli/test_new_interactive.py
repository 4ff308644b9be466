"""`new --interactive`: a question for each section, on a terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from execplan.plan import outline, reader
from tests.cli.terminal import Terminal
from tests.conftest import ENVIRONMENT, Folder

if TYPE_CHECKING:
    from execplan.plan.model import ParsedPlan

PATH = ".agent/execplans/2026-01-01_build-the-parser.md"
ALL = list(outline.NAMES)


@pytest.fixture
def here(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> Folder:
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
    return Terminal(main, columns=100, **env)


def section(plan: ParsedPlan, name: str) -> str:
    """What a section holds."""
    (found,) = [each for each in plan.sections if each.name == name]
    return "\n".join(plan.text.lines[found.start + 1 : found.end]).strip()


def the_plan(folder: Folder) -> ParsedPlan:
    return reader.read((folder.path / PATH).read_bytes())


def test_each_section_is_asked_for(here: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = begin(monkeypatch, "Build the parser", "-i")
    typed = {
        outline.PURPOSE: "Plans can be read.\nBy everybody.\n\n",
        outline.PROGRESS: "Read lines\n- Write tests\n\n",
        outline.SURPRISES: "Tabs count\n\nA test fails\n",
        outline.DECISIONS: "Read line by line\n\nA task is a line\n",
        outline.OUTCOMES: "\n",
        outline.CONTEXT: "The reader is `src/reader.py`.\n\n",
    }
    for number, name in enumerate(ALL, 1):
        terminal.until(f"{name} ({number} of {len(ALL)})")
        terminal.type(typed.get(name, "\n"))
    shown = terminal.end()
    assert shown.exit == 0, shown.raw
    assert any(line.strip().startswith("Who can do what once this is finished") for line in shown.lines)
    assert "filled 5 of 12 sections" in shown.lines
    assert PATH in shown.lines
    plan = the_plan(here)
    assert section(plan, outline.PURPOSE) == "Plans can be read.\nBy everybody."
    assert [task.text for task in plan.tasks] == ["Read lines", "Write tests"]
    assert [(each.text, each.evidence) for each in plan.discoveries] == [("Tabs count", "A test fails")]
    (decision,) = plan.decisions
    assert (decision.text, decision.rationale, decision.author) == ("Read line by line", "A task is a line", "Ann")
    assert section(plan, outline.CONTEXT) == "The reader is `src/reader.py`."
    left = {each.name for at in plan.placeholder_lines for each in plan.sections if each.start < at < each.end}
    assert left == set(ALL) - set(typed) | {outline.OUTCOMES}


def test_what_is_given_is_not_asked_for(here: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = begin(monkeypatch, "Build the parser", "-i", "--purpose", "Plans can be read.", "--task", "Read lines")
    terminal.until(f"{outline.SURPRISES} (1 of {len(ALL) - 2})")
    terminal.type("q\n")
    assert terminal.end().exit == 0


def test_the_title_is_asked_for(here: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = begin(monkeypatch, "--interactive")
    terminal.until("Title: ")
    terminal.type("Build the parser\n")
    terminal.until("(1 of")
    terminal.type("q\n")
    assert terminal.end().exit == 0
    assert the_plan(here).title == "Build the parser"


def test_the_editor_is_opened_with_the_question(here: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    here.write(
        "../ed.sh",
        'grep -q "Who can do what" "$1" || exit 1\nprintf "### First\\n\\nOne.\\n" >"$1.new"\ncat "$1" >>"$1.new"\nmv "$1.new" "$1"\n',
    )
    terminal = begin(monkeypatch, "Build the parser", "-i", EDITOR=f"sh {here.path.parent}/ed.sh")
    terminal.until("(1 of")
    terminal.type("e\n")
    terminal.until("(2 of")
    terminal.type("q\n")
    assert terminal.end().exit == 0
    assert section(the_plan(here), outline.PURPOSE) == "### First\n\nOne."


def test_an_answer_that_does_not_fit_is_asked_for_again(here: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = begin(monkeypatch, "Build the parser", "-i")
    terminal.until("(1 of")
    terminal.type("## Another section\n\n")
    terminal.until("hint: ")
    terminal.type("Plans can be read.\n\n")
    terminal.until("(2 of")
    terminal.type("q\n")
    shown = terminal.end()
    assert "a heading of level 2" in shown.raw
    assert section(the_plan(here), outline.PURPOSE) == "Plans can be read."


@pytest.mark.parametrize(("keys", "status"), [("\x03", 130), ("\x04", 0)])
def test_answers_are_kept_when_it_is_stopped(
    here: Folder, monkeypatch: pytest.MonkeyPatch, keys: str, status: int
) -> None:
    terminal = begin(monkeypatch, "Build the parser", "-i")
    terminal.until("(1 of")
    terminal.type("Plans can be read.\n\n")
    terminal.until("(2 of")
    terminal.type(keys)
    shown = terminal.end()
    assert shown.exit == status, shown.raw
    assert "Traceback" not in shown.raw
    assert (f"execplan: {PATH} has your answers so far" in shown.lines) == (status == 130)
    assert section(the_plan(here), outline.PURPOSE) == "Plans can be read."


def test_it_is_committed_once_at_the_end(here: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = begin(monkeypatch, "Build the parser", "-i", "--commit")
    terminal.until("(1 of")
    terminal.type("Plans can be read.\n\n")
    terminal.until("(2 of")
    terminal.type("q\n")
    shown = terminal.end()
    assert shown.exit == 0, shown.raw
    assert "committed " in shown.raw
    assert here.git("log", "--format=%s").splitlines() == [
        "plan(2026-01-01_build-the-parser): new, Build the parser",
        "First",
    ]
    assert here.git("status", "--porcelain") == ""
    assert "Plans can be read." in here.git("show", f"HEAD:{PATH}")


def test_without_git(plain: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(plain.path)
    terminal = begin(monkeypatch, "Build the parser", "-i", SOURCE_DATE_EPOCH=ENVIRONMENT["SOURCE_DATE_EPOCH"])
    terminal.until("(1 of")
    terminal.type("Plans can be read.\n\n")
    terminal.until("(2 of")
    terminal.type("q\n")
    shown = terminal.end()
    assert shown.exit == 0, shown.raw
    assert section(the_plan(plain), outline.PURPOSE) == "Plans can be read."


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
    assert ("terminal, and there is none" in result.err) == (code == "no-terminal")
    assert os.listdir(repo.path / ".agent/execplans") == []
