"""Text features of a plan beyond its structure, computed on first use."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.markdown_blocks import HEADING, PARAGRAPH, flag_inert_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.text.markdown_blocks import Block
    from execplan.execution.parsed_steps import StepProblem


_MAX_PARAGRAPH_DISTANCE = 200
"""Maximum number of lines between a line and the start of its paragraph."""
_MAX_PARAGRAPH_LENGTH = 5000
"""Maximum characters of a paragraph to render; longer ones are not written by hand."""
_MAX_RENDERED = 200
"""Maximum number of rendered paragraphs per plan."""


class TextSpan(NamedTuple):
    """A piece of text within one line; line and column count from 0."""

    line: int
    column: int
    text: str


class PlanSource:
    """The text of a plan as one string, with its code spans, headings and step problems."""

    __slots__ = (
        "_code_spans",
        "_headings",
        "_inert_lines",
        "_lines",
        "_plan",
        "_range_spans",
        "_rendered_cache",
        "_starts",
        "_step_problems",
        "_text",
    )

    def __init__(self, plan: ParsedPlan | None = None) -> None:
        self._plan = plan
        self._lines: list[str] = plan.text.lines if plan is not None else []
        self._text: str | None = None
        self._starts: list[int] = []
        self._inert_lines: bytearray | None = None
        self._code_spans: list[TextSpan] | None = None
        self._headings: list[Block] | None = None
        self._rendered_cache: dict[tuple[str, int], list[str] | None] = {}
        self._range_spans: dict[tuple[int, int], list[TextSpan]] = {}
        self._step_problems: tuple[StepProblem, ...] | None = None

    @property
    def text(self) -> str:
        """The lines of the plan, joined by line feeds."""
        if self._text is None:
            self._text = "\n".join(self._lines)
        return self._text

    def position_of(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset in the text."""
        if not self._starts:
            self._starts = [0, *accumulate([len(text_line) + 1 for text_line in self._lines])]
        line = bisect_right(self._starts, offset, 0, len(self._lines)) - 1
        return line, offset - self._starts[line]

    @property
    def inert_lines(self) -> bytearray:
        """Flags per line: 1 for code, comments and front matter, which contain no Markdown."""
        if self._inert_lines is None:
            blocks: list[Block] = self._plan.blocks if self._plan is not None else []
            self._inert_lines = flag_inert_lines(blocks, len(self._lines) + 1)
        return self._inert_lines

    @property
    def headings(self) -> list[Block]:
        """The headings, including those in quotes and list items."""
        if self._headings is None:
            blocks: list[Block] = self._plan.blocks if self._plan is not None else []
            self._headings = [block for block in blocks if block.kind == HEADING]
        return self._headings

    @property
    def step_problems(self) -> tuple[StepProblem, ...]:
        """Problems of steps in code blocks with attributes, computed only if a line looks like such a step."""
        if self._step_problems is None:
            plan, lines = self._plan, self._lines
            self._step_problems = ()
            if plan is not None and any(
                ["{" in lines[line] for mark in ("```", "~~~") for line, _ in self.find_all(mark)]
            ):
                from execplan.core import features

                self._step_problems = tuple(features.load(features.STEP_FINDINGS)(plan))
        return self._step_problems

    def find_all(self, needle: str) -> Iterator[tuple[int, int]]:
        """Yield line and column of each occurrence of a string, including those in code and comments."""
        source = self.text
        offset = source.find(needle)
        while offset >= 0:
            yield self.position_of(offset)
            offset = source.find(needle, offset + len(needle))

    @property
    def code_spans(self) -> list[TextSpan]:
        """Code spans in prose, with the position of the text between the backticks.

        Spans across lines are left out, because text on two lines is neither a path nor a command.
        """
        if self._code_spans is None:
            self._code_spans = self._find_code_spans(0, len(self._lines))
        return self._code_spans

    def code_spans_in(self, start: int, end: int) -> list[TextSpan]:
        """Return the code spans of the lines from `start` up to but not including `end`.

        Searching one section takes a tenth of the time of searching all lines.
        """
        if self._code_spans is not None:
            return self._code_spans[bisect_left(self._code_spans, (start,)) : bisect_left(self._code_spans, (end,))]
        line_range = start, end
        if line_range not in self._range_spans:
            self._range_spans[line_range] = self._find_code_spans(start, end)
        return self._range_spans[line_range]

    def _find_code_spans(self, start: int, end: int) -> list[TextSpan]:
        spans: list[TextSpan] = []
        inert_lines = self.inert_lines
        for at in range(start, end):
            line = self._lines[at]
            if "`" in line and not inert_lines[at]:
                spans += _line_code_spans(at, line)
        return spans

    def is_code_span(self, span: TextSpan) -> bool:
        """Return whether a renderer also treats a span as a code span, or as part of one."""
        rendered_codes = self._render_paragraph("codes", span.line)
        return rendered_codes is None or any([span.text in code for code in rendered_codes])

    def is_link_target(self, span: TextSpan) -> bool:
        """Return whether a renderer also treats a span as a link destination."""
        rendered_links = self._render_paragraph("links", span.line)
        if rendered_links is None:
            return True
        from urllib.parse import unquote

        return unquote(span.text) in rendered_links

    def _render_paragraph(self, kind: str, line: int) -> list[str] | None:
        """Render a paragraph and return its code spans or links.

        The renderer is imported here, so call this only just before a report. Returns None if rendering would take too
        long: for a paragraph too long to be written by hand, and after many of them.
        """
        start, end = self._paragraph(line)
        if (kind, start) not in self._rendered_cache:
            if len(self._rendered_cache) > _MAX_RENDERED:
                return None
            self._rendered_cache[kind, start] = _render(kind, self._lines[start:end])
        return self._rendered_cache[kind, start]

    def _paragraph(self, line: int) -> tuple[int, int]:
        """Return the start of the paragraph that contains a line and the line after its end; else the line itself."""
        blocks = self._plan.blocks if self._plan is not None else []
        at = bisect_right(blocks, line, key=lambda block: block.start) - 1
        while at >= 0 and blocks[at].start > line - _MAX_PARAGRAPH_DISTANCE:
            block = blocks[at]
            if block.kind == PARAGRAPH and block.start <= line < block.end:
                return block.start, block.end
            at -= 1
        return line, line + 1


