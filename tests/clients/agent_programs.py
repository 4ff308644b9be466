"""The real agent programs, each with a fake model: where they are, how they are started, and what their tools are called."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pytest

from execplan.agents.integrations import capture_hooks, guard_hook, session_hooks, stop_gate
from execplan.cli.doctor.agent_hook_checks import trust_digest, trust_key
from tests import needs
from tests.clients import messages_form, responses_form
from tests.clients.gemini_program import Gemini
from tests.clients.model_server import FakeModel, Use
from tests.clients.network_namespace import run_isolated
from tests.clients.opencode_program import Opencode
from tests.clients.other_programs import Cline, Continue, Goose, Qwen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from execplan.core.project.project import Project
    from tests.clients.model_server import Reply, Request, WireForm

LIMIT_SECONDS = 240
_NO_PROXY = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
"""A proxy that refuses connections at once: without one, each look-up of a name waits for five seconds."""


class Session(NamedTuple):
    """A session of a program that has ended."""

    requests: tuple[Request, ...]
    """All that the model was asked, in order."""
    status: int
    events: tuple[dict[str, Any], ...]
    """The documents that the program printed, one a line."""
    errors: str

    def result_of(self, call: int) -> str:
        """Return what the model read as the result of its call with this number, from 0."""
        results = [text for request in self.requests for name, text in request.results if name == f"call-{call}"]
        assert results, (call, self)
        return results[0]


class AgentProgram(Protocol):
    """An agent's program."""

    name: str
    """Its name in `--program` and `--for`."""
    form: WireForm
    integrations: tuple[str, ...]
    """The integrations of hooks that can be installed for it."""

    def arguments(self, prompt: str, url: str, *, continues: bool) -> list[str]:
        """Return the arguments of a session without a person."""

    def variables(self, url: str) -> dict[str, str]:
        """Return the variables that name the model of a session."""

    def prepare(self, home: Path, root: Path) -> dict[str, str]:
        """Write the user's settings; return the variables that the program needs."""

    def trust_hooks(self, home: Path, project: Project) -> None:
        """Do what a user does who trusts the hooks of a repository."""

    def add_server(self, home: Path) -> None:
        """Add execplan's MCP server to the user's settings, as the documentation says."""

    def name_instructions(self, home: Path) -> None:
        """Do what the documentation says so that the program reads AGENTS.md."""

    def read_skill(self, name: str) -> tuple[str, list[Use]]:
        """Return what a user says so that a skill is read, and the call with which the model reads it, if it needs one."""

    def command(self, text: str) -> Use:
        """Return a call that runs a command."""

    def create(self, path: str, content: str) -> Use:
        """Return a call that creates a file of the repository."""


