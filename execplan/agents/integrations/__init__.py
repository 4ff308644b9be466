"""Integrations that `execplan install` adds to a repository or a shell."""

from __future__ import annotations

INTEGRATIONS = {
    "agents": "how to work with plans, in AGENTS.md and CLAUDE.md",
    "pre-commit": "a hook in .pre-commit-config.yaml that checks plans",
    "git-hooks": "git's own hook, which checks the plans of a commit as they are staged",
    "merge-driver": "git's merge of plans: by tasks and entries, and only their prose line by line",
    "guard": "a hook of Claude Code and Codex: an agent may do only what an approved plan says",
    "session-hooks": "hooks of Claude Code and Codex: a session is told where the plan stands",
    "completion": "completion of commands, plans, tasks, sections and codes in bash, zsh or fish",
}
"""Available integrations, each with a description."""
