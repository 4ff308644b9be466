"""A workspace on a worker has the same bytes as here, whatever Git converts."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.core.project import project_discovery
from execplan.execution.engine.executors.worker_workspace import copy_workspace, pack_workspace, unpack_workspace
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from tests.conftest import Folder

if TYPE_CHECKING:
    from tests.execution.engine.run_repository import RunRepository

NAMES = st.sampled_from(["a", "b.txt", "d/a", "d/e/f", "d/ü x", "g"])
FILES = st.dictionaries(NAMES, st.tuples(st.binary(max_size=20), st.booleans()), max_size=5)


def tree(root: Path) -> dict[str, tuple[object, ...]]:
    """The files and links of a directory, without Git's."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name != ".git"]
        for name in files:
            path = Path(folder, name)
            is_executable = bool(path.lstat().st_mode & stat.S_IXUSR)
            content = (os.readlink(path),) if path.is_symlink() else (path.read_bytes(), is_executable)
            found[path.relative_to(root).as_posix()] = content
    return found


def on_a_worker(root: Path) -> dict[str, tuple[object, ...]]:
    """The same of the copy that a worker makes."""
    project = project_discovery.find(str(root))
    packed = pack_workspace(project, WorkspaceFiles(project))
    with tempfile.TemporaryDirectory() as scratch:
        unpack_workspace(packed.data, packed.digest, f"{scratch}/unpacked")
        copy_workspace(f"{scratch}/unpacked", f"{scratch}/copy")
        return tree(Path(scratch, "copy"))


@settings(max_examples=15, deadline=None)
@given(FILES, FILES, st.booleans())
def test_the_same_files(
    committed: dict[str, tuple[bytes, bool]], changed: dict[str, tuple[bytes, bool]], has_git: bool
) -> None:  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        folder = Folder(Path(scratch))
        (folder.path / "always").write_bytes(b"x")
        if has_git:
            folder.git("init", "-q")
            write_files(folder.path, committed)
            folder.git("add", "-A")
            folder.git("commit", "-q", "-m", "All")
            for name in set(committed) - set(changed):
                (folder.path / name).unlink()
        write_files(folder.path, changed)
        assert on_a_worker(folder.path) == tree(folder.path)


def test_git_converts_nothing(run_repo: RunRepository) -> None:
    run_repo.write(".gitattributes", "*.crlf text eol=crlf\n*.id ident\n*.f filter=shout\n")
    run_repo.git("config", "filter.shout.smudge", "tr a-z A-Z")
    run_repo.git("config", "filter.shout.clean", "tr A-Z a-z")
    run_repo.write("a.crlf", "one\r\ntwo\r\n")
    run_repo.write("a.id", "$Id$\n")
    run_repo.write("a.f", "LOUD\n")
    run_repo.write("raw.crlf", "one\ntwo\n")
    (run_repo.path / "link").symlink_to("nowhere")
    run_repo.commit()
    assert on_a_worker(run_repo.path) == tree(run_repo.path)


def test_a_shallow_clone_travels_without_history(run_repo: RunRepository, tmp_path: Path) -> None:
    run_repo.git("commit", "-q", "--allow-empty", "-m", "More")
    run_repo.git("clone", "-q", "--depth=1", f"file://{run_repo.path}", str(tmp_path / "shallow"))
    assert on_a_worker(tmp_path / "shallow") == tree(tmp_path / "shallow")


def write_files(root: Path, files: dict[str, tuple[bytes, bool]]) -> None:
    """Write files with their content, and whether they are programs."""
    for name, (content, is_program) in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if is_program else 0o644)
