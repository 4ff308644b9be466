"""What can be wrong with a summary: looked at from outside, without the code that makes it."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.context.summary.plan_summary import Summary
    from execplan.core.plan.model import ParsedPlan

FRAME = frozenset(
    """
    the plan is of tasks task done last on left open no neither nor lines line its template not yet replaced
    and contents active draft complete archived document next then before that decided why found out also what came it
    status first stamp stamps stamped revised nothing decisions findings risks outcome none written down more earlier
    from to milestones behind ahead x and otherwise than planned superseded now pace evidence another in deviations  completed discovered recorded timestamp timestamps gap result with a days day
    usually mostly time one the longest minutes minute hours hour has for state risk
    title total other last discoveries outcomes revisions guidance id purpose decision date discovery
    t z plan tasks dropped marked
    """.split()
)
"""Every word that a summary may have that is not the plan's own."""
_LINK = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\))?(?:\s+\"[^\"]*\")?\)|\]\[[^\[\]]*\]")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def letters(text: str) -> str:
    """Nothing but letters and digits."""
    return "".join([char for char in text.casefold() if char.isalnum()])


def faults(plan: ParsedPlan, summary: Summary) -> Iterator[str]:
    """Everything that is wrong with a summary of the plan."""
    lines = plan.text.lines
    size = len(summary.text.split())  # as `wc -w` counts
    if not size <= summary.word_count <= summary.max_words:
        yield f"{summary.word_count} words, counted again {size}, where {summary.max_words} are allowed"
    for piece in [piece for section in summary.sections for piece in section.pieces]:
        for quote in piece.quotes:
            if not is_quoted_from(quote, "\n".join(lines[piece.start - 1 : piece.end])):
                yield f"lines {piece.start}-{piece.end} do not say {quote!r}"
            if quote.endswith("…") and not "\n".join(lines[piece.start - 1 : piece.end]).count("…"):
                yield f"is cut: {quote!r}"
    rest = frame(summary)
    summary_words = set(re.findall(r"[^\W\d]+", rest.replace("_", " ").casefold()))
    if summary_words - FRAME - zones(plan) - ids(rest) - printed_words(summary, plan):
        yield f"words of nobody: {sorted(summary_words - FRAME - zones(plan) - ids(rest) - printed_words(summary, plan))}"
    yield from untrue_statements(plan, summary)


def frame(summary: Summary) -> str:
    """The text without what is the plan's."""
    rest = summary.text.replace(summary.title, " ", 1)
    for section in summary.sections:
        if section.name.startswith("tasks-"):
            rest = rest.replace(f"## {section.heading}\n", " ", 1)
        for piece in section.pieces:
            rest = rest.replace(piece.text, "".join([segment.lead for segment in piece.segments]) + piece.tail, 1)
    return rest


def untrue_statements(plan: ParsedPlan, summary: Summary) -> Iterator[str]:
    """What is not so in the plan: numbers, and guidance taken for words of its author."""
    counts = plan.counts()
    for done, total in re.findall(r"(?:[Ii]s \w+: |, |: )(\d+) of (\d+) tasks done", summary.text):
        if (int(done), int(total)) != (counts["done"], counts["total"]):
            yield f"{done} of {total} tasks done, but it is {counts}"
    summary_letters = letters(summary.text)
    for at in plan.placeholder_lines:
        line = letters(plan.text.lines[at])
        if len(line) > 30 and line in summary_letters:
            yield f"line {at + 1} is guidance"


def is_quoted_from(quote: str, source: str) -> bool:
    """Whether the words stand in the source, markup and white space aside."""
    bare = _COMMENT.sub(" ", source)
    return letters(quote) in letters(bare) or letters(quote) in letters(html.unescape(_LINK.sub("]", bare)))


def zones(plan: ParsedPlan) -> set[str]:
    """What stamps have beside digits."""
    return {
        word.casefold()
        for task in plan.tasks
        if task.timestamp
        for word in re.findall(r"[^\W\d_]+", task.timestamp.zone)
    }


def ids(text: str) -> set[str]:
    """The letters of ids of tasks."""
    task_ids = re.findall(r"(?:next: |next_task_id: )(t[a-z0-9]{6}(?:-\d+)?)", text)
    return {word for task_id in task_ids for word in re.findall(r"[^\W\d]+", task_id)}


def printed_words(summary: Summary, plan: ParsedPlan) -> set[str]:
    """The letters of the id of the plan where it is printed, and of boxes."""
    marks = {task.mark.casefold() for task in plan.tasks}
    plan_id_text = next(
        (piece.text for section in summary.sections if section.name == "plan" for piece in section.pieces), ""
    )
    return marks | set(re.findall(r"[^\W\d]+", plan_id_text.replace("_", " ").casefold()))
