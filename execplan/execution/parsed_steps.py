"""Step drafts: the steps as a plan's lines give them, unevaluated; light enough for the linter."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

ANNOTATED: Final = "annotated"
INFERRED: Final = "inferred"
WORK: Final = "work"
VALIDATE: Final = "validate"


class StepDraft(NamedTuple):
    """A step as written in a plan; lines count from 0 and ends are exclusive."""

    origin: str
    """`annotated` for a code block with attributes, `inferred` for any other form."""
    phase: str
    """`work` in Concrete Steps, `validate` in Validation and Acceptance."""
    start: int
    end: int
    """End of all its lines, including code block markers and an `{expect}` block that belongs to it."""
    id: str
    """Step ID as written, or derived (`build.2`, `step-3`)."""
    attributes: dict[str, str]
    """Attributes as written, by name; a bare flag is `true`."""
    body: tuple[str, ...]
    """Lines of the code block; for an inferred step, its command."""
    command: str = ""
    """The single command line of a step that runs one, or the script of a step with `shell`."""
    needs: tuple[str, ...] = ()
    """IDs of its dependencies, including the previous step of the same code block."""
    cwd: str = "."
    """Working directory: from the attribute if annotated; from the prose or a preceding `cd` if inferred."""
    expect: str | None = None


class SkippedLine(NamedTuple):
    """A line that looks like a step and was not used as one."""

    line: int
    """Index of the line, from 0."""
    text: str
    why: str
    """Reason, phrased to follow `it`."""


class StepProblem(NamedTuple):
    """A problem with an annotated step; it stops a compile, and a lint rule reports it."""

    kind: str
    """Code of the lint rule."""
    line: int
    column: int
    end_column: int
    message: str


class ParsedSteps(NamedTuple):
    """All steps, skipped lines and problems of a plan."""

    drafts: tuple[StepDraft, ...]
    skipped: tuple[SkippedLine, ...]
    problems: tuple[StepProblem, ...]
