"""Questions to a person at a terminal."""

from __future__ import annotations

import sys

from execplan.cli.error_handler import printable_line


def can_ask() -> bool:
    """Whether a person sits at a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def confirm(question: str) -> bool:
    """Whether the person answers with yes; no answer is no."""
    print(f"{printable_line(question)} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
