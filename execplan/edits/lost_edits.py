"""Algorithms that find overwritten edits in a journal and reapply them, without disk access.

An edit is overwritten in a gap: between the text after one edit and the text before the next one, or the current text.
Text that a later edit of the tool removed is not lost.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from execplan.named_tuple import NamedTuple
from execplan.plan.merge.plan_merge import merge_plans
from execplan.plan.reader import decode
from execplan.text import line_merge
from execplan.text.line_merge import merge_chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from execplan.text.line_merge import Chunk

    GitCheck = Callable[[bytes, bytes], bool]

BOM = b"\xef\xbb\xbf"
_MAX_COMPARED_BYTES = 16 << 20
"""Number of bytes, some seconds of work, that are compared line by line with all edits of a plan. Beyond it, a text
contains an edit only if it has all lines that the edit added, so an edit may be reported whose lines were changed."""
_MAX_LENGTH_PRODUCT = 4_000_000
"""Product of two text lengths above which a character-by-character comparison takes too long."""
_MIN_SIMILARITY = 0.6
"""Minimum similarity of two lines if one was made from the other; lines of different tasks have 0.2 to 0.5."""
_LIST_PREFIX_CHARS = "-*+ \t[]xX>#0123456789.)"
"""Characters that may precede the text of a list line."""
_TIMESTAMP_CHARS = "([0123456789-: TZUC)]"
"""Characters that a timestamp consists of."""
_MAX_LABEL_LENGTH = 20


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


class _Snapshot(NamedTuple):
    text: bytes
    is_gap: bool
    """Whether another program may have changed the text since the previous snapshot.

    False if an edit did, or the author is unknown.
    """


def select_lost_edits(steps: Sequence[JournaledEdit], current: bytes, is_git_change: GitCheck) -> list[JournaledEdit]:
    """Return the edits, in order, that are no longer in the file although no later edit removed them.

    `is_git_change` tests whether Git replaced the first text with the second, as on a branch switch. It is called only
    if an edit is missing.
    """
    snapshots: list[_Snapshot] = []
    for step in steps:
        snapshots += [_Snapshot(step.old, step.is_consecutive), _Snapshot(step.new, is_gap=False)]
    snapshots.append(_Snapshot(current, is_gap=True))
    gaps = [
        index
        for index in range(1, len(snapshots))
        if snapshots[index].is_gap and snapshots[index].text != snapshots[index - 1].text
    ]
    last_gap = gaps[-1] if gaps else 0
    lost_edits = []
    restored = (
        current  # includes the lost edits so far: a check mark is only missed if its task, also lost, is present again
    )
    added_texts = [_added_texts(step) for step in steps] if last_gap else []
    counts = Counter([text for texts in added_texts for text in texts])
    comparer = _EditComparer()
    for index, step in enumerate(steps):
        if 2 * index + 1 >= last_gap:
            break
        if not step.is_expected:
            continue
        other_texts = _OtherTexts(counts, added_texts[index])
        if not comparer.contains_edit(step, restored, other_texts):
            overwrite = _find_overwrite(snapshots[2 * index + 1 :], step, other_texts, comparer)
            if overwrite is not None and not is_git_change(*overwrite):
                lost_edits.append(step)
                restored = comparer.reapply_edit(step, restored) or restored
    return lost_edits


class _OtherTexts:
    """The texts that other edits than one added; a set for each edit would take quadratic time."""

    def __init__(self, counts: Counter[str], own_texts: set[str]) -> None:
        self._counts = counts
        self._own_texts = own_texts

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self._counts.get(text, 0) > (text in self._own_texts)


class _EditComparer:
    """Compares texts with edits, line by line until `_MAX_COMPARED_BYTES` were compared."""

    def __init__(self) -> None:
        self._remaining_bytes = _MAX_COMPARED_BYTES
        self._line_counts: dict[bytes, Counter[str]] = {}
        self._added_counts: dict[int, Counter[str]] = {}

    def contains_edit(self, step: JournaledEdit, text: bytes, other_texts: Container[str]) -> bool:
        if text == step.new or self._has_added_lines(step, text):
            return True
        return self._take_bytes(step, text) and contains_edit(step, text, other_texts)

    def _has_added_lines(self, step: JournaledEdit, text: bytes) -> bool:
        """Return whether a text has all lines that an edit added; the lines of each text and edit are counted once."""
        if step.number not in self._added_counts:
            new_lines = _split_lines(step.new)
            added = {line for line in _extra_lines(new_lines, _split_lines(step.old)) if line.strip()}
            self._added_counts[step.number] = Counter([line for line in new_lines if line in added])
        added_counts = self._added_counts[step.number]
        if text not in self._line_counts:
            self._line_counts[text] = Counter(_split_lines(text))
        line_counts = self._line_counts[text]
        return bool(added_counts) and all(line_counts.get(line, 0) >= count for line, count in added_counts.items())

    def reapply_edit(self, step: JournaledEdit, text: bytes) -> bytes | None:
        return reapply_edit(step, text) if self._take_bytes(step, text) else None

    def _take_bytes(self, step: JournaledEdit, text: bytes) -> bool:
        """Count the bytes of a comparison, and return whether it may be made."""
        self._remaining_bytes -= len(step.old) + len(step.new) + len(text)
        return self._remaining_bytes >= 0


def _added_texts(step: JournaledEdit) -> set[str]:
    """Return the texts of the lines that an edit added; empty if it also changed lines or created the plan."""
    if not step.old:
        return set()
    old, new = _split_lines(step.old), _split_lines(step.new)
    return (
        set()
        if any(map(str.strip, _extra_lines(old, new)))
        else {_strip_timestamp(_strip_markup(line)) for line in _extra_lines(new, old)} - {""}
    )


def _find_overwrite(
    snapshots: Sequence[_Snapshot], step: JournaledEdit, other_texts: Container[str], comparer: _EditComparer
) -> tuple[bytes, bytes] | None:
    """Return the last text with the edit and the external text that replaced it; None if an edit replaced it."""
    text_without_edit: bytes | None = None
    for before, after in zip(reversed(snapshots[:-1]), reversed(snapshots[1:]), strict=True):
        if before.text == text_without_edit:
            continue
        if comparer.contains_edit(step, before.text, other_texts):
            return (before.text, after.text) if after.is_gap else None
        text_without_edit = before.text
    return None


def contains_edit(step: JournaledEdit, text: bytes, other_texts: Container[str] = ()) -> bool:
    """Return whether a text contains an edit's result, in place, moved, or changed since.

    `other_texts` are the texts that other edits added, however similar to this one's.
    """
    old, new, lines = [_split_lines(version) for version in (step.old, step.new, text)]
    added = {line for line in _extra_lines(new, old) if line.strip()}
    if added and not _extra_lines([line for line in new if line in added], lines):
        return True
    chunks = [chunk for chunk in merge_chunks(new, lines, old) if chunk.theirs != chunk.base]
    return all(
        [
            chunk.ours == chunk.base or (chunk.ours != chunk.theirs and _derives_from_edit(chunk, other_texts))
            for chunk in chunks
        ]
    )


def reapply_edit(step: JournaledEdit, text: bytes) -> bytes | None:
    """Return the text with an edit applied again; None if the same task, entry or line has changed otherwise."""
    merged_lines: list[str] = []
    for chunk in merge_chunks(_split_lines(step.old), _split_lines(text), _split_lines(step.new)):
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
        return ours if theirs in slices else theirs if theirs[: len(ours)] == ours else ours + theirs
    if chunk.merged is not None or not len(base) == len(ours) == len(theirs):
        return chunk.merged
    lines = [theirs[at] if ours[at] == base[at] else ours[at] for at in range(len(base))]
    conflicts = [at for at in range(len(base)) if base[at] not in (ours[at], theirs[at]) and ours[at] != theirs[at]]
    return None if conflicts else tuple(lines)


def _derives_from_edit(chunk: Chunk, other_texts: Container[str]) -> bool:
    """Return whether lines that match neither the edit's result nor its original were made from the result."""
    added, removed = _extra_lines(chunk.base, chunk.theirs), _extra_lines(chunk.theirs, chunk.base)
    if not any([line.strip() for line in removed]):
        added_texts = {_strip_markup(line) for line in added}
        candidates = [
            text
            for text in map(_strip_markup, chunk.ours)
            if _strip_timestamp(text) not in other_texts or text in added_texts
        ]
        return all(
            [
                any(_is_similar(_strip_markup(line), candidate) for candidate in candidates)
                for line in added
                if line.strip()
            ]
        )
    if not any([line.strip() for line in added]):
        return any([line.strip() and line not in chunk.ours for line in removed])
    ours, base, theirs = ["".join(lines) for lines in (chunk.ours, chunk.base, chunk.theirs)]
    return _similarity(ours, base) >= _similarity(ours, theirs)


