"""opencode, with a provider that is the fake model."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from tests.clients import chat_form
from tests.clients.model_server import Use

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.core.project.project import Project
    from tests.clients.model_server import WireForm

_MODEL = {"limit": {"context": 200_000, "output": 10_000}}
_SETTINGS = ".config/opencode/opencode.json"


class Opencode:
    """opencode, whose settings are in a directory of the user and in a variable."""

    name = "opencode"
    form: WireForm = chat_form
    integrations: tuple[str, ...] = ("guard",)

    def __init__(self) -> None:
        self.root = ""

    def arguments(self, prompt: str, url: str, *, continues: bool) -> list[str]:
        """Return the arguments of a session without a person."""
        return ["run", "--format", "json", "--auto", *(["--continue"] if continues else []), prompt]

    def variables(self, url: str) -> dict[str, str]:
        """Return the variables that name the model of a session."""
        options = {"baseURL": f"{url}/v1", "apiKey": "invented"}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"fake": _MODEL}}
        return {"OPENCODE_CONFIG_CONTENT": json.dumps({"provider": {"fake": provider}, "model": "fake/fake"})}

    def prepare(self, home: Path, root: Path) -> dict[str, str]:
        """Return the variables that the program needs; without a network, it waits for each retry of a download.

        Its tool that reads a skill needs ripgrep, which it would download: here it finds one that finds nothing.
        """
        self.root = str(root)
        search = home / "tools" / "rg"
        search.write_text("#!/bin/sh\nexit 1\n")
        search.chmod(0o755)
        names = [f"OPENCODE_DISABLE_{name}" for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")]
        return {**dict.fromkeys(names, "1"), "npm_config_fetch_retries": "0"}

    def trust_hooks(self, home: Path, project: Project) -> None:
        """Do nothing: it loads the plugins of every repository."""

    def add_server(self, home: Path) -> None:
        """Add execplan's MCP server to the user's settings, as the documentation says."""
        server: dict[str, Any] = {"type": "local", "command": ["execplan", "mcp"]}
        path = home / _SETTINGS
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"mcp": {"execplan": server}}))

    def name_instructions(self, home: Path) -> None:
        """Do nothing: it reads AGENTS.md."""

    def read_skill(self, name: str) -> tuple[str, list[Use]]:
        """Return what a user says so that a skill is read, and the call with which the model reads it."""
        return f"Use the skill {name}.", [Use("skill", {"name": name})]

    def command(self, text: str) -> Use:
        """Return a call that runs a command."""
        return Use("bash", {"command": text})

    def create(self, path: str, content: str) -> Use:
        """Return a call that creates a file of the repository."""
        return Use("write", {"filePath": os.path.join(self.root, path), "content": content})
