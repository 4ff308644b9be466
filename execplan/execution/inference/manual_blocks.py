"""Edits that write requests for work as manual steps, for the author of the plan to check."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from execplan.core.plan import outline
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_change import has_no_content, insert_section
from execplan.core.text.text_lines import Edit
from execplan.execution.attributes import MANUAL
from execplan.execution.compile import find_plan_steps
from execplan.execution.inference.section_passages import COMMAND_LINES, Passage, find_passages
from execplan.execution.inference.step_blocks import find_task_naming, format_fence
from execplan.execution.inference.step_ids import StepIdAllocator
from execplan.execution.inference.work_requests import WorkRequest, find_work_requests, named_files
from execplan.execution.parsed_steps import StepDraft

_WIDTH = 100


def manual_edits(plan: ParsedPlan) -> list[tuple[Edit, tuple[str, ...]]]:
    """Return edits that write requests as manual steps, each with the texts of its steps.

    A request in Concrete Steps gets its step below it. Those of Plan of Work come first in Concrete Steps, because only
    that section has steps; it is added if the plan lacks it.
    """
    section = plan.section(outline.STEPS)
    drafts = find_plan_steps(plan).drafts
    id_allocator = StepIdAllocator([name for draft in drafts for name in (draft.id, draft.attributes.get("id", ""))])
    requests = find_work_requests(plan, drafts)
    if section is None:
        lines = [line for request in requests for line in ["", *_manual_block(plan, request, id_allocator, "")]]
        return [(insert_section(plan, outline.STEPS, lines[1:])[0], _texts(requests))] if requests else []
    edits: list[tuple[Edit, tuple[str, ...]]] = []
    earlier = [request for request in requests if request.section != outline.STEPS]
    filled = [at for at in range(section.body_start, section.content_end) if plan.text.lines[at].strip()]
    if earlier and not any([has_no_content(plan.text.lines[at]) for at in filled]):
        lines = [line for request in earlier for line in ["", *_manual_block(plan, request, id_allocator, "")]]
        edits.append((Edit(section.body_start, section.body_start, tuple(lines)), _texts(earlier)))
    for request in requests:
        passage = request.passage
        has_commands = any([passage.start <= draft.start < passage.end for draft in drafts])
        if request.section == outline.STEPS and not has_commands:
            block = _manual_block(plan, request, id_allocator, " " * passage.indent)
            end = _end_before(request, find_passages(plan, section), drafts)
            if passage.item_end < 0:
                next_line = plan.text.lines[end : end + 1]
                block = ["", *block, *([""] if next_line and next_line[0].strip() else [])]
            edits.append((Edit(end, end, tuple(block)), _texts([request])))
    return edits


def _end_before(request: WorkRequest, passages: Sequence[Passage], drafts: Sequence[StepDraft]) -> int:
    """Return the end of what comes before the step of a request: its passage, and the steps that this names before it."""
    end = request.passage.end
    for passage in [passage for passage in passages if passage.start >= end]:
        commands = [draft.command for draft in drafts if passage.start <= draft.start < passage.end]
        if passage.kind != COMMAND_LINES or not commands or not {*commands} <= {*request.commands_before}:
            break
        end = passage.end
    return end


def sections_with_steps(plan: ParsedPlan) -> tuple[str, ...]:
    """Return the titles of the sections of a plan once it has Concrete Steps."""
    if plan.section(outline.STEPS) is None:
        return insert_section(plan, outline.STEPS, ())[1]
    return tuple([section.title for section in plan.sections])


def _texts(requests: list[WorkRequest]) -> tuple[str, ...]:
    return tuple([request.text for request in requests])


def _manual_block(plan: ParsedPlan, request: WorkRequest, id_allocator: StepIdAllocator, indent: str) -> list[str]:
    _, reference = find_task_naming(plan, named_files(request.text))
    attributes = f" task={reference}" if reference else ""
    step_id = id_allocator.allocate_for_text(request.text)
    mark = "~~~" if "```" in request.text else "```"
    lines = wrap(request.text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return format_fence(indent, f"text {{#{step_id} type={MANUAL}{attributes}}}", lines, mark)
