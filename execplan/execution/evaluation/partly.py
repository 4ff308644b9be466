"""A file on its way to what a step makes of it: some places changed, each as a whole, and nothing else."""

from __future__ import annotations

from execplan.execution.evaluation.unified import split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.evaluation.patch import Hunk


def is_partially_applied(before: bytes, after: bytes, hunks: Sequence[Hunk]) -> bool:
    """Whether a file is as some of the hunks, none or all of them among these, make it of what it was."""
    old, new = split_lines(before), split_lines(after)
    ends, index = {0}, 0  # how many lines of the new file may have been read by then
    for hunk in hunks:
        between = old[index : hunk.start]
        ends = {end + len(between) for end in ends if new[end : end + len(between)] == between}
        variants = [list(lines) for lines in (hunk.old, hunk.new)]
        ends = {end + len(variant) for end in ends for variant in variants if new[end : end + len(variant)] == variant}
        index = hunk.start + len(hunk.old)
    return any([new[end:] == old[index:] for end in ends])