def _strip_markup(line: str) -> str:
    """Return the text of a line without task or entry markup: bullet, box, timestamp, label such as `Rationale:`."""
    text = line.strip(_LIST_PREFIX_CHARS)
    label, colon, rest = text.partition(": ")
    return rest if colon and len(label) <= _MAX_LABEL_LENGTH else text


def _strip_timestamp(text: str) -> str:
    """Return the text after a timestamp such as `(2026-01-01 00:00Z)`."""
    return text.lstrip(_TIMESTAMP_CHARS)


def _similarity(left: str, right: str) -> float:
    """Return the similarity of two texts, from 0 to 1. For long texts, only counts the characters they share."""
    if len(left) * len(right) >= _MAX_LENGTH_PRODUCT:
        return _max_similarity(left, right)
    from difflib import SequenceMatcher

    return SequenceMatcher(None, left, right, autojunk=False).ratio()


def _is_similar(left: str, right: str) -> bool:
    """Return whether one of two lines may have been made from the other; most pairs need only a count of characters."""
    if _max_similarity(left, right) < _MIN_SIMILARITY:
        return False
    return _similarity(left, right) >= _MIN_SIMILARITY


def _max_similarity(left: str, right: str) -> float:
    """Return the similarity of two texts if their order of characters is ignored, which is never too low."""
    length = len(left) + len(right)
    common_count = sum([min(left.count(char), right.count(char)) for char in set(left).intersection(right)])
    return 2.0 * common_count / length if length else 1.0


def _extra_lines(lines: Iterable[str], other_lines: Iterable[str]) -> list[str]:
    """Return the lines that are missing from the others or occur there less often."""
    remaining = Counter(other_lines)
    extra = []
    for line in lines:
        remaining[line] -= 1
        if remaining[line] < 0:
            extra.append(line)
    return extra


def _split_lines(data: bytes) -> list[str]:
    """Return the lines of a plan with their line ends; none for the empty text before creation or after removal."""
    if not data:
        return []
    text = decode(data)
    return [line + end for line, end in zip(text.lines, text.ends, strict=True)]
