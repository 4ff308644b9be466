"""Three-way merge of one task or log entry, with completed, reworded and split tasks and contradictory decisions."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.entry_format import is_newest_first
from execplan.core.plan.line_grammar import Checkbox, read_checkbox
from execplan.core.plan.merge.merge_context import quote_text
from execplan.core.plan.merge.merge_units import join_unit_lines
from execplan.core.plan.merge.unit_matching import likeness, split_words
from execplan.core.plan.model import DONE, Task
from execplan.core.plan.plan_lookup import normalize_text
from execplan.core.timestamps import minute_bounds, read_timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.merge.merge_context import MergeContext
    from execplan.core.plan.merge.merge_units import MergeUnit
    from execplan.core.plan.merge.unit_order import UnitVersions
    from execplan.core.plan.model import Entry


_NEGATIVE_WORDS = frozenset(
    "not no never don t dont won cannot can without avoid drop remove reject disable forbid exclude skip stop".split()
)
_NEUTRAL_WORDS = frozenset("do use adopt keep add enable allow include will always with we the a an it to".split())
_SAME_SUBJECT = 0.8
_MAX_DECISIONS = 100
"""Maximum number of new decisions per side to compare with the other side's."""


def merge_entry(context: MergeContext, base: MergeUnit | None, ours: MergeUnit, theirs: MergeUnit) -> list[str]:
    """Merge an entry that both sides have."""
    our_lines, their_lines = ours.lines, theirs.lines
    if base is None:
        return list(min(ours, theirs, key=_entry_order).lines)
    base_lines = base.lines
    if our_lines == their_lines or _normalize_lines(their_lines) == _normalize_lines(base_lines):
        return list(our_lines if our_lines != base_lines else their_lines)
    if _normalize_lines(our_lines) == _normalize_lines(base_lines):
        return list(their_lines)
    if _normalize_lines(our_lines) == _normalize_lines(their_lines):
        return list(min(our_lines, their_lines))
    return context.write_conflict(our_lines, their_lines)


def entry_date(unit: MergeUnit) -> str | None:
    """Return the date and time of an entry in a form that can be compared."""
    date = unit.entry.date if unit.entry is not None else None
    return date.replace("T", " ")[:16] if date else None


def is_newest_first_log(versions: UnitVersions) -> bool:
    """Return whether the log has the newest entry first in any version."""
    return any([is_newest_first([unit.entry for unit in side if unit.entry is not None]) for side in versions])


def report_contradictions(context: MergeContext, ours: Sequence[Entry], theirs: Sequence[Entry]) -> None:
    """Add notes about new decisions of the two sides that contradict each other or supersede the same one."""
    our_decisions, their_decisions = [
        [_ComparedDecision(log_entry) for log_entry in side]
        for side in (ours[:_MAX_DECISIONS], theirs[:_MAX_DECISIONS])
    ]
    for our_decision in our_decisions:
        for their_decision in their_decisions:
            pair_text = f"{quote_text(our_decision.entry.text)} and {quote_text(their_decision.entry.text)}"
            if our_decision.superseded and our_decision.superseded == their_decision.superseded:
                context.add_note(
                    f"{pair_text} both supersede {quote_text(our_decision.entry.supersedes or '')}: both are kept"
                )
            elif (
                our_decision.is_negative != their_decision.is_negative
                and our_decision.subject_words
                and likeness(our_decision.subject_words, their_decision.subject_words) >= _SAME_SUBJECT
            ):
                context.add_note(f"{pair_text} contradict each other: both are kept")


class _ComparedDecision:
    """A decision prepared for comparison: its subject, whether it is negative, and the decision it supersedes."""

    def __init__(self, entry: Entry) -> None:
        entry_words = split_words(entry.text)
        self.entry = entry
        self.superseded = _strip_date(normalize_text(entry.supersedes or ""))
        self.is_negative = len(_NEGATIVE_WORDS.intersection(entry_words)) % 2
        self.subject_words = frozenset(entry_words) - _NEGATIVE_WORDS - _NEUTRAL_WORDS


