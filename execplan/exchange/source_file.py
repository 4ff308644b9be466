"""A file to import: its text, and its content as JSON, as lines of JSON, or as rows of CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Final

from execplan.core.errors import ExecplanError
from execplan.exchange.field_values import read_error

MAX_BYTES: Final = 50 << 20
MAX_TASKS: Final = 20_000
_BOMS = (b"\xff\xfe", b"\xfe\xff")
_DELIMITERS = ",;\t"


class SourceFile:
    """A file to import. Raises ExecplanError with the line or the row where it can't be read."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        """Name for messages: that of the file, without directories."""
        if data.startswith(_BOMS):
            raise ExecplanError("not-utf-8", f"{name} is UTF-16", hint="save it as UTF-8, and try again")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise ExecplanError(
                "not-utf-8", f"{name}, line {line}: not UTF-8", hint="save it as UTF-8, and try again", line=line
            ) from None
        if not text.strip():
            raise ExecplanError("empty-file", f"{name} is empty", hint="export it again")
        self.text = text

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @cached_property
    def value(self) -> Any:
        """The content as JSON, or None if it is none."""
        try:
            return json.loads(self.text) if self.text.lstrip()[:1] in "[{" else None
        except (ValueError, RecursionError):
            return None

    def ensure_valid_json(self) -> None:
        """Raise ExecplanError with the line and column of the mistake, if the file is meant to be one JSON document."""
        is_meant = self.name.casefold().endswith(".json") or self.text.lstrip()[:1] == "{"
        if is_meant and not self.first_json_line():
            self.require_value()

    def require_value(self) -> Any:
        """Return the content as JSON; raises ExecplanError."""
        try:
            return json.loads(self.text)
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise read_error(self.name, place, f"not valid JSON: {error.msg}", "export it again") from None
        except (ValueError, RecursionError):
            raise read_error(self.name, "", "not JSON that can be read", "export it again") from None

    def json_lines(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the JSON object in each line that isn't blank, with its place; raises ExecplanError."""
        for number, line in enumerate(self.lines, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                problem = f"not valid JSON: {error.msg}" if isinstance(error, json.JSONDecodeError) else "not JSON"
                raise read_error(self.name, f"line {number}", problem, "export it again") from None
            if not isinstance(value, dict):
                raise read_error(self.name, f"line {number}", "not a JSON object", "export it again")
            yield f"line {number}", value

    def first_json_line(self) -> dict[str, Any]:
        """Return the JSON object in the first line that isn't blank; empty if there is none."""
        line = next((line for line in self.lines if line.strip()), "")
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def has_columns(self, names: Sequence[str]) -> bool:
        """Return whether the first line is the header of CSV with these columns."""
        return self._delimiter(names) != ""

    def _delimiter(self, names: Sequence[str]) -> str:
        for delimiter in _DELIMITERS:
            header = next(csv.reader(self.lines[:1], delimiter=delimiter), [])
            if {name.casefold() for name in names} <= {column.strip().casefold() for column in header}:
                return delimiter
        return ""

    def rows(self, names: Sequence[str]) -> Iterator[tuple[str, CsvRow]]:
        """Yield the rows of CSV after its header, with their places; raises ExecplanError.

        `names` are columns that the header must have.
        """
        delimiter = self._delimiter(names)
        if not delimiter:
            problem = f"the first line is no header with the columns {', '.join(names)}"
            raise read_error(
                self.name, "line 1", problem, "export it with all columns, or name another form with --from"
            )
        csv.field_size_limit(MAX_BYTES)
        reader = csv.reader(io.StringIO(self.text, newline=""), delimiter=delimiter, strict=True)
        header: list[str] = []
        start = 1
        try:
            for cells in reader:
                place, start = f"line {start}", reader.line_num + 1
                if not header:
                    header = [name.strip().casefold() for name in cells]
                elif any([cell.strip() for cell in cells]):
                    if len(cells) > len(header):
                        problem = f"{len(cells)} cells, but {len(header)} columns"
                        hint = "check the quotes of this row, or export the file again"
                        raise read_error(self.name, place, problem, hint)
                    yield place, CsvRow(header, cells)
        except csv.Error as error:
            raise read_error(self.name, f"line {start}", f"not CSV: {error}", "export it again") from None


class CsvRow:
    """A row of CSV, whose columns may share a name."""

    def __init__(self, header: Sequence[str], cells: Sequence[str]) -> None:
        self._pairs = list(zip(header, cells, strict=False))

    def all(self, *names: str) -> list[str]:
        """Return the filled cells of the columns with one of these names."""
        keys = {name.casefold() for name in names}
        return [cell.strip() for name, cell in self._pairs if name in keys and cell.strip()]

    def get(self, *names: str) -> str:
        """Return the first filled cell of the columns with one of these names, the first name first; or nothing."""
        return next((cells[0] for name in names if (cells := self.all(name))), "")

    def starting_with(self, prefix: str) -> list[str]:
        """Return the filled cells of the columns whose name begins like this."""
        return [cell.strip() for name, cell in self._pairs if name.startswith(prefix.casefold()) and cell.strip()]
