"""Collects the plan's code blocks that have attributes and sorts them into steps, settings and skipped lines."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.text.markdown_blocks import FENCE, HEADING, PARAGRAPH, QUOTE
from execplan.execution.annotations.info_string import InfoString, parse_info_string
from execplan.execution.attributes import EXAMPLE, EXECUTION, EXPECT
from execplan.execution.parsed_steps import VALIDATE, WORK, SkippedLine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.text.markdown_blocks import Block

SECTION_PHASES = {outline.STEPS: WORK, outline.VALIDATION: VALIDATE}
"""Phase of each section in which annotated code blocks are steps."""


_STEP, _SKIPPED = "step", "left"
_CONTAINER_MARKS = " \t>-*+0123456789.)"
"""Characters of the list items and quotes in which a code block can open."""


class AnnotatedFence(NamedTuple):
    """A code block with attributes; lines and columns count from 0."""

    info: InfoString
    line: int
    column: int
    """Column where the info string begins; the columns of its attributes count from there."""
    end: int
    closed: bool
    body: tuple[str, ...]
    """Lines of the body as a renderer shows them, without the indentation of the enclosing list item."""
    phase: str = ""
    expect: AnnotatedFence | None = None
    """The `{expect}` code block that follows and shows the expected output."""


class AnnotatedFences(NamedTuple):
    """All annotated code blocks of a plan, by role."""

    steps: tuple[AnnotatedFence, ...] = ()
    orphan_expectations: tuple[AnnotatedFence, ...] = ()
    """Code blocks marked `{expect}` that follow no step."""
    settings: tuple[AnnotatedFence, ...] = ()
    """Code blocks marked `{execution}`, which configure how the whole plan runs."""
    skipped: tuple[SkippedLine, ...] = ()
    fence_lines: frozenset[int] = frozenset()
    """Every line of a code block with attributes, so that nothing else is inferred from it."""


class UnopenedFence(NamedTuple):
    """A line that is meant to open a code block, but is text, because its attributes contain a backtick."""

    line: int
    start: int
    """Column of the attribute with the backtick."""
    end: int


_LATEST: list[tuple[ParsedPlan, AnnotatedFences]] = []
"""The plan that was read last with its code blocks, because several checks of a plan begin with them."""


def find_annotated_fences(plan: ParsedPlan) -> AnnotatedFences:
    """Return the annotated code blocks.

    An `{expect}` block is attached to the step above if there is only prose between them.
    """
    if not _LATEST or _LATEST[0][0] is not plan:
        _LATEST[:] = [(plan, _read_annotated_fences(plan))]
    return _LATEST[0][1]


def _read_annotated_fences(plan: ParsedPlan) -> AnnotatedFences:
    if not any([block.kind == FENCE and "{" in block.text for block in plan.blocks]):
        return AnnotatedFences()
    collector = _FenceCollector()
    previous_kind = ""  # what an expectation would belong to: a step, a skipped block, or nothing
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


def find_unopened_fences(plan: ParsedPlan) -> list[UnopenedFence]:
    """Return the lines in sections with steps that open no code block because of a backtick in an attribute.

    The line that closes the intended block then opens one, which hides the following steps.
    """
    return [
        fence
        for section in plan.sections
        if section.name in SECTION_PHASES
        for at in range(section.start, section.notes_start)
        if "{" in (line := plan.text.lines[at]) and "```" in line and (fence := _read_unopened(plan, at))
    ]


def _read_unopened(plan: ParsedPlan, at: int) -> UnopenedFence | None:
    line = plan.text.lines[at]
    mark = line.index("```")
    if line[:mark].strip(_CONTAINER_MARKS):
        return None
    column = len(line) - len(line[mark:].lstrip("`"))
    info = parse_info_string(line[column:])
    attribute = next((attribute for attribute in info.attributes if "`" in attribute.value), None) if info else None
    if attribute is None or not any(
        [block.kind == PARAGRAPH and block.start <= at < block.end for block in plan.blocks]
    ):
        return None
    return UnopenedFence(at, column + attribute.start, column + attribute.end)


class _FenceCollector:
    """Collects annotated code blocks one at a time."""

    def __init__(self) -> None:
        self.steps: list[AnnotatedFence] = []
        self.orphan_expectations: list[AnnotatedFence] = []
        self.settings: list[AnnotatedFence] = []
        self.skipped: list[SkippedLine] = []
        self.fence_lines: set[int] = set()

    def add(self, plan: ParsedPlan, fence: AnnotatedFence, previous_kind: str, *, is_quoted: bool) -> str:
        """Sort a code block into its list and return what an expectation directly after it would belong to."""
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
            why = "is in a quote" if phase else f"is outside {outline.STEPS} and {outline.VALIDATION}"
            self.skipped.append(SkippedLine(fence.line, plan.text.lines[fence.line].strip(), why))
            return _SKIPPED
        if fence.info.mark == EXECUTION:
            self.settings.append(fence)
            return _SKIPPED
        self.steps.append(fence._replace(phase=phase))
        return _STEP


def _find_phase(plan: ParsedPlan, line: int) -> str:
    """Return the phase of the section that contains a line, or an empty string; revision notes belong to no section."""
    for section in plan.sections:
        if section.start <= line < section.notes_start and section.name is not None:
            return SECTION_PHASES.get(section.name, "")
    return ""


def _read_fence(plan: ParsedPlan, block: Block) -> AnnotatedFence | None:
    """Return the code block with its ExecPlan attributes, or None if it has none."""
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
    """Remove the white space from the given number of leading columns; a tab that extends further leaves the rest."""
    column = 0
    for at, char in enumerate(line):
        if column >= columns or char not in " \t":
            return line[at:]
        column += 1 if char == " " else 4 - column % 4
        if column > columns:
            return " " * (column - columns) + line[at + 1 :]
    return ""
