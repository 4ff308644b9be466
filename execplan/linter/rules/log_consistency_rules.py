"""EP3 rules about log consistency: text outside entries, and references to unknown decisions."""

from __future__ import annotations

from itertools import pairwise

from execplan.core.plan import outline
from execplan.core.plan.line_grammar import (
    DATE_AUTHOR,
    DECISION,
    OBSERVATION,
    SUPERSEDES,
    is_empty_text,
    read_date_author,
    read_label,
)
from execplan.core.text.markdown_blocks import HEADING, ITEM, PARAGRAPH
from execplan.core.timestamps import read_timestamp
from execplan.linter.rule import WARNING, RuleContext, RuleMatch, on_line, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import Entry, ParsedPlan, Section
    from execplan.core.text.markdown_blocks import Block

_PLACEHOLDERS = ("none", "nothing", "no ", "not yet", "to be ", "tbd")
_MAX_PLACEHOLDER_LENGTH = 80
"""Maximum characters of a placeholder; longer text has content."""
_FILE_REFERENCES = (".md", "](", "://")
"""Strings that show a reference to another file."""
_MAX_DECISIONS = 100
"""Maximum number of decisions in a log to check for superseded ones; no plan has this many."""


@rule("EP304", WARNING)
def text_outside_entries(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Text in the Decision Log or in Surprises & Discoveries belongs to no entry.

    A log is read entry by entry; no command shows or searches text between entries. Start the text with `-
    Decision:` or `- Observation:`, or indent it below its entry. A first paragraph counts as an introduction, and
    so does a paragraph that ends with a colon. If a log has several subheadings with text below each, that text
    belongs to the subheadings.

    Bad:
        ## Decision Log

        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose its position.
          Date/Author: 2026-03-01 / Ann

        Lists in tables are left out, since nobody has them.
    Good:
        ## Decision Log

        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose its position.
          Date/Author: 2026-03-01 / Ann

        - Decision: Leave lists in tables out.
          Rationale: Nobody has them.
          Date/Author: 2026-03-02 / Ann
    """
    for name, label, entries in (
        (outline.DECISIONS, DECISION, plan.decisions),
        (outline.SURPRISES, OBSERVATION, plan.discoveries),
    ):
        section = plan.section(name)
        if section is None:
            continue
        covered = bytearray(len(plan.text.lines) + 1)
        for entry in entries:
            covered[entry.start : entry.end] = b"\1" * (entry.end - entry.start)
        stray_blocks: list[Block] = []
        has_begun = not entries
        for block in plan.blocks[section.first_block : section.block_end]:
            if block.depth or block.start >= section.content_end:
                continue
            if (
                block.kind in (ITEM, PARAGRAPH)
                and not covered[block.start]
                and _is_stray(plan, block, has_begun=has_begun)
            ):
                stray_blocks.append(block)
            has_begun = has_begun or block.kind in (ITEM, PARAGRAPH)
        if stray_blocks:
            first_heading = _first_subheading(plan, section)
            stray_blocks = [block for block in stray_blocks if block.start < first_heading]
        if stray_blocks:
            count = f" ({len(stray_blocks)} blocks)" if len(stray_blocks) > 1 else ""
            yield on_line(plan, stray_blocks[0].start, f"text outside entries; start an entry with `- {label}:`{count}")


@rule("EP306", WARNING)
def dangling_supersedes(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A decision supersedes one that is not in the log.

    A reader can't find the earlier decision, and nothing marks it as superseded. Quote part of its text exactly as
    in the log, as `execplan decide --supersedes` does. A decision in another file is referred to by the file's
    path.

    Bad:
        ## Decision Log

        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose its position.
          Date/Author: 2026-03-01 / Ann
          Supersedes: Read the file as a tree (2026-02-27)
    Good:
        ## Decision Log

        - Decision: Read the file as a tree.
          Rationale: Lists nest.
          Date/Author: 2026-02-27 / Ann
        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose its position.
          Date/Author: 2026-03-01 / Ann
          Supersedes: Read the file as a tree. (2026-02-27)
    """
    superseding_entries = [entry for entry in plan.decisions if entry.supersedes is not None]
    if not superseding_entries or len(plan.decisions) > _MAX_DECISIONS:
        return
    from execplan.core.plan.plan_lookup import normalize_text

    texts = [normalize_text(entry.text) for entry in plan.decisions]
    plain_texts: list[str] = []
    for entry in superseding_entries:
        superseded_text = _strip_date(entry.supersedes or "").rstrip(".")
        index = plan.decisions.index(entry)
        if any([marker in superseded_text for marker in _FILE_REFERENCES]) or _names_by_date(
            plan, entry, superseded_text
        ):
            continue
        if not _matches_other(texts, index, normalize_text(superseded_text)):
            from execplan.core.text.inline_markdown import plain_text

            plain_texts = plain_texts or [normalize_text(plain_text(decision.text)) for decision in plan.decisions]
            if not _matches_other(plain_texts, index, normalize_text(plain_text(superseded_text))):
                yield _supersedes_match(plan, entry, f"no such decision in this log: {superseded_text[:60]}")


def _first_subheading(plan: ParsedPlan, section: Section) -> int:
    """Return the line of a log's first subheading if it has several with paragraphs below each; else the log's end."""
    heading_lines = []
    blocks = [block for block in plan.blocks[section.first_block : section.block_end] if not block.depth]
    for block, next_block in pairwise(blocks):
        if block.kind == HEADING:
            if next_block.kind != PARAGRAPH:
                return section.end
            heading_lines.append(block.start)
    return heading_lines[0] if len(heading_lines) > 1 else section.end


def _is_stray(plan: ParsedPlan, block: Block, *, has_begun: bool) -> bool:
    """Return whether a block outside entries has content; the first block of a log with entries is an introduction."""
    if block.start in plan.placeholder_lines:
        return False
    lines = [line.strip() for line in plan.text.lines[block.start : block.end]]
    label = read_label(block.text)
    if label is not None:
        labeled_lines = [label, *[read_label(line) or ("", line) for line in lines[1:]]]
        statements = [
            statement
            for name, line_text in labeled_lines
            if name != DATE_AUTHOR
            for statement in _split_inline_labels(line_text)
        ]
        return not all([is_empty_text(statement) for statement in statements])
    text = " ".join(lines)
    bare = text.strip("*_()<>. ").casefold()
    if not has_begun or bare.endswith((":", "：")) or any([marker in text for marker in _FILE_REFERENCES]):
        return False
    is_placeholder = is_empty_text(text) or (bare.startswith(_PLACEHOLDERS) and len(bare) < _MAX_PLACEHOLDER_LENGTH)
    is_bold = len(lines) == 1 and text.startswith("**") and text.endswith("**")
    return not is_placeholder and not is_bold


def _split_inline_labels(text: str) -> list[str]:
    """Split the text of a one-line entry before its labels."""
    return text.replace(" Evidence:", "\n").replace(" Rationale:", "\n").split("\n")


def _strip_date(text: str) -> str:
    """Return the superseded decision's text without the date that the tool appends."""
    head, bracket, date = text.rpartition("(")
    return head.rstrip() if bracket and date.endswith(")") and read_timestamp(date[:-1]) is not None else text


def _names_by_date(plan: ParsedPlan, entry: Entry, text: str) -> bool:
    """Return whether a text refers to another decision by its date."""
    date = read_date_author(text)[0]
    return date is not None and date[:10] in [
        decision.date[:10] for decision in plan.decisions if decision.date and decision is not entry
    ]


def _matches_other(texts: list[str], index: int, query: str) -> bool:
    """Return whether another text contains the query, or all its words, as `decide --supersedes` matches."""
    words = set(query.split())
    return any(at != index and (query in text or all(word in text for word in words)) for at, text in enumerate(texts))


def _supersedes_match(plan: ParsedPlan, entry: Entry, message: str) -> RuleMatch:
    """Return the match for the `Supersedes` line of a decision."""
    for at in range(entry.start, entry.end):
        column = plan.text.lines[at].find(SUPERSEDES)
        if column >= 0:
            return RuleMatch(message, at, column, at + 1, len(plan.text.lines[at].rstrip()))
    return on_line(plan, entry.start, message)
