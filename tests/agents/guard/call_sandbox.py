"""A repository in which calls are judged, without a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.agents.guard.guard_context import GuardScope
from execplan.agents.guard.tool_call import COMMAND, DELETE, EDIT, READ, TOOL, WRITE, FileEdit, ToolCall
from execplan.core.project import project_discovery
from execplan.execution.approvals import reserved_paths

if TYPE_CHECKING:
    from execplan.core.project.project import Project
    from tests.conftest import Folder


class CallSandbox:
    """Where calls are made: a repository with a plan, a key and what a program needs."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.root = str(folder.path.resolve())
        for name in ("src/app.py", "README.md", ".claude/settings.json", ".env"):
            folder.write(name, "\n")
        folder.write("pyproject.toml", "[project]\nname = 'app'\n\n[tool.execplan]\ncommit = false\n")
        folder.plan()
        self.project: Project = project_discovery.find(self.root)
        self.around = GuardScope(
            self.root, {}, {}, reserved_paths.make_protection_check(self.project), {}, lambda path, state: None
        )

    def command(self, text: str, cwd: str = "") -> ToolCall:
        """A command that an agent would run."""
        return ToolCall(COMMAND, "Bash", cwd or self.root, command=text)

    def read(self, *paths: str) -> ToolCall:
        """A tool that reads."""
        return ToolCall(READ, "Read", self.root, read_paths=paths)

    def write(self, path: str, content: str = "x\n") -> ToolCall:
        """A file that would be written."""
        return ToolCall(WRITE, "Write", self.root, edits=(FileEdit(path, WRITE, content=content),))

    def edit(self, path: str, old: str, new: str) -> ToolCall:
        """A file that would be edited."""
        return ToolCall(EDIT, "Edit", self.root, edits=(FileEdit(path, EDIT, replacements=((old, new, False),)),))

    def delete(self, path: str) -> ToolCall:
        """A file that would be deleted."""
        return ToolCall(DELETE, "delete", self.root, edits=(FileEdit(path, DELETE),))

    def tool(self, name: str, /, **arguments: object) -> ToolCall:
        """Another tool."""
        return ToolCall(TOOL, name, self.root, arguments=arguments)
