"""EP2 rules about tasks in Progress; timestamps, task format and milestones have their own modules."""

from __future__ import annotations

from itertools import pairwise

from execplan.core.plan import outline
from execplan.core.plan.model import DONE, OPEN
from execplan.core.plan.section_roles import STEP_WORDS, TASKS, find_role, part_number, title_words
from execplan.core.text.markdown_blocks import HEADING, ITEM, PARAGRAPH
from execplan.core.text.message_parts import format_count, quote
from execplan.core.text.text_lines import Edit
from execplan.core.timestamps import read_timestamp
from execplan.linter.rule import ERROR, HINT, UNSAFE, WARNING, RuleContext, RuleMatch, on_line, rule
from execplan.linter.rules.task_format_rules import nonstandard_task_format
from execplan.linter.rules.timestamp_rules import group_tasks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from execplan.core.plan.model import ParsedPlan, Task
    from execplan.core.text.markdown_blocks import Block

_DONE_BEFORE_PLAN = "(pre-satisfied)"
"""Prefix of a task that was done before the plan was written."""
_PREFIX_LENGTH = 40
"""Number of leading characters that distinguish most tasks; the full text is only compared if they are equal."""
_TASK_WORDS = ("todo", *STEP_WORDS)
_CLOSING_PUNCTUATION = " .!;:,。"


