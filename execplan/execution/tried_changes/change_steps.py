"""Steps that make a change which somebody has tried: a code block for each file, checked to give the same bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan import outline
from execplan.core.plan.model import ParsedPlan, Section
from execplan.core.plan.plan_change import (
    PlanChange,
    append_to_section,
    ensure_blocks_closed,
    ensure_no_conflicts,
    has_no_content,
    insert_padded,
    insert_section,
    plan_content,
)
from execplan.core.plan.reader import read_text
from execplan.core.text.text_lines import Edit, Text
from execplan.execution.attributes import FILE_TYPES
from execplan.execution.compile import compile_plan, find_plan_steps
from execplan.execution.evaluation.projected_files import (
    ImpossibleError,
    ProjectedChange,
    compute_changes,
    format_change,
)
from execplan.execution.inference.step_blocks import find_task_naming
from execplan.execution.inference.step_ids import StepIdAllocator
from execplan.execution.tried_changes.change_reader import LeftFile, TriedChange, TriedFile
from execplan.execution.world import ABSENT, FILE, State

_IS_STEP = "is one already"
_REASON = "The change that was tried deletes this file."
_LANGUAGES = {
    "py": "python",
    "js": "js",
    "ts": "ts",
    "tsx": "tsx",
    "go": "go",
    "rs": "rust",
    "rb": "ruby",
    "java": "java",
    "md": "markdown",
    "json": "json",
    "toml": "toml",
    "yml": "yaml",
    "yaml": "yaml",
    "html": "html",
    "css": "css",
}
"""Languages of code blocks by file extension; a block in the language of a shell would be read as commands."""


class TriedStep(NamedTuple):
    """A step that is written for a file."""

    path: str
    type: str
    id: str
    task: str
    """Text of the task that the step completes, or an empty string."""


class TriedSteps(NamedTuple):
    """The steps of a change, and their place in the plan."""

    change: PlanChange
    steps: tuple[TriedStep, ...]
    left: tuple[LeftFile, ...]
    covered_paths: tuple[str, ...]
    """The files whose change the plan's steps make, those that it had before included."""


def write_steps(plan: ParsedPlan, tried: TriedChange, *, dry_run: bool = False) -> TriedSteps:
    """Return the edit that writes the steps of a change at the start of Concrete Steps, above what checks them.

    A file is left out if its step would not make exactly this change. Raises ExecplanError if the plan can't be edited.
    """
    ensure_no_conflicts(plan)
    drafts = find_plan_steps(plan).drafts
    known_steps = {
        (draft.attributes["type"], draft.attributes.get("target", ""), draft.body)
        for draft in drafts
        if draft.attributes.get("type", "") in FILE_TYPES
    }
    id_allocator = StepIdAllocator([name for draft in drafts for name in (draft.id, draft.attributes.get("id", ""))])
    lines: list[str] = []
    steps: list[TriedStep] = []
    left = list(tried.left)
    for file in tried.files:
        task, reference = find_task_naming(plan, [file.path])
        step_id = id_allocator.allocate_for_file(_verb(file), file.path)
        block = _find_block(file, step_id, f" task={reference}" if reference else "")
        if isinstance(block, str):
            left.append(LeftFile(file.path, block))
        elif (block.type, "" if block.type == "refactor_code" else file.path, block.lines[1:-1]) in known_steps:
            left.append(LeftFile(file.path, _IS_STEP))
        else:
            lines += [*([""] if lines else []), *block.lines]
            steps.append(TriedStep(file.path, block.type, step_id, task))
    count = f"{len(steps)} step{'s' * (len(steps) != 1)}"
    messages = [
        f"{'would write' if dry_run else 'wrote'} {count} for the files of the change" if steps else "no new steps"
    ]
    messages += [_describe_step(step) for step in steps]
    messages += [f"{file.path} is not a new step: it {file.why}" for file in sorted(left)]
    content, edits = plan_content(plan), []
    if steps:
        section = plan.section(outline.STEPS)
        if section is None:
            edit, titles = insert_section(plan, outline.STEPS, lines)
            edits, content = [edit], content._replace(sections=titles)
        else:
            ensure_blocks_closed(plan, section.end)
            edits = [_insert_at_start(plan, section, lines)]
    change = PlanChange(tuple(edits), content, f"write {count} of a tried change", tuple(messages))
    covered_paths = [*[step.path for step in steps], *[file.path for file in left if file.why == _IS_STEP]]
    return TriedSteps(change, tuple(steps), tuple(sorted(left)), tuple(sorted(covered_paths)))


