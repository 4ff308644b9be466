"""The format of `--help`: lines are never broken inside names, and commands are never wrapped."""

from __future__ import annotations

from collections.abc import Iterable

import click


class HelpFormatter(click.HelpFormatter):
    """A formatter that never breaks a line inside a name with hyphens, such as `pre-commit` or `--dry-run`."""

    def write_text(self, text: str) -> None:
        """Write a paragraph, wrapped to the width."""
        super().write_text(_join_hyphens(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write options or commands with their descriptions."""
        super().write_dl([(name, _join_hyphens(text)) for name, text in rows], col_max, col_spacing)

    def getvalue(self) -> str:
        """Return the formatted help text."""
        return super().getvalue().replace(_NON_BREAKING_HYPHEN, "-")


_NON_BREAKING_HYPHEN = "\u2011"


def _join_hyphens(text: str) -> str:
    return text.replace("-", _NON_BREAKING_HYPHEN)


class HelpContext(click.Context):
    """The context of a command, with the formatter of its help."""

    formatter_class = HelpFormatter


def write_command_section(formatter: click.HelpFormatter, name: str, commands: tuple[str, ...]) -> None:
    """Write a help section with one command per line, never wrapped."""
    with formatter.section(name):
        for command in commands:
            formatter.write(f"  {command}\n")
