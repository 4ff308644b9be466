"""The rules of agent programs for skills and plugins, as far as their documents state them: what is wrong with a folder.

The real programs are the judges where they can be run; these rules hold everywhere.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path

_SKILL_FIELDS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
_CLAUDE_FIELDS = {
    *("name", "version", "description", "author", "homepage", "repository", "license", "keywords"),
    *("commands", "agents", "skills", "hooks", "mcpServers", "lspServers", "outputStyles"),
}
_HOOK_EVENTS = {
    "claude": {"SessionStart", "PreCompact", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionEnd"},
    "codex": {"SessionStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "PreCompact", "PostCompact"},
}
_SKILL_BYTES = 2048


def skill_problems(path: Path) -> list[str]:
    """Say what is wrong with a skill, by the rules of Agent Skills and our own limit."""
    text = path.read_text()
    match = re.fullmatch(r"---\n(.*?)\n---\n(.+)", text, re.DOTALL)
    if match is None:
        return ["no front matter, or nothing after it"]
    fields = yaml.safe_load(match[1])
    name, description = fields.get("name", ""), fields.get("description", "")
    problems = {
        "unknown fields": bool(set(fields) - _SKILL_FIELDS),
        "name": not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) or len(name) > 64,
        "name is not that of the folder": name != path.parent.name,
        "description": not isinstance(description, str) or not 0 < len(description) <= 1024,
        "compatibility": len(fields.get("compatibility", "")) > 500,
        "command that runs unasked": "!`" in match[2],
        "size": len(text.encode()) > _SKILL_BYTES,
        "name of the file": path.name != "SKILL.md",
    }
    return [problem for problem, is_there in problems.items() if is_there]


def hook_problems(path: Path, program: str) -> list[str]:
    """Say what is wrong with a file of hooks; each such file is ignored by a program, often without a word."""
    document = json.loads(path.read_text())
    problems = ["unknown top-level key"] if set(document) != {"hooks"} else []
    for event, groups in document.get("hooks", {}).items():
        problems += [f"event {event}"] if event not in _HOOK_EVENTS[program] else []
        for handler in [handler for group in groups for handler in group["hooks"]]:
            problems += [] if handler["type"] == "command" and isinstance(handler["command"], str) else ["handler"]
    return problems


def plugin_problems(folder: Path) -> list[str]:
    """Say what is wrong with a folder that is a marketplace with one plugin."""
    marketplace = _read(folder / ".claude-plugin" / "marketplace.json")
    problems = [f"marketplace: {name}" for name in ("name", "owner", "plugins") if not marketplace.get(name)]
    (entry,) = marketplace["plugins"]
    plugin = folder / entry["source"]
    if not entry["source"].startswith("./") or ".." in entry["source"]:
        problems.append("source")
    claude, codex = [_read(plugin / name / "plugin.json") for name in (".claude-plugin", ".codex-plugin")]
    problems += [f"unknown fields: {set(claude) - _CLAUDE_FIELDS}"] if set(claude) - _CLAUDE_FIELDS else []
    for manifest in (claude, codex):
        if manifest["name"] != entry["name"] or manifest["version"] != claude["version"]:
            problems.append("name or version")
        if not re.fullmatch(r"\d+\.\d+\.\d+([-.]?[a-z0-9.]+)?\+[0-9a-f]{8}", manifest["version"]):
            problems.append(f"version {manifest['version']}")
    problems += [f"no {codex[name]}" for name in ("skills", "hooks") if not (plugin / codex[name]).exists()]
    problems += [problem for path in plugin.glob("skills/*/*") for problem in skill_problems(path)]
    problems += hook_problems(plugin / "hooks" / "hooks.json", "claude") + hook_problems(
        plugin / codex["hooks"], "codex"
    )
    if (plugin / ".mcp.json").exists() != ("mcpServers" in codex):
        problems.append("MCP server of one program only")
    if (plugin / "plugin.json").exists():
        problems.append("Codex ignores hooks and MCP servers beside a plugin.json at the root")
    return problems


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document
