"""The `execplan uninstall` command."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, define_command, lock_option
from execplan.cli.integration_installer import apply_integrations, check_request


@define_command(
    reads="the files that install writes.",
    writes="the same files, without what install added; removes a file that install created if nothing else is in it.",
    examples=("execplan uninstall agents", "execplan uninstall git-hooks completion --dry-run"),
)
@click.argument("what", nargs=-1, metavar="WHAT...", shell_complete=complete_with("integration"))
@click.option("--shell", type=click.Choice(["bash", "zsh", "fish"]), help="Shell for completion. Default: all three.")
@click.option(
    "--for",
    "programs",
    type=click.Choice(["claude", "codex"]),
    multiple=True,
    help="Agent program for hooks and skill. Default: both.",
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
    force: bool,
    dry_run: bool,
) -> Answer:
    """Remove exactly what install added.

    WHAT is one or more names of integrations; `execplan install` without a name lists them.
    """
    request = check_request("uninstall", what, shell, programs, directory)
    return apply_integrations("uninstall", request, force=force, dry_run=dry_run)


command = uninstall
