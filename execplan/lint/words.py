"""What the lines of a plan hold beyond its structure, found when it is first asked for."""

from __future__ import annotations

from bisect import bisect_right

from execplan.record import NamedTuple
from execplan.text.blocks import CODE, FENCE, FRONT, HEADING, HTML

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan
    from execplan.text.blocks import Block


class Span(NamedTuple):
    """Words within one line; lines and columns count from 0."""

    line: int
    column: int
    text: str


class Words:
    """The text of a plan as one string, and what stands in it."""

    __slots__ = ("_codes", "_headings", "_inert", "_lines", "_plan", "_source", "_starts")

    def __init__(self, plan: Plan | None = None) -> None:
        self._plan = plan
        self._lines: list[str] = plan.text.lines if plan is not None else []
        self._source: str | None = None
        self._starts: list[int] = []
        self._inert: bytearray | None = None
        self._codes: list[Span] | None = None
        self._headings: list[Block] | None = None

    @property
    def source(self) -> str:
        """All lines, joined by line feeds."""
        if self._source is None:
            self._source = "\n".join(self._lines)
        return self._source

    def at(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset in the source."""
        if not self._starts:
            total = 0
            for each in self._lines:
                self._starts.append(total)
                total += len(each) + 1
        line = bisect_right(self._starts, offset) - 1
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
            self._codes = []
            if "`" in self.source:
                inert = self.inert
                for at, line in enumerate(self._lines):
                    if "`" in line and not inert[at]:
                        self._codes += _codes(at, line)
        return self._codes


NO_WORDS = Words()
"""Of no plan."""


def _codes(at: int, line: str) -> Iterator[Span]:
    """The code spans of a line: between two runs of as many backticks, the first not escaped."""
    begin = line.find("`")
    while begin >= 0:
        end = begin
        while line[end : end + 1] == "`":
            end += 1
        escaped = (begin - len(line[:begin].rstrip("\\"))) % 2
        mark = line[begin:end]
        if escaped:
            mark = mark[1:]
        close = line.find(mark, end) if mark else -1
        while close >= 0 and line[close + len(mark) : close + len(mark) + 1] == "`":
            while line[close : close + 1] == "`":
                close += 1
            close = line.find(mark, close)
        if close < 0:
            begin = line.find("`", end)
            continue
        text = line[end:close]
        bare = text.strip(" ")
        if bare:
            yield Span(at, end + text.index(bare), bare)
        begin = line.find("`", close + len(mark))
