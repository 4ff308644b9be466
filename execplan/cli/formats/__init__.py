"""What `lint` found in the forms that other programs read; each is a file of its own, loaded when it is asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.linter.checking.plan_check import CheckedFile

TEXT = "text"
CONCISE = "concise"
NAMES = (TEXT, CONCISE, "github", "sarif", "junit", "gitlab")


def render(name: str, checked: Sequence[CheckedFile]) -> str:
    """The plans and their findings in the form of a name."""
    from importlib import import_module

    return str(import_module(f"execplan.cli.formats.{name}").render(checked))
