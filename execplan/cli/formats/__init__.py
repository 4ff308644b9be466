"""Output formats of `lint`, each in its own module, which is loaded on demand."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.linter.checking.plan_check import CheckedFile

TEXT = "text"
CONCISE = "concise"
NAMES = (TEXT, CONCISE, "github", "sarif", "junit", "gitlab")


def render(name: str, checked: Sequence[CheckedFile]) -> str:
    """Render the plans and their findings in the format with a name."""
    from importlib import import_module

    return str(import_module(f"execplan.cli.formats.{name}").render(checked))
