"""Steps that write one file: made, changed, deleted, as the dry run has shown, or refused with all as it was."""

from __future__ import annotations

import os
import stat

import pytest

from execplan.core.errors import CONFLICT, ExecplanError
from execplan.execution.approvals.disk_world import SnapshotWorld
from execplan.execution.engine.journal.journal_entries import StateChange, change_kind
from execplan.execution.engine.steps import file_writes
from execplan.execution.engine.steps.file_writes import undo_changes
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.evaluate import evaluate
from execplan.execution.world import ABSENT, FILE, LINK
from tests.conftest import Folder
from tests.execution.engine.step_repository import StepRepository

CREATE = "```python {#api type=create_file target=src/new/api.py}\ndef ping():\n    return 1\n```\n\n"
DELETE = "```text {#drop type=delete_file target=src/old.py}\nNobody calls it.\n```\n\n"
LINES = "```python {#lines type=modify_file target=src/app.py lines=2-2}\nB = 2\nC = 3\n```\n\n"
PATCH = "```diff {#patch type=modify_file target=src/app.py}\n@@ -1,2 +1,2 @@\n-A = 1\n+A = 10\n B = 1\n```\n\n"
APP = "A = 1\nB = 1\n"


def make_step_repo(repo: Folder, steps: str, **policy: object) -> StepRepository:
    """A repository with an old file and an application."""
    repo.write("src/app.py", APP).chmod(0o640)
    repo.write("src/old.py", "x = 1\n").chmod(0o755)
    return StepRepository(repo, steps, **policy)


def test_a_file_is_made_with_its_folders(repo: Folder) -> None:
    step_repo = make_step_repo(repo, CREATE)
    assert step_repo.prepare("api").before.keys() == {"src/new", "src/new/api.py"}
    result = step_repo.perform("api")
    assert (result.ok, result.cause, result.exit, result.outside) == (True, "", None, "")
    assert result.folders == ("src/new",)
    (change,) = result.changes
    assert (change_kind(change), change.path, change.added, change.removed) == ("created", "src/new/api.py", 2, 0)
    assert step_repo.path("src/new/api.py").read_text() == "def ping():\n    return 1\n"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(step_repo.path("src/new/api.py").stat().st_mode) == 0o644 & ~umask == change.after.mode
    assert result.checks._asdict() == {"pre": "passed", "post": "passed", "tests_run": 0, "tests_passed": 0}
    assert "+def ping():" in step_repo.transcript(result)
    undo_changes(step_repo.context, result.changes, result.folders)
    assert not step_repo.path("src/new").exists()


def test_never_over_one_that_is_there(repo: Folder) -> None:
    step_repo = make_step_repo(repo, CREATE)
    step_repo.repo.write("src/new/api.py", "mine\n")
    with pytest.raises(ExecplanError) as caught:
        step_repo.prepare("api")
    assert (caught.value.exit, caught.value.code) == (CONFLICT, "drifted")
    assert "src/new/api.py: was absent and is now a file" in caught.value.candidates
    step_repo.expected["src/new/api.py"] = step_repo.context.workspace.state("src/new/api.py")
    result = step_repo.perform("api")
    assert (result.ok, result.cause, result.reason) == (False, "error", "src/new/api.py already exists")
    assert step_repo.path("src/new/api.py").read_text() == "mine\n"
    assert result.changes == ()


def test_a_file_is_deleted_and_comes_back_with_its_mode(repo: Folder) -> None:
    step_repo = make_step_repo(repo, DELETE)
    result = step_repo.perform("drop")
    assert (result.changes[0].removed, result.changes[0].after.kind) == (1, ABSENT)
    assert not step_repo.path("src/old.py").exists()
    undo_changes(step_repo.context, result.changes, result.folders)
    assert stat.S_IMODE(step_repo.path("src/old.py").stat().st_mode) == 0o755


def test_a_link_is_deleted_and_what_it_leads_to_is_not(repo: Folder) -> None:
    repo.write("src/real.py", "r\n")
    (repo.path / "src/old.py").symlink_to("real.py")
    step_repo = StepRepository(repo, DELETE)
    result = step_repo.perform("drop")
    assert result.ok
    assert result.changes[0].before.kind == LINK
    assert step_repo.path("src/real.py").exists()
    undo_changes(step_repo.context, result.changes, result.folders)
    assert os.readlink(step_repo.path("src/old.py")) == "real.py"


@pytest.mark.parametrize(
    ("steps", "name", "text", "lines"),
    [(LINES, "lines", "A = 1\nB = 2\nC = 3\n", (2, 1)), (PATCH, "patch", "A = 10\nB = 1\n", (1, 1))],
)
def test_a_file_is_changed_and_keeps_its_mode(
    repo: Folder, steps: str, name: str, text: str, lines: tuple[int, int]
) -> None:
    step_repo = make_step_repo(repo, steps)
    result = step_repo.perform(name)
    assert step_repo.path("src/app.py").read_text() == text
    assert stat.S_IMODE(step_repo.path("src/app.py").stat().st_mode) == 0o640
    assert [(change.added, change.removed) for change in result.changes] == [lines]
    undo_changes(step_repo.context, result.changes, result.folders)
    assert step_repo.path("src/app.py").read_text() == APP