def _strip_date(text: str) -> str:
    """Return the text of a superseded decision without the date, which one of the two sides may omit."""
    head, bracket, tail = text.rpartition(" (")
    return head if bracket and tail.endswith(")") and read_timestamp(tail[:-1]) is not None else text


def _normalize_lines(lines: Sequence[str]) -> str:
    return normalize_text(" ".join(lines))


def _entry_order(unit: MergeUnit) -> tuple[str, tuple[str, ...]]:
    """Return a sort key that puts the entry written first before an equal one, whichever side it is on."""
    return (entry_date(unit) or "9999", unit.lines)


class _TaskSide(NamedTuple):
    """The parts of a task: the line before its checkbox, the checkbox and timestamp, the text, and the lines below."""

    unit: MergeUnit
    task: Task
    line_start: str
    box_text: str
    text_lines: tuple[str, ...]
    body_lines: tuple[str, ...]

    @property
    def is_done(self) -> bool:
        return self.task.state == DONE

    def has_same_text(self, other: _TaskSide) -> bool:
        """Return whether both tasks have the same text, apart from punctuation and case."""
        return split_words(self.task.text) == split_words(other.task.text)

    def with_box(self, other: _TaskSide) -> list[str]:
        """Return the lines of the task's text with the checkbox of another version."""
        needs_no_space = (
            not self.text_lines[0] or other.text_lines[0] or other.box_text.endswith((" ", "\t"))
        )  # a full-width colon needs no space
        space = "" if needs_no_space else " "
        lines_above = (
            () if self.task.box_line == self.task.start else self.unit.lines[: self.task.box_line - self.task.start]
        )
        return [*lines_above, self.line_start + other.box_text + space + self.text_lines[0], *self.text_lines[1:]]


def merge_task(
    context: MergeContext, base: MergeUnit | None, ours: Sequence[MergeUnit], theirs: Sequence[MergeUnit]
) -> list[str]:
    """Merge a task that both sides have; a side that has split the task has two units."""
    our_lines, their_lines = join_unit_lines(ours), join_unit_lines(theirs)
    if our_lines == their_lines:
        return our_lines
    if base is None:
        return _merge_single(context, None, _read_side(ours[0]), _read_side(theirs[0]))
    base_lines = list(base.lines)
    if their_lines == base_lines:
        return our_lines
    if our_lines == base_lines:
        return their_lines
    if len(ours) > 1 or len(theirs) > 1:
        return _merge_split(context, _read_side(base), ours, theirs)
    return _merge_single(context, _read_side(base), _read_side(ours[0]), _read_side(theirs[0]))


def _merge_split(
    context: MergeContext, base: _TaskSide, ours: Sequence[MergeUnit], theirs: Sequence[MergeUnit]
) -> list[str]:
    """Merge a split task: pair parts with equal texts, or keep the parts if the other side changed only the box."""
    if len(ours) == len(theirs):
        pairs = [
            (_read_side(our_side), _read_side(their_side)) for our_side, their_side in zip(ours, theirs, strict=True)
        ]
        if not all([our_side.has_same_text(their_side) for our_side, their_side in pairs]):
            return context.write_conflict(join_unit_lines(ours), join_unit_lines(theirs))
        lines = []
        for index, (our_side, their_side) in enumerate(pairs):
            lines += [*_merge_single(context, None, our_side, their_side), *(ours[0].gap if not index else ())]
        return lines
    split_units, whole_side = (ours, _read_side(theirs[0])) if len(ours) > 1 else (theirs, _read_side(ours[0]))
    if not whole_side.has_same_text(base) or whole_side.body_lines != base.body_lines:
        return context.write_conflict(join_unit_lines(ours), join_unit_lines(theirs))
    if whole_side.is_done:
        open_texts = " and ".join(
            [quote_text(unit.task.text) for unit in split_units if unit.task and unit.task.state != DONE]
        )
        message = f"{quote_text(base.task.text)} was split on one side and checked off completely on the other"
        context.add_note(f"{message}: the remaining part stays open ({open_texts})")
    return join_unit_lines(split_units)


