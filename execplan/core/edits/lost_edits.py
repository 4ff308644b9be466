"""Edits that another program has overwritten: found in the journal, the plan and Git, and applied again to a text.

An edit is overwritten in a gap: between the text after one edit and the text before the next one, or the current text.
Text that a later edit of the tool removed is not lost, and neither is a line that somebody has reworded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from execplan.core.edits import edit_journal
from execplan.core.edits.edit_entries import EDIT, JournalEntry, read_texts
from execplan.core.edits.journal_retention import count_entries_in_git
from execplan.core.edits.undo_stack import build_stack
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.merge.plan_merge import merge_plans
from execplan.core.plan.reader import decode
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text import line_merge
from execplan.core.text.line_merge import Chunk, merge_chunks

BOM = b"\xef\xbb\xbf"
_LABEL = re.compile(r"[-*+\s]*[A-Z][\w/ ]{0,18}: ")
"""A label before the text of a line, such as `Rationale:`, which lines of different entries share."""
_TIMESTAMP = re.compile(r"\(?\d{4}-\d\d-\d\d([ T]\d\d:\d\d[:\dZ]*)?\)?")
_WORD = re.compile(r"[A-Za-z]+|[0-9]+|[^\W_]")
_MAX_ATTEMPTS = 10
"""Maximum number of reads of a plan that others keep writing to; after that, nothing is reported."""


class JournaledEdit(NamedTuple):
    """A journaled edit that is on disk."""

    number: int
    summary: str
    """Description of the edit."""
    timestamp: str
    """Time of the edit, as a UTC timestamp."""
    old: bytes
    new: bytes
    is_expected: bool
    """Whether the edit should be in the file: it was not undone, and does not undo another one."""
    is_consecutive: bool
    """Whether the preceding edit is also the previous one made; a shortened journal has dropped some."""

    @property
    def description(self) -> str:
        """Description of the edit, with its time."""
        return f"{self.summary} ({self.timestamp.replace('T', ' ')})"


def select_lost_edits(steps: Sequence[JournaledEdit], current: bytes) -> list[JournaledEdit]:
    """Return the edits, in order, that are no longer in the file although no later edit removed them."""
    gaps = [(at, step.old) for at, step in enumerate(steps) if at and step.is_consecutive] + [(len(steps), current)]
    gaps = [(count, after) for count, after in gaps if count and after != steps[count - 1].new]
    if not gaps:
        return []
    lost_edits: dict[int, JournaledEdit] = {}
    for count, after in gaps:
        later_texts = {current, *[step.new for step in steps[count:]]}
        later_words = {_words(line) for text in later_texts for line in _split_lines(text)}
        for change in _find_overwritten(steps[:count], Counter(_split_lines(after))):
            was_made_again = change.added and _words(change.line) in later_words
            if change.step.is_expected and not was_made_again:
                lost_edits[change.step.number] = change.step
    return [lost_edits[number] for number in sorted(lost_edits)]


class _LineChange(NamedTuple):
    """The lines that an edit changed."""

    step: JournaledEdit
    added: Counter[str]
    removed: Counter[str]
    line: str
    """The added line with the most letters, which stands for the edit; a removed one if it only removed lines."""


def _find_overwritten(steps: Sequence[JournaledEdit], after: Counter[str]) -> list[_LineChange]:
    """Return the edits that another program overwrote when it wrote a text with certain lines after them."""
    before = Counter(_split_lines(steps[-1].new))
    missing, back = before - after, after - before
    texts = [(Counter(_split_lines(step.old)), Counter(_split_lines(step.new))) for step in steps]
    own_lines = {line for line in back if not any(line in old for old, _ in texts)}
    overwritten = []
    for step, (old, new) in zip(reversed(steps), reversed(texts), strict=True):
        added, removed = new - old, old - new
        line = max(added or removed, key=lambda line: len("".join(_words(line))), default="")
        is_reworded = bool(added) and any(_derives_from(own_line, line, removed) for own_line in own_lines)
        if line in (missing if added else back) and not is_reworded:
            overwritten.append(_LineChange(step, added, removed, line))
            missing = missing - added + (removed - after)  # an earlier edit may have added what this one replaced
    confirmed, lost_lines = [], set()
    for change in reversed(overwritten):
        if not (change.added and change.removed) or any(
            line in after or line in lost_lines or any(_derives_from(own_line, line, ()) for own_line in own_lines)
            for line in change.removed
        ):  # otherwise somebody removed what the edit had made of a line, and did not save the line from before it
            confirmed.append(change)
            lost_lines |= set(change.added)
    return confirmed


def _derives_from(line: str, source: str, other_sources: Iterable[str]) -> bool:
    """Return whether somebody made a line from another one, rather than from one of the other sources."""
    words, source_words = Counter(_words(line)), Counter(_words(source))
    if 2 * (words & source_words).total() <= source_words.total():
        return False
    distance = _distance(words, source_words)
    return all(distance <= _distance(words, Counter(_words(other))) for other in other_sources)


def _distance(words: Counter[str], other_words: Counter[str]) -> int:
    return ((words - other_words) + (other_words - words)).total()


def _words(line: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(_TIMESTAMP.sub("", _LABEL.sub("", line, count=1))))


def reapply_edit(step: JournaledEdit, text: bytes) -> bytes | None:
    """Return the text with an edit applied again; None if the same task, entry or line has changed otherwise."""
    merged_lines: list[str] = []
    for chunk in merge_chunks(_full_lines(step.old), _full_lines(text), _full_lines(step.new)):
        merged = _merge_chunk(chunk)
        if merged is None:
            merged_plan = merge_plans(step.old, text, step.new, line_merge.merge_with_markers)
            return None if merged_plan.conflict_count or merged_plan.notes else merged_plan.data
        merged_lines += merged
    return (BOM if text.startswith(BOM) else b"") + "".join(merged_lines).encode("utf-8")


def _merge_chunk(chunk: Chunk) -> tuple[str, ...] | None:
    """Return the lines of a chunk with an edit applied again; `theirs` is the edit's result. None on conflict."""
    base, ours, theirs = chunk
    if not base:  # both inserted text at one place: the external text stays, the edit's text follows
        slices = [ours[at : at + len(theirs)] for at in range(len(ours))]
        if theirs in slices:
            return ours
        return theirs if theirs[: len(ours)] == ours else ours + theirs
    if chunk.merged is not None or not len(base) == len(ours) == len(theirs):
        return chunk.merged
    lines = [theirs[at] if ours[at] == base[at] else ours[at] for at in range(len(base))]
    conflicts = [at for at in range(len(base)) if base[at] not in (ours[at], theirs[at]) and ours[at] != theirs[at]]
    return None if conflicts else tuple(lines)


