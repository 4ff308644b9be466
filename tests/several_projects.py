"""Several repositories side by side, for tests of commands that read more than one project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.conftest import Folder
from tests.team.dependencies.plan_files import plan_text

if TYPE_CHECKING:
    from pathlib import Path

SCANNER, PARSER = "2026-01-01_scanner", "2026-01-02_parser"


class Neighbors:
    """Repositories in one directory, and the settings of the user who has them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.home = directory / "home"
        self.home.mkdir(parents=True, exist_ok=True)

    def add(self, name: str, **plans: str) -> Folder:
        """Create a repository whose plans have these names and texts."""
        path = self.directory / name
        path.mkdir(parents=True)
        folder = Folder(path)
        folder.env |= {"HOME": str(self.home), "XDG_STATE_HOME": str(self.home / "state")}
        folder.git("init", "-q", "-b", "main")
        (path / ".agent" / "execplans").mkdir(parents=True)
        for plan, text in plans.items():
            folder.plan(text, f"2026-01-01_{plan}")
        folder.git("add", "-A")
        folder.git("commit", "-q", "--allow-empty", "-m", "All")
        return folder

    def list_in_settings(self, *paths: str) -> None:
        """Write the user's settings, which list projects."""
        file = self.home / ".config" / "execplan" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"projects = {list(paths)!r}\n")


def active(title: str, needs: str = "") -> str:
    """An active plan with a task of the same name."""
    return plan_text(title, "x Start", f"Do {title}", needs=needs)


def tree_state(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """The times, modes and contents of all files and directories below a directory, with the git directory."""
    state = {}
    for parent, folders, names in os.walk(root):
        for name in [*folders, *names]:
            path = os.path.join(parent, name)
            status = os.lstat(path)
            content = b""
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    content = file.read()
            state[os.path.relpath(path, root)] = (status.st_mtime_ns, status.st_mode, content)
    return state
