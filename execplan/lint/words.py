"""What the lines of a plan hold beyond its structure, found when it is first asked for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from execplan.record import NamedTuple
from execplan.text.blocks import CODE, FENCE, FRONT, HEADING, HTML, PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.draft import StepProblem
    from execplan.plan.model import Plan
    from execplan.text.blocks import Block


_FAR = 200
"""How many lines above a line its paragraph may begin."""
_LONG = 5000
"""Characters of a paragraph that nobody wrote by hand."""
_OFTEN = 200
"""Paragraphs of one plan that are rendered."""


class Span(NamedTuple):
    """Words within one line; lines and columns count from 0."""

    line: int
    column: int
    text: str


class Words:
    """The text of a plan as one string, and what stands in it."""

    __slots__ = ("_codes", "_headings", "_inert", "_lines", "_parts", "_plan", "_seen", "_source", "_starts", "_steps")

    def __init__(self, plan: Plan | None = None) -> None:
        self._plan = plan
        self._lines: list[str] = plan.text.lines if plan is not None else []
        self._source: str | None = None
        self._starts: list[int] = []
        self._inert: bytearray | None = None
        self._codes: list[Span] | None = None
        self._headings: list[Block] | None = None
        self._seen: dict[tuple[str, int], list[str] | None] = {}
        self._parts: dict[tuple[int, int], list[Span]] = {}
        self._steps: tuple[StepProblem, ...] | None = None

    @property
    def source(self) -> str:
        """All lines, joined by line feeds."""
        if self._source is None:
            self._source = "\n".join(self._lines)
        return self._source

    def at(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset in the source."""
        if not self._starts:
            self._starts = [0, *accumulate([len(each) + 1 for each in self._lines])]
        line = bisect_right(self._starts, offset, 0, len(self._lines)) - 1
        return line, offset - self._starts[line]

    @property
    def inert(self) -> bytearray:
        """For each line whether it is code, a comment or front matter, so that nothing in it is markdown."""
        if self._inert is None:
            self._inert = bytearray(len(self._lines) + 1)
            blocks: list[Block] = self._plan.blocks if self._plan is not None else []
            for block in blocks:
                if block.kind in (FENCE, CODE, HTML, FRONT):
                    self._inert[block.start : block.end] = b"\1" * (block.end - block.start)
        return self._inert

    @property
    def headings(self) -> list[Block]:
        """The headings, those in quotes and list items included."""
        if self._headings is None:
            blocks: list[Block] = self._plan.blocks if self._plan is not None else []
            self._headings = [block for block in blocks if block.kind == HEADING]
        return self._headings

    @property
    def steps(self) -> tuple[StepProblem, ...]:
        """What is wrong with the steps that are fences with attributes; few plans have any, and others pay nothing."""
        if self._steps is None:
            plan = self._plan
            self._steps = ()
            if plan is not None and any([block.kind == FENCE and "{" in block.text for block in plan.blocks]):
                self._steps = _steps(plan)
        return self._steps

    def find(self, needle: str) -> Iterator[tuple[int, int]]:
        """Line and column of each place where the needle stands, code and comments included."""
        source = self.source
        offset = source.find(needle)
        while offset >= 0:
            yield self.at(offset)
            offset = source.find(needle, offset + len(needle))

    @property
    def codes(self) -> list[Span]:
        """The code spans of one line that stand in prose, with the place of what is between the backticks.

        A span that goes on over the end of its line is left out: what is named in two lines is no path and no command.
        """
        if self._codes is None:
            self._codes = self._codes_of(0, len(self._lines))
        return self._codes

    def codes_in(self, start: int, end: int) -> list[Span]:
        """Those of the lines from `start` to before `end`; the lines of a section take a tenth of the time of all."""
        if self._codes is not None:
            return self._codes[bisect_left(self._codes, (start,)) : bisect_left(self._codes, (end,))]
        place = start, end
        if place not in self._parts:
            self._parts[place] = self._codes_of(start, end)
        return self._parts[place]

    def _codes_of(self, start: int, end: int) -> list[Span]:
        found: list[Span] = []
        inert = self.inert
        for at in range(start, end):
            line = self._lines[at]
            if "`" in line and not inert[at]:
                found += _codes(at, line)
        return found

    def is_code(self, span: Span) -> bool:
        """Whether what looks like a code span, or like a part of one, is that to a renderer too."""
        known = self._rendered("codes", span.line)
        return known is None or any([span.text in code for code in known])

    def is_link(self, span: Span) -> bool:
        """Whether what looks like where a link leads is that to a renderer too."""
        known = self._rendered("links", span.line)
        if known is None:
            return True
        from urllib.parse import unquote

        return unquote(span.text) in known

    def _rendered(self, kind: str, line: int) -> list[str] | None:
        """What a renderer makes of a paragraph; it is loaded here, so this is asked just before a report.

        None where it would take too long: for a paragraph that is not written by hand, and after many of them.
        """
        start, end = self._paragraph(line)
        if (kind, start) not in self._seen:
            if len(self._seen) > _OFTEN:
                return None
            self._seen[kind, start] = _read(kind, self._lines[start:end])
        return self._seen[kind, start]

    def _paragraph(self, line: int) -> tuple[int, int]:
        """First line of the paragraph that a line is in, or the line, and the line behind it."""
        blocks = self._plan.blocks if self._plan is not None else []
        at = bisect_right(blocks, line, key=lambda block: block.start) - 1
        while at >= 0 and blocks[at].start > line - _FAR:
            block = blocks[at]
            if block.kind == PARAGRAPH and block.start <= line < block.end:
                return block.start, block.end
            at -= 1
        return line, line + 1