@rule("EP201", ERROR, fix=UNSAFE)
def progress_without_task(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Progress contains no task.

    Without checkboxes, nobody can tell how far the work is, and zero of zero looks like done. A checkbox in a code
    block, a quote, a comment or another section is not a task. The fix makes a task of each list item: a done one if it
    starts with a timestamp, otherwise an open one.

    Bad:
        ## Progress

        - 2026-03-07 23:27Z: Read lines.
        - Build the parser.
    Good:
        ## Progress

        - [ ] Build the parser.
    Fixed:
        ## Progress

        - [x] 2026-03-07 23:27Z: Read lines.
        - [ ] Build the parser.
    """
    section = plan.section(outline.PROGRESS)
    if section is None or plan.tasks:
        return
    edits = tuple(_box_edits(plan, plan.blocks[section.first_block : section.block_end]))
    if edits:
        yield on_line(plan, section.start, _describe_list(len(edits), context), edits)
    else:
        name = quote(context.path) if context.path else ""
        advice = f"add one with `execplan add 'First step'{' -p ' if name else ''}{name}`"
        if any([match.edits for match in nonstandard_task_format(plan, context)]) and not context.is_record:
            advice = f"make one of what looks like one with `execplan lint --fix{' ' if name else ''}{name}`"
        yield on_line(plan, section.start, f"no task: {advice}")


@rule("EP215", HINT, fix=UNSAFE, in_archive=False)
def task_list_without_checkboxes(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A plan without Progress lists its tasks without checkboxes.

    Such a list doesn't tell how far the work is, and no command finds a task in it. The fix gives each item a checkbox:
    a checked one if the item starts with a timestamp. It is for plans in other forms that have no task at all, and for
    lists whose heading says that they are tasks, steps or phases.

    Bad:
        # Parser

        ## Tasks

        - Build the parser.
    Good:
        # Parser

        ## Tasks

        - [ ] Build the parser.
    Fixed:
        # Parser

        ## Tasks

        - [ ] Build the parser.
    """
    if plan.tasks or plan.section(outline.PROGRESS) is not None:
        return
    headings = [at for at, block in enumerate(plan.blocks) if block.kind == HEADING]
    edits: list[Edit] = []
    for at, end in pairwise([*headings, len(plan.blocks)]):
        if _is_title_of_tasks(plan.blocks[at].text, plan.text.titles):
            edits += _box_edits(plan, plan.blocks[at:end])
    if edits:
        yield on_line(plan, edits[0].start, _describe_list(len(edits), context), tuple(edits))


def _describe_list(count: int, context: RuleContext) -> str:
    """Return the message about a number of list items that the fix makes tasks."""
    path = f" {quote(context.path)}" if context.path else ""
    fix = "" if context.is_record else f" with `execplan lint{path} --fix --unsafe-fixes`"
    return f"no task: the {format_count(count, 'list item')} without a checkbox can become tasks{fix}"


def _is_title_of_tasks(title: str, own: Mapping[str, str]) -> bool:
    """Return whether a title says that the items below it are tasks, unlike `Code changes`, or `Task 3` with its details."""
    return (
        find_role(title, own) == TASKS
        and not part_number(title)
        and any([word.startswith(_TASK_WORDS) for word in title_words(title)])
    )


def _box_edits(plan: ParsedPlan, blocks: Sequence[Block]) -> Iterator[Edit]:
    """Yield the edits that give each item of the lists among some blocks a checkbox; nested items stay as they are."""
    for block, content in pairwise(blocks):
        has_text = content.kind == PARAGRAPH and content.start == block.start and content.text[:1] != "["
        if block.kind == ITEM and not block.depth and has_text and block.start not in plan.placeholder_lines:
            line = plan.text.lines[block.start]
            at = line.index(block.text, line.index(block.mark) + len(block.mark))
            box = "[ ]" if read_timestamp(block.text) is None else "[x]"
            yield Edit(block.start, block.start + 1, (f"{line[:at]}{box} {line[at:]}",))


@rule("EP202", WARNING)
def done_without_timestamp(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A done task has no timestamp.

    The timestamp records when the task was finished, so that the order of events is known later. `execplan done`
    writes it.

    Bad:
        ## Progress

        - [x] Build the parser.
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
    """
    for task in plan.tasks:
        if (
            task.state == DONE
            and task.timestamp is None
            and task.status is None
            and not task.text.startswith(_DONE_BEFORE_PLAN)
        ):
            location = " in parentheses before its text" if _has_misplaced_timestamp(task.text) else ""
            yield on_line(plan, task.box_line, f"task {task.number} is done but has no timestamp{location}")


def _has_misplaced_timestamp(text: str) -> bool:
    """Return whether a timestamp follows the text, or precedes it in an invalid form."""
    close = text.rstrip(" .")
    ends = read_timestamp(close[close.rfind("(") :]) if close[-1:] == ")" else None
    return ends is not None or (
        text[:1] in ("[", "*", "_", "`") and read_timestamp(text.lstrip("[*_`(")[:10]) is not None
    )


@rule("EP207", HINT)
def checkboxes_outside_progress(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Open checkboxes are in a section other than Progress.

    They look like open work, but neither the tool nor a reader of Progress counts them. Tasks belong in Progress;
    acceptance criteria can be plain list items. A section whose checkboxes are all checked has no open work and is
    not reported.

    Bad:
        ## Validation and Acceptance

        - [ ] `make test` passes.
        - [ ] The page shows the new name.
    Good:
        ## Validation and Acceptance

        - `make test` passes.
        - The page shows the new name.
    """
    sections: dict[str, list[Task]] = {}
    for title, task in plan.checklists:
        sections.setdefault(title, []).append(task)
    for title, tasks in sections.items():
        # Another rule reports a duplicate of Progress.
        if any([task.state == OPEN for task in tasks]) and outline.canonical_name(title) != outline.PROGRESS:
            subject, effect = (
                ("this checkbox is", "it is not counted as a task")
                if len(tasks) == 1
                else (f"{len(tasks)} checkboxes are", "they are not counted as tasks")
            )
            yield on_line(plan, tasks[0].box_line, f"{subject} outside Progress, in {title}, so {effect}")


@rule("EP208", WARNING)
def duplicate_task(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Two tasks in one list have the same text.

    One is left over from an edit, or they mean different things without saying so. If you check off a task by its
    text, it is ambiguous. Tasks under different subheadings, or nested in different tasks, can have the same text.
    Case and the punctuation at the end are ignored.

    Bad:
        ## Progress

        - [x] (2026-03-07 23:27Z) Write the tests.
        - [ ] Write the tests.
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Write the tests of the reader.
        - [ ] Write the tests of the writers.
    """
    if len(
        {task.text[:_PREFIX_LENGTH].casefold().replace(" ", "").rstrip(_CLOSING_PUNCTUATION) for task in plan.tasks}
    ) == len(plan.tasks):
        return
    normalized_texts = [" ".join(task.text.casefold().split()).rstrip(_CLOSING_PUNCTUATION) for task in plan.tasks]
    first_tasks: dict[tuple[str, tuple[str, int]], Task] = {}
    for task, text, group in zip(plan.tasks, normalized_texts, group_tasks(plan.tasks), strict=True):
        earlier_task = first_tasks.setdefault((text, group), task)
        if text and earlier_task is not task:
            message = f"same text as task {earlier_task.number} on line {earlier_task.box_line + 1}"
            yield on_line(plan, task.box_line, message)
