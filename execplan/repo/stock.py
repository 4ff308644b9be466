"""The templates that come with the tool."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_INSIDE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "templates")
_BESIDE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "templates")


def folder() -> str:
    """Where the templates are: in the package when it was built, beside it in a checkout."""
    return _INSIDE if os.path.isdir(_INSIDE) else _BESIDE


def text(name: str) -> str:
    """A template as it stands."""
    with open(os.path.join(folder(), name), encoding="utf-8") as file:
        return file.read()


def render_plan(title: str, purpose: str, tasks: Sequence[str]) -> str:
    """A new plan from the skeleton."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(keep_trailing_newline=True, undefined=StrictUndefined, autoescape=False)
    return environment.from_string(text("plan.md")).render(title=title, purpose=purpose, tasks=tasks)
