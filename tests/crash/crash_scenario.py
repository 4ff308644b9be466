"""A place where a scene is set up again and again: in the same folder, because what is not committed goes by paths."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import time
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from tests.conftest import CLOCK, Folder, Result
from tests.crash.scenarios import PLANS, Scene, create_repository
from tests.crash.strace import Call, kill, trace

Tree = dict[str, tuple[int, bytes]]
"""Every file and link below a folder: path, mode, and what it holds."""

LEFTOVER = ".execplan-"
"""How a file begins that a command which was killed may leave behind."""

_SECONDS = 60


class UndisturbedResult(NamedTuple):
    """What a scene comes to when nothing happens."""

    before: Tree
    once: Tree
    twice: Tree
    exits: frozenset[int]
    """Of the first run and the second."""
    head: str
    """The commit that is checked out at the end."""
    calls: tuple[Call, ...]


class CrashScenario:
    """A scene in a folder of its own; with `mounted`, the artifacts lie on a file system of their own."""

    def __init__(self, folder: Path, scene: Scene, *, mounted: bool = False) -> None:
        self.folder = folder.resolve()
        self.scene = scene
        self.mounted = mounted
        self.repo = Folder(self.folder / "repo")
        self.repo.env |= {
            "GIT_AUTHOR_DATE": f"{CLOCK} +0000",
            "GIT_COMMITTER_DATE": f"{CLOCK} +0000",
        }
        self.log = self.folder / "strace.log"
        self.repo.path.mkdir(parents=True)
        create_repository(self.repo, scene)
        self.save("before")
        self.origin = tree(self.repo.path)
        """What there was before a command that is cut short, which `undo` brings back."""
        if scene.interrupted:
            self._interrupt(scene.before[-1])
        self.undisturbed = self._run_undisturbed()

    def _run_undisturbed(self) -> UndisturbedResult:
        before = tree(self.repo.path)
        first_result = self.run(*self.scene.call)
        once = tree(self.repo.path)
        second_result = self.run(*self.scene.call)
        twice, head = tree(self.repo.path), self.repo.git("rev-parse", "HEAD")
        # What a move across file systems shall come to is what it comes to within one.
        self.restore("before")
        calls = trace(self.scene.call, self.repo.path, self.repo.env, self.log, self.repo.path)
        files = tree(self.repo.path)
        differs = sorted(path for path in files.keys() | once.keys() if files.get(path) != once.get(path))
        assert not differs, f"{self.scene.name}, undisturbed, does not come to the same again: {differs}"
        assert once != before or self.scene.call[0] == "commit", self.scene.name
        return UndisturbedResult(
            before, once, twice, frozenset({first_result.exit, second_result.exit}), head, tuple(calls)
        )

    def _interrupt(self, call: tuple[str, ...]) -> None:
        """Kill a command behind the middle one of its renames."""
        calls = trace(call, self.repo.path, self.repo.env, self.log, self.repo.path)
        renames = [at for at, call_made in enumerate(calls) if call_made.inside and call_made.name.startswith("rename")]
        self.restore("before")
        killed_call = calls[renames[len(renames) // 2] + 1]
        assert kill(killed_call, call, self.repo.path, self.repo.env, self.log) is not None
        self.save("before")

    def run(self, *arguments: str) -> Result:
        """Run execplan."""
        return self.repo.run(*arguments)

    def save(self, name: str) -> None:
        """Remember how the repository is now."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(self.repo.path, self.folder / name, symlinks=True)

    def restore(self, name: str) -> None:
        """Let the repository be as it was."""
        artifacts = self.repo.path / PLANS / "artifacts"
        if artifacts.is_mount():
            subprocess.run(["umount", "-l", artifacts], check=True)
        shutil.rmtree(self.repo.path)
        shutil.copytree(self.folder / name, self.repo.path, symlinks=True)
        if self.mounted:
            saved_artifacts = self.folder / name / PLANS / "artifacts"
            artifacts.mkdir(exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "tmpfs", artifacts], check=True)
            if saved_artifacts.is_dir():
                shutil.copytree(saved_artifacts, artifacts, symlinks=True, dirs_exist_ok=True)

    def wait_for_processes(self) -> None:
        """Wait for what a killed command had started: git goes on."""
        until = time.monotonic() + _SECONDS
        while _has_process_in(self.repo.path):
            assert time.monotonic() < until, "a process that was left behind does not end"
            time.sleep(0.005)

    def state_digest(self) -> str:
        """What the next command finds, as a digest: the same, and it does the same."""
        digest = sha256()
        files = tree(self.repo.path) | tree(self.repo.path / ".git", "")
        for path, (mode, data) in sorted(files.items()):
            if path.startswith("objects/") or path in ("index", "COMMIT_EDITMSG"):
                continue
            content = b"" if path.endswith(".lock") and path.startswith("execplan/") else data  # it names a process
            digest.update(b"%s\0%o\0%d\0%s" % (os.fsencode(path), mode, len(content), content))
        return digest.hexdigest()


def tree(root: Path, skip: str = ".git") -> Tree:
    """Every file and link below a folder, but for git's own."""
    contents: Tree = {}
    for folder, folders, files in os.walk(root):
        if skip in folders:
            folders.remove(skip)
        for name in files + [subfolder for subfolder in folders if os.path.islink(os.path.join(folder, subfolder))]:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            data = os.fsencode(os.readlink(path)) if stat.S_ISLNK(mode) else Path(path).read_bytes()
            contents[os.path.relpath(path, root)] = (mode, data)
    return contents


def leftovers(files: Tree) -> set[str]:
    """The temporary files in a tree."""
    return {path for path in files if f"/{LEFTOVER}" in f"/{path}"}


def without_leftovers(files: Tree) -> Tree:
    """A tree without temporary files."""
    temporary = leftovers(files)
    return {path: content for path, content in files.items() if path not in temporary}


def _has_process_in(folder: Path) -> bool:
    """Whether a process works in a folder."""
    for process_id in os.listdir("/proc"):
        try:
            if process_id.isdigit() and Path(os.readlink(f"/proc/{process_id}/cwd")).is_relative_to(folder):
                return True
        except OSError:
            continue
    return False
