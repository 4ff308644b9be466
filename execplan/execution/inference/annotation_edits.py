"""Writes attributes for inferred steps into the plan, for its author to review."""

from __future__ import annotations

from collections.abc import Sequence

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.metadata_edits import difference
from execplan.core.plan.model import ParsedPlan, Section
from execplan.core.plan.plan_change import PlanChange, ensure_blocks_closed, ensure_no_conflicts, plan_content
from execplan.core.plan.plan_lookup import find_task
from execplan.core.plan.reader import read_text
from execplan.core.text.message_parts import format_count
from execplan.core.text.text_lines import Edit, apply_edits
from execplan.execution.attributes import MANUAL
from execplan.execution.compile import find_plan_steps
from execplan.execution.inference.block_commands import build_expectation, raw_block_lines
from execplan.execution.inference.manual_blocks import manual_edits, sections_with_steps
from execplan.execution.inference.section_passages import COMMAND_LINES, Passage, find_passages, read_sentences
from execplan.execution.inference.shell_attributes import declare_shells
from execplan.execution.inference.step_blocks import (
    LANGUAGE,
    StepBlockWriter,
    format_fence,
    group_drafts,
    script_lines,
    split_block,
)
from execplan.execution.inference.step_ids import StepIdAllocator
from execplan.execution.inference.work_requests import ASKS_FOR_WORK, find_work_requests
from execplan.execution.parsed_steps import INFERRED, StepDraft
from execplan.execution.shell.shell_vocabulary import SHELL_LANGUAGES
from execplan.execution.shell_declaration import PIPEFAIL

_EXPECT_INFO = "text {expect}"
_CHANGES_MEANING = "would change its meaning as a code block, or that of the lines around it"


class _AnnotatedPassage(NamedTuple):
    """A passage with inferred steps, and the edits that turn them into code blocks with attributes."""

    drafts: tuple[StepDraft, ...]
    edits: tuple[Edit, ...]
    reason: str
    """Why there is no edit, phrased to follow `it `."""
    requests: tuple[str, ...] = ()
    """Work that its edits write as manual steps."""


def annotate_plan(plan: ParsedPlan, *, dry_run: bool = False) -> PlanChange:
    """Write code blocks with attributes for inferred steps, and add `shell` to annotated blocks that need it.

    A passage is unchanged if the result would differ in commands, directories, tasks or output. Unchanged passages
    are listed with the reason and their lines in the new text, or in the old text for a dry run. Raises ExecplanError
    if the plan can't be edited.
    """
    ensure_no_conflicts(plan)
    sections = _step_sections(plan)
    if sections:
        ensure_blocks_closed(plan, max([section.end for section in sections]))
    passages, shell_edits = _keep_safe_edits(plan, _annotate_passages(plan)), declare_shells(plan)
    annotated_plan = _edit(plan, [*[edit for passage in passages for edit in passage.edits], *shell_edits])
    manual_passages = _keep_safe_edits(annotated_plan, _manual_passages(annotated_plan))
    manual_count = sum([len(passage.requests) for passage in manual_passages if passage.edits])
    edited_plan = _edit(annotated_plan, [edit for passage in manual_passages for edit in passage.edits])
    count = sum([len(passage.drafts) for passage in passages if passage.edits])
    total = sum([len(passage.drafts) for passage in passages])
    summaries = []
    if shell_edits:
        blocks = "1 code block" if len(shell_edits) == 1 else f"{len(shell_edits)} code blocks"
        summaries.append(f"{'would add' if dry_run else 'added'} the attribute `shell` to {blocks}")
    if total:
        suffix = "" if count == total else "; the others are left to you:"
        summaries.append(
            f"{'would annotate' if dry_run else 'annotated'}: {count} of {total} inferred step{'s' * (total > 1)}{suffix}"
        )
    if manual_count:
        work = f"{'would write' if dry_run else 'wrote'} {manual_count} manual step{'s' * (manual_count > 1)}"
        summaries.append(f"{work} for work that the text asks for and no step does")
    shown_plan = plan if dry_run else edited_plan
    if shown_plan is plan:
        unedited = [passage for passage in passages if not passage.edits]
    else:
        unedited = _keep_safe_edits(shown_plan, _annotate_passages(shown_plan))
    remarks = [
        (draft.start, f"is left to you: it {passage.reason}: {draft.command}")
        for passage in unedited
        for draft in passage.drafts
    ]
    shown_steps = find_plan_steps(shown_plan)
    remarks += [(skipped.line, f"is not a step: it {skipped.why}: {skipped.text}") for skipped in shown_steps.skipped]
    if shown_plan is not plan or not manual_count:
        requests = find_work_requests(shown_plan, shown_steps.drafts)
        remarks += [
            (request.passage.start, f"is not a step: it {ASKS_FOR_WORK}: {request.text}") for request in requests
        ]
    lines = [f"line {line + 1} {remark}" for line, remark in sorted(remarks)]
    summaries = summaries or ["nothing to annotate: no inferred steps"]
    edits = difference(plan.text, edited_plan.text)
    content = plan_content(plan)
    if manual_count:
        content = content._replace(sections=sections_with_steps(plan))
    summary = f"annotate {format_count(count + manual_count, 'step')}"
    return PlanChange(edits, content, summary, (*summaries, *lines))


