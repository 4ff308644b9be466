"""Writes attributes for inferred steps into the plan, for its author to review."""

from __future__ import annotations

from collections.abc import Sequence

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.model import ParsedPlan, Section
from execplan.core.plan.plan_change import PlanChange, ensure_blocks_closed, ensure_no_conflicts, plan_content
from execplan.core.plan.plan_lookup import find_task
from execplan.core.plan.reader import read_text
from execplan.core.text.inline_markdown import plain_text
from execplan.core.text.text_lines import Edit, apply_edits
from execplan.execution.compile import find_plan_steps
from execplan.execution.inference.block_commands import build_expectation, raw_block_lines
from execplan.execution.inference.section_passages import COMMAND_LINES, Passage, find_passages, read_sentences
from execplan.execution.inference.shell_line import split_comment
from execplan.execution.inference.step_ids import StepIdAllocator
from execplan.execution.parsed_steps import INFERRED, StepDraft
from execplan.execution.shell.shell_vocabulary import PROMPTS, SHELL_LANGUAGES

_LANGUAGE = "sh"
_EXPECT_INFO = "text {expect}"
_MAX_TASK_LENGTH = 60
_CHANGES_MEANING = "would change its meaning as a code block, or that of the lines around it"


class _AnnotatedPassage(NamedTuple):
    """A passage with inferred steps, and the edits that turn them into code blocks with attributes."""

    drafts: tuple[StepDraft, ...]
    edits: tuple[Edit, ...]
    reason: str
    """Why there is no edit, phrased to follow `it `."""


