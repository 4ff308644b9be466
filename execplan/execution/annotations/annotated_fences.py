"""The fences of a plan that have attributes: which of them are steps, and which are left."""

from __future__ import annotations

from execplan.execution.annotations.info_string import InfoString, parse_info_string
from execplan.execution.attributes import EXAMPLE, EXECUTION, EXPECT
from execplan.execution.step_drafts import VALIDATE, WORK, SkippedLine
from execplan.named_tuple import NamedTuple
from execplan.plan import outline
from execplan.text.markdown_blocks import FENCE, HEADING, QUOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import ParsedPlan
    from execplan.text.markdown_blocks import Block

SECTION_PHASES = {outline.STEPS: WORK, outline.VALIDATION: VALIDATE}
"""The sections that hold steps."""


_STEP, _SKIPPED = "step", "left"


class AnnotatedFence(NamedTuple):
    """One of them; lines and columns count from 0."""

    info: InfoString
    line: int
    column: int
    """Where the info string begins; the columns of its attributes count from there."""
    end: int
    closed: bool
    body: tuple[str, ...]
    """Its lines, as a renderer shows them: without the indentation of the item that it stands in."""
    phase: str = ""
    expect: AnnotatedFence | None = None
    """The fence below it that shows what it prints."""


class AnnotatedFences(NamedTuple):
    """All of them."""

    steps: tuple[AnnotatedFence, ...] = ()
    orphan_expectations: tuple[AnnotatedFence, ...] = ()
    """Those that are marked `{expect}` and stand below no step."""
    settings: tuple[AnnotatedFence, ...] = ()
    """Those that are marked `{execution}`: how the whole plan runs."""
    skipped: tuple[SkippedLine, ...] = ()
    fence_lines: frozenset[int] = frozenset()
    """Every line of a fence with attributes, so that nothing else is read into it."""


def find_annotated_fences(plan: ParsedPlan) -> AnnotatedFences:
    """The fences with attributes; a fence marked `{expect}` goes to the step above it, with nothing but prose between."""
    if not any([block.kind == FENCE and "{" in block.text for block in plan.blocks]):
        return AnnotatedFences()
    collector = _FenceCollector()
    previous_kind = ""  # what an expectation would belong to: a step, what is left out, or nothing
    quote_end = -1
    for block in plan.blocks:
        if block.kind == HEADING:
            previous_kind = ""
        elif block.kind == QUOTE:
            quote_end = max(quote_end, block.end)
        elif block.kind == FENCE:
            fence = _read_fence(plan, block)
            previous_kind = (
                "" if fence is None else collector.add(plan, fence, previous_kind, is_quoted=block.start < quote_end)
            )
    return AnnotatedFences(
        tuple(collector.steps),
        tuple(collector.orphan_expectations),
        tuple(collector.settings),
        tuple(collector.skipped),
        frozenset(collector.fence_lines),
    )


class _FenceCollector:
    """What is found, fence by fence."""

    def __init__(self) -> None:
        self.steps: list[AnnotatedFence] = []
        self.orphan_expectations: list[AnnotatedFence] = []
        self.settings: list[AnnotatedFence] = []
        self.skipped: list[SkippedLine] = []
        self.fence_lines: set[int] = set()

    def add(self, plan: ParsedPlan, fence: AnnotatedFence, previous_kind: str, *, is_quoted: bool) -> str:
        """Put a fence where it belongs; what an expectation below it would belong to."""
        self.fence_lines.update(range(fence.line, fence.end))
        phase = _find_phase(plan, fence.line)
        if fence.info.mark == EXAMPLE:
            return _SKIPPED
        if fence.info.mark == EXPECT:
            if previous_kind == _STEP:
                self.steps[-1] = self.steps[-1]._replace(expect=fence)
            elif not previous_kind and phase:
                self.orphan_expectations.append(fence)
            return ""
        if not phase or is_quoted:
            why = "stands in a quote" if phase else f"stands outside {outline.STEPS} and {outline.VALIDATION}"
            self.skipped.append(SkippedLine(fence.line, plan.text.lines[fence.line].strip(), why))
            return _SKIPPED
        if fence.info.mark == EXECUTION:
            self.settings.append(fence)
            return _SKIPPED
        self.steps.append(fence._replace(phase=phase))
        return _STEP


def _find_phase(plan: ParsedPlan, line: int) -> str:
    """The phase of the section that a line stands in; revision notes below it are none of it."""
    for section in plan.sections:
        if section.start <= line < section.notes_start and section.name is not None:
            return SECTION_PHASES.get(section.name, "")
    return ""


def _read_fence(plan: ParsedPlan, block: Block) -> AnnotatedFence | None:
    """A fence, if it has attributes of ours."""
    if "{" not in block.text:
        return None
    lines = plan.text.lines
    line = lines[block.start]
    column = line.index(block.mark * block.level) + block.level
    column += len(line[column:]) - len(line[column:].lstrip(" \t"))
    info = parse_info_string(line[column:].rstrip(" \t"))
    if info is None:
        return None
    body_end = block.end - block.is_closed
    body = tuple([_outdent(body_line, block.column) for body_line in lines[block.start + 1 : body_end]])
    return AnnotatedFence(info, block.start, column, block.end, block.is_closed, body)


def _outdent(line: str, columns: int) -> str:
    """A line without the white space in so many of its first columns; of a tab that reaches further the rest stays."""
    column = 0
    for at, char in enumerate(line):
        if column >= columns or char not in " \t":
            return line[at:]
        column += 1 if char == " " else 4 - column % 4
        if column > columns:
            return " " * (column - columns) + line[at + 1 :]
    return ""
