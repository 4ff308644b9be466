"""Steps that write one file: made, changed, deleted, as the dry run has shown, or refused with all as it was."""

from __future__ import annotations

import os
import stat

import pytest

from execplan.approvals.disk_world import SnapshotWorld
from execplan.engine.journal.journal_entries import Change, change_kind
from execplan.engine.steps import file_writes
from execplan.engine.steps.file_writes import undo_changes
from execplan.engine.workspace.workspace_files import WorkspaceFiles
from execplan.errors import CONFLICT, ENVIRONMENT, ExecplanError
from execplan.execution.evaluate import evaluate
from execplan.execution.world import ABSENT, FILE, LINK
from tests.conftest import Folder
from tests.engine.bench import Shop

CREATE = "```python {#api type=create_file target=src/new/api.py}\ndef ping():\n    return 1\n```\n\n"
DELETE = "```text {#drop type=delete_file target=src/old.py}\nNobody calls it.\n```\n\n"
LINES = "```python {#lines type=modify_file target=src/app.py lines=2-2}\nB = 2\nC = 3\n```\n\n"
PATCH = "```diff {#patch type=modify_file target=src/app.py}\n@@ -1,2 +1,2 @@\n-A = 1\n+A = 10\n B = 1\n```\n\n"
APP = "A = 1\nB = 1\n"


def shop(repo: Folder, steps: str, **policy: object) -> Shop:
    """A repository with an old file and an application."""
    repo.write("src/app.py", APP).chmod(0o640)
    repo.write("src/old.py", "x = 1\n").chmod(0o755)
    return Shop(repo, steps, **policy)


def test_a_file_is_made_with_its_folders(repo: Folder) -> None:
    made = shop(repo, CREATE)
    assert made.prepare("api").before.keys() == {"src/new", "src/new/api.py"}
    done = made.do("api")
    assert (done.ok, done.cause, done.exit, done.outside) == (True, "", None, "")
    assert done.folders == ("src/new",)
    (change,) = done.changes
    assert (change_kind(change), change.path, change.added, change.removed) == ("created", "src/new/api.py", 2, 0)
    assert made.path("src/new/api.py").read_text() == "def ping():\n    return 1\n"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(made.path("src/new/api.py").stat().st_mode) == 0o644 & ~umask == change.after.mode
    assert done.checks._asdict() == {"pre": "passed", "post": "passed", "tests_run": 0, "tests_passed": 0}
    assert "+def ping():" in made.transcript(done)
    undo_changes(made.bench, done.changes, done.folders)
    assert not made.path("src/new").exists()


def test_never_over_one_that_is_there(repo: Folder) -> None:
    made = shop(repo, CREATE)
    made.repo.write("src/new/api.py", "mine\n")
    with pytest.raises(ExecplanError) as caught:
        made.prepare("api")
    assert (caught.value.exit, caught.value.code) == (CONFLICT, "drifted")
    assert "src/new/api.py: was absent, is a file" in caught.value.candidates
    made.expected["src/new/api.py"] = made.bench.workspace.state("src/new/api.py")
    done = made.do("api")
    assert (done.ok, done.cause, done.reason) == (False, "error", "src/new/api.py is there already")
    assert made.path("src/new/api.py").read_text() == "mine\n"
    assert done.changes == ()


def test_a_file_is_deleted_and_comes_back_with_its_mode(repo: Folder) -> None:
    made = shop(repo, DELETE)
    done = made.do("drop")
    assert (done.changes[0].removed, done.changes[0].after.kind) == (1, ABSENT)
    assert not made.path("src/old.py").exists()
    undo_changes(made.bench, done.changes, done.folders)
    assert stat.S_IMODE(made.path("src/old.py").stat().st_mode) == 0o755


def test_a_link_is_deleted_and_what_it_leads_to_is_not(repo: Folder) -> None:
    repo.write("src/real.py", "r\n")
    (repo.path / "src/old.py").symlink_to("real.py")
    made = Shop(repo, DELETE)
    done = made.do("drop")
    assert done.ok
    assert done.changes[0].before.kind == LINK
    assert made.path("src/real.py").exists()
    undo_changes(made.bench, done.changes, done.folders)
    assert os.readlink(made.path("src/old.py")) == "real.py"


@pytest.mark.parametrize(
    ("steps", "name", "text", "lines"),
    [(LINES, "lines", "A = 1\nB = 2\nC = 3\n", (2, 1)), (PATCH, "patch", "A = 10\nB = 1\n", (1, 1))],
)
def test_a_file_is_changed_and_keeps_its_mode(
    repo: Folder, steps: str, name: str, text: str, lines: tuple[int, int]
) -> None:
    made = shop(repo, steps)
    done = made.do(name)
    assert made.path("src/app.py").read_text() == text
    assert stat.S_IMODE(made.path("src/app.py").stat().st_mode) == 0o640
    assert [(each.added, each.removed) for each in done.changes] == [lines]
    undo_changes(made.bench, done.changes, done.folders)
    assert made.path("src/app.py").read_text() == APP


