"""Three-way merge of files with a plan index: the index row by row, the authors' text line by line."""

from __future__ import annotations

from execplan.core.git_merge import git_merge_file
from execplan.core.plan.index_block import find_index_block, replace_index
from execplan.core.plan.merge.index_merge import merge_index_lines
from execplan.core.plan.merge.plan_merge import ConflictMarkers, MergeResult
from execplan.core.plan.reader import decode
from execplan.core.text.text_lines import BOM, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.index_block import IndexBlock


def merge_index_files(base: bytes, ours: bytes, theirs: bytes, marks: ConflictMarkers) -> MergeResult | None:
    """Merge two versions of a file with a plan index; return None if one of them has no index.

    The index never conflicts. Raises ExecplanError if a version is not text, or if its markers don't match.
    """
    texts = [decode(data) if data.strip() else Text([], []) for data in (base, ours, theirs)]
    names = ("base", marks.ours, marks.theirs)
    blocks = [find_index_block(text, name) for text, name in zip(texts, names, strict=True)]
    if blocks[1] is None or blocks[2] is None:
        return None
    index_sides = [_index_lines(text, block) for text, block in zip(texts, blocks, strict=True)]
    merged_index = merge_index_lines(*index_sides)
    # With the same index on all sides, the line merge sees only the changes around it.
    base_lines, our_lines, their_lines = [
        _lines_with_ends(text if block is None else replace_index(text, block, merged_index.lines))
        for text, block in zip(texts, blocks, strict=True)
    ]
    lines, conflicts = git_merge_file.merge_lines(base_lines, our_lines, their_lines, marks)
    note = "both sides changed the same rows of the plan index; correct them after the merge: execplan index --write"
    return MergeResult("".join(lines).encode("utf-8"), conflicts, (note,) if merged_index.contested else ())


def _index_lines(text: Text, block: IndexBlock | None) -> Sequence[str]:
    return text.lines[block.start + 1 : block.end - 1] if block is not None else ()


def _lines_with_ends(text: Text) -> list[str]:
    lines = [line + end for line, end in zip(text.lines, text.ends, strict=True)]
    if text.bom and lines:
        lines[0] = BOM + lines[0]
    return lines