class Codex:
    """Codex, with a provider that is the fake model."""

    name = "codex"
    form: WireForm = responses_form
    integrations: tuple[str, ...] = ("guard", "session-hooks", "stop-gate")
    model = "gpt-5.5"
    """A model whose tools are offered one by one; others get one tool that runs scripts."""
    flags: tuple[str, ...] = ()
    """Further flags of a session."""

    def arguments(self, prompt: str, url: str, *, continues: bool) -> list[str]:
        """Return the arguments of a session without a person."""
        flags = ["--json", "--dangerously-bypass-approvals-and-sandbox", *self.flags]
        provider = f'model_providers.fake.base_url="{url}/v1"'
        return ["exec", *(["resume", "--last"] if continues else []), *flags, "-m", self.model, "-c", provider, prompt]

    def variables(self, url: str) -> dict[str, str]:
        """Return no variables: an argument names the model."""
        return {}

    def prepare(self, home: Path, root: Path) -> dict[str, str]:
        """Write the user's settings; return the variables that the program needs."""
        (home / ".codex").mkdir(exist_ok=True)
        (home / ".codex" / "config.toml").write_text(
            'model_provider = "fake"\n[model_providers.fake]\nname = "fake"\nbase_url = ""\n'
            'wire_api = "responses"\nenv_key = "FAKE_KEY"\n'
            f'[projects."{root}"]\ntrust_level = "trusted"\n'
        )
        return {"FAKE_KEY": "invented"}

    def trust_hooks(self, home: Path, project: Project) -> None:
        """Write what Codex stores of a trusted hook."""
        with (home / ".codex" / "config.toml").open("a") as config:
            for integration in (capture_hooks, guard_hook, session_hooks, stop_gate):
                file = integration.open_file(project, "codex")
                for entry in file.entries:
                    key, digest = trust_key(file.path, entry), trust_digest(entry)
                    config.write(f'[hooks.state."{key}"]\ntrusted_hash = "{digest}"\n')

    def add_server(self, home: Path) -> None:
        """Add execplan's MCP server to the user's settings, as the documentation says."""
        with (home / ".codex" / "config.toml").open("a") as config:
            config.write('[mcp_servers.execplan]\ncommand = "execplan"\nargs = ["mcp"]\n')

    def name_instructions(self, home: Path) -> None:
        """Do nothing: it reads AGENTS.md."""

    def read_skill(self, name: str) -> tuple[str, list[Use]]:
        """Return what a user says so that a skill is read: it is in the request then."""
        return f"${name} What is next?", []

    def command(self, text: str) -> Use:
        """Return a call that runs a command."""
        return Use("exec_command", {"cmd": text})

    def create(self, path: str, content: str) -> Use:
        """Return a call that creates a file of the repository."""
        lines = "".join([f"+{line}\n" for line in content.splitlines()])
        return Use("apply_patch", f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch")


class Claude:
    """Claude Code, with the fake model as its service."""

    name = "claude"
    form: WireForm = messages_form
    integrations: tuple[str, ...] = ("guard", "session-hooks", "stop-gate")

    def __init__(self) -> None:
        self.root = ""

    def arguments(self, prompt: str, url: str, *, continues: bool) -> list[str]:
        """Return the arguments of a session without a person."""
        flags = ["--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions"]
        return ["-p", prompt, *(["--continue"] if continues else []), *flags]

    def variables(self, url: str) -> dict[str, str]:
        """Return the variables that name the model of a session."""
        return {"ANTHROPIC_BASE_URL": url}

    def prepare(self, home: Path, root: Path) -> dict[str, str]:
        """Return the variables that the program needs."""
        self.root = str(root)
        quiet = ("DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "IS_SANDBOX")
        return {"ANTHROPIC_API_KEY": "invented", **dict.fromkeys(quiet, "1")}

    def trust_hooks(self, home: Path, project: Project) -> None:
        """Do nothing: without a person, it runs the hooks of every directory."""

    def add_server(self, home: Path) -> None:
        """Add execplan's MCP server to the user's settings, as the documentation says."""
        arguments = ["mcp", "add", "--scope", "user", "execplan", "--", "execplan", "mcp"]
        environment = {**os.environ, "HOME": str(home)}
        subprocess.run([needs.client(self.name), *arguments], env=environment, cwd=home, check=True, timeout=60)

    def name_instructions(self, home: Path) -> None:
        """Do nothing: newer versions read AGENTS.md, and `install agents` writes CLAUDE.md if there is one."""

    def read_skill(self, name: str) -> tuple[str, list[Use]]:
        """Return what a user says so that a skill is read, and the call with which the model reads it."""
        return f"Use the skill {name}.", [Use("Skill", {"skill": name})]

    def command(self, text: str) -> Use:
        """Return a call that runs a command."""
        return Use("Bash", {"command": text, "description": "Run it"})

    def create(self, path: str, content: str) -> Use:
        """Return a call that creates a file of the repository."""
        return Use("Write", {"file_path": os.path.join(self.root, path), "content": content})


PROGRAMS: dict[str, Callable[[], AgentProgram]] = {
    "codex": Codex,
    "claude": Claude,
    "gemini": Gemini,
    "opencode": Opencode,
    "qwen": Qwen,
    "continue": Continue,
    "cline": Cline,
    "goose": Goose,
}


def find_version(name: str) -> str:
    """Return the version of an installed program."""
    completed = subprocess.run(
        [needs.client(name), "--version"], capture_output=True, text=True, check=True, timeout=60
    )
    match = re.search(r"\d+\.\d+\.\d+", completed.stdout)
    assert match, completed.stdout
    return match[0]


class Workbench:
    """A repository, and sessions of a program in it."""

    def __init__(self, program: AgentProgram, root: Path, env: dict[str, str]) -> None:
        self.program, self.root = program, root
        home, tools = root.parent, root.parent / "tools"
        tools.mkdir()
        self.tools = tools
        self.install_execplan("exec EXECPLAN")
        (home / ".profile").write_text(f'PATH="{tools}:$PATH"\n')  # a login shell sets another one
        variables = program.prepare(home, root)
        self.env = {**env, **_NO_PROXY, "NO_PROXY": "127.0.0.1", **variables, "PATH": f"{tools}:{env['PATH']}"}

    def need(self, integration: str) -> None:
        """Skip the test if the program has no hook for an integration."""
        if integration not in self.program.integrations:
            pytest.skip(f"{self.program.name} has no hook for {integration}")

    def install_execplan(self, script: str) -> None:
        """Install a script as execplan, in which EXECPLAN stands for a call of the real one."""
        path, command = self.tools / "execplan", f'{sys.executable} -m execplan "$@"'
        path.write_text(f"#!/bin/sh\n{script.replace('EXECPLAN', command)}\n")
        path.chmod(0o755)

    def run(
        self, answer: Callable[[Request], Reply], prompt: str = "Go on.", *, continues: bool = False, folder: str = "."
    ) -> Session:
        """Run a session until its model has nothing more to call."""

        def session() -> Session:
            model = FakeModel(self.program.form, answer)
            completed = subprocess.run(
                [needs.client(self.program.name), *self.program.arguments(prompt, model.url, continues=continues)],
                cwd=self.root / folder,
                env={**self.env, "PWD": str(self.root / folder), **self.program.variables(model.url)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LIMIT_SECONDS,
                check=False,
            )
            model.close()
            lines = [line for line in completed.stdout.splitlines() if line.startswith("{")]
            events = tuple([json.loads(line) for line in lines])
            return Session(tuple(model.requests), completed.returncode, events, completed.stderr)

        result = run_isolated(session)
        assert isinstance(result, Session)
        assert result.requests, result
        return result
