"""Code blocks with attributes for inferred steps: which steps share a block, and the text of the block."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_lookup import find_task, task_ids
from execplan.core.text.inline_markdown import plain_text
from execplan.execution.attributes import SHELLS
from execplan.execution.inference.cue_table import WORDS
from execplan.execution.inference.section_passages import Passage
from execplan.execution.inference.shell_line import split_comment
from execplan.execution.inference.step_ids import StepIdAllocator
from execplan.execution.parsed_steps import StepDraft
from execplan.execution.shell.shell_vocabulary import PROMPTS
from execplan.execution.shell_declaration import BASH, PIPEFAIL, hides_failure, needs_bash, shell_use

LANGUAGE: Final = "sh"
_MAX_TASK_LENGTH = 60


class BlockPart(NamedTuple):
    """Consecutive lines of a block: steps that share a code block, or lines that are no steps."""

    drafts: tuple[StepDraft, ...]
    """Empty for lines that are no steps."""
    body: tuple[str, ...]
    """Lines of the code block; for lines that are no steps, as they are in the plan."""


def can_share_block(previous: StepDraft, draft: StepDraft) -> bool:
    """Return whether a code block can contain a step and the one after it: in one directory, without a shell.

    Only the last step of a block completes a task.
    """
    previous_task = previous.attributes.get("task", "")
    return (
        previous.cwd == draft.cwd
        and previous_task in ("", draft.attributes.get("task", ""))
        and not shell_use(previous.command)
        and not shell_use(draft.command)
    )


def group_drafts(drafts: Sequence[StepDraft]) -> list[list[StepDraft]]:
    """Return the steps of a paragraph, in groups that can share a code block, where each needs the one before it."""
    groups: list[list[StepDraft]] = []
    for draft in drafts:
        if groups and groups[-1][-1].id in draft.needs and can_share_block(groups[-1][-1], draft):
            groups[-1].append(draft)
        else:
            groups.append([draft])
    return groups


def script_lines(draft: StepDraft, lines: Sequence[str] = ()) -> list[str]:
    """Return the lines of a step in its code block; `lines` are those of its command, if it has several."""
    return [*([PIPEFAIL] if hides_failure(draft.command) else []), *(lines or [draft.command])]


def split_block(plan: ParsedPlan, passage: Passage, drafts: Sequence[StepDraft]) -> list[BlockPart] | str:
    """Return the parts of a block of commands, or the reason why it can't be split."""
    drafts_by_line = {draft.start: draft for draft in drafts}
    has_prompts = any([line.startswith(PROMPTS) for _, line in passage.lines])
    has_cd = any([_is_lone_cd(line) for _, line in passage.lines])
    collector = _PartCollector(plan)
    next_line = -1
    for at, line in passage.lines:
        if at < next_line:
            continue
        if (draft := drafts_by_line.get(at)) is not None:
            next_line = draft.end
            collector.add_step(draft, _command_lines(plan, passage, draft, line))
        elif not line or line.startswith("#"):
            collector.comments.append((at, line))
        elif has_prompts and not line.startswith(PROMPTS):
            return "is in a block that also shows output: move the output to a code block marked {expect}"
        elif _is_lone_cd(line):
            collector.comments.clear()
        elif has_cd:
            return f"is in a block with line {at + 1}, which is not a step: move that line elsewhere"
        else:
            collector.add_other_line(at)
    return collector.finish()


class _PartCollector:
    """Collects the parts of a block; comments belong to the line below them."""

    def __init__(self, plan: ParsedPlan) -> None:
        self._lines = plan.text.lines
        self._parts: list[BlockPart] = []
        self.comments: list[tuple[int, str]] = []

    def add_step(self, draft: StepDraft, command_lines: list[str]) -> None:
        body = (*[text for _, text in self.comments], *command_lines)
        last = self._parts[-1] if self._parts else None
        if last is not None and last.drafts and can_share_block(last.drafts[-1], draft):
            self._parts[-1] = BlockPart((*last.drafts, draft), (*last.body, *body))
        else:
            self._parts.append(BlockPart((draft,), body))
        self.comments = []

    def add_other_line(self, at: int) -> None:
        body = (*[self._lines[number] for number, text in self.comments if text], self._lines[at])
        if self._parts and not self._parts[-1].drafts:
            self._parts[-1] = BlockPart((), (*self._parts[-1].body, *body))
        else:
            self._parts.append(BlockPart((), body))
        self.comments = []

    def finish(self) -> list[BlockPart]:
        """Return the parts, without blank lines at their start."""
        if self._parts and self.comments:
            last = self._parts[-1]
            texts = [text if last.drafts else self._lines[at] for at, text in self.comments]
            self._parts[-1] = last._replace(body=(*last.body, *texts))
        return [part._replace(body=_without_leading_blank_lines(part.body)) for part in self._parts]


