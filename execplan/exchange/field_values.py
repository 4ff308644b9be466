"""Values of other programs as plans can have them: texts, IDs, addresses, dates and descriptions of tasks."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from execplan.core.errors import ExecplanError
from execplan.core.plan.line_grammar import text_without_timestamp
from execplan.core.plan.model import is_struck_through
from execplan.exchange.task_reference import to_reference_id

_JOINERS = "\u200c\u200d"
"""Characters that are not printable, but needed to write some scripts and emoji."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?")
_DATE_FORMATS = ("%d/%b/%y %I:%M %p", "%d/%b/%Y %I:%M %p", "%d/%b/%y", "%d/%b/%Y", "%a %b %d %Y %H:%M:%S", "%b %d, %Y")
"""How Jira and Linear write times that are not in the form of ISO 8601."""


def read_error(name: str, place: str, problem: str, hint: str) -> ExecplanError:
    """Return the error for a file that can't be imported; `place` is such as `line 3`, or empty."""
    location = f"{name}, {place}" if place else name
    return ExecplanError("bad-import", f"{location}: {problem}", hint=hint)


def clean_text(text: str) -> str:
    """Return any text as the text of a task: one line without control characters, which is read back as it is."""
    line = one_line(text) or "(no title)"
    if text_without_timestamp(line) != line:
        line = f"On {line}"
    return f"\\{line}" if is_struck_through(line) else line


def clean_id(value: object) -> str:
    """Return a string or a number as the ID of a task; empty for anything else."""
    is_id = isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
    return to_reference_id(str(value)) if is_id else ""


def clean_link(value: object) -> str:
    """Return an address of the web that a reference can have; empty for anything else."""
    if not isinstance(value, str) or not value.startswith(("https://", "http://")):
        return ""
    is_plain = value.isprintable() and not any([char in "()<> `\\[]|" for char in value])
    return value if is_plain else ""


def one_line(text: str) -> str:
    """Return any text as one line without control characters."""
    return " ".join(printable(text).split())


def printable(text: str) -> str:
    """Return a line with a space in place of each control character."""
    return "".join([char if char.isprintable() or char in _JOINERS else " " for char in text])


def unquote_notes(text: str) -> str:
    """Return notes without the marks of a quote, if all lines have them."""
    lines = text.split("\n")
    is_quote = all([line.startswith(">") for line in lines])
    return "\n".join([line[1:].removeprefix(" ") for line in lines]) if is_quote else text


def parse_date(value: object) -> str:
    """Return a date as written by another program as it is in plans; empty if it isn't one."""
    if not isinstance(value, str):
        return ""
    text = value.strip()
    match = _DATE.match(text)
    try:
        if match is not None and len(match[0]) == len("2026-01-01"):
            return f"{datetime.fromisoformat(match[0]):%Y-%m-%d}"
        moment = datetime.fromisoformat(match[0]) if match is not None else _parse_local(text)
    except ValueError:
        return ""
    if moment is None:
        return ""
    return f"{moment if moment.tzinfo is None else moment.astimezone(UTC):%Y-%m-%d %H:%M}Z"


def _parse_local(text: str) -> datetime | None:
    for form in _DATE_FORMATS:
        try:
            return datetime.strptime(text[:24] if form.startswith("%a") else text, form)  # noqa: DTZ007 - has no zone
        except ValueError:
            continue
    return None


def clean_detail(text: str) -> str:
    """Return the value of a detail, which ends at a semicolon."""
    return one_line(text.replace(";", ","))


def split_names(text: str) -> tuple[str, ...]:
    """Return the names in a list with commas."""
    return tuple([name.strip() for name in text.split(",") if name.strip()])
