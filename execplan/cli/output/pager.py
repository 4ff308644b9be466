"""Long output for people at a terminal, shown in their pager."""

from __future__ import annotations

import os
import shlex
import sys

import click

from execplan.cli.output.terminal_layout import terminal_size

_PLAIN_PAGERS: tuple[list[str], ...] = ([], ["cat"])
"""Values of PAGER that turn the pager off, as lists of words."""
_LESS_OPTIONS = "FRX"
"""Options for less without options of the user: quit if all fits on the screen, show colors, and keep the output."""
_ROWS_BELOW = 2
"""Number of rows below the text, for the next command and the prompt."""


def can_page() -> bool:
    """Return whether a person is at a terminal with a pager: not an agent, and PAGER is not empty or `cat`."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("EXECPLAN_AGENT"):
        return False
    if os.environ.get("TERM", "dumb") == "dumb" or (words := _pager_words()) in _PLAIN_PAGERS:
        return False
    from shutil import which

    return which(words[0]) is not None


def show_in_pager(text: str) -> bool:
    """Show printable text in the pager if it is longer than the screen; return whether it was shown."""
    if not can_page() or not _is_long(text):
        return False
    sys.stdout.flush()
    os.environ.setdefault("LESS", _LESS_OPTIONS)
    try:
        with click.get_pager_file(color=_shows_colors()) as pager:
            pager.write(text.encode("utf-8", "backslashreplace").decode())
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # the pager was closed before it read everything
    except OSError:
        return False  # the pager can't be started
    return True


def _shows_colors() -> bool | None:
    """Return True if the options in LESS let less show colors; None if click has to find out.

    LESS may omit the hyphen before its options, which click doesn't recognize.
    """
    is_less = os.path.basename(_pager_words()[0]) == "less"
    has_option = "r" in os.environ.get("LESS", "").partition("--")[0].casefold()
    return True if is_less and has_option else None


def _pager_words() -> list[str]:
    """Return the words of PAGER, by default `less`."""
    try:
        return shlex.split(os.environ.get("PAGER", "less"))
    except ValueError:
        return []


def _is_long(text: str) -> bool:
    """Return whether a text needs more rows than the terminal has; long lines need several."""
    columns, rows = terminal_size()
    lines = click.unstyle(text).splitlines()
    return sum([max(-(-len(line) // columns), 1) for line in lines]) > rows - _ROWS_BELOW
