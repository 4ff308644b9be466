"""Integration `install plugin`: a plugin for Claude Code and Codex, in a directory from which both can add it.

It belongs to a user and works in every repository, so it has no guard: the guard would deny everything where no plan is
approved. There is no plugin.json of Agent Plugins 1.0.0 at its root, because with one Codex 0.169 ignores its hooks and
its MCP server.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
from collections.abc import Mapping
from typing import Any

from execplan import __version__
from execplan.agents.integrations import managed_directory, session_hooks, skill
from execplan.agents.integrations.integration_changes import ChangeSet, read_file
from execplan.agents.integrations.managed_directory import ManagedDirectory
from execplan.core import features
from execplan.core.project import builtin_templates
from execplan.core.text.text_lines import digest

NAME = "plugin"
SERVER_PACKAGE = "mcp"
"""Package that the MCP server needs."""
ADD_COMMANDS = {
    "claude": ("claude plugin marketplace add {}", "claude plugin install execplan@execplan"),
    "codex": ("codex plugin marketplace add {}", "codex plugin add execplan@execplan"),
}
"""Commands that add the plugin to a program, with a place for the directory."""
TRUST_WARNING = "Codex runs the plugin's hook only if you trust it: /hooks"
_PLUGIN, _DESCRIPTION = "execplan", "Write, follow and update ExecPlans, the living plans of a repository."
_COMMAND_SKILLS = ("plan", "next")
_HOOK_LINES = {
    "claude": 'grep -qs execplan:session "${CLAUDE_PROJECT_DIR:-.}/.claude/settings.json"',
    "codex": 'grep -qs execplan:session "$(git rev-parse --show-toplevel 2>/dev/null || pwd)/.codex/hooks.json"',
}
"""Shell commands that succeed if the repository has session hooks, so that no session gets two overviews."""


def default_directory() -> str:
    """Return the directory of the plugin in the user's data."""
    folder = os.environ.get("XDG_DATA_HOME", "")
    return os.path.join(folder if os.path.isabs(folder) else os.path.expanduser("~/.local/share"), "execplan", "plugin")


def has_server() -> bool:
    """Check whether the MCP server can run here."""
    return importlib.util.find_spec(SERVER_PACKAGE) is not None


def _missing_server_warning() -> str:
    return f"the plugin has no MCP server, because the package {SERVER_PACKAGE} is missing; {features.load(features.EXTRA_HINT)('mcp')}; then: execplan install plugin"


def install(directory: str | None, *, force: bool) -> ChangeSet:
    """Plan to add or update the plugin in a directory. Raises ExecplanError."""
    managed = _managed_directory(directory)
    change_set = managed_directory.plan_install(managed, force=force)
    is_changed = any([change.action != "kept" for change in change_set.changes])
    warnings = [] if has_server() else [_missing_server_warning()]
    if shutil.which("execplan") is None:
        warnings.append(session_hooks.NOT_ON_PATH_WARNING)
    if is_changed:
        warnings.append(TRUST_WARNING)
    programs = [name for name in ADD_COMMANDS if shutil.which(name)] or list(ADD_COMMANDS)
    commands = [command.format(shlex.quote(managed.path)) for name in programs for command in ADD_COMMANDS[name]]
    return change_set._replace(
        warnings=(*change_set.warnings, *warnings), next_commands=tuple(commands) if is_changed else ()
    )


def uninstall(directory: str | None, *, force: bool) -> ChangeSet:
    """Plan to remove the plugin from a directory. Raises ExecplanError."""
    return managed_directory.plan_uninstall(_managed_directory(directory), force=force)


def is_installed() -> bool:
    """Check whether the plugin is installed in the default directory."""
    return os.path.lexists(os.path.join(default_directory(), managed_directory.LIST_NAME))


def plugin_files() -> dict[str, bytes]:
    """Return the files of the directory by their paths: a marketplace, and in it the plugin."""
    files = {f"skills/execplan/{skill.FILE_NAME}": skill.skill_text(".agent/PLANS.md").encode()}
    for name in _COMMAND_SKILLS:
        files[f"skills/{name}/{skill.FILE_NAME}"] = builtin_templates.read_text(f"plugin/{name}.md").encode()
    files["hooks/hooks.json"] = _json_bytes({"hooks": _hooks("claude")})
    files["hooks/codex.json"] = _json_bytes({"hooks": _hooks("codex")})
    servers = {}
    if has_server():
        files[".mcp.json"] = _json_bytes({"mcpServers": {"execplan": {"command": "execplan", "args": ["mcp"]}}})
        servers = {"mcpServers": "./.mcp.json"}
    # A program takes an update only if the version differs, so the version depends on the content.
    content_digest = digest(b"\0".join([part for name in sorted(files) for part in (name.encode(), files[name])]))
    manifest = {"name": _PLUGIN, "version": f"{__version__}+{content_digest[:8]}", "description": _DESCRIPTION}
    files[".claude-plugin/plugin.json"] = _json_bytes(manifest)
    files[".codex-plugin/plugin.json"] = _json_bytes(
        {**manifest, "skills": "./skills/", "hooks": "./hooks/codex.json", **servers}
    )
    marketplace = {
        "name": _PLUGIN,
        "owner": {"name": _PLUGIN},
        "plugins": [{"name": _PLUGIN, "source": f"./{_PLUGIN}", "description": _DESCRIPTION}],
    }
    return {
        ".claude-plugin/marketplace.json": _json_bytes(marketplace),
        **{f"{_PLUGIN}/{name}": data for name, data in files.items()},
    }


def _managed_directory(directory: str | None) -> ManagedDirectory:
    path = os.path.abspath(os.path.expanduser(directory)) if directory else default_directory()
    arguments = f" --to {shlex.quote(path)}" if directory else ""
    return ManagedDirectory(NAME, path, path, plugin_files(), read_file, arguments)


def _hooks(program: str) -> Mapping[str, Any]:
    """Return the session hooks of a program."""
    line = f"{_HOOK_LINES[program]} || execplan prime --hook {program} || :"
    handler = {"type": "command", "command": line, "timeout": session_hooks.TIMEOUT}
    return {hook.event: [{"hooks": [handler]}] for hook in session_hooks.HOOKS[program]}


def _json_bytes(document: object) -> bytes:
    return (json.dumps(document, indent=2) + "\n").encode()
