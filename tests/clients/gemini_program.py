"""Gemini CLI, with the fake model as its service."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from tests.clients import content_form
from tests.clients.model_server import Use

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.core.project.project import Project
    from tests.clients.model_server import WireForm

_SETTINGS = ".gemini/settings.json"


class Gemini:
    """Gemini CLI, which trusts directories."""

    name = "gemini"
    form: WireForm = content_form
    integrations: tuple[str, ...] = ("guard", "session-hooks")

    def __init__(self) -> None:
        self.root = ""

    def arguments(self, prompt: str, url: str, *, continues: bool) -> list[str]:
        """Return the arguments of a session without a person."""
        flags = ["--approval-mode", "yolo", "--output-format", "stream-json", "--model", "fake"]
        return [*flags, *(["--resume", "latest"] if continues else []), "--prompt", prompt]

    def variables(self, url: str) -> dict[str, str]:
        """Return the variables that name the model of a session."""
        return {"GOOGLE_GEMINI_BASE_URL": url}

    def prepare(self, home: Path, root: Path) -> dict[str, str]:
        """Write the user's settings; return the variables that the program needs."""
        self.root = str(root)
        (home / ".gemini").mkdir(exist_ok=True)
        (home / ".gemini" / "trustedFolders.json").write_text(json.dumps({self.root: "TRUST_FOLDER"}))
        self._add_settings(
            home,
            security={"auth": {"selectedType": "gemini-api-key"}},
            privacy={"usageStatisticsEnabled": False},
            general={"enableAutoUpdate": False},
        )
        return {"GEMINI_API_KEY": "invented", "GEMINI_CLI_NO_RELAUNCH": "true"}

    def trust_hooks(self, home: Path, project: Project) -> None:
        """Do nothing: it runs the hooks of a directory that is trusted."""

    def add_server(self, home: Path) -> None:
        """Add execplan's MCP server to the user's settings, as the documentation says."""
        self._add_settings(home, mcpServers={"execplan": {"command": "execplan", "args": ["mcp"]}})

    def name_instructions(self, home: Path) -> None:
        """Let the user's settings name AGENTS.md, as the documentation says."""
        self._add_settings(home, context={"fileName": ["AGENTS.md", "GEMINI.md"]})

    def read_skill(self, name: str) -> tuple[str, list[Use]]:
        """Return what a user says so that a skill is read, and the call with which the model reads it."""
        return f"Use the skill {name}.", [Use("activate_skill", {"name": name})]

    def command(self, text: str) -> Use:
        """Return a call that runs a command."""
        return Use("run_shell_command", {"command": text})

    def create(self, path: str, content: str) -> Use:
        """Return a call that creates a file of the repository."""
        return Use("write_file", {"file_path": os.path.join(self.root, path), "content": content})

    def _add_settings(self, home: Path, **settings: Any) -> None:
        path = home / _SETTINGS
        known = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**known, **settings}))
