"""Programs that read instructions, skills and tools, but whose hooks execplan doesn't use: Qwen Code, Continue, Cline and goose."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from tests.clients import chat_form
from tests.clients.model_server import Use

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from execplan.core.project.project import Project
    from tests.clients.model_server import Reply, Request, WireForm

_SERVER = {"command": "execplan", "args": ["mcp"]}


class _OtherProgram:
    """What these programs have in common."""

    form: WireForm = chat_form
    integrations: tuple[str, ...] = ()
    root, home = "", ""

    def prepare(self, home: Path, root: Path) -> dict[str, str]:
        """Note the directories; return the variables that the program needs, some of which ignores NO_PROXY."""
        self.root, self.home = str(root), str(home)
        proxies = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
        return {**dict.fromkeys(proxies, ""), "OPENAI_API_KEY": "invented"}

    def trust_hooks(self, home: Path, project: Project) -> None:
        """Do nothing: there are no hooks."""

    def name_instructions(self, home: Path) -> None:
        """Do nothing: all of them read AGENTS.md."""

    def _write(self, path: str, document: Any) -> None:
        file = os.path.join(self.home, path)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w", encoding="utf-8") as stream:
            json.dump(document, stream)


class Qwen(_OtherProgram):
    """Qwen Code, which descends from Gemini CLI and speaks another form."""

    name = "qwen"

    def arguments(self, prompt: str, url: str, *, continues: bool) -> list[str]:
        """Return the arguments of a session without a person."""
        return ["--approval-mode", "yolo", "--output-format", "stream-json", "--prompt", prompt]

    def variables(self, url: str) -> dict[str, str]:
        """Return the variables that name the model of a session."""
        return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "fake"}

    def prepare(self, home: Path, root: Path) -> dict[str, str]:
        """Write the user's settings; return the variables that the program needs."""
        variables = super().prepare(home, root)
        self._write_settings()
        return variables

    def add_server(self, home: Path) -> None:
        """Add execplan's MCP server to the user's settings, as the documentation says."""
        self._write_settings(mcpServers={"execplan": _SERVER})

    def read_skill(self, name: str) -> tuple[str, list[Use]]:
        """Return what a user says so that a skill is read, and the call with which the model reads it."""
        return f"Use the skill {name}.", [Use("skill", {"skill": name})]

    def command(self, text: str) -> Use:
        """Return a call that runs a command."""
        return Use("run_shell_command", {"command": text, "is_background": False})

    def create(self, path: str, content: str) -> Use:
        """Return a call that creates a file of the repository."""
        return Use("write_file", {"file_path": os.path.join(self.root, path), "content": content})

    def _write_settings(self, **settings: Any) -> None:
        security = {"auth": {"selectedType": "openai"}}
        privacy, general = {"usageStatisticsEnabled": False}, {"enableAutoUpdate": False}
        self._write(".qwen/settings.json", {"security": security, "privacy": privacy, "general": general, **settings})


class _FramedForm:
    """The Chat Completions form of programs that frame the results of commands or of a server's tools in JSON."""

    PATH = chat_form.PATH

    def parse_request(self, body: dict[str, Any]) -> Request:
        """Parse a request."""
        request = chat_form.parse_request(body)
        results = tuple([(call, _plain_result(text)) for call, text in request.results])
        return request._replace(text="\n".join([request.text, *[text for _, text in results]]), results=results)

    def format_reply(self, reply: Reply, number: int, first_call: int) -> Iterator[dict[str, Any]]:
        """Yield the events of an answer."""
        return chat_form.format_reply(reply, number, first_call)


def _plain_result(text: str) -> str:
    """Return the output of commands, or the text of a tool of a server, without what is around it; others as they are."""
    try:
        document = json.loads(text)
    except ValueError:
        return text
    parts = document.get("content") if isinstance(document, dict) else document
    if not isinstance(parts, list) or not all([isinstance(part, dict) for part in parts]):
        return text
    return "\n".join([str(part.get("result") or part.get("error") or part.get("text", "")) for part in parts])


