"""A repository in which calls are judged, without a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.agents.guard.call import COMMAND, DELETE, EDIT, READ, TOOL, WRITE, Call, Edit
from execplan.agents.guard.planned import Around
from execplan.repo import homes
from execplan.repo.execution import protected

if TYPE_CHECKING:
    from execplan.repo.home import Home
    from tests.conftest import Folder


class Ground:
    """Where calls are made: a repository with a plan, a key and what a program needs."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.root = str(folder.path.resolve())
        for name in ("src/app.py", "README.md", ".claude/settings.json", ".env"):
            folder.write(name, "\n")
        folder.write("pyproject.toml", "[project]\nname = 'app'\n\n[tool.execplan]\ncommit = false\n")
        folder.plan()
        self.home: Home = homes.find(self.root)
        self.around = Around(self.root, {}, {}, protected.judge(self.home), lambda path: None)

    def command(self, text: str, cwd: str = "") -> Call:
        """A command that an agent would run."""
        return Call(COMMAND, "Bash", cwd or self.root, command=text)

    def read(self, *paths: str) -> Call:
        """A tool that reads."""
        return Call(READ, "Read", self.root, reads=paths)

    def write(self, path: str, content: str = "x\n") -> Call:
        """A file that would be written."""
        return Call(WRITE, "Write", self.root, edits=(Edit(path, WRITE, content=content),))

    def edit(self, path: str, old: str, new: str) -> Call:
        """A file that would be edited."""
        return Call(EDIT, "Edit", self.root, edits=(Edit(path, EDIT, swaps=((old, new, False),)),))

    def delete(self, path: str) -> Call:
        """A file that would be deleted."""
        return Call(DELETE, "delete", self.root, edits=(Edit(path, DELETE),))

    def tool(self, name: str, **given: object) -> Call:
        """Another tool."""
        return Call(TOOL, name, self.root, given=given)
