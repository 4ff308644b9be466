"""EP3, the part about what no log holds: words of no entry, and names of no decision."""

from __future__ import annotations

from itertools import pairwise

from execplan.clock import read_stamp
from execplan.lint.rule import WARNING, Given, Place, on_line, rule
from execplan.plan import outline
from execplan.plan.grammar import (
    DATE_AUTHOR,
    DECISION,
    OBSERVATION,
    SUPERSEDES,
    is_nothing,
    read_date_author,
    read_label,
)
from execplan.text.blocks import HEADING, ITEM, PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Entry, Plan, Section
    from execplan.text.blocks import Block

_PLACEHOLDERS = ("none", "nothing", "no ", "not yet", "to be ", "tbd")
_SHORT = 80
"""Characters of a longer line that says more than that nothing is there."""
_ELSEWHERE = (".md", "](", "://")
"""What shows that words point to another file."""
_MANY = 100
"""Decisions of a log in which superseded ones are still sought; no plan has as many."""


@rule("EP304", WARNING)
def not_an_entry(plan: Plan, given: Given) -> Iterator[Place]:
    """Words in the Decision Log or in Surprises & Discoveries belong to no entry.

    A log is read entry by entry; what stands beside them is shown by no command and found by no search. Begin it with
    `- Decision:` or `- Observation:`, or indent it below the entry that it belongs to. A first paragraph introduces what
    follows, and so does one that ends with a colon. Where a log has several sub-headings with words below each, what stands
    there is taken for theirs.

    Bad:
        ## Decision Log

        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose where it stands.
          Date/Author: 2026-03-01 / Ann

        Lists in tables are left out, since nobody has them.
    Good:
        ## Decision Log

        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose where it stands.
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
        lost: list[Block] = []
        begun = not entries
        for block in plan.blocks[section.first : section.last]:
            if block.depth or block.start >= section.room:
                continue
            if block.kind in (ITEM, PARAGRAPH) and not covered[block.start] and _is_lost(plan, block, begun=begun):
                lost.append(block)
            begun = begun or block.kind in (ITEM, PARAGRAPH)
        if lost:
            headed = _first_of_several(plan, section)
            lost = [block for block in lost if block.start < headed]
        if lost:
            count = f" ({len(lost)} blocks of them)" if len(lost) > 1 else ""
            yield on_line(plan, lost[0].start, f"part of no entry: one begins with `- {label}:`{count}")


@rule("EP306", WARNING)
def dangling_supersedes(plan: Plan, given: Given) -> Iterator[Place]:
    """A decision supersedes one that is not in the log.

    Whoever wants to know what held before finds nothing, and nothing tells that the old decision is void. Say some words of
    it as they stand in the log; `execplan decide --supersedes` does. What lies in another file is named by its path.

    Bad:
        ## Decision Log

        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose where it stands.
          Date/Author: 2026-03-01 / Ann
          Supersedes: Read the file as a tree (2026-02-27)
    Good:
        ## Decision Log

        - Decision: Read the file as a tree.
          Rationale: Lists nest.
          Date/Author: 2026-02-27 / Ann
        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose where it stands.
          Date/Author: 2026-03-01 / Ann
          Supersedes: Read the file as a tree. (2026-02-27)
    """
    names = [entry for entry in plan.decisions if entry.supersedes is not None]
    if not names or len(plan.decisions) > _MANY:
        return
    from execplan.plan.seek import fold

    texts = [fold(entry.text) for entry in plan.decisions]
    seen: list[str] = []
    for entry in names:
        words = _superseded(entry.supersedes or "").rstrip(".")
        own = plan.decisions.index(entry)
        if any([each in words for each in _ELSEWHERE]) or _is_dated(plan, entry, words):
            continue
        if not _is_among(texts, own, fold(words)):
            from execplan.text.inline import plain

            seen = seen or [fold(plain(each.text)) for each in plan.decisions]
            if not _is_among(seen, own, fold(plain(words))):
                yield _supersedes(plan, entry, f"no decision of this log: {words[:60]}")


def _first_of_several(plan: Plan, section: Section) -> int:
    """The line of the first of a log's sub-headings with words below each, if there are several; else its end."""
    heads = []
    blocks = [block for block in plan.blocks[section.first : section.last] if not block.depth]
    for block, below in pairwise(blocks):
        if block.kind == HEADING:
            if below.kind != PARAGRAPH:
                return section.end
            heads.append(block.start)
    return heads[0] if len(heads) > 1 else section.end


def _is_lost(plan: Plan, block: Block, *, begun: bool) -> bool:
    """Whether a block that is part of no entry says something; the first of a log that has entries introduces it."""
    if block.start in plan.guidance:
        return False
    lines = [line.strip() for line in plan.text.lines[block.start : block.end]]
    label = read_label(block.text)
    if label is not None:
        said = [label, *[read_label(line) or ("", line) for line in lines[1:]]]
        parts = [part for name, words in said if name != DATE_AUTHOR for part in _parts(words)]
        return not all([is_nothing(part) for part in parts])
    words = " ".join(lines)
    bare = words.strip("*_()<>. ").casefold()
    if not begun or bare.endswith((":", "：")) or any([each in words for each in _ELSEWHERE]):
        return False
    waits = is_nothing(words) or (bare.startswith(_PLACEHOLDERS) and len(bare) < _SHORT)
    bold = len(lines) == 1 and words.startswith("**") and words.endswith("**")
    return not waits and not bold


def _parts(words: str) -> list[str]:
    """The words of an entry that stands on one line, cut before its labels' words."""
    return words.replace(" Evidence:", "\n").replace(" Rationale:", "\n").split("\n")


def _superseded(words: str) -> str:
    """What a decision is said to supersede, without the date that the tool puts behind it."""
    head, bracket, date = words.rpartition("(")
    return head.rstrip() if bracket and date.endswith(")") and read_stamp(date[:-1]) is not None else words


def _is_dated(plan: Plan, entry: Entry, words: str) -> bool:
    """Whether the words name another decision by its date."""
    date = read_date_author(words)[0]
    return date is not None and date[:10] in [
        each.date[:10] for each in plan.decisions if each.date and each is not entry
    ]


def _is_among(texts: list[str], own: int, wanted: str) -> bool:
    """Whether another of the texts has the wanted words, in a row or not, as `decide --supersedes` finds them."""
    words = set(wanted.split())
    return any(at != own and (wanted in text or all(word in text for word in words)) for at, text in enumerate(texts))


def _supersedes(plan: Plan, entry: Entry, message: str) -> Place:
    """The place of what a decision is said to supersede."""
    for at in range(entry.start, entry.end):
        column = plan.text.lines[at].find(SUPERSEDES)
        if column >= 0:
            return Place(message, at, column, at + 1, len(plan.text.lines[at].rstrip()))
    return on_line(plan, entry.start, message)
