"""Access to the template files that are included with execplan."""

from __future__ import annotations

import os

_PACKAGED_DIR = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "templates")
_CHECKOUT_DIR = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "templates")


def directory() -> str:
    """Return the templates directory: inside the built package, or next to it in a checkout."""
    return _PACKAGED_DIR if os.path.isdir(_PACKAGED_DIR) else _CHECKOUT_DIR


def read_text(name: str) -> str:
    """Return the text of a template unchanged."""
    with open(os.path.join(directory(), name), encoding="utf-8") as file:
        return file.read()


def list_names(kind: str) -> list[str]:
    """Return the names of the Markdown files in a subdirectory of the templates."""
    return sorted([name for name in os.listdir(os.path.join(directory(), kind)) if name.endswith(".md")])
