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
from tests.crash.scenes import HOME, Scene, make
from tests.crash.strace import Call, kill, trace

Tree = dict[str, tuple[int, bytes]]
"""Every file and link below a folder: path, mode, and what it holds."""

LEFTOVER = ".execplan-"
"""How a file begins that a command which was killed may leave behind."""

_SECONDS = 60


class Undisturbed(NamedTuple):
    """What a scene comes to when nothing happens."""

    before: Tree
    once: Tree
    twice: Tree
    exits: frozenset[int]
    """Of the first run and the second."""
    head: str
    """The commit that is checked out at the end."""
    calls: tuple[Call, ...]


class Bench:
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
        make(self.repo, scene)
        self.keep("before")
        self.origin = tree(self.repo.path)
        """What there was before a command that is cut short, which `undo` brings back."""
        if scene.cut:
            self._cut(scene.before[-1])
        self.undisturbed = self._watch()

    def _watch(self) -> Undisturbed:
        before = tree(self.repo.path)
        first = self.run(*self.scene.call)
        once = tree(self.repo.path)
        second = self.run(*self.scene.call)
        twice, head = tree(self.repo.path), self.repo.git("rev-parse", "HEAD")
        # What a move across file systems shall come to is what it comes to within one.
        self.back("before")
        calls = trace(self.scene.call, self.repo.path, self.repo.env, self.log, self.repo.path)
        found = tree(self.repo.path)
        differs = sorted(path for path in found.keys() | once.keys() if found.get(path) != once.get(path))
        assert not differs, f"{self.scene.name}, undisturbed, does not come to the same again: {differs}"
        assert once != before or self.scene.call[0] == "commit", self.scene.name
        return Undisturbed(before, once, twice, frozenset({first.exit, second.exit}), head, tuple(calls))

    def _cut(self, call: tuple[str, ...]) -> None:
        """Kill a command behind the middle one of its renames."""
        calls = trace(call, self.repo.path, self.repo.env, self.log, self.repo.path)
        renames = [at for at, each in enumerate(calls) if each.inside and each.name.startswith("rename")]
        self.back("before")
        after = calls[renames[len(renames) // 2] + 1]
        assert kill(after, call, self.repo.path, self.repo.env, self.log) is not None
        self.keep("before")

    def run(self, *arguments: str) -> Result:
        """Run execplan."""
        return self.repo.run(*arguments)

    def keep(self, name: str) -> None:
        """Remember how the repository is now."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(self.repo.path, self.folder / name, symlinks=True)

    def back(self, name: str) -> None:
        """Let the repository be as it was."""
        place = self.repo.path / HOME / "artifacts"
        if place.is_mount():
            subprocess.run(["umount", "-l", place], check=True)
        shutil.rmtree(self.repo.path)
        shutil.copytree(self.folder / name, self.repo.path, symlinks=True)
        if self.mounted:
            held = self.folder / name / HOME / "artifacts"
            place.mkdir(exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
            if held.is_dir():
                shutil.copytree(held, place, symlinks=True, dirs_exist_ok=True)

    def settle(self) -> None:
        """Wait for what a killed command had started: git goes on."""
        until = time.monotonic() + _SECONDS
        while _at_work(self.repo.path):
            assert time.monotonic() < until, "a process that was left behind does not end"
            time.sleep(0.005)

    def state(self) -> str:
        """What the next command finds, as a digest: the same, and it does the same."""
        found = sha256()
        every = tree(self.repo.path) | tree(self.repo.path / ".git", "")
        for path, (mode, data) in sorted(every.items()):
            if path.startswith("objects/") or path in ("index", "COMMIT_EDITMSG"):
                continue
            held = b"" if path.endswith(".lock") and path.startswith("execplan/") else data  # it names a process
            found.update(b"%s\0%o\0%d\0%s" % (os.fsencode(path), mode, len(held), held))
        return found.hexdigest()


def tree(root: Path, skip: str = ".git") -> Tree:
    """Every file and link below a folder, but for git's own."""
    found: Tree = {}
    for folder, folders, files in os.walk(root):
        if skip in folders:
            folders.remove(skip)
        for name in files + [each for each in folders if os.path.islink(os.path.join(folder, each))]:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            data = os.fsencode(os.readlink(path)) if stat.S_ISLNK(mode) else Path(path).read_bytes()
            found[os.path.relpath(path, root)] = (mode, data)
    return found


def leftovers(found: Tree) -> set[str]:
    """The temporary files in a tree."""
    return {path for path in found if f"/{LEFTOVER}" in f"/{path}"}


def without_leftovers(found: Tree) -> Tree:
    """A tree without temporary files."""
    left = leftovers(found)
    return {path: held for path, held in found.items() if path not in left}


def _at_work(folder: Path) -> bool:
    """Whether a process works in a folder."""
    for each in os.listdir("/proc"):
        try:
            if each.isdigit() and Path(os.readlink(f"/proc/{each}/cwd")).is_relative_to(folder):
                return True
        except OSError:
            continue
    return False
