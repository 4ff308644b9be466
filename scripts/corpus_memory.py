"""Results of pure functions that scripts/corpus.py keeps, because its checks need those of the same texts repeatedly."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import corpus_steps

from execplan.core.plan import reader, section_edits
from execplan.execution import compile as compilation
from execplan.execution.inference import annotation_edits

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.core.text.text_lines import Text

T = TypeVar("T")
Result = TypeVar("Result")
_MAX_RESULTS = 32
"""Number of results kept for each function."""


def keep_results() -> None:
    """Keep the latest results of the reader and of step inference in this process."""
    read_text = _by_text(reader.read_text, lambda text: text)
    find_steps = _by_text(compilation.find_plan_steps, lambda plan: plan.text)
    for module in (reader, section_edits):
        module.__dict__["read_text"] = read_text
    for module in (compilation, annotation_edits, corpus_steps):
        module.__dict__["find_plan_steps"] = find_steps


def _by_text(function: Callable[[T], Result], text_of: Callable[[T], Text]) -> Callable[[T], Result]:
    """Return a function that keeps the latest results by the bytes of the text."""
    results: dict[bytes, Result] = {}

    def find(argument: T) -> Result:
        key = text_of(argument).to_bytes()
        if key not in results:
            if len(results) >= _MAX_RESULTS:
                results.pop(next(iter(results)))
            results[key] = function(argument)
        return results[key]

    return find
