"""Changes to the lists under the heading Metadata, for plans that have their metadata there."""

from __future__ import annotations

from execplan.core.errors import INPUT, ExecplanError
from execplan.core.plan import outline
from execplan.core.plan.metadata_values import LINK_KEYS, LIST_KEYS, TEXT_KEYS, normalize_key
from execplan.core.text.line_edit import Edit
from execplan.core.text.markdown_blocks import ITEM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.metadata_assignment import Assignment
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.text.markdown_blocks import Block


def _metadata_items(plan: ParsedPlan) -> Iterator[Block]:
    """Yield the items of the Metadata lists, without those below a known key, which are its values."""
    for section in plan.sections:
        if outline.title_key(section.title) not in outline.METADATA_TITLES:
            continue
        value_depth = 0
        for block in plan.blocks[section.first_block : section.block_end]:
            if block.kind != ITEM or block.mark not in "-*+" or (value_depth and block.depth >= value_depth):
                continue
            value_depth = block.depth + 1 if _item_key(block) in TEXT_KEYS + LIST_KEYS + LINK_KEYS else 0
            yield block


def _item_key(item: Block) -> str:
    """Return the key of an item of a Metadata list; empty if it has none."""
    label, colon, _ = item.text.partition(":")
    return normalize_key(label) if colon else ""


def find_listed_key(plan: ParsedPlan, key: str) -> Block | None:
    """Return the item of the Metadata lists with a key."""
    return next((item for item in _metadata_items(plan) if _item_key(item) == key), None)


def last_listed_item(plan: ParsedPlan) -> Block | None:
    """Return the last top-level item of the Metadata lists."""
    return next((item for item in reversed(list(_metadata_items(plan))) if not item.depth), None)


def listed_key_edit(lines: list[str], item: Block, assignment: Assignment, edit_command: str) -> Edit | None:
    """Return the edit of a key in a Metadata list; raises ExecplanError if its value has several lines."""
    if item.end - item.start > 1:
        raise ExecplanError(
            "metadata-by-hand",
            f"{assignment.name} has several lines in the Metadata list",
            exit=INPUT,
            hint=f"change it by hand: {edit_command}",
            line=item.start + 1,
        )
    if not assignment.values:
        return Edit(item.start, item.end, ())
    head, _, tail = lines[item.start].partition(":")
    lead = tail[: len(tail) - len(tail.lstrip("*_ "))]
    new_line = f"{head}:{lead or ' '}{', '.join(assignment.values)}"
    return Edit(item.start, item.end, (new_line,)) if new_line != lines[item.start] else None
