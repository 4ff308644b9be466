"""What the lines of a plan say of its steps, before anything is judged or filled in; light enough for the linter."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

ANNOTATED: Final = "annotated"
INFERRED: Final = "inferred"
WORK: Final = "work"
VALIDATE: Final = "validate"


class StepDraft(NamedTuple):
    """One step as it is written; lines count from 0 and ends are exclusive."""

    origin: str
    """Annotated: a fence with attributes. Inferred: a form in the wild."""
    phase: str
    """Concrete Steps: work. Validation and Acceptance: validate."""
    start: int
    end: int
    """All its lines, with the fences' marks and a fence `{expect}` that belongs to it."""
    id: str
    """As written, or derived (`build.2`, `step-3`)."""
    attributes: dict[str, str]
    """As written, by name; a bare flag is `true`."""
    body: tuple[str, ...]
    """What the fence holds; of an inferred step its command."""
    command: str = ""
    """The one command line of a step that runs one, or the script of one with `shell`."""
    needs: tuple[str, ...] = ()
    """The ids that it depends on, the step before in its fence among them."""
    cwd: str = "."
    """Annotated: its attribute; inferred: from the prose, or from a `cd` before it."""
    expect: str | None = None


class SkippedLine(NamedTuple):
    """What looks like a step and was not taken."""

    line: int
    """From 0."""
    text: str
    why: str
    """Behind `it`."""


class StepProblem(NamedTuple):
    """What is wrong with an annotated step; it stops a compile, and a rule of lint tells of it."""

    kind: str
    """The rule's code."""
    line: int
    column: int
    end_column: int
    message: str


class ParsedSteps(NamedTuple):
    """All that was found in a plan."""

    drafts: tuple[StepDraft, ...]
    skipped: tuple[SkippedLine, ...]
    problems: tuple[StepProblem, ...]
