"""Integrations that `execplan install` adds to a repository or a shell."""

from __future__ import annotations

INTEGRATIONS = {
    "agents": "instructions for agents, in AGENTS.md and CLAUDE.md",
    "pre-commit": "a hook in .pre-commit-config.yaml that checks plans",
    "git-hooks": "a git hook that checks the staged plans of each commit",
    "merge-driver": "a git merge driver that merges plans by task and entry",
    "guard": "a hook that lets agents do only what an approved plan allows",
    "session-hooks": "hooks that give each agent session an overview of the plan",
    "stop-gate": "a hook that keeps agents working on the tasks they claimed",
    "skill": "a skill that tells agents when and how to use execplan",
    "plugin": "a plugin for Claude Code and Codex, for all your repositories",
    "capture": "hooks that turn plans of plan mode into ExecPlans",
    "completion": "shell completion for bash, zsh or fish",
}
"""Available integrations, each with a description."""
