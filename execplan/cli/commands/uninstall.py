"""The `execplan uninstall` command."""

from __future__ import annotations

import os

import click

from execplan.agents.integrations import INTEGRATIONS
from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, define_command, lock_option
from execplan.cli.integration_installer import apply_integrations, check_request, remaining_paths
from execplan.core.errors import USAGE, ExecplanError
from execplan.core.project import project_discovery
from execplan.core.text.message_parts import align_descriptions


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
            raise ExecplanError("usage", "--all can't be combined with WHAT", exit=USAGE, hint="omit one of them")
        what = tuple(INTEGRATIONS)
    request = check_request("uninstall", what, shell, programs, directory)
    answer = apply_integrations("uninstall", request, force=force, dry_run=dry_run)
    if not everything:
        return answer
    rest = remaining_paths(project_discovery.find(os.getcwd()))
    lines = align_descriptions([(f"stays  {path}", f"({reason})") for path, reason in rest])
    changes = [line for line in answer.text.split("\n") if not line.endswith(": not installed)")]
    text = "\n".join([line for line in (*changes, *lines) if line])
    data = answer.data | {"stays": [{"path": path, "reason": reason} for path, reason in rest]}
    return answer._replace(data=data, text=text)


command = uninstall
