"""EP3: can the entries of the logs be believed?"""

from __future__ import annotations

from execplan.clock import read_stamp
from execplan.lint.rule import ERROR, WARNING, Given, Place, on_line, rule
from execplan.plan import outline
from execplan.plan.grammar import DECISION, OBSERVATION, SUPERSEDES, is_nothing, read_date_author, read_label
from execplan.text.blocks import ITEM, PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Entry, Plan
    from execplan.text.blocks import Block

_PLACEHOLDERS = (
    "none yet",
    "none so far",
    "nothing yet",
    "no decisions",
    "no surprises",
    "no discoveries",
    "to be ",
    "tbd",
)
_MANY = 200
"""Decisions of a log in which superseded ones are still sought; no plan has as many."""


@rule("EP301", ERROR)
def no_rationale(plan: Plan, given: Given) -> Iterator[Place]:
    """A decision has no rationale.

    Without the why, the next person makes the decision again, or undoes it.

    Bad:
        ## Decision Log

        - Decision: Read the file line by line.
          Date/Author: 2026-03-01 / Ann
    Good:
        ## Decision Log

        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose where it stands.
          Date/Author: 2026-03-01 / Ann
    """
    for entry in plan.decisions:
        if entry.rationale is None:
            yield on_line(plan, entry.start, f"no rationale: {_short(entry)}")


@rule("EP302", WARNING)
def no_date_or_author(plan: Plan, given: Given) -> Iterator[Place]:
    """A decision has no date or no author.

    Who decided, and when, tells whom to ask and whether the reason still holds.

    Bad:
        ## Decision Log

        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose where it stands.
    Good:
        ## Decision Log

        - Decision: Read the file line by line.
          Rationale: A task is a line; a tree would lose where it stands.
          Date/Author: 2026-03-01 / Ann
    """
    for entry in plan.decisions:
        lacks = [name for name, value in (("date", entry.date), ("author", entry.author)) if value is None]
        if lacks:
            yield on_line(plan, entry.start, f"no {' and no '.join(lacks)}: {_short(entry)}")


@rule("EP303", WARNING)
def no_evidence(plan: Plan, given: Given) -> Iterator[Place]:
    """A discovery has no evidence.

    An output, a file or a commit that shows it lets the next person check instead of believe.

    Bad:
        ## Surprises & Discoveries

        - Observation: The parser drops the last line.
    Good:
        ## Surprises & Discoveries

        - Observation: The parser drops the last line.
          Evidence: `tests/test_lines.py::test_last` failed at a1b2c3d.
    """
    for entry in plan.discoveries:
        if entry.evidence is None:
            yield on_line(plan, entry.start, f"no evidence: {_short(entry)}")


@rule("EP304", WARNING)
def not_an_entry(plan: Plan, given: Given) -> Iterator[Place]:
    """Words in the Decision Log or in Surprises & Discoveries belong to no entry.

    A log is read entry by entry; what stands beside them is shown by no command and found by no search. Begin it with
    `- Decision:` or `- Observation:`, or indent it below the entry that it belongs to. A first paragraph, and
    one that ends with a colon, introduce what follows.

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
    for entry in plan.decisions:
        if entry.supersedes is not None:
            words = _superseded(entry.supersedes)
            if not any([mark in words for mark in (".md", "](", "://")]) and not _is_known(plan, entry, words):
                yield _supersedes(plan, entry, f"no decision of this log: {words}")


def _is_lost(plan: Plan, block: Block, *, begun: bool) -> bool:
    """Whether a block that is part of no entry says something; the first of a log that has entries introduces it."""
    lines = [line.strip() for line in plan.text.lines[block.start : block.end]]
    label = read_label(block.text)
    if label is not None:
        said = [(read_label(line) or ("", line))[1] for line in lines[1:]]
        said += label[1].replace(" Evidence:", "\n").replace(" Rationale:", "\n").split("\n")
        return any(
            [not is_nothing(words) and at not in plan.guidance for at, words in enumerate(said, block.start + 1)]
        )
    words = block.text.lstrip("*_(<").casefold()
    if not begun or lines[-1].rstrip("*_").endswith((":", "：")) or words.startswith(_PLACEHOLDERS):
        return False
    bold = len(lines) == 1 and lines[0].startswith("**") and lines[0].endswith("**")
    return not bold and block.start not in plan.guidance and not is_nothing(" ".join(lines))


def _superseded(words: str) -> str:
    """What a decision is said to supersede, without the date that the tool puts behind it."""
    head, bracket, date = words.rpartition("(")
    return head.rstrip() if bracket and date.endswith(")") and read_stamp(date[:-1]) is not None else words


def _is_known(plan: Plan, entry: Entry, words: str) -> bool:
    """Whether another decision has the words, markup set aside, or the date that stands for it."""
    from execplan.plan.seek import matching

    if len(plan.decisions) > _MANY:
        return True
    others = [each for each in plan.decisions if each is not entry]
    date = read_date_author(words)[0]
    if date is not None and date[:10] in [each.date[:10] for each in others if each.date]:
        return True
    return bool(matching([each.text for each in others], words.rstrip(".")))


def _supersedes(plan: Plan, entry: Entry, message: str) -> Place:
    """The place of what a decision is said to supersede."""
    for at in range(entry.start, entry.end):
        column = plan.text.lines[at].find(SUPERSEDES)
        if column >= 0:
            return Place(message, at, column, at + 1, len(plan.text.lines[at].rstrip()))
    return on_line(plan, entry.start, message)


def _short(entry: Entry) -> str:
    return entry.text if len(entry.text) <= 60 else entry.text[:59].rstrip() + "…"
