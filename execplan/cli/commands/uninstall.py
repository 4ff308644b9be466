"""The `execplan uninstall` command."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, define_command, lock_option
from execplan.cli.integration_installer import apply_integrations, check_request


@define_command(
    reads="the files that install writes.",
    writes="the same files, without what install added; a file that it made goes, if nothing else is in it.",
    examples=("execplan uninstall agents", "execplan uninstall git-hooks completion --dry-run"),
)
@click.argument("what", nargs=-1, metavar="WHAT...", shell_complete=complete_with("integration"))
@click.option("--shell", type=click.Choice(["bash", "zsh", "fish"]), help="For completion; else all three.")
@click.option(
    "--for",
    "programs",
    type=click.Choice(["claude", "codex"]),
    multiple=True,
    help="For guard and session-hooks; else both.",
)
@click.option("--force", is_flag=True, help="Also what was edited by hand in a block of execplan.")
@click.option("--dry-run", is_flag=True, help="Show the change and the paths; do nothing.")
@lock_option
def uninstall(
    call: Call, what: tuple[str, ...], shell: str | None, programs: tuple[str, ...], force: bool, dry_run: bool
) -> Answer:
    """Take integrations back, to the byte: agents, pre-commit, git-hooks, merge-driver, guard, session-hooks, completion."""
    return apply_integrations(
        "uninstall", check_request("uninstall", what, shell, programs), force=force, dry_run=dry_run
    )


command = uninstall