class Continue(_OtherProgram):
    """The command line of Continue, whose settings name the model and the servers."""

    name = "continue"
    form: WireForm = _FramedForm()

    def __init__(self) -> None:
        self.servers: list[dict[str, Any]] = []

    def arguments(self, prompt: str, url: str, *, continues: bool) -> list[str]:
        """Return the arguments of a session without a person."""
        return ["--auto", "--config", os.path.join(self.home, ".continue/config.yaml"), "--print", prompt]

    def variables(self, url: str) -> dict[str, str]:
        """Write the settings, which name the model of a session; return the variables that the program needs."""
        model = {"name": "fake", "provider": "openai", "model": "fake", "apiBase": f"{url}/v1", "apiKey": "invented"}
        models = [{**model, "roles": ["chat"], "capabilities": ["tool_use"]}]
        document = {"name": "test", "version": "0.0.1", "schema": "v1", "models": models, "mcpServers": self.servers}
        self._write(".continue/config.yaml", document)  # JSON is YAML
        return {"CONTINUE_TELEMETRY_ENABLED": "0"}

    def add_server(self, home: Path) -> None:
        """Add execplan's MCP server to the user's settings, as the documentation says."""
        self.servers = [{"name": "execplan", **_SERVER}]

    def read_skill(self, name: str) -> tuple[str, list[Use]]:
        """Return what a user says so that a skill is read, and the call with which the model reads it."""
        return f"Use the skill {name}.", [Use("Skills", {"skill_name": name})]

    def command(self, text: str) -> Use:
        """Return a call that runs a command."""
        return Use("Bash", {"command": text})

    def create(self, path: str, content: str) -> Use:
        """Return a call that creates a file of the repository."""
        return Use("Write", {"filepath": os.path.join(self.root, path), "content": content})


class Cline(_OtherProgram):
    """The command line of Cline, whose settings name the model and the servers."""

    name = "cline"
    form: WireForm = _FramedForm()

    def arguments(self, prompt: str, url: str, *, continues: bool) -> list[str]:
        """Return the arguments of a session without a person."""
        return ["--json", "--provider", "openai", "--model", "fake", "--key", "invented", prompt]

    def variables(self, url: str) -> dict[str, str]:
        """Write the settings, which name the model of a session; return the variables that the program needs."""
        name = "openai-compatible"
        settings = {"provider": name, "apiKey": "invented", "model": "fake", "baseUrl": f"{url}/v1"}
        provider = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
        document = {"version": 1, "lastUsedProvider": name, "modes": {}, "providers": {name: provider}}
        self._write(".cline/data/settings/providers.json", document)
        return {"CLINE_NO_AUTO_UPDATE": "1", "CLINE_SESSION_BACKEND_MODE": "local"}

    def add_server(self, home: Path) -> None:
        """Add execplan's MCP server to the user's settings, as the documentation says."""
        self._write(".cline/data/settings/cline_mcp_settings.json", {"mcpServers": {"execplan": _SERVER}})

    def read_skill(self, name: str) -> tuple[str, list[Use]]:
        """Return what a user says so that a skill is read, and the call with which the model reads it."""
        return f"Use the skill {name}.", [Use("skills", {"skill": name})]

    def command(self, text: str) -> Use:
        """Return a call that runs a command."""
        return Use("run_commands", {"commands": [text]})

    def create(self, path: str, content: str) -> Use:
        """Return a call that creates a file of the repository."""
        return Use("editor", {"path": os.path.join(self.root, path), "new_text": content})


class Goose(_OtherProgram):
    """goose, whose variables name the model."""

    name = "goose"

    def __init__(self) -> None:
        self.server: list[str] = []

    def arguments(self, prompt: str, url: str, *, continues: bool) -> list[str]:
        """Return the arguments of a session without a person."""
        return ["run", "--no-session", "--with-builtin", "developer", *self.server, "--text", prompt]

    def variables(self, url: str) -> dict[str, str]:
        """Return the variables that name the model of a session."""
        quiet = {"GOOSE_MODE": "auto", "GOOSE_DISABLE_KEYRING": "1", "GOOSE_TELEMETRY_ENABLED": "false"}
        return {"GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "fake", "OPENAI_HOST": url, **quiet}

    def add_server(self, home: Path) -> None:
        """Add execplan's MCP server to the sessions, as the documentation says."""
        self.server = ["--with-extension", "execplan mcp"]

    def read_skill(self, name: str) -> tuple[str, list[Use]]:
        """Return what a user says so that a skill is read, and the call with which the model reads it."""
        return f"Use the skill {name}.", [Use("load_skill", {"name": name})]

    def command(self, text: str) -> Use:
        """Return a call that runs a command."""
        return Use("shell", {"command": text})

    def create(self, path: str, content: str) -> Use:
        """Return a call that creates a file of the repository."""
        return Use("write", {"path": os.path.join(self.root, path), "content": content})
