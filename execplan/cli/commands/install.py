"""The `execplan install` and `execplan uninstall` commands."""

from __future__ import annotations

import os
import sys

import click

from execplan.agents.integrations import INTEGRATIONS
from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, define_command, lock_option
from execplan.cli.integration_installer import apply_integrations, check_request, remaining_paths
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.project import project_discovery
from execplan.core.text.message_parts import align_descriptions


@define_command(
    reads="the settings, and the files that it changes.",
    writes=(
        "agents: a block in AGENTS.md, and in CLAUDE.md if it exists. pre-commit: a hook in "
        ".pre-commit-config.yaml. git-hooks: the git hook pre-commit, in addition to what it does now. merge-driver: a block in "
        ".gitattributes, and merge.execplan in git's local settings. guard, session-hooks, stop-gate and capture: entries in "
        ".claude/settings.json, and in .codex/hooks.json or .gemini/settings.json if their directory exists or --for names it; for opencode, guard is a plugin in "
        ".opencode/plugins. skill: "
        ".agents/skills/execplan, and .claude/skills/execplan if the repository has .claude or CLAUDE.md. plugin: a "
        "directory in your data directory, or --to. completion: a file where the shell looks for it. "
        "Your own content is never changed; uninstall removes exactly what was added."
    ),
    examples=(
        "execplan install agents git-hooks merge-driver",
        "execplan install pre-commit --dry-run",
        "execplan install guard --for claude",
        "execplan install session-hooks capture",
        "execplan install skill",
        "execplan install plugin",
        "execplan install completion --shell bash",
    ),
)
@click.argument("what", nargs=-1, metavar="WHAT...", shell_complete=complete_with("integration"))
@click.option(
    "--shell", type=click.Choice(["bash", "zsh", "fish"]), help="Shell for completion. Default: the one in $SHELL."
)
@click.option(
    "--for",
    "programs",
    type=click.Choice(["claude", "codex", "gemini", "opencode"]),
    multiple=True,
    help="Agent program for hooks and skill. Default: Claude Code, and others whose directory exists, such as .codex; for skill, all, but Claude Code only if .claude or CLAUDE.md exists.",
)
@click.option("--to", "directory", metavar="DIR", help="Directory for plugin. Default: in your data directory.")
@click.option("--force", is_flag=True, help="Also overwrite changes that were made by hand to what install added.")
@click.option("--dry-run", is_flag=True, help="Show the changes and paths without writing them.")
@lock_option
def install(
    call: Call,
    what: tuple[str, ...],
    shell: str | None,
    programs: tuple[str, ...],
    directory: str | None,
    force: bool,
    dry_run: bool,
) -> Answer:
    """Install integrations: agents, hooks, merges, completion.

    WHAT is one or more of these:

    \b
    agents         instructions for agents, in AGENTS.md and CLAUDE.md
    pre-commit     a hook in .pre-commit-config.yaml that checks plans
    git-hooks      a git hook that checks the staged plans of each commit
    merge-driver   a git merge driver that merges plans by task and entry
    guard          a hook that lets agents do only what an approved plan allows
    session-hooks  hooks that give each agent session an overview of the plan
    stop-gate      a hook that keeps agents working on the tasks they claimed
    skill          a skill that tells agents when and how to use execplan
    plugin         a plugin for Claude Code and Codex, for all your repositories
    capture        hooks that turn plans of plan mode into ExecPlans
    completion     shell completion for bash, zsh or fish

    Installed integrations are updated, so you can run the command again at any time.
    """
    if sys.platform == "win32" and "guard" in what:
        from execplan.core.files.windows_process import windows_error

        raise windows_error("install guard")
    request = check_request("install", what, shell, programs, directory)
    return apply_integrations("install", request, force=force, dry_run=dry_run)


@define_command(
    reads="the files that install writes.",
    writes="the same files, without what install added; removes a file that install created if nothing else is in it.",
    examples=(
        "execplan uninstall agents",
        "execplan uninstall git-hooks completion --dry-run",
        "execplan uninstall --all --dry-run",
    ),
)
@click.argument("what", nargs=-1, metavar="WHAT...", shell_complete=complete_with("integration"))
@click.option("--all", "everything", is_flag=True, help="Remove all integrations, and list what stays.")
@click.option("--shell", type=click.Choice(["bash", "zsh", "fish"]), help="Shell for completion. Default: all three.")
@click.option(
    "--for",
    "programs",
    type=click.Choice(["claude", "codex", "gemini", "opencode"]),
    multiple=True,
    help="Agent program for hooks and skill. Default: all.",
)
@click.option("--to", "directory", metavar="DIR", help="Directory for plugin. Default: in your data directory.")
@click.option("--force", is_flag=True, help="Also remove changes that were made by hand to what install added.")
@click.option("--dry-run", is_flag=True, help="Show the changes and paths without writing them.")
@lock_option
def uninstall(
    call: Call,
    what: tuple[str, ...],
    shell: str | None,
    programs: tuple[str, ...],
    directory: str | None,
    *,
    everything: bool,
    force: bool,
    dry_run: bool,
) -> Answer:
    """Remove exactly what install added.

    WHAT is one or more names of integrations; `execplan install` without a name lists them. --all removes every
    integration from the repository and your shells, and lists what stays: plans, settings, and directories with state.
    """
    if everything:
        if what:
            raise usage_error("--all can't be combined with WHAT", "omit one of them")
        what = tuple(INTEGRATIONS)
    request = check_request("uninstall", what, shell, programs, directory)
    try:
        answer = apply_integrations("uninstall", request, force=force, dry_run=dry_run)
    except ExecplanError as error:
        if everything and error.hint and error.hint.endswith(" --force"):
            error.hint += "; execplan uninstall --all"
        raise
    if not everything:
        return answer
    rest = remaining_paths(project_discovery.find(os.getcwd()))
    lines = align_descriptions([(f"stays  {path}", f"({reason})") for path, reason in rest])
    changes = [line for line in answer.text.split("\n") if not line.endswith(": not installed)")]
    text = "\n".join([line for line in (*changes, *lines) if line])
    data = answer.data | {"stays": [{"path": path, "reason": reason} for path, reason in rest]}
    return answer._replace(data=data, text=text)
