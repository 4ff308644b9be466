"""EP3 rules about log entries: rationale, date, author and evidence."""

from __future__ import annotations

from execplan.core.plan.line_grammar import EVIDENCE, read_date_author, read_label
from execplan.linter.rule import ERROR, WARNING, RuleContext, RuleMatch, on_line, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import Entry, ParsedPlan

_REASONS = (
    " because",
    " since ",
    " so that ",
    " so the",
    ", so ",
    " therefore",
    " in order to ",
    " to avoid ",
    " to keep ",
    " to prevent ",
    " due to ",
    " otherwise",
    " rationale",
    "因为",
    "因此",
    "以便",
    "避免",
    "为了",
)

_QUOTES = (('"', '"'), ("“", "”"), ("«", "»"), ("「", "」"))


@rule("EP301", ERROR)
def decision_without_rationale(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A decision has no rationale.

    Without the reason, the next person makes the decision again, or reverts it. A reason in the decision's own text
    is enough. In a log whose decisions have labels, an item without labels doesn't count as a decision.

    Bad:
        ## Decision Log

        - Decision: Read the file line by line.
          Date/Author: 2026-03-01 / Ann
    Good:
        ## Decision Log

        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose its position.
          Date/Author: 2026-03-01 / Ann
    """
    has_labels = any([entry.is_labeled for entry in plan.decisions])
    for entry in plan.decisions:
        if entry.rationale is None and (entry.is_labeled or not has_labels) and not _gives_reason(entry.text):
            yield on_line(plan, entry.start, f"the decision has no rationale: {_shorten_text(entry)}")


@rule("EP302", WARNING)
def decision_without_date_or_author(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A decision has no date or no author.

    They show whom to ask, and whether the reason is still valid.

    Bad:
        ## Decision Log

        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose its position.
    Good:
        ## Decision Log

        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose its position.
          Date/Author: 2026-03-01 / Ann
    """
    has_labels = any([entry.is_labeled for entry in plan.decisions])
    for entry in plan.decisions:
        if has_labels and not entry.is_labeled:
            continue
        date_author = (entry.date, entry.author)
        if date_author == (None, None) and entry.text.startswith("**"):
            bold = read_date_author(entry.text[2:].partition("**")[0].rstrip(" :."))
            date_author = bold if bold[0] is not None and entry.text[2:].startswith(bold[0]) else date_author
        missing_names = [name for name, value in zip(("date", "author"), date_author, strict=True) if value is None]
        if missing_names:
            missing = " and no ".join(missing_names)
            yield on_line(plan, entry.start, f"the decision has no {missing}: {_shorten_text(entry)}")


@rule("EP303", WARNING)
def discovery_without_evidence(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A discovery has no evidence.

    With an output, a file or a commit as evidence, the next person can verify the discovery instead of trusting it.
    Quoted output is enough. A discovery without labels is not checked.

    Bad:
        ## Surprises & Discoveries

        - Observation: The parser drops the last line.
    Good:
        ## Surprises & Discoveries

        - Observation: The parser drops the last line.
          Evidence: `tests/test_lines.py::test_last` failed at a1b2c3d.
    """
    for entry in plan.discoveries:
        lines = plan.text.lines[entry.start : entry.end]
        has_inline_evidence = any([EVIDENCE in line and read_label(line) is None for line in lines])
        if entry.evidence is None and entry.is_labeled and not has_inline_evidence and not _quotes_output(entry.text):
            yield on_line(plan, entry.start, f"the discovery has no evidence: {_shorten_text(entry)}")


def _gives_reason(text: str) -> bool:
    """Return whether a text gives a reason: with a word that introduces one, or in a separate sentence."""
    folded = f" {text.casefold()}"
    return ". " in text or "。" in text.rstrip("。") or any([word in folded for word in _REASONS])


def _quotes_output(text: str) -> bool:
    """Return whether a text quotes output or evidence.

    Counts a code span or quotation of several words, a key with its value, a file, or a URL.
    """
    parts = text.split("`")
    spans = [part.strip() for part in parts[1:-1:2]]
    outside = " ".join(parts[::2])
    for opening, closing in _QUOTES:
        spans += [
            quotation.partition(closing)[0] for quotation in outside.split(opening)[1 :: 1 if opening != closing else 2]
        ]
    return "://" in text or any([" " in span or _is_value(span) for span in spans])


def _is_value(span: str) -> bool:
    """Return whether a code span is a file, a key with a value, or a list of alternatives, rather than a bare name."""
    return (
        ("/" in span and "." in span)
        or "|" in span
        or '":' in span
        or ("=" in span and not span.endswith(("=", "=...", "=…")))
    )


def _shorten_text(entry: Entry) -> str:
    return entry.text if len(entry.text) <= 60 else entry.text[:59].rstrip() + "…"
