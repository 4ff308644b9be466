"""Problems of annotated steps that replace a text in files, or that copy or move them."""

from __future__ import annotations

from os.path import normpath

from execplan.core.text.pure_paths import is_inside
from execplan.execution.annotations.regex_check import regex_problem
from execplan.execution.annotations.step_fields import parse_replacement
from execplan.execution.attributes import REPLACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_FORM = "lines `-TEXT` with the text to find, then lines `+TEXT` with what takes its place"


def find_found_file_problems(body: Sequence[str], kind: str, attributes: Mapping[str, str]) -> Iterator[str]:
    """Yield the problems of such a step that can be found without the files."""
    if kind == REPLACE:
        yield from _replacement_problems(body, attributes)
        return
    origin, target = attributes.get("from", ""), attributes.get("target", "")
    if not origin:
        yield f"{kind} needs a file or directory: from=PATH"
    elif target.endswith("/") or (target and normpath(target) == "."):
        yield f"{target} is a directory: name the new path itself"
    elif target and is_inside(normpath(target), normpath(origin)):
        yield f"{target} is {origin} itself or inside it"


def _replacement_problems(body: Sequence[str], attributes: Mapping[str, str]) -> Iterator[str]:
    if "paths" not in attributes:
        yield 'replace needs the files to search: paths="src/**/*.py"'
    if "count" not in attributes:
        yield "replace needs the number of places, in all files together: count=N"
    marks = [line[:1] for line in body if line.strip()]
    find, new = parse_replacement(body)
    if not find or set(marks) - {"-", "+"} or marks != sorted(marks, reverse=True):
        yield f"replace must be a code block with {_FORM}"
    elif attributes.get("regex") == "true":
        if problem := regex_problem(find, new):
            yield f"the regular expression is invalid: {problem}"
    elif find == new:
        yield "the text to find and its replacement are the same"