def _describe_step(step: TriedStep) -> str:
    return f"{step.id}: {step.type} {step.path}" + (f", for the task {step.task}" if step.task else "")


def _insert_at_start(plan: ParsedPlan, section: Section, lines: Sequence[str]) -> Edit:
    """Return the edit that inserts code blocks below the heading of a section, or in place of its placeholder text."""
    texts = [plan.text.lines[at] for at in range(section.body_start, section.content_end)]
    if all([has_no_content(text) for text in texts if text.strip()]):
        return append_to_section(plan, section, lines)
    return insert_padded(plan.text.lines, section.body_start, lines)


def _verb(file: TriedFile) -> str:
    if file.before is None:
        return "add"
    return "delete" if file.after is None else "edit"


class _Block(NamedTuple):
    lines: tuple[str, ...]
    type: str


def _find_block(file: TriedFile, step_id: str, attributes: str) -> _Block | str:
    """Return the first form of a step that makes exactly the change of a file, or why there is none."""
    why = "can't be written as a step"
    for block in _possible_blocks(file, step_id, attributes):
        why = _find_difference(file, block)
        if not why:
            return block
    return why


def _possible_blocks(file: TriedFile, step_id: str, attributes: str) -> list[_Block]:
    target = f'target="{file.path}"' if re.search(r"[^\w./@+-]", file.path) else f"target={file.path}"
    if file.after is None:
        return [_build_block("text", step_id, "delete_file", f" {target}{attributes}", _REASON)]
    change = ProjectedChange(file.path, file.before, file.after, file.mode, file.old_mode)
    try:
        text = file.after.decode()
        diff = format_change(change)
        diff.encode()
    except UnicodeError:
        return []
    patch = _build_block("diff", step_id, "refactor_code", attributes, diff)
    if file.before is not None:
        return [_build_block("diff", step_id, "modify_file", f" {target}{attributes}", diff), patch]
    language = _LANGUAGES.get(file.path.rpartition(".")[2], "text")
    return [_build_block(language, step_id, "create_file", f" {target}{attributes}", text), patch]


def _build_block(language: str, step_id: str, kind: str, attributes: str, body: str) -> _Block:
    """Return a code block, with a fence that is longer than any in its content."""
    fences = re.findall(r"^ {0,3}(`{3,}|~{3,})", body, re.MULTILINE)
    mark = "`" * max([3, *[len(fence) + 1 for fence in fences]])
    lines = body.removesuffix("\n").split("\n") if body else []
    return _Block((f"{mark}{language} {{#{step_id} type={kind}{attributes}}}", *lines, mark), kind)


def _find_difference(file: TriedFile, block: _Block) -> str:
    """Return why a step would not make exactly the change of a file, or an empty string."""
    text = "\n".join(["# Plan", "", f"## {outline.STEPS}", "", *block.lines, ""])
    try:
        document = compile_plan(read_text(Text.from_str(text)), "plan", "plan.md").document
        (step,) = document.steps if document is not None else ()
        (change,) = compute_changes(step.model_copy(update={"task": None}), _FilesBefore(file))
    except (ExecplanError, ImpossibleError, UnicodeError, ValueError) as error:
        return f"can't be written as a step: {getattr(error, 'message', error)}"
    if (change.path, change.after) != (file.path, file.after):
        return "has line ends or characters that a code block can't keep"
    if file.after is not None and change.mode & 0o111 != file.mode & 0o111:
        return "changes its mode too, which its step can't do"
    return ""


class _FilesBefore:
    """The files before the change."""

    def __init__(self, file: TriedFile) -> None:
        self._file = file

    def state(self, path: str) -> State:
        if path != self._file.path or self._file.before is None:
            return State(ABSENT)
        return State(FILE, mode=self._file.old_mode, size=len(self._file.before))

    def read(self, path: str) -> bytes:
        return self._file.before or b""