NO_WORDS = Words()
"""Of no plan."""


def _steps(plan: Plan) -> tuple[StepProblem, ...]:
    """What stops the steps of a plan from being compiled, and what else there is to say of them."""
    from execplan.execution.written.annotated import find_annotated_steps
    from execplan.execution.written.problems import find_step_problems

    found = find_annotated_steps(plan)
    if not found.drafts:
        return find_step_problems(plan, found)
    from execplan.execution.written.advice import find_step_advice

    return (*find_step_problems(plan, found), *find_step_advice(plan, found))


def _read(kind: str, lines: list[str]) -> list[str] | None:
    """The code spans of a paragraph, or where its links lead; None for one that is too long."""
    text = "\n".join([each.strip() for each in lines])
    if len(text) > _LONG:
        return None
    from execplan.text import inline

    if kind == "codes":
        return inline.codes(text)
    from urllib.parse import unquote

    return [unquote(each) for each in inline.links(text)]


def _codes(at: int, line: str) -> Iterator[Span]:
    """The code spans of a line: between two runs of as many backticks, the first not escaped."""
    if "``" not in line and "\\`" not in line:
        yield from _plain_codes(at, line.split("`"))
        return
    runs = _runs(line)
    closing = _closing(line, runs)
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
            yield Span(at, end + text.index(bare), bare)
        at_run = close + 1


def _runs(line: str) -> list[tuple[int, int]]:
    """Where each run of backticks begins and ends."""
    runs = []
    begin = line.find("`")
    while begin >= 0:
        end = begin
        while line[end : end + 1] == "`":
            end += 1
        runs.append((begin, end))
        begin = line.find("`", end)
    return runs


def _closing(line: str, runs: list[tuple[int, int]]) -> list[int]:
    """Which run closes a span that each run opens, or -1; filled from behind, so that no run looks through those after it."""
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


def _plain_codes(at: int, parts: list[str]) -> Iterator[Span]:
    """Those of a line whose backticks stand alone; it is cut at each, so that every second part is a span."""
    column = 0
    for place in range(1, len(parts) - 1, 2):
        column += len(parts[place - 1]) + 1
        text = parts[place]
        bare = text.strip(" ")
        if bare:
            yield Span._make((at, column + text.index(bare), bare))
        column += len(text) + 1