def _edit(plan: ParsedPlan, edits: Sequence[Edit]) -> ParsedPlan:
    return read_text(apply_edits(plan.text, edits)) if edits else plan


def _manual_passages(plan: ParsedPlan) -> list[_AnnotatedPassage]:
    """Return the requests for work that no step does, with the edits that write them as manual steps."""
    return [_AnnotatedPassage((), (edit,), "", texts) for edit, texts in manual_edits(plan)]


def _step_sections(plan: ParsedPlan) -> list[Section]:
    return [
        section
        for section in (plan.section(name) for name in (outline.STEPS, outline.VALIDATION))
        if section is not None
    ]


def _keep_safe_edits(plan: ParsedPlan, passages: list[_AnnotatedPassage]) -> list[_AnnotatedPassage]:
    """Return the passages without the edits that would change the steps of the plan."""
    original_steps = _describe_steps(plan)
    if _describe_steps(plan, [edit for passage in passages for edit in passage.edits]) == original_steps:
        return passages
    edits: list[Edit] = []
    checked_passages: list[_AnnotatedPassage] = []
    for passage in passages:
        if passage.edits and _describe_steps(plan, [*edits, *passage.edits]) != original_steps:
            checked_passages.append(passage._replace(edits=(), reason=_CHANGES_MEANING))
        else:
            checked_passages.append(passage)
            edits += passage.edits
    return checked_passages


def _describe_steps(plan: ParsedPlan, edits: Sequence[Edit] = ()) -> tuple[object, ...]:
    """Return a description of all steps after the edits, with the last step of each task.

    It is empty if the edits change the rest of the plan's content, except that they add Concrete Steps.
    """
    edited_plan = _edit(plan, edits)
    content = plan_content(plan)
    if edits and plan_content(edited_plan) not in (content, content._replace(sections=sections_with_steps(plan))):
        return ()
    drafts = [draft for draft in find_plan_steps(edited_plan).drafts if draft.attributes.get("type") != MANUAL]
    last_steps: dict[int, int] = {}
    for at, draft in enumerate(drafts):
        if "task" in draft.attributes:
            try:
                last_steps[find_task(edited_plan, draft.attributes["task"])[1].number] = at
            except ExecplanError:
                continue
    indexes = {draft.id: index for index, draft in enumerate(drafts)}
    steps = [
        (draft.phase, draft.cwd, normalize_command(draft), draft.expect, [indexes.get(need) for need in draft.needs])
        for draft in drafts
    ]
    return (steps, sorted(last_steps.items()))


def normalize_command(draft: StepDraft) -> str:
    """Return a command on one line, without what only a script has: comments, and the check of each part of a pipe."""
    lines = draft.command.replace("\\\n", " ").split("\n")
    if "shell" in draft.attributes:
        lines = [line for line in lines if line != PIPEFAIL and not line.startswith("#")]
    return " ".join(" ".join(lines).split())


def _annotate_passages(plan: ParsedPlan) -> list[_AnnotatedPassage]:
    """Return the passages of a plan with inferred steps."""
    all_drafts = find_plan_steps(plan).drafts
    id_allocator = StepIdAllocator(
        [
            name
            for draft in all_drafts
            for name in (draft.id, draft.attributes.get("id", ""))
            if draft.origin != INFERRED
        ]
    )
    drafts = [draft for draft in all_drafts if draft.origin == INFERRED]
    annotated_passages: list[_AnnotatedPassage] = []
    for section in _step_sections(plan):
        passages = find_passages(plan, section)
        for index, passage in enumerate(passages):
            passage_drafts = tuple([draft for draft in drafts if passage.start <= draft.start < passage.end])
            if passage_drafts and passage.kind == COMMAND_LINES:
                edit = _annotate_block(plan, passage, passage_drafts, id_allocator)
                if isinstance(edit, Edit) and passage_drafts[-1].expect is not None:
                    following = passages[index + 1 : index + 3]
                else:
                    following = []
                expectation_edits = _expectation_edits(plan, passage, passage_drafts[-1], following)
            elif passage_drafts:
                edit, expectation_edits = _annotate_paragraph(plan, passage, passage_drafts, id_allocator), []
            if passage_drafts:
                annotated_passages.append(
                    _AnnotatedPassage(passage_drafts, (), edit)
                    if isinstance(edit, str)
                    else _AnnotatedPassage(passage_drafts, (edit, *expectation_edits), "")
                )
    return annotated_passages