def _merge_single(context: MergeContext, base: _TaskSide | None, ours: _TaskSide, theirs: _TaskSide) -> list[str]:
    """Merge one task of each side, in any two states."""
    text_side = _pick_text(base, ours, theirs)
    box_side = _pick_box(context, base, ours, theirs)
    if text_side is None or box_side is None:
        return context.write_conflict(ours.unit.lines, theirs.unit.lines)
    body_lines = context.merge_text(base.body_lines if base else (), ours.body_lines, theirs.body_lines)
    is_reworded = base is not None and not text_side.has_same_text(base)
    if (
        base is not None
        and is_reworded
        and box_side.is_done
        and not (text_side.is_done or box_side.has_same_text(text_side))
    ):
        message = f"{quote_text(base.task.text)} was checked off on one side and reworded to {quote_text(text_side.task.text)} on the other"
        context.add_note(f"{message}: it stays open")
        box_side = text_side
    elif is_reworded and box_side.is_done and text_side.is_done and not box_side.has_same_text(text_side):
        box_side = text_side
    return [*text_side.with_box(box_side), *body_lines]


def _pick_text(base: _TaskSide | None, ours: _TaskSide, theirs: _TaskSide) -> _TaskSide | None:
    """Return the side whose text to use, or None if both changed it in different ways."""
    if base is not None and not (ours.has_same_text(theirs) or ours.has_same_text(base) or theirs.has_same_text(base)):
        return None
    if base is None:
        changed_sides = [ours, theirs]
    else:
        changed_sides = [side for side in (ours, theirs) if not side.has_same_text(base)]
        changed_sides = changed_sides or [
            side for side in (ours, theirs) if normalize_text(side.task.text) != normalize_text(base.task.text)
        ]
        changed_sides = changed_sides or [
            side for side in (ours, theirs) if (side.line_start, side.text_lines) != (base.line_start, base.text_lines)
        ]
    return min(changed_sides or [ours, theirs], key=lambda side: (side.text_lines, side.line_start))


def _pick_box(context: MergeContext, base: _TaskSide | None, ours: _TaskSide, theirs: _TaskSide) -> _TaskSide | None:
    """Return the side whose checkbox to use, or None if both changed it differently and neither completed the task."""
    if ours.box_text == theirs.box_text or (base is not None and theirs.box_text == base.box_text):
        return ours
    if base is not None and ours.box_text == base.box_text:
        return theirs
    if ours.is_done and theirs.is_done:
        first_done = min(ours, theirs, key=_completion_order)
        if base is None or not base.is_done:
            kept_time = first_done.task.timestamp.date_time if first_done.task.timestamp else "no timestamp"
            context.add_note(
                f"both sides checked off {quote_text(first_done.task.text)}: the earlier time is kept ({kept_time})"
            )
        return first_done
    if ours.is_done or theirs.is_done:
        done_side, other_side = (ours, theirs) if ours.is_done else (theirs, ours)
        if base is not None:
            other_state = "reopened" if other_side.task.mark == " " else f"marked [{other_side.task.mark}]"
            context.add_note(
                f"{quote_text(done_side.task.text)} was checked off on one side and {other_state} on the other: it is done"
            )
        return done_side
    return min(ours, theirs, key=lambda side: side.box_text) if ours.task.mark == theirs.task.mark else None


def _completion_order(side: _TaskSide) -> tuple[int, int, str]:
    """Return a sort key for the time at which a task was completed; tasks without a time come last."""
    timestamp = side.task.timestamp
    bounds = minute_bounds(timestamp) if timestamp is not None else None
    return (1, 0, side.box_text) if bounds is None else (0, sum(bounds), side.box_text)


def _read_side(unit: MergeUnit) -> _TaskSide:
    task = unit.task
    assert task is not None
    line = unit.lines[task.box_line - task.start]
    if task.status is not None:
        box_index = task.status.column
        text_index = box_index + len(task.status.text)
    else:
        box_index = line.index(f"[{task.mark}]")
        checkbox = read_checkbox(line[box_index:])
        assert isinstance(checkbox, Checkbox)
        text_index = len(line) - len(checkbox.text)
    text_lines = (line[text_index:], *unit.lines[task.box_line - task.start + 1 : task.end - task.start])
    return _TaskSide(
        unit, task, line[:box_index], line[box_index:text_index], text_lines, unit.lines[task.end - task.start :]
    )
