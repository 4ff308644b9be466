"""The `execplan install` command."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, define_command, lock_option
from execplan.cli.integration_installer import apply_integrations, check_request


@define_command(
    reads="the settings, and the files that it is about to write.",
    writes="agents: a block in AGENTS.md, and in CLAUDE.md where there is one. pre-commit: a hook in "
    ".pre-commit-config.yaml. git-hooks: the hook pre-commit, beside what it does now. merge-driver: a block in "
    ".gitattributes, and merge.execplan in git's local settings. guard and session-hooks: entries in "
    ".claude/settings.json, and in .codex/hooks.json where there is a .codex or --for says so. completion: a file where the shell looks. Never a byte "
    "of yours; uninstall takes back exactly what was added.",
    examples=(
        "execplan install agents git-hooks merge-driver",
        "execplan install pre-commit --dry-run",
        "execplan install guard --for claude",
        "execplan install session-hooks",
        "execplan install completion --shell bash",
    ),
)
@click.argument("what", nargs=-1, metavar="WHAT...", shell_complete=complete_with("integration"))
@click.option("--shell", type=click.Choice(["bash", "zsh", "fish"]), help="For completion; else what SHELL names.")
@click.option(
    "--for",
    "programs",
    type=click.Choice(["claude", "codex"]),
    multiple=True,
    help="For guard and session-hooks; else Claude Code, and Codex where there is a .codex.",
)
@click.option("--force", is_flag=True, help="Also over what was edited by hand in a block of execplan.")
@click.option("--dry-run", is_flag=True, help="Show the change and the paths; do nothing.")
@lock_option
def install(
    call: Call, what: tuple[str, ...], shell: str | None, programs: tuple[str, ...], force: bool, dry_run: bool
) -> Answer:
    """Add integrations: agents, pre-commit, git-hooks, merge-driver, guard, session-hooks, completion.

    What is there already is brought up to date, so it can be run again at any time.
    """
    return apply_integrations("install", check_request("install", what, shell, programs), force=force, dry_run=dry_run)


command = install