def annotate_plan(plan: ParsedPlan, *, dry_run: bool = False) -> PlanChange:
    """Add attributes to blocks that consist of inferred steps, and code blocks to items that name commands.

    A passage is unchanged if the result would differ in commands, directories, tasks or output. Unchanged passages
    are listed with the reason and their lines in the new text, or in the old text for a dry run. Raises ExecplanError
    if the plan can't be edited.
    """
    ensure_no_conflicts(plan)
    sections = _step_sections(plan)
    if sections:
        ensure_blocks_closed(plan, max([section.end for section in sections]))
    passages = _keep_safe_edits(plan, _annotate_passages(plan))
    edits = [edit for passage in passages for edit in passage.edits]
    count = sum([len(passage.drafts) for passage in passages if passage.edits])
    total = sum([len(passage.drafts) for passage in passages])
    if not total:
        summary = "nothing to annotate: no inferred steps"
    else:
        suffix = "" if count == total else "; the others are left to you:"
        summary = f"{'would annotate' if dry_run else 'annotated'}: {count} of {total} inferred step{'s' * (total > 1)}{suffix}"
    shown_plan = plan if dry_run or not edits else read_text(apply_edits(plan.text, edits))
    if shown_plan is plan:
        unedited = [passage for passage in passages if not passage.edits]
    else:
        unedited = _keep_safe_edits(shown_plan, _annotate_passages(shown_plan))
    remarks = [
        (draft.start, f"is left to you: it {passage.reason}: {draft.command}")
        for passage in unedited
        for draft in passage.drafts
    ]
    remarks += [
        (skipped.line, f"is not a step: it {skipped.why}: {skipped.text}")
        for skipped in find_plan_steps(shown_plan).skipped
    ]
    lines = [f"line {line + 1} {remark}" for line, remark in sorted(remarks)]
    return PlanChange(tuple(edits), plan_content(plan), f"annotate {count} step{'s' * (count != 1)}", (summary, *lines))


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

    It is empty if the edits change the rest of the plan's content.
    """
    edited_plan = read_text(apply_edits(plan.text, edits)) if edits else plan
    if edits and plan_content(edited_plan) != plan_content(plan):
        return ()
    drafts = find_plan_steps(edited_plan).drafts
    last_steps: dict[int, int] = {}
    for at, draft in enumerate(drafts):
        if "task" in draft.attributes:
            try:
                last_steps[find_task(edited_plan, draft.attributes["task"])[1].number] = at
            except ExecplanError:
                continue
    steps = [(step_draft.phase, step_draft.cwd, step_draft.command, step_draft.expect) for step_draft in drafts]
    return (steps, sorted(last_steps.items()))


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
    for candidate in following:
        if candidate.kind == COMMAND_LINES and build_expectation(raw_block_lines(plan, candidate)) == draft.expect:
            return [
                Edit(
                    candidate.start,
                    candidate.end,
                    tuple(_format_fence(" " * _fence_indent(candidate), _EXPECT_INFO, draft.expect.split("\n"))),
                )
            ]
    return [
        Edit(
            passage.end,
            passage.end,
            tuple(_format_fence(" " * _fence_indent(passage), _EXPECT_INFO, draft.expect.split("\n"))),
        )
    ]


def _fence_indent(passage: Passage) -> int:
    return passage.fence.column if passage.fence is not None else passage.indent


def _format_info_string(
    plan: ParsedPlan, language: str, drafts: Sequence[StepDraft], id_allocator: StepIdAllocator
) -> str:
    """Return the info string of a code block; `task` is the task that its last step completes."""
    folder = drafts[0].cwd
    attributes = [f"#{id_allocator.allocate(drafts[0].command)}"]
    attributes += [f'cwd="{folder}"' if " " in folder else f"cwd={folder}"] if folder != "." else []
    attributes += (
        [f"task={_task_reference(plan, drafts[-1].attributes['task'])}"] if "task" in drafts[-1].attributes else []
    )
    return f"{language} {{{' '.join(attributes)}}}"


def _task_reference(plan: ParsedPlan, name: str) -> str:
    """Return a reference to a task for an attribute: its text if short and plain, its first words, or its ID."""
    task_id, task = find_task(plan, name)
    words = plain_text(task.text).split()
    for count in range(len(words), 1, -1):
        text = " ".join(words[:count])
        if len(text) <= _MAX_TASK_LENGTH and not any([char in text for char in '`"\\{}~']):
            try:
                if find_task(plan, text)[1].number == task.number:
                    return f'"{text}"'
            except ExecplanError:
                break
    return task_id


def _annotate_block(
    plan: ParsedPlan, passage: Passage, drafts: Sequence[StepDraft], id_allocator: StepIdAllocator
) -> Edit | str:
    """Return the edit that turns a block into one annotated code block, or the reason why that is impossible."""
    if len({draft.cwd for draft in drafts}) > 1:
        return "is in a block whose commands run in several directories: create a block for each"
    tasks = [draft.attributes.get("task", "") for draft in drafts]
    if len({*tasks, ""}) > 2 or (any(tasks) and not tasks[-1]):
        return "is in a block whose commands complete different tasks: create a block for each"
    body = _fence_body(plan, passage, drafts)
    if isinstance(body, str):
        return body
    while body and not body[0]:
        body.pop(0)
    indent = " " * passage.indent
    if passage.fence is not None:
        opening_line = plan.text.lines[passage.start]
        mark = passage.fence.mark * passage.fence.level
        language = passage.fence.text.split(" ")[0] if passage.language in SHELL_LANGUAGES else _LANGUAGE
        head = (
            opening_line[: opening_line.index(mark)] + mark + _format_info_string(plan, language, drafts, id_allocator)
        )
        closing_line = plan.text.lines[passage.end - 1]
        indent = " " * passage.fence.column
        return Edit(passage.start, passage.end, (head, *[f"{indent}{line}".rstrip() for line in body], closing_line))
    return Edit(
        passage.start,
        passage.end,
        tuple(_format_fence(indent, _format_info_string(plan, _LANGUAGE, drafts, id_allocator), body)),
    )


def _fence_body(plan: ParsedPlan, passage: Passage, drafts: Sequence[StepDraft]) -> list[str] | str:
    """Return the body of the annotated code block, or the reason why there is none."""
    drafts_by_line = {draft.start: draft for draft in drafts}
    continuation_lines = {line for draft in drafts for line in range(draft.start + 1, draft.end)}
    has_prompts = any([line.startswith(PROMPTS) for _, line in passage.lines])
    body: list[str] = []
    shift = 0
    for at, line in passage.lines:
        raw = plan.text.lines[at].expandtabs(4)
        column = len(raw) - len(raw.lstrip(" "))
        if at in continuation_lines:
            body.append(" " * max(column - shift, 0) + line)
        elif at in drafts_by_line:
            shift = column
            _, comment = split_comment(line)
            is_single_line = drafts_by_line[at].end == at + 1
            if not is_single_line and (comment or not _is_first_line(drafts_by_line[at].command, line)):
                return "continues over several lines in a way that a code block can't keep: write it on one line"
            body += [f"# {comment}"] if comment else []
            body.append(drafts_by_line[at].command if is_single_line else line)
        elif not line or line.startswith("#"):
            body.append(line)
        elif has_prompts and not line.startswith(PROMPTS):
            return "is in a block that also shows output: move the output to a code block marked {expect}"
        elif not line.startswith("cd ") or "&" in line:
            return f"is in a block with line {at + 1}, which is not a step: move that line elsewhere"
    return body


def _is_first_line(command: str, line: str) -> bool:
    """Return whether a command over several lines starts with its first line as written."""
    return not line.startswith(PROMPTS) and command.startswith(line.removesuffix("\\").rstrip())


def _format_fence(indent: str, head: str, body: Sequence[str]) -> list[str]:
    return [f"{indent}```{head}", *[f"{indent}{line}".rstrip() for line in body], f"{indent}```"]


def _annotate_paragraph(
    plan: ParsedPlan, passage: Passage, drafts: Sequence[StepDraft], id_allocator: StepIdAllocator
) -> Edit:
    """Return the edit that puts code blocks in place of an item that has only commands, or after the paragraph."""
    groups: list[list[StepDraft]] = []
    for draft in drafts:
        task = draft.attributes.get("task")
        if groups and (groups[-1][0].cwd, groups[-1][0].attributes.get("task")) == (draft.cwd, task):
            groups[-1].append(draft)
        else:
            groups.append([draft])
    indent = " " * passage.indent
    lines = [
        line
        for group in groups
        for line in _format_fence(
            indent,
            _format_info_string(plan, _LANGUAGE, group, id_allocator),
            [group_draft.command for group_draft in group],
        )
    ]
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
