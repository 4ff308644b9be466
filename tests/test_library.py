"""The names that `import execplan` offers, and the generated page about them."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

import execplan
from execplan import ExecplanError, Plan, Project, WriteOptions
from tests.conftest import Folder
from tests.plans import CLEAN

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "api.md"


def test_import_loads_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import execplan; print(*(set(sys.modules) - before))"
    output = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert output.stdout.split() == ["execplan"]


@pytest.mark.parametrize("name", execplan.__all__)
def test_each_name_is_there_and_documented(name: str) -> None:
    public = getattr(execplan, name)
    assert name in dir(execplan)
    if name != "__version__":
        assert public.__doc__
        assert f"{name}" in PAGE.read_text(encoding="utf-8")


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = execplan.no_such_name


def test_the_examples_of_the_page(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    for file in (repo.path / ".agent" / "execplans").glob("*.md"):
        file.unlink()
    text = PAGE.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
    test = doctest.DocTestParser().get_doctest(text, {}, "api.md", str(PAGE), 0)
    results = doctest.DocTestRunner().run(test)
    assert (results.failed, results.attempted > 5) == (0, True)


COMMANDS = [
    (["done", "2"], lambda plan: plan.done(2)),
    (["reopen", "1"], lambda plan: plan.reopen("1")),
    (["add", "Read tables.", "--after", "1"], lambda plan: plan.add("Read tables.", after="1")),
    (
        ["split", "2", "--done", "One half.", "--remaining", "Another."],
        lambda plan: plan.split(2, done="One half.", remaining="Another."),
    ),
    (["reword", "2", "Build the line parser."], lambda plan: plan.reword(2, "Build the line parser.")),
    (
        ["decide", "Lines.", "--why", "Simple.", "--author", "Ann"],
        lambda plan: plan.decide("Lines.", why="Simple.", author="Ann"),
    ),
    (["discover", "Slow.", "--evidence", "2 s"], lambda plan: plan.discover("Slow.", evidence="2 s")),
    (["outcome", "It reads."], lambda plan: plan.outcome("It reads.")),
    (["note", "Seen:", "--excerpt", "a\nb"], lambda plan: plan.note("Seen:", excerpt=["a", "b"])),
    (["revise", "Rewritten."], lambda plan: plan.revise("Rewritten.")),
    (["set", "Plan of Work", "New text."], lambda plan: plan.set("Plan of Work", ["New text."])),
]


@pytest.mark.parametrize(("arguments", "method"), COMMANDS, ids=[arguments[0] for arguments, _ in COMMANDS])
def test_a_method_writes_what_its_command_writes(
    repo: Folder, monkeypatch: pytest.MonkeyPatch, arguments: list[str], method: object
) -> None:
    for name, value in {**repo.env, "SOURCE_DATE_EPOCH": "1767225600"}.items():
        monkeypatch.setenv(name, value)
    path = repo.plan(CLEAN)
    repo.run(*arguments, SOURCE_DATE_EPOCH="1767225600")
    by_command = Path(path).read_bytes()
    assert by_command != CLEAN.encode()
    Path(path).write_text(CLEAN, encoding="utf-8")
    plan = Project.find(repo.path).plan()
    assert callable(method)
    result = method(plan)
    assert (Path(path).read_bytes(), result.changed, result.digest) == (by_command, True, plan.digest)


def test_a_plan_is_made_moved_and_found(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    project = Project.init(repo.path)
    plan = project.new("Read tables", tasks=["One", "Two"])
    assert os.path.isfile(plan.path)
    assert plan.id in [other.id for other in project.plans()]
    assert (plan.state, plan.title, plan.is_archived) == ("draft", "Read tables", False)
    preview = plan.done("One", options=WriteOptions(dry_run=True))
    assert "+- [x]" in preview.diff
    assert [task.state for task in plan.tasks] == ["open", "open"]
    old = plan.digest
    plan.done("One", "Two")
    with pytest.raises(ExecplanError) as caught:
        plan.outcome("Late.", options=WriteOptions(if_match=old))
    assert caught.value.exit == 4
    plan.undo()
    assert plan.digest == old
    plan.rename("Read all tables")
    assert plan.title == "Read all tables"
    assert os.path.isfile(plan.path)
    with pytest.raises(ExecplanError) as caught:
        plan.archive()
    assert caught.value.code == "not-finished"
    plan.archive(abandoned=True, reason="Not needed.")
    assert (plan.state, plan.path in [other.path for other in project.plans(archived=True)]) == ("archived", True)
    plan.restore()
    assert not plan.is_archived
    assert Plan.find(plan.id, repo.path).path == plan.path


def test_text_without_a_project() -> None:
    assert execplan.parse(CLEAN).title == "Build the parser"
    assert execplan.lint(CLEAN) == []
    assert [finding.code for finding in execplan.lint(CLEAN.replace("- [x]", "- [X]x"))] != []
