"""Merges for tests: without a short cut, and with the sides swapped."""

from __future__ import annotations

from execplan.core.plan.merge.plan_merge import MergeResult, merge_plan_texts
from execplan.core.plan.reader import decode
from execplan.core.text.line_merge import ConflictMarkers, merge_with_markers
from execplan.core.text.text_lines import Text


def merge_by_rules(base: bytes | None, ours: bytes, theirs: bytes, marks: ConflictMarkers | None = None) -> MergeResult:
    """A merge by the rules, also where two versions are equal."""
    base_text = decode(base) if base is not None else None
    return merge_plan_texts(base_text, decode(ours), decode(theirs), merge_with_markers, marks or ConflictMarkers())


def merge_both_ways(base: str | None, ours: str, theirs: str) -> MergeResult:
    """A merge that comes out the same, up to the order of lines, when the sides are swapped."""
    base_data = base.encode() if base is not None else None
    result = merge_by_rules(base_data, ours.encode(), theirs.encode())
    swapped = merge_by_rules(base_data, theirs.encode(), ours.encode())
    assert content_lines(swapped.data) == content_lines(result.data)
    assert swapped.conflict_count == result.conflict_count
    assert sorted(len(note) for note in swapped.notes) == sorted(len(note) for note in result.notes)
    return result


def content_lines(data: bytes) -> list[str]:
    """The lines that say something, in no order."""
    return sorted(line for line in Text.from_bytes(data).lines if line.strip())
