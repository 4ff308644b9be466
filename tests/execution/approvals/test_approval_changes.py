"""What has changed since an approval: steps as diffs, files as far as a commit has what was approved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.in_process_repository import NAME, STEPS, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository whose plan is approved."""
    repository = InProcessRepository(tmp_path / "repo", monkeypatch)
    repository.stub("make")
    repository.write("check.sh", "echo checked\n")
    repository.plan(STEPS.replace("```text {#drop", "```sh {#check}\nsh check.sh\n```\n\n```text {#drop"))
    repository.commit()
    repository.approve()
    return repository


def _text(desk: InProcessRepository) -> str:
    return (desk.path / f".agent/execplans/{NAME}.md").read_text()


def _changes(desk: InProcessRepository) -> dict[str, Any] | None:
    changes: dict[str, Any] | None = desk.data("evaluate")["changes"]
    return changes


def test_nothing_has_changed(desk: InProcessRepository) -> None:
    assert _changes(desk) is None
    assert "changed since" not in desk.type("evaluate").out
    desk.data("done", "1")
    assert _changes(desk) is None


def test_steps_that_were_added_removed_and_changed(desk: InProcessRepository) -> None:
    text = _text(desk).replace("make parser", "make parser all").replace("#drop", "#delete")
    desk.plan(text.replace("X = 1", "X = 1\nY = 2"))
    changes = _changes(desk)
    assert changes is not None
    assert [(step["id"], step["change"]) for step in changes["steps"]] == [
        ("drop", "removed"),
        ("build", "changed"),
        ("api", "changed"),
        ("delete", "added"),
    ]
    diffs = {step["id"]: step["diff"].splitlines() for step in changes["steps"]}
    assert {"-runs: make parser", "+runs: make parser all"} <= set(diffs["build"])
    assert "+Y = 2" in diffs["api"]
    assert " X = 1" in diffs["api"]
    assert changes["files"] == []
    out = desk.type("evaluate").out
    assert out.startswith("changed since Ann approved ")
    assert "  step build: changed\n     @@" in out
    assert "     +runs: make parser all\n" in out


def test_every_setting_of_a_step_is_compared(desk: InProcessRepository) -> None:
    desk.plan(_text(desk).replace("#build inputs=Makefile", "#build inputs=Makefile timeout=7 network"))
    changes = _changes(desk)
    assert changes is not None
    (step,) = changes["steps"]
    assert step["id"] == "build"
    for word in ("timeout_s", "network"):
        assert word in step["diff"], step["diff"]


def test_files_that_were_edited(desk: InProcessRepository) -> None:
    desk.write("Makefile", "parser:\n\techo new\n")
    desk.write("check.sh", "echo checked\nrm -rf build\n")
    (desk.path / "src/old.py").chmod(0o755)
    changes = _changes(desk)
    assert changes is not None
    assert changes["steps"] == []
    files = {change["path"]: change for change in changes["files"]}
    assert files.keys() == {"Makefile", "check.sh", "src/old.py"}
    assert "+\techo new" in files["Makefile"]["diff"]
    assert "+rm -rf build" in files["check.sh"]["diff"]
    assert (files["src/old.py"]["why"], files["src/old.py"]["diff"]) == ("mode 644 → 755", "")
    assert changes["other"] == []


def test_a_file_that_was_approved_before_it_was_committed_has_no_diff(desk: InProcessRepository) -> None:
    desk.write("Makefile", "parser:\n\techo approved\n")
    desk.approve()
    desk.write("Makefile", "parser:\n\techo new\n")
    changes = _changes(desk)
    assert changes is not None
    (file,) = changes["files"]
    assert (file["path"], file["diff"]) == ("Makefile", "")
    assert file["why"].startswith("different content")


def test_the_policy_and_other_programs(desk: InProcessRepository) -> None:
    desk.write("pyproject.toml", '[tool.execplan.execution]\nperson_from = "LOW"\n')
    changes = _changes(desk)
    assert changes is not None
    (line,) = changes["other"]
    assert line.startswith("the policy: different version")


def test_the_approved_steps_are_found_after_another_compilation(desk: InProcessRepository) -> None:
    desk.commit()
    desk.plan(_text(desk).replace("X = 1", "X = 3"))
    desk.data("compile")
    changes = _changes(desk)
    assert changes is not None
    assert "+X = 3" in changes["steps"][0]["diff"]


def test_without_the_approved_steps_it_says_so(desk: InProcessRepository) -> None:
    desk.plan(_text(desk).replace("X = 1", "X = 3"))
    desk.data("compile")
    changes = _changes(desk)
    assert changes is not None
    assert changes["steps"] is None
    assert "the approved ones are not kept" in desk.type("evaluate").out


def test_an_altered_approval_is_not_compared_with(desk: InProcessRepository) -> None:
    path = desk.file()
    path.write_text(path.read_text().replace('"approver": "Ann"', '"approver": "Bob"'))
    desk.plan(_text(desk).replace("X = 1", "X = 3"))
    assert _changes(desk) is None


def test_escapes_in_a_changed_step_are_not_sent_to_a_terminal(desk: InProcessRepository) -> None:
    desk.plan(_text(desk).replace("X = 1", "X = 1 # \x1b[2J"))
    out = desk.type("evaluate").out
    assert "+X = 1 #" in out
    assert "\x1b" not in out
