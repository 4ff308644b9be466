"""A file on its way to what a step makes of it: some places changed, each as a whole, and nothing else."""

from __future__ import annotations

from execplan.execution.evaluation.unified import cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.evaluation.patch import Hunk


def is_partly(before: bytes, after: bytes, hunks: Sequence[Hunk]) -> bool:
    """Whether a file is as some of the hunks, none or all of them among these, make it of what it was."""
    old, new = cut(before), cut(after)
    ends, at = {0}, 0  # how many lines of the new file may have been read by then
    for hunk in hunks:
        between = old[at : hunk.start]
        ends = {end + len(between) for end in ends if new[end : end + len(between)] == between}
        parts = [list(part) for part in (hunk.old, hunk.new)]
        ends = {end + len(part) for end in ends for part in parts if new[end : end + len(part)] == part}
        at = hunk.start + len(hunk.old)
    return any([new[end:] == old[at:] for end in ends])
