"""What a plan is about: the paths that its code spans name where it says what is there and what shall be done."""

from __future__ import annotations

from execplan.plan import outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.lint.words import Span, Words
    from execplan.plan.model import Plan

_ELSEWHERE = (outline.SURPRISES, outline.DECISIONS, outline.OUTCOMES, outline.ARTIFACTS)
"""Sections that tell what was met on the way, and name files as evidence."""

_LONG = 300


def paths_named(plan: Plan, words: Words) -> dict[str, Span]:
    """Each path that a whole code span may be, with the first place where it stands; which of them are there git knows."""
    told = bytearray(len(plan.text.lines) + 1)
    for section in plan.sections:
        if section.name in _ELSEWHERE:
            told[section.start : section.end] = b"\1" * (section.end - section.start)
        told[section.notes : section.end] = b"\1" * (section.end - section.notes)
    found: dict[str, Span] = {}
    for span in words.codes:
        if not told[span.line] and len(span.text) < _LONG:
            path = path_of(span.text)
            if path:
                found.setdefault(path, span)
    return found


def path_of(text: str) -> str:
    """The path of a code span, without the line or the test that it names in the file; or nothing."""
    path = text.partition("::")[0].partition("#")[0].removeprefix("./")
    while ":" in path and path.rpartition(":")[2].strip("0123456789-,") == "":
        path = path.rpartition(":")[0]
    is_file = "/" in path or "." in path.strip(".") or path[:1].isupper()  # Makefile, LICENSE
    return path if is_file and not path.startswith("/") and not path.endswith("/") else ""
