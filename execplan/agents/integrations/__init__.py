"""Integrations that `execplan install` adds to a repository or a shell."""

from __future__ import annotations

INTEGRATIONS = {
    "agents": "instructions for working with plans, in AGENTS.md and CLAUDE.md",
    "pre-commit": "a hook in .pre-commit-config.yaml that checks plans",
    "git-hooks": "git's own pre-commit hook: checks the plans of a commit as they are staged",
    "merge-driver": "git's merge driver for plans: merges tasks and entries, and only prose line by line",
    "guard": "a hook for Claude Code and Codex: agents may do only what an approved plan allows",
    "session-hooks": "hooks for Claude Code and Codex: give each session an overview of the plan",
    "capture": "hooks for Claude Code and Codex: a plan from plan mode becomes an ExecPlan",
    "completion": "completion of commands, plans, tasks, sections and codes for bash, zsh or fish",
}
"""Available integrations, each with a description."""
