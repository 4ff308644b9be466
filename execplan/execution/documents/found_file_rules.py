"""Rules for the fields of steps that replace a text in files, or that copy or move them."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import normpath
from typing import Any

from execplan.core.text.pure_paths import is_inside
from execplan.execution.annotations.regex_check import regex_problem


def check_found_files(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Check that a new path is not inside of the old one, and that a regular expression is valid."""
    origin, target, replacement = step.get("from"), step.get("target"), step.get("replacement")
    if isinstance(origin, str) and isinstance(target, str):
        if is_inside(normpath(target), normpath(origin)):
            yield "target", f"is {origin} itself or inside it"
        elif target.endswith("/"):
            yield "target", "is a directory: name the new path itself"
    fields = replacement if isinstance(replacement, dict) else {}
    find, new = fields.get("find"), fields.get("with", "")
    if fields.get("regex") is True and isinstance(find, str) and isinstance(new, str):
        if problem := regex_problem(find, new):
            yield "replacement/find", f"is not a valid regular expression: {problem}"
