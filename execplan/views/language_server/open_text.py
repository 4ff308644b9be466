"""The text of a document as an editor has it: changes from the editor, and edits that go back to it."""

from __future__ import annotations

from difflib import SequenceMatcher

from lsprotocol import types as lsp

from execplan.core.text.text_lines import BOM, Text
from execplan.views.language_server.editor_positions import count_units, find_column

_MAX_COMPARED_LINES = 2000
"""Number of changed lines up to which a change is sent as several small edits."""


class OpenText:
    """A text with the lines of `Text`, and positions in them as the editor counts."""

    def __init__(self, source: str, encoding: str) -> None:
        self.source = source
        self.encoding = encoding
        self.text = Text.from_str(source)

    def column_at(self, position: lsp.Position) -> tuple[int, int]:
        """Return the line and the column in characters of an editor's position; a line after the last one is the end."""
        lines = self.text.lines
        if position.line >= len(lines):
            return len(lines), 0
        units = position.character - self._bom_width(position.line)
        return position.line, find_column(lines[position.line], units, self.encoding)

    def position_at(self, line: int, column: int) -> lsp.Position:
        """Return the editor's position of a line and a column in characters; after the last line, that of the end."""
        lines = self.text.lines
        if line >= len(lines):
            if not lines or self.text.ends[-1]:
                return lsp.Position(len(lines), 0 if lines else self._bom_width(0))
            line, column = len(lines) - 1, len(lines[-1])
        return lsp.Position(line, count_units(lines[line][:column], self.encoding) + self._bom_width(line))

    def range_at(self, line: int, column: int, end_line: int, end_column: int) -> lsp.Range:
        """Return the editor's range between two places; the end is exclusive."""
        return lsp.Range(self.position_at(line, column), self.position_at(end_line, end_column))

    def lines_range(self, start: int, end: int) -> lsp.Range:
        """Return the range of the lines from `start` to before `end`, without the last line's end."""
        last = max(start, min(end, len(self.text.lines)) - 1)
        last_line = self.text.lines[last] if last < len(self.text.lines) else ""
        return self.range_at(start, 0, last, len(last_line))

    def with_change(self, change: lsp.TextDocumentContentChangeEvent) -> OpenText:
        """Return the text after a change that the editor reports."""
        if not isinstance(change, lsp.TextDocumentContentChangePartial):
            return OpenText(change.text, self.encoding)
        start, end = self._offset_at(change.range.start), self._offset_at(change.range.end)
        return OpenText(f"{self.source[:start]}{change.text}{self.source[max(start, end) :]}", self.encoding)

    def edits_to(self, after: Text) -> list[lsp.TextEdit]:
        """Return the edits that make this text another one, which has the same byte order mark or none.

        Lines that are the same before and after the changed ones are not touched.
        """
        old = [*zip(self.text.lines, self.text.ends, strict=True)]
        new = [*zip(after.lines, after.ends, strict=True)]
        head, shortest = 0, min(len(old), len(new))
        while head < shortest and old[head] == new[head]:
            head += 1
        tail = 0
        while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
            tail += 1
        old, new = old[head : len(old) - tail], new[head : len(new) - tail]
        if max(len(old), len(new)) > _MAX_COMPARED_LINES:
            spans = [(0, len(old), 0, len(new))]
        else:
            opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
            spans = [span for tag, *span in opcodes if tag != "equal"]  # type: ignore[misc]
        return [
            lsp.TextEdit(
                self.range_at(head + start, 0, head + end, 0),
                "".join([part for line in new[first:last] for part in line]),
            )
            for start, end, first, last in spans
            if start < end or first < last
        ]

    def _offset_at(self, position: lsp.Position) -> int:
        line, column = self.column_at(position)
        lines, ends = self.text.lines[:line], self.text.ends[:line]
        return len(BOM) * self.text.bom + sum(map(len, lines)) + sum(map(len, ends)) + column

    def _bom_width(self, line: int) -> int:
        return count_units(BOM, self.encoding) if self.text.bom and not line else 0
