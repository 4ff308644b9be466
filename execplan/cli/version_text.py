"""The version of this installation, with its build: pure Python or compiled."""

from __future__ import annotations

from execplan import __version__


def version_text() -> str:
    """Return the line that `--version` prints, such as `execplan 0.1.0 (compiled)`."""
    from execplan.text import markdown_blocks

    build = "pure Python" if markdown_blocks.__file__.endswith(".py") else "compiled"
    return f"execplan {__version__} ({build})"