def _split_lines(data: bytes) -> list[str]:
    """Return the lines of a plan that are not blank, without the white space around them."""
    return [line for line in map(str.strip, decode(data).lines) if line] if data else []


def _full_lines(data: bytes) -> list[str]:
    """Return the lines of a plan with their line ends; none for the empty text before creation or after removal."""
    if not data:
        return []
    text = decode(data)
    return [line + end for line, end in zip(text.lines, text.ends, strict=True)]


class LostEditReport(NamedTuple):
    """The result of comparing a plan with its journal."""

    lost: tuple[JournaledEdit, ...]
    """Edits that another program has overwritten, and that git doesn't have either."""
    damaged: tuple[str, ...]
    """Descriptions of the edits whose journal entry can't be read."""
    current: bytes
    """The plan's current content."""


def detect_lost_edits(project: Project, ref: PlanRef) -> LostEditReport:
    """Find the edits that another program has overwritten.

    Whoever restores, resets, stashes, rebases or switches has decided, so what git has is not lost, and a text that git
    has was not written by another program. Raises ExecplanError if the plan or its journal can't be read.
    """
    edits = edit_journal.read_entries(project, ref.path)
    if not edits:
        return LostEditReport((), (), b"")
    for _ in range(_MAX_ATTEMPTS):
        current = plan_store.read_bytes(project, ref.path)
        previous_edits, edits = edits, edit_journal.read_entries(project, ref.path)
        if previous_edits == edits:  # no edit began or finished while the plan was read
            steps, damaged = _written_edits(edits, current)
            lost = select_lost_edits(steps, current)
            if lost:  # only now is git needed, whose history can be long
                texts = [*[text for step in steps for text in (step.old, step.new)], current]
                known_count = count_entries_in_git(project, ref.path, texts, lasting=False)
                lost = select_lost_edits(steps[known_count:], current)
            return LostEditReport(tuple(lost), tuple(damaged), current)
    return LostEditReport((), (), b"")


def _written_edits(edits: list[JournalEntry], current: bytes) -> tuple[list[JournaledEdit], list[str]]:
    """Return the edits that are on disk, and descriptions of those whose entry can't be read."""
    texts_by_number = read_texts(edits)
    unread = [entry for entry in edits if entry.is_written and entry.number not in texts_by_number]
    damaged = [f"{entry.summary} ({entry.timestamp.replace('T', ' ')})" for entry in unread]
    stack = build_stack(edits)
    expected = {step.latest.number: step.operation for step in stack.undoable if step.operation.kind == EDIT}
    steps: list[JournaledEdit] = []
    previous_number = 0
    for index, edit in enumerate(edits):
        if edit.number not in texts_by_number:
            continue
        old, new = texts_by_number[edit.number]
        follows, previous_number = edit.number == previous_number + 1, edit.number
        next_text = texts_by_number.get(edits[index + 1].number, (b"",))[0] if index + 1 < len(edits) else current
        if edit.is_written or next_text == new:  # the next text shows whether an interrupted edit was written
            operation = expected.get(edit.number, edit)
            steps.append(
                JournaledEdit(
                    edit.number, operation.summary, operation.timestamp, old, new, edit.number in expected, follows
                )
            )
    return steps, damaged
