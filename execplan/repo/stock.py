"""The files that come with the tool."""

from __future__ import annotations

import os

_INSIDE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "templates")
_BESIDE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "templates")


def folder() -> str:
    """Where the templates are: in the package when it was built, beside it in a checkout."""
    return _INSIDE if os.path.isdir(_INSIDE) else _BESIDE


def text(name: str) -> str:
    """A template as it stands."""
    with open(os.path.join(folder(), name), encoding="utf-8") as file:
        return file.read()


def names(kind: str) -> list[str]:
    """The markdown files in a folder of the templates."""
    return sorted([name for name in os.listdir(os.path.join(folder(), kind)) if name.endswith(".md")])
