"""Yes-or-no prompts for a user at a terminal."""

from __future__ import annotations

import sys

from execplan.cli.error_handler import printable_line


def confirm(question: str) -> bool:
    """Ask a question and return whether the answer is yes; an empty answer means no."""
    print(f"{printable_line(question)} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
