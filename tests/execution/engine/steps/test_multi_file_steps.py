"""Steps that change several files: all of them or none, whatever happens on the way."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from execplan.core.errors import ExecplanError
from execplan.execution.engine.journal.journal_entries import StateChange
from execplan.execution.engine.steps import file_writes
from execplan.execution.engine.steps.file_writes import undo_changes
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from tests.conftest import Folder
from tests.execution.engine.step_repository import StepRepository
from tests.execution.engine.workspace.test_workspace_files import look

PATCH = """\
```diff {#split type=refactor_code}
diff --git a/src/app.py b/src/app.py
--- a/src/app.py
+++ b/src/app.py
@@ -1,2 +1 @@
 A = 1
-B = 1
diff --git a/src/deep/b.py b/src/deep/b.py
new file mode 100755
--- /dev/null
+++ b/src/deep/b.py
@@ -0,0 +1 @@
+B = 1
diff --git a/src/gone.py b/src/gone.py
deleted file mode 100644
--- a/src/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x = 1
diff --git a/src/old.py b/src/new.py
rename from src/old.py
rename to src/new.py
--- a/src/old.py
+++ b/src/new.py
@@ -1 +1 @@
-y = 1
+y = 2
diff --git a/tool.sh b/tool.sh
old mode 100644
new mode 100755
--- a/tool.sh
+++ b/tool.sh
@@ -1 +1 @@
-echo
+echo 1
```
"""


def make_step_repo(repo: Folder) -> StepRepository:
    """A repository with the files of the patch."""
    for name, text in {"src/app.py": "A = 1\nB = 1\n", "src/gone.py": "x = 1\n", "tool.sh": "echo\n"}.items():
        repo.write(name, text).chmod(0o644)
    repo.write("src/old.py", "y = 1\n").chmod(0o600)
    return StepRepository(repo, PATCH)


def tree(repo: Folder) -> dict[str, object]:
    """All but what git and execplan keep, and the plan."""
    return {name: content for name, content in look(repo.path).items() if not name.startswith((".git", ".agent"))}


def mode(repo: Folder, name: str) -> int:
    return stat.S_IMODE((repo.path / name).stat().st_mode)


def test_all_of_it(repo: Folder) -> None:
    step_repo = make_step_repo(repo)
    before = tree(repo)
    result = step_repo.perform("split")
    assert result.ok, result
    after = {
        name: content[0]
        for name, content in tree(repo).items()
        if isinstance(content, tuple) and content[0] != "folder"
    }
    assert after == {
        "README.md": b"# A project\n", "src/app.py": b"A = 1\n", "src/deep/b.py": b"B = 1\n", "src/new.py": b"y = 2\n",
        "tool.sh": b"echo 1\n",
    }  # fmt: skip
    assert [mode(repo, name) & 0o700 for name in ("src/deep/b.py", "src/new.py", "tool.sh")] == [0o700, 0o600, 0o700]
    assert mode(repo, "src/new.py") == 0o600
    assert (sum(change.added for change in result.changes), sum(change.removed for change in result.changes)) == (3, 4)
    undo_changes(step_repo.context, result.changes, result.folders)
    assert tree(repo) == before


@pytest.mark.parametrize("fails", range(1, 7))
def test_none_of_it_when_a_write_fails(repo: Folder, monkeypatch: pytest.MonkeyPatch, fails: int) -> None:
    step_repo = make_step_repo(repo)
    before = tree(repo)
    count = 0

    def counted(name: str) -> None:
        real = getattr(WorkspaceFiles, name)

        def call(self: WorkspaceFiles, path: str, *arguments: object) -> object:
            nonlocal count
            count += 1
            if count == fails:
                raise ExecplanError("io-error", f"can't write {path}: no space left on device")
            return real(self, path, *arguments)

        monkeypatch.setattr(WorkspaceFiles, name, call)

    counted("write")
    counted("remove")
    result = step_repo.perform("split")
    assert count >= fails
    assert tree(repo) == before
    assert (result.ok, result.cause, result.changes, result.folders) == (False, "error", (), ())
    assert "no space left" in result.reason


def test_a_hunk_that_does_not_fit_changes_none_of_the_files(repo: Folder) -> None:
    step_repo = make_step_repo(repo)
    step_repo.repo.write("src/old.py", "other\n")
    step_repo.expected["src/old.py"] = step_repo.context.workspace.state("src/old.py")
    before = tree(repo)
    result = step_repo.perform("split")
    assert (result.ok, result.cause) == (False, "error")
    assert "hunk 1" in result.reason
    assert tree(repo) == before


def test_what_can_not_be_taken_back_is_told_and_kept(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    step_repo = make_step_repo(repo)

    def remove(self: WorkspaceFiles, path: str) -> None:
        step_repo.repo.write("src/app.py", "somebody else's\n")
        raise ExecplanError("io-error", f"can't remove {path}")

    monkeypatch.setattr(WorkspaceFiles, "remove", remove)
    result = step_repo.perform("split")
    assert not result.ok
    assert "src/app.py" in [change.path for change in result.changes]
    assert step_repo.path("src/app.py").read_text() == "somebody else's\n"


def test_room_to_take_it_back_is_held_while_it_is_written(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    step_repo = make_step_repo(repo)
    ballast = os.path.join(step_repo.context.run_paths.state, "split.ballast")
    sizes = []

    def write(self: WorkspaceFiles, path: str, data: bytes, mode: int) -> tuple[str, ...]:
        sizes.append(os.path.getsize(ballast))
        raise ExecplanError("io-error", os.strerror(errno.ENOSPC))

    def undo(*_: object) -> None:
        sizes.append(os.path.exists(ballast))

    monkeypatch.setattr(WorkspaceFiles, "write", write)
    monkeypatch.setattr(file_writes, "undo_changes", undo)
    assert not step_repo.perform("split").ok
    assert sizes[0] > sum([len(content[0]) for content in tree(repo).values() if isinstance(content, tuple)])
    assert sizes[1:] == [False]


def test_each_file_counts_once(repo: Folder) -> None:
    changes: tuple[StateChange, ...] = make_step_repo(repo).perform("split").changes
    assert len({change.path for change in changes}) == len(changes) == 6
