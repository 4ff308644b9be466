"""The edit for a new title, in a heading of either style or in the front matter."""

from __future__ import annotations

from execplan.core.plan.front_matter_edits import set_key
from execplan.core.plan.item_format import escape_heading
from execplan.core.text.markdown_blocks import FRONT
from execplan.core.text.text_lines import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan


def title_edit(plan: ParsedPlan, title: str) -> Edit | None:
    """Return the edit that gives a plan another title; a plan without one gets a heading. None if it has this title."""
    heading_text = escape_heading(title)
    at = plan.title_line
    if at < 0:
        return Edit(0, 0, (f"# {heading_text}", ""))
    line = plan.text.lines[at]
    head = next(block for block in reversed(plan.blocks) if block.start <= at)
    if head.kind == FRONT:
        return set_key(plan.text.lines, ("title",), title)
    if plan.title == heading_text:
        return None
    if head.mark == "#":
        lead = line[: len(line) - len(line.lstrip(" #\t"))] or "# "
        return Edit(at, at + 1, (lead + heading_text,))
    return Edit(at, head.end - 1, (heading_text,))
