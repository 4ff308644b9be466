"""Rebase of a whole edited text: edits made to an earlier version of a plan, applied to the current one."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.plan.line_grammar import is_empty_text
from execplan.core.plan.placeholder_text import is_placeholder_text
from execplan.core.plan.plan_change import PlanChange, plan_content
from execplan.core.plan.reader import decode, read_text
from execplan.core.text.line_merge import merge_chunks
from execplan.core.text.message_parts import shorten
from execplan.core.text.text_lines import Edit, apply_edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.text.line_merge import Chunk
    from execplan.core.text.text_lines import Text


def rebase_text(plan: ParsedPlan, base: bytes, changed: bytes, summary: str, message: str, hint: str) -> PlanChange:
    """Apply the difference between the base and the changed text to a plan with the same base.

    Raises ExecplanError if the plan has changed at the same place; `hint` is the advice for that case.
    """
    edits = []
    index = 0
    plan_lines = _full_lines(plan.text)
    differences = merge_chunks(_full_lines(decode(base)), plan_lines, _full_lines(decode(changed)))
    for chunk in [line_chunk for difference in differences for line_chunk in difference.lines]:
        merged_lines = chunk.merged if chunk.merged is not None else _without_removed(chunk)
        if merged_lines is None:
            line, description = _describe_difference(chunk)
            raise ExecplanError(
                "changed-since", f"line {index + line + 1} {description}", hint=hint, line=index + line + 1
            )
        end = index + len(chunk.ours)
        if merged_lines != chunk.ours:
            if (
                not merged_lines and end == len(plan_lines) and index
            ):  # the line above becomes the last one and keeps its line end
                index, merged_lines = index - 1, (plan_lines[index - 1],)
            lines = [full_line.rstrip("\r\n") for full_line in merged_lines]
            ends = tuple([full_line[len(line) :] for full_line, line in zip(merged_lines, lines, strict=True)])
            edits.append(Edit(index, end, tuple(lines), ends))
        index = end
    expected = plan_content(read_text(apply_edits(plan.text, edits))) if edits else plan_content(plan)
    return PlanChange(tuple(edits), expected, summary, (message,), may_change_structure=True)


def _without_removed(chunk: Chunk) -> tuple[str, ...] | None:
    """Return our lines without a block that the other side only removed, or None if it isn't there once and intact.

    Lines that were inserted next to the block stay, so placeholder text that the block had replaced isn't needed.
    """
    base, ours = chunk.base, chunk.ours
    starts = [start for start in range(len(ours) - len(base) + 1) if ours[start : start + len(base)] == base]
    if len(starts) != 1 or not all(
        [is_empty_text(line.rstrip("\r\n")) or is_placeholder_text(line) for line in chunk.theirs]
    ):
        return None
    return ours[: starts[0]] + ours[starts[0] + len(base) :]


def _full_lines(text: Text) -> list[str]:
    """Return the lines of a text with their ends."""
    return [line + end for line, end in zip(text.lines, text.ends, strict=True)]


def _describe_difference(chunk: Chunk) -> tuple[int, str]:
    """Return the index of the first line in a chunk that differs from the base, and a description of the difference."""
    base, ours = chunk.base, chunk.ours
    index = next(
        (index for index, (base_line, our_line) in enumerate(zip(base, ours, strict=False)) if base_line != our_line),
        -1,
    )
    if index >= 0:
        return index, f"has changed: it is now {_quote_line(ours[index])}, not {_quote_line(base[index])}"
    if len(ours) > len(base):
        return len(base), f"was inserted at the same place: {_quote_line(ours[len(base)])}"
    return max(len(ours) - 1, 0), f"is where lines were removed: {_quote_line(base[len(ours)])}"


def _quote_line(full_line: str) -> str:
    """Quote a line for a message, shortened if necessary."""
    return repr(shorten(full_line.strip(), 60))
