"""What a plan is about: the paths that its code spans name where it says what is there and what shall be done."""

from __future__ import annotations

from execplan.plan import outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.lint.words import Span, PlanSource
    from execplan.plan.model import Plan

_RECORD_SECTIONS = (outline.SURPRISES, outline.DECISIONS, outline.OUTCOMES, outline.ARTIFACTS)
"""Sections that tell what was met on the way, and name files as evidence."""

_MAX_PATH_LENGTH = 300


def find_named_paths(plan: Plan, source: PlanSource) -> dict[str, Span]:
    """Each path that a whole code span may be, with the first place where it stands; which of them are there git knows."""
    is_excluded = bytearray(len(plan.text.lines) + 1)
    for section in plan.sections:
        if section.name in _RECORD_SECTIONS:
            is_excluded[section.start : section.end] = b"\1" * (section.end - section.start)
        is_excluded[section.notes_start : section.end] = b"\1" * (section.end - section.notes_start)
    spans: dict[str, Span] = {}
    for span in source.code_spans:
        if not is_excluded[span.line] and len(span.text) < _MAX_PATH_LENGTH:
            path = extract_path(span.text)
            if path:
                spans.setdefault(path, span)
    return spans


def extract_path(text: str) -> str:
    """The path of a code span, without the line or the test that it names in the file; or nothing."""
    path = text.partition("::")[0].partition("#")[0].removeprefix("./")
    while ":" in path and path.rpartition(":")[2].strip("0123456789-,") == "":
        path = path.rpartition(":")[0]
    is_file = "/" in path or "." in path.strip(".") or path[:1].isupper()  # Makefile, LICENSE
    return path if is_file and not path.startswith("/") and not path.endswith("/") else ""