def test_a_hunk_that_does_not_fit_is_named(repo: Folder) -> None:
    made = shop(repo, PATCH)
    made.repo.write("src/app.py", "A = 2\nB = 1\n")
    made.expected["src/app.py"] = made.bench.workspace.state("src/app.py")
    done = made.do("patch")
    assert (done.ok, done.cause) == (False, "error")
    assert "hunk 1 (@@ -1,2 +1,2 @@) does not fit: line 1 is 'A = 2', not 'A = 1'" in done.reason
    assert made.path("src/app.py").read_text() == "A = 2\nB = 1\n"
    assert "failed: hunk 1" in made.transcript(done)


def test_what_does_not_parse_fails_its_step_unless_it_says_so(repo: Folder) -> None:
    bad = CREATE.replace("def ping():", "def ping(:")
    done = shop(repo, bad).do("api")
    assert (done.ok, done.cause, done.checks.post) == (False, "syntax", "failed")
    assert "src/new/api.py does not parse as python: line 1" in done.reason
    assert [change.path for change in done.changes] == ["src/new/api.py"]
    for each, policy in ((bad.replace("type=", "syntax-check=false type="), {}), (bad, {"off": ("syntax",)})):
        (repo.path / "src/new/api.py").unlink()
        (repo.path / "src/new").rmdir()
        assert shop(repo, each, **policy).do("api").ok


def test_what_drifted_is_refused_with_each_file(repo: Folder) -> None:
    made = shop(repo, CREATE + DELETE.replace("#drop", "#drop inputs=src/app.py,src"))
    made.repo.write("src/app.py", "other\n")
    made.path("src/old.py").chmod(0o600)
    with pytest.raises(ExecplanError) as caught:
        made.prepare("drop")
    assert caught.value.exit == CONFLICT
    told = caught.value.candidates
    assert [line.partition(":")[0] for line in told] == ["src/old.py", "src/app.py"]
    assert told[0] == "src/old.py: mode 755 → 600"
    assert made.path("src/old.py").exists()


def test_a_folder_that_became_a_link_or_a_file_is_refused(repo: Folder) -> None:
    made = shop(repo, CREATE)
    made.path("src/new").symlink_to(made.repo.path.parent)
    with pytest.raises(ExecplanError) as caught:
        made.prepare("api")
    assert caught.value.code == "drifted"
    made.path("src/new").unlink()
    made.path("src/new").write_text("a file")
    with pytest.raises(ExecplanError) as caught:
        made.prepare("api")
    assert caught.value.candidates == ("src/new: is no folder, and something is to be written in it",)


def test_a_folder_that_an_earlier_step_has_made_is_no_drift(repo: Folder) -> None:
    made = shop(repo, CREATE + DELETE.replace("#drop", "#drop inputs=src/new,src/new/api.py"))
    assert made.do("api").ok
    assert made.do("drop").ok


def test_a_file_that_changes_behind_the_check_is_left_alone(repo: Folder) -> None:
    made = shop(repo, PATCH)
    prepared = made.prepare("patch")
    made.repo.write("src/app.py", "mine\n")
    from execplan.engine.steps.step_execution import perform_step

    done = perform_step(made.bench, made.step("patch"), 1, prepared)
    assert (done.ok, done.cause) == (False, "drift")
    assert made.path("src/app.py").read_text() == "mine\n"


def test_a_full_disk_fails_the_step_and_leaves_nothing(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    made = shop(repo, CREATE)

    def full(self: WorkspaceFiles, path: str, data: bytes, mode: int) -> tuple[str, ...]:
        os.mkdir(os.path.join(self.project.root, "src/new"))
        raise ExecplanError("io-error", f"can't write {path}: no space left on device", exit=ENVIRONMENT)

    monkeypatch.setattr(WorkspaceFiles, "write", full)
    done = made.do("api")
    assert (done.ok, done.cause, done.changes, done.folders) == (False, "error", (), ())
    assert "no space left" in done.reason
    assert not made.path("src/new").exists()


def test_the_dry_run_shows_what_the_run_does(repo: Folder) -> None:
    made = shop(repo, CREATE + LINES + PATCH.replace("B = 1", "B = 2") + DELETE)
    shown = [
        each.dry_run.diff for each in evaluate(made.document, SnapshotWorld(made.bench.project), made.policy).steps
    ]
    for name, text in zip(["api", "lines", "patch", "drop"], shown, strict=True):
        done = made.do(name)
        assert done.ok, done
        printed = [line[6:] for line in made.transcript(done).split("\n") if line.startswith("    | ")]
        assert "\n".join(printed) == text.rstrip("\n")


def test_the_umask_counts_for_what_is_new(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_writes, "_umask", lambda: 0o077)
    made = shop(repo, CREATE + LINES)
    assert made.do("api").changes[0].after.mode == 0o600
    assert made.do("lines").changes[0].after.mode == 0o640


def test_kinds_of_changes_are_told(repo: Folder) -> None:
    done = shop(repo, LINES).do("lines")
    assert [isinstance(each, Change) and change_kind(each) for each in done.changes] == ["modified"]
    assert done.changes[0].before.kind == done.changes[0].after.kind == FILE