def _is_lone_cd(line: str) -> bool:
    """Return whether a line only changes the directory, which the attribute `cwd` of the lines below it states."""
    return line.startswith("cd ") and "&" not in line


def _command_lines(plan: ParsedPlan, passage: Passage, draft: StepDraft, line: str) -> list[str]:
    """Return the lines of a step, with the comment after it above them; continued lines are kept if possible."""
    _, comment = split_comment(line)
    command_lines: list[str] = []
    is_first_line = not line.startswith(PROMPTS) and draft.command.startswith(line.removesuffix("\\").rstrip())
    if draft.end > draft.start + 1 and is_first_line and not comment:
        first = plan.text.lines[draft.start].expandtabs(4)
        shift = len(first) - len(first.lstrip(" "))
        for at, text in passage.lines:
            if draft.start <= at < draft.end:
                raw = plan.text.lines[at].expandtabs(4)
                command_lines.append(" " * max(len(raw) - len(raw.lstrip(" ")) - shift, 0) + text)
    return [*([f"# {comment}"] if comment else []), *script_lines(draft, command_lines)]


def _without_leading_blank_lines(body: tuple[str, ...]) -> tuple[str, ...]:
    start = next((at for at, line in enumerate(body) if line.strip()), len(body))
    return body[start:]


class StepBlockWriter:
    """Writes the code blocks of one passage; a block after another needs the steps of that one if its steps do."""

    def __init__(self, plan: ParsedPlan, id_allocator: StepIdAllocator) -> None:
        self._plan = plan
        self._id_allocator = id_allocator
        self._previous_id = ""

    def info_string(self, drafts: Sequence[StepDraft], language: str = LANGUAGE) -> str:
        """Return the info string of a code block; `task` is the task that its last step completes."""
        first, last = drafts[0], drafts[-1]
        uses_shell = bool(shell_use(first.command))
        if uses_shell and needs_bash(first.command) and language not in SHELLS[1:]:
            language = BASH
        step_id = self._id_allocator.allocate(first.command)
        attributes = [f"#{step_id}"]
        attributes += [f"needs={self._previous_id}"] if first.needs and self._previous_id else []
        if first.cwd != ".":
            attributes.append(f'cwd="{first.cwd}"' if " " in first.cwd else f"cwd={first.cwd}")
        attributes += ["shell"] if uses_shell else []
        attributes += [f"task={_format_task(self._plan, last.attributes['task'])}"] if "task" in last.attributes else []
        self._previous_id = step_id
        return f"{language} {{{' '.join(attributes)}}}"


def find_task_naming(plan: ParsedPlan, paths: Sequence[str]) -> tuple[str, str]:
    """Return the text of the only task that names one of some files, and a reference to it; or empty strings.

    A task that only reads, such as `Review src/a.py`, is none.
    """
    for name in dict.fromkeys([*paths, *[path.rpartition("/")[2] for path in paths]]):
        pattern = re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)")
        numbers = [
            number
            for number, task in enumerate(plan.tasks)
            if pattern.search(task.text) and not _only_reads(plain_text(task.text))
        ]
        if len(numbers) == 1:
            task_id = task_ids(plan.tasks)[numbers[0]]
            return plan.tasks[numbers[0]].text, _format_task(plan, task_id)
        if numbers:
            break
    return "", ""


def _only_reads(task_text: str) -> bool:
    """Return whether the first word of a task says that it changes no file."""
    return (re.findall(r"[a-z]+", task_text.lower()) or [""])[0] in WORDS["reading_tasks"]


def _format_task(plan: ParsedPlan, name: str) -> str:
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


def format_fence(indent: str, head: str, body: Sequence[str], mark: str = "```") -> list[str]:
    """Return the lines of a code block."""
    return [f"{indent}{mark}{head}", *[f"{indent}{line}".rstrip() for line in body], f"{indent}{mark}"]
