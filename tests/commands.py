"""Whether a command line that is shown somewhere can be typed: its command, flags and arguments exist."""

from __future__ import annotations

import shlex

import click

from execplan.cli.app import group


def check_command(line: str) -> None:
    """Parse a command line that begins with `execplan`, without running it; an assertion fails when it can't be."""
    arguments = shlex.split(line, comments=True)
    assert arguments[0] == "execplan", line
    try:
        with click.Context(group, info_name="execplan") as outer:
            remaining = group.make_parser(outer).parse_args(arguments[1:])[1]
            if remaining:
                name, command, remaining = group.resolve_command(outer, remaining)
                assert command is not None
                with command.make_context(name, remaining, parent=outer):
                    pass
    except click.exceptions.Exit:
        pass  # --help and --version end here
    except click.UsageError as error:
        raise AssertionError(f"{line}: {error.format_message()}") from None
