"""The open questions and risks of a plan: what is written below headings about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.section_roles import QUESTIONS, RISKS, has_role
from execplan.core.text.markdown_blocks import HEADING, ITEM, PARAGRAPH, Block
from execplan.core.text.text_lines import is_blank


class OpenQuestion(NamedTuple):
    """An unresolved matter of a plan."""

    heading: str
    """Text of the heading above it."""
    text: str

    @property
    def is_question(self) -> bool:
        """Whether the heading is about questions rather than risks."""
        return has_role(self.heading, QUESTIONS, {})  # no setting names questions


def find_open_questions(plan: ParsedPlan) -> Iterator[OpenQuestion]:
    """Yield the contents below headings of open questions and risks: list items, or paragraphs if there are none."""
    blocks = [block for block in plan.blocks if not block.depth]
    for index, heading in enumerate(blocks):
        if (
            heading.kind == HEADING
            and heading.level > 1
            and any([has_role(heading.text, role, plan.text.titles) for role in (QUESTIONS, RISKS)])
        ):
            body_blocks: list[Block] = []
            for block in blocks[index + 1 :]:
                if block.kind == HEADING:
                    break
                body_blocks.append(block)
            kind = ITEM if any([block.kind == ITEM for block in body_blocks]) else PARAGRAPH
            yield from [
                OpenQuestion(heading.text, _block_text(plan, block)) for block in body_blocks if block.kind == kind
            ]


def _block_text(plan: ParsedPlan, block: Block) -> str:
    """Return the text of an item or a paragraph, up to its first blank line."""
    block_lines = plan.text.lines[block.start : block.end]
    end = next((index for index, block_line in enumerate(block_lines) if is_blank(block_line)), len(block_lines))
    text = " ".join([block_line.strip() for block_line in block_lines[:end]])
    return text[len(block.mark) :].strip() if block.kind == ITEM else text