def test_a_hunk_that_does_not_fit_is_named(repo: Folder) -> None:
    step_repo = make_step_repo(repo, PATCH)
    step_repo.repo.write("src/app.py", "A = 2\nB = 1\n")
    step_repo.expected["src/app.py"] = step_repo.context.workspace.state("src/app.py")
    result = step_repo.perform("patch")
    assert (result.ok, result.cause) == (False, "error")
    assert "hunk 1 (@@ -1,2 +1,2 @@) doesn't match: line 1 is 'A = 2', not 'A = 1'" in result.reason
    assert step_repo.path("src/app.py").read_text() == "A = 2\nB = 1\n"
    assert "failed: hunk 1" in step_repo.transcript(result)


def test_what_does_not_parse_fails_its_step_unless_it_says_so(repo: Folder) -> None:
    bad = CREATE.replace("def ping():", "def ping(:")
    result = make_step_repo(repo, bad).perform("api")
    assert (result.ok, result.cause, result.checks.post) == (False, "syntax", "failed")
    assert "src/new/api.py does not parse as Python: line 1" in result.reason
    assert [change.path for change in result.changes] == ["src/new/api.py"]
    for fence, policy in ((bad.replace("type=", "syntax-check=false type="), {}), (bad, {"off": ("syntax",)})):
        (repo.path / "src/new/api.py").unlink()
        (repo.path / "src/new").rmdir()
        assert make_step_repo(repo, fence, **policy).perform("api").ok


def test_what_drifted_is_refused_with_each_file(repo: Folder) -> None:
    step_repo = make_step_repo(repo, CREATE + DELETE.replace("#drop", "#drop inputs=src/app.py,src"))
    step_repo.repo.write("src/app.py", "other\n")
    step_repo.path("src/old.py").chmod(0o600)
    with pytest.raises(ExecplanError) as caught:
        step_repo.prepare("drop")
    assert caught.value.exit == CONFLICT
    drifted = caught.value.candidates
    assert [line.partition(":")[0] for line in drifted] == ["src/old.py", "src/app.py"]
    assert drifted[0] == "src/old.py: mode 755 → 600"
    assert step_repo.path("src/old.py").exists()


def test_a_folder_that_became_a_link_or_a_file_is_refused(repo: Folder) -> None:
    step_repo = make_step_repo(repo, CREATE)
    step_repo.path("src/new").symlink_to(step_repo.repo.path.parent)
    with pytest.raises(ExecplanError) as caught:
        step_repo.prepare("api")
    assert caught.value.code == "drifted"
    step_repo.path("src/new").unlink()
    step_repo.path("src/new").write_text("a file")
    with pytest.raises(ExecplanError) as caught:
        step_repo.prepare("api")
    assert caught.value.candidates == ("src/new: is not a directory, but the step writes in it",)


def test_a_folder_that_an_earlier_step_has_made_is_no_drift(repo: Folder) -> None:
    step_repo = make_step_repo(repo, CREATE + DELETE.replace("#drop", "#drop inputs=src/new,src/new/api.py"))
    assert step_repo.perform("api").ok
    assert step_repo.perform("drop").ok


def test_a_file_that_changes_behind_the_check_is_left_alone(repo: Folder) -> None:
    step_repo = make_step_repo(repo, PATCH)
    prepared = step_repo.prepare("patch")
    step_repo.repo.write("src/app.py", "mine\n")
    from execplan.execution.engine.steps.step_execution import perform_step

    result = perform_step(step_repo.context, step_repo.step("patch"), 1, prepared)
    assert (result.ok, result.cause) == (False, "drift")
    assert step_repo.path("src/app.py").read_text() == "mine\n"


def test_a_full_disk_fails_the_step_and_leaves_nothing(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    step_repo = make_step_repo(repo, CREATE)

    def full(self: WorkspaceFiles, path: str, data: bytes, mode: int) -> tuple[str, ...]:
        os.mkdir(os.path.join(self.project.root, "src/new"))
        raise ExecplanError("io-error", f"can't write {path}: no space left on device")

    monkeypatch.setattr(WorkspaceFiles, "write", full)
    result = step_repo.perform("api")
    assert (result.ok, result.cause, result.changes, result.folders) == (False, "error", (), ())
    assert "no space left" in result.reason
    assert not step_repo.path("src/new").exists()


def test_the_dry_run_shows_what_the_run_does(repo: Folder) -> None:
    step_repo = make_step_repo(repo, CREATE + LINES + PATCH.replace("B = 1", "B = 2") + DELETE)
    diffs = [
        evaluated.dry_run.diff
        for evaluated in evaluate(
            step_repo.document, SnapshotWorld(step_repo.context.run_paths.project), step_repo.policy
        ).steps
    ]
    for name, text in zip(["api", "lines", "patch", "drop"], diffs, strict=True):
        result = step_repo.perform(name)
        assert result.ok, result
        printed = [line[6:] for line in step_repo.transcript(result).split("\n") if line.startswith("    | ")]
        assert "\n".join(printed) == text.rstrip("\n")


def test_the_umask_counts_for_what_is_new(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_writes, "_umask", lambda: 0o077)
    step_repo = make_step_repo(repo, CREATE + LINES)
    assert step_repo.perform("api").changes[0].after.mode == 0o600
    assert step_repo.perform("lines").changes[0].after.mode == 0o640


def test_kinds_of_changes_are_told(repo: Folder) -> None:
    result = make_step_repo(repo, LINES).perform("lines")
    assert [isinstance(change, StateChange) and change_kind(change) for change in result.changes] == ["modified"]
    assert result.changes[0].before.kind == result.changes[0].after.kind == FILE
