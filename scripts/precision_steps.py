"""Steps inferred from real plans, which scripts/precision.py draws for review like the findings of a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.core.plan.reader import read
from execplan.execution.compile import find_plan_steps
from execplan.execution.parsed_steps import INFERRED
from execplan.execution.shell.command_line import parse_command

if TYPE_CHECKING:
    from pathlib import Path

CODE = "STEP"
"""Code of the verdicts on steps, in place of a rule's code."""
DRAWN = 50
AROUND = 30
"""Number of lines above a step to show with it, because they determine the directory."""


class Inferred(NamedTuple):
    """A step inferred from a plan."""

    file: str
    line: int
    """Line number from 1."""
    description: str
    """Directory and argv of the step, or its command line if that needs a shell."""


def inferred(folder: Path) -> list[Inferred]:
    """Return every step inferred from the plans below a directory."""
    steps: list[Inferred] = []
    for path in sorted(folder.rglob("*.md")):
        for draft in find_plan_steps(read(path.read_bytes())).drafts:
            if draft.origin == INFERRED:
                argv = parse_command(draft.command).argv
                runs = f"argv {list(argv)}" if argv is not None else f"needs a shell: {draft.command}"
                name = path.relative_to(folder).as_posix()
                steps.append(Inferred(name, draft.start + 1, f"cwd {draft.cwd}, {runs}"))
    return steps
