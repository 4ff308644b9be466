"""The line of a match that is shown, with the spans of the words found and without secrets."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import accumulate

from execplan.context.search.index_update import PlanFile
from execplan.context.search.search_items import ARTIFACT, SECTION, SearchItem
from execplan.core.named_tuple import NamedTuple
from execplan.core.secrets.redaction import REDACTED, Redactor


class Match(NamedTuple):
    """A matching item of a plan, with its best line."""

    kind: str
    """Kind of the item, a key of `ITEM_KINDS`."""
    heading: str
    """Section of the item, with the sub-heading that it is under; empty outside sections."""
    path: str
    """Displayed path of the plan, or of an artifact."""
    line: int
    """Line number in the plan, from 1; 0 for an artifact."""
    text: str
    """The line without its indentation, with secrets redacted."""
    spans: tuple[tuple[int, int], ...]
    """Positions of the words found in the text, from 0, with exclusive ends."""
    task_state: str
    """State of a task; empty for other items."""
    author: str
    date: str


def make_match(plan_file: PlanFile, item: SearchItem, spans: Sequence[tuple[int, int]]) -> Match:
    """Return the match of an item, given the spans of the words found in its text."""
    source, spans = _redact(item.text, spans)
    best_line, best_index = "", 0
    best_spans: tuple[tuple[int, int], ...] = ()
    lines = source.split("\n")
    first_index = int(not spans and len(lines) > 1 and _is_heading(lines[0], item))
    for index, (line, line_spans) in enumerate(zip(lines, _spans_by_line(lines, spans), strict=True)):
        if index <= first_index or _count_words(line, line_spans) > _count_words(best_line, best_spans):
            best_line, best_spans, best_index = line, tuple(line_spans), index
    indent = len(best_line) - len(best_line.lstrip())
    path = plan_file.project.display_path(plan_file.ref.path)
    if item.kind == ARTIFACT:
        directory = plan_file.project.plan_artifacts_dir(plan_file.ref.path, archived=plan_file.ref.archived)
        path = plan_file.project.display_path(os.path.join(directory, item.text))
    return Match(
        item.kind,
        redact_line(item.heading),
        path,
        item.lines[best_index] if item.lines else 0,
        best_line.strip(),
        tuple([(begin - indent, end - indent) for begin, end in best_spans]),
        item.state,
        item.author,
        item.date,
    )


def _is_heading(line: str, item: SearchItem) -> bool:
    """Return whether a line is the heading of its item, which is shown anyway."""
    return item.kind == SECTION and line.startswith("#") and line.strip("# ") == item.heading.rpartition(" › ")[2]


def _spans_by_line(lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Return the parts of spans in each line, as positions in it."""
    starts = [0, *accumulate([len(line) + 1 for line in lines])]
    line_spans: list[list[tuple[int, int]]] = [[] for _ in lines]
    for begin, stop in spans:
        for index in range(bisect_right(starts, begin) - 1, bisect_left(starts, stop)):
            start, length = starts[index], len(lines[index])
            if begin - start < length:
                line_spans[index].append((max(begin - start, 0), min(stop - start, length)))
    return line_spans


def _count_words(line: str, spans: Sequence[tuple[int, int]]) -> int:
    """Count the different words at spans in a line."""
    return len({line[start:end].casefold() for start, end in spans})


def redact_line(text: str) -> str:
    """Redact the secrets in a text of one line."""
    return _redactor().redact_text(text)


@cache
def _redactor() -> Redactor:
    return Redactor(os.environ, os.environ)  # of variables, only those whose names mark secrets


def _redact(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """Replace secrets in a text of several lines; spans move with the text, and those of secrets are dropped."""
    pieces, shifts, copied_end = [], [0], 0
    secrets = _redactor().spans(text)
    for start, end in secrets:
        pieces += [text[copied_end:start], REDACTED + "\n" * text.count("\n", start, end)]
        shifts.append(shifts[-1] + len(pieces[-1]) - (end - start))
        copied_end = end
    ends = [end for _, end in secrets]
    moved_spans = []
    for begin, stop in spans:
        index = bisect_right(ends, begin)
        if index == len(secrets) or stop <= secrets[index][0]:
            moved_spans.append((begin + shifts[index], stop + shifts[index]))
    return "".join([*pieces, text[copied_end:]]), moved_spans
