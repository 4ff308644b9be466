"""Merges for tests: without a short cut, and with the sides swapped."""

from __future__ import annotations

from execplan.plan.merge.plan_merge import MergeResult, merge_plan_texts
from execplan.plan.reader import decode
from execplan.text.line_merge import ConflictMarkers, merge_with_markers
from execplan.text.text_lines import Text


def general(base: bytes | None, ours: bytes, theirs: bytes, marks: ConflictMarkers | None = None) -> MergeResult:
    """A merge by the rules, also where two versions are equal."""
    was = decode(base) if base is not None else None
    return merge_plan_texts(was, decode(ours), decode(theirs), merge_with_markers, marks or ConflictMarkers())


def both_ways(base: str | None, ours: str, theirs: str) -> MergeResult:
    """A merge that comes out the same, up to the order of lines, when the sides are swapped."""
    was = base.encode() if base is not None else None
    result = general(was, ours.encode(), theirs.encode())
    swapped = general(was, theirs.encode(), ours.encode())
    assert said(swapped.data) == said(result.data)
    assert swapped.conflict_count == result.conflict_count
    assert sorted(len(note) for note in swapped.notes) == sorted(len(note) for note in result.notes)
    return result


def said(data: bytes) -> list[str]:
    """The lines that say something, in no order."""
    return sorted(line for line in Text.from_bytes(data).lines if line.strip())