EMPTY_SOURCE = PlanSource()
"""The source used when there is no plan."""


def _render(kind: str, lines: list[str]) -> list[str] | None:
    """Return the code spans or link destinations of a paragraph; None if it is too long."""
    text = "\n".join([line.strip() for line in lines])
    if len(text) > _MAX_PARAGRAPH_LENGTH:
        return None
    from execplan.core.text import inline_markdown

    if kind == "codes":
        return inline_markdown.code_spans(text)
    from urllib.parse import unquote

    return [unquote(link) for link in inline_markdown.link_targets(text)]


def _line_code_spans(at: int, line: str) -> Iterator[TextSpan]:
    """Yield the code spans of a line: text between two backtick runs of equal length, the first not escaped."""
    if "``" not in line and "\\`" not in line:
        yield from _simple_code_spans(at, line.split("`"))
        return
    runs = _backtick_runs(line)
    closing = _closing_runs(line, runs)
    at_run = 0
    while at_run < len(runs):
        close = closing[at_run]
        if close < 0:
            at_run += 1
            continue
        end = runs[at_run][1]
        text = line[end : runs[close][0]]
        bare = text.strip(" ")
        if bare:
            yield TextSpan(at, end + text.index(bare), bare)
        at_run = close + 1


def _backtick_runs(line: str) -> list[tuple[int, int]]:
    """Return the start and end of each run of backticks."""
    runs = []
    begin = line.find("`")
    while begin >= 0:
        end = begin
        while line[end : end + 1] == "`":
            end += 1
        runs.append((begin, end))
        begin = line.find("`", end)
    return runs


def _closing_runs(line: str, runs: list[tuple[int, int]]) -> list[int]:
    """Return, for each run, the run that closes its span, or -1.

    Filled from the end, so that no run has to search those after it.
    """
    closing = [-1] * len(runs)
    latest: dict[int, int] = {}
    for at in range(len(runs) - 1, -1, -1):
        begin, end = runs[at]
        slashes = begin
        while slashes and line[slashes - 1] == "\\":
            slashes -= 1
        closing[at] = latest.get(end - begin - (begin - slashes) % 2, -1)
        latest[end - begin] = at
    return closing


def _simple_code_spans(at: int, segments: list[str]) -> Iterator[TextSpan]:
    """Yield the code spans of a line with only single backticks, where every second segment is a span."""
    column = 0
    for index in range(1, len(segments) - 1, 2):
        column += len(segments[index - 1]) + 1
        text = segments[index]
        bare = text.strip(" ")
        if bare:
            yield TextSpan._make((at, column + text.index(bare), bare))
        column += len(text) + 1
