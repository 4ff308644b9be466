"""The steps that are inferred from real plans, to be drawn and judged like the findings of a rule, by scripts/precision.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.execution.compile import find_plan_steps
from execplan.execution.shell.command_line import parse_command
from execplan.execution.step_drafts import INFERRED
from execplan.plan.reader import read

if TYPE_CHECKING:
    from pathlib import Path

CODE = "STEP"
"""Where the verdicts on rules have the code of the rule."""
DRAWN = 50
AROUND = 30
"""Lines above a step that are shown with it: they tell the folder."""


class Inferred(NamedTuple):
    """A step that was inferred."""

    file: str
    line: int
    """From 1."""
    what: str
    """Its folder and its argv, or the line where that needs a shell."""


def inferred(folder: Path) -> list[Inferred]:
    """Every step that is inferred from the plans below a folder."""
    found: list[Inferred] = []
    for path in sorted(folder.rglob("*.md")):
        for draft in find_plan_steps(read(path.read_bytes())).drafts:
            if draft.origin == INFERRED:
                argv = parse_command(draft.command).argv
                runs = f"argv {list(argv)}" if argv is not None else f"needs a shell: {draft.command}"
                name = path.relative_to(folder).as_posix()
                found.append(Inferred(name, draft.start + 1, f"cwd {draft.cwd}, {runs}"))
    return found