def _expectation_edits(
    plan: ParsedPlan, passage: Passage, draft: StepDraft, following: Sequence[Passage]
) -> list[Edit]:
    """Return edits that add an `{expect}` code block with a step's output.

    It replaces the block that shows the output, or follows the step.
    """
    if draft.expect is None:
        return []
    start, end, indent = passage.end, passage.end, _fence_indent(passage)
    for candidate in following:
        if candidate.kind == COMMAND_LINES and build_expectation(raw_block_lines(plan, candidate)) == draft.expect:
            start, end, indent = candidate.start, candidate.end, _fence_indent(candidate)
            break
    return [Edit(start, end, tuple(format_fence(" " * indent, _EXPECT_INFO, draft.expect.split("\n"))))]


def _fence_indent(passage: Passage) -> int:
    return passage.fence.column if passage.fence is not None else passage.indent


def _annotate_block(
    plan: ParsedPlan, passage: Passage, drafts: Sequence[StepDraft], id_allocator: StepIdAllocator
) -> Edit | str:
    """Return the edit that turns a block into annotated code blocks, or the reason why that is impossible.

    Lines of the block that are no steps stay in a block of their own, as they are.
    """
    parts = split_block(plan, passage, drafts)
    if isinstance(parts, str):
        return parts
    if len(parts) > 1 and drafts[-1].expect is not None:
        return "is in a block with lines that are no steps: move them elsewhere"
    writer = StepBlockWriter(plan, id_allocator)
    fence = passage.fence
    is_in_item = passage.item_end >= 0
    lines: list[str] = []
    for part in parts:
        lines += [""] if lines and not is_in_item else []
        if fence is None:
            head = writer.info_string(part.drafts) if part.drafts else ""
            lines += format_fence(" " * passage.indent, head, part.body) if part.drafts else part.body
            continue
        mark = fence.mark * fence.level
        if part.drafts:
            language = fence.text.split(" ")[0] if passage.language in SHELL_LANGUAGES else LANGUAGE
            lines += format_fence(" " * fence.column, writer.info_string(part.drafts, language), part.body, mark)
        else:
            indent = " " * fence.column
            lines += [f"{indent}{mark}{fence.text}".rstrip(), *part.body, f"{indent}{mark}"]
    if fence is not None:
        opening_line, closing_line = plan.text.lines[passage.start], plan.text.lines[passage.end - 1]
        prefix = opening_line[: opening_line.index(fence.mark * fence.level)]
        lines = [prefix + lines[0].lstrip(" "), *lines[1:-1], closing_line]
    return Edit(passage.start, passage.end, tuple(lines))


def _annotate_paragraph(
    plan: ParsedPlan, passage: Passage, drafts: Sequence[StepDraft], id_allocator: StepIdAllocator
) -> Edit:
    """Return the edit that puts code blocks in place of an item that has only commands, or after the paragraph."""
    indent = " " * passage.indent
    writer = StepBlockWriter(plan, id_allocator)
    lines: list[str] = []
    for group in group_drafts(drafts):
        body = [line for draft in group for line in script_lines(draft)]
        lines += [""] if lines and passage.item_end < 0 else []
        lines += format_fence(indent, writer.info_string(group), body)
    first_line = plan.text.lines[passage.start]
    sentences = list(read_sentences(passage))
    first_text = passage.lines[0][1]
    is_only_commands = passage.starts_item and len(sentences) == 1 and len(sentences[0].spans) == len(drafts)
    if is_only_commands and set(sentences[0].shape) <= set("\x01 .;,") and _is_whole_item_line(first_line, first_text):
        return Edit(
            passage.start, passage.end, (first_line[: -len(first_text)] + lines[0][passage.indent :], *lines[1:])
        )
    if passage.item_end < 0:
        next_lines = plan.text.lines[passage.end : passage.end + 1]
        return Edit(passage.end, passage.end, ("", *lines, *([""] if next_lines and next_lines[0].strip() else [])))
    return Edit(passage.end, passage.end, tuple(lines))


def _is_whole_item_line(line: str, text: str) -> bool:
    """Return whether only the list marker precedes a text on a line."""
    return line.endswith(text) and line[: -len(text)].rstrip()[-1:] in ("-", "*", "+", ".", ")") and "\t" not in line
