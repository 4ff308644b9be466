"""The `execplan self` command."""

from __future__ import annotations

import os
import platform
import sys
from importlib.util import find_spec

import click

from execplan import __version__
from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.version_text import full_version
from execplan.core.errors import CHECK_FAILED, OK, ExecplanError
from execplan.core.installation import EXTRAS, find_installation
from execplan.core.project import project_discovery, project_state
from execplan.core.text.message_parts import align_descriptions

_CHECK = "check"
"""The only action so far."""


@define_command(
    reads="the records of the installer; in a project, the format of its state directory.",
    writes="nothing.",
    examples=("execplan self check", "execplan self check --json"),
)
@click.argument("action", metavar="check", required=False, shell_complete=lambda *_: [_CHECK])
def self(call: Call, action: str | None) -> Answer:
    """Show the version, how it was installed, and the commands that upgrade and remove it.

    Exits 1 if a newer version of execplan has changed the format of the project's state directory, so that this version
    must not write there.
    """
    if action not in (None, _CHECK):
        raise ExecplanError("usage", f"unknown action {action!r}", hint=f"use: execplan self {_CHECK}")
    installation, project = find_installation(), project_discovery.find(os.getcwd())
    state_format = project_state.find_format(project) if project.exists else None
    is_known = state_format is None or state_format <= project_state.FORMAT
    extras = {name: find_spec(package) is not None for name, package in EXTRAS.items()}
    data = {
        "version": __version__,
        "checkout": full_version().partition("(")[2].rstrip(")") or None,
        "kind": installation.kind,
        "directory": installation.directory,
        "source": installation.source or None,
        "python": platform.python_version(),
        "extras": extras,
        "state_format": state_format,
        "known_format": project_state.FORMAT,
        "upgrade": installation.upgrade_command,
        "remove": installation.removal_command or None,
    }
    rows = [
        ("execplan", full_version()),
        ("installed", f"{installation.kind}, {installation.source or installation.directory}"),
        ("Python", f"{platform.python_version()}, {sys.executable}"),
        ("extras", f"{_names(extras, is_installed=True)}; missing: {_names(extras, is_installed=False)}"),
        ("add extra", installation.command_for("NAME")),
        ("upgrade", installation.upgrade_command),
        ("remove", installation.removal_command or "nothing is installed"),
    ]
    if state_format is not None:
        suffix = "" if is_known else f", but this version knows only {project_state.FORMAT}: upgrade execplan"
        rows.append(("state", f"format {state_format}{suffix}"))
    return Answer(data, printable_lines(align_descriptions(rows)), OK if is_known else CHECK_FAILED)


def _names(extras: dict[str, bool], *, is_installed: bool) -> str:
    """Return the names of the extras that are installed, or that are not."""
    return ", ".join([name for name, value in extras.items() if value == is_installed]) or "none"
