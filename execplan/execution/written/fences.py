"""The fences of a plan that have attributes: which of them are steps, and which are left."""

from __future__ import annotations

from execplan.execution.attributes import EXAMPLE, EXECUTION, EXPECT
from execplan.execution.draft import VALIDATE, WORK, SkippedLine
from execplan.execution.written.fence import Info, attributes_of
from execplan.plan import outline
from execplan.record import NamedTuple
from execplan.text.blocks import FENCE, HEADING, QUOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan
    from execplan.text.blocks import Block

PHASES = {outline.STEPS: WORK, outline.VALIDATION: VALIDATE}
"""The sections that hold steps."""


_STEP, _LEFT = "step", "left"


class Fence(NamedTuple):
    """One of them; lines and columns count from 0."""

    info: Info
    line: int
    column: int
    """Where the info string begins; the columns of its attributes count from there."""
    end: int
    closed: bool
    body: tuple[str, ...]
    """Its lines, as a renderer shows them: without the indentation of the item that it stands in."""
    phase: str = ""
    expect: Fence | None = None
    """The fence below it that shows what it prints."""


class Fences(NamedTuple):
    """All of them."""

    steps: tuple[Fence, ...] = ()
    loose: tuple[Fence, ...] = ()
    """Those that are marked `{expect}` and stand below no step."""
    settings: tuple[Fence, ...] = ()
    """Those that are marked `{execution}`: how the whole plan runs."""
    left: tuple[SkippedLine, ...] = ()
    taken: frozenset[int] = frozenset()
    """Every line of a fence with attributes, so that nothing else is read into it."""


def fences(plan: Plan) -> Fences:
    """The fences with attributes; a fence marked `{expect}` goes to the step above it, with nothing but prose between."""
    if not any([block.kind == FENCE and "{" in block.text for block in plan.blocks]):
        return Fences()
    found = _Found()
    above = ""  # what an expectation would belong to: a step, what is left out, or nothing
    quoted = -1
    for block in plan.blocks:
        if block.kind == HEADING:
            above = ""
        elif block.kind == QUOTE:
            quoted = max(quoted, block.end)
        elif block.kind == FENCE:
            fence = _fence(plan, block)
            above = "" if fence is None else found.add(plan, fence, above, quoted=block.start < quoted)
    return Fences(
        tuple(found.steps), tuple(found.loose), tuple(found.settings), tuple(found.left), frozenset(found.taken)
    )


class _Found:
    """What is found, fence by fence."""

    def __init__(self) -> None:
        self.steps: list[Fence] = []
        self.loose: list[Fence] = []
        self.settings: list[Fence] = []
        self.left: list[SkippedLine] = []
        self.taken: set[int] = set()

    def add(self, plan: Plan, fence: Fence, above: str, *, quoted: bool) -> str:
        """Put a fence where it belongs; what an expectation below it would belong to."""
        self.taken.update(range(fence.line, fence.end))
        phase = _phase(plan, fence.line)
        if fence.info.mark == EXAMPLE:
            return _LEFT
        if fence.info.mark == EXPECT:
            if above == _STEP:
                self.steps[-1] = self.steps[-1]._replace(expect=fence)
            elif not above and phase:
                self.loose.append(fence)
            return ""
        if not phase or quoted:
            why = "stands in a quote" if phase else f"stands outside {outline.STEPS} and {outline.VALIDATION}"
            self.left.append(SkippedLine(fence.line, plan.text.lines[fence.line].strip(), why))
            return _LEFT
        if fence.info.mark == EXECUTION:
            self.settings.append(fence)
            return _LEFT
        self.steps.append(fence._replace(phase=phase))
        return _STEP


def _phase(plan: Plan, line: int) -> str:
    """The phase of the section that a line stands in; revision notes below it are none of it."""
    for section in plan.sections:
        if section.start <= line < section.notes and section.name is not None:
            return PHASES.get(section.name, "")
    return ""


def _fence(plan: Plan, block: Block) -> Fence | None:
    """A fence, if it has attributes of ours."""
    if "{" not in block.text:
        return None
    lines = plan.text.lines
    line = lines[block.start]
    column = line.index(block.mark * block.level) + block.level
    column += len(line[column:]) - len(line[column:].lstrip(" \t"))
    info = attributes_of(line[column:].rstrip(" \t"))
    if info is None:
        return None
    last = block.end - block.closed
    body = tuple([_outdented(each, block.column) for each in lines[block.start + 1 : last]])
    return Fence(info, block.start, column, block.end, block.closed, body)


def _outdented(line: str, columns: int) -> str:
    """A line without the white space in so many of its first columns; of a tab that reaches further the rest stays."""
    column = 0
    for at, char in enumerate(line):
        if column >= columns or char not in " \t":
            return line[at:]
        column += 1 if char == " " else 4 - column % 4
        if column > columns:
            return " " * (column - columns) + line[at + 1 :]
    return ""
