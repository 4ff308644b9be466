"""Steps that make a change which somebody has tried: code blocks, checked to give the same bytes one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

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
from execplan.core.text.message_parts import join_first
from execplan.core.text.text_lines import Edit
from execplan.execution.attributes import FILE_TYPES
from execplan.execution.compile import find_plan_steps
from execplan.execution.evaluation.projected_files import ProjectedChange
from execplan.execution.inference.step_blocks import find_task_naming
from execplan.execution.inference.step_ids import StepIdAllocator
from execplan.execution.tried_changes.change_blocks import (
    Block,
    possible_file_blocks,
    replacement_block,
    step_key,
    transfer_block,
)
from execplan.execution.tried_changes.change_reader import LeftFile, TriedChange, TriedFile
from execplan.execution.tried_changes.hunk_groups import group_hunks
from execplan.execution.tried_changes.shared_changes import find_copies, find_moves, find_replacements
from execplan.execution.tried_changes.tried_tree import TreeFile, TriedTree

_IS_STEP = "is one already"
_MAX_NAMED_FILES = 3


class TriedStep(NamedTuple):
    """A step that is written for a file, or for several."""

    path: str
    type: str
    id: str
    task: str
    """Text of the task that the step completes, or an empty string."""
    paths: tuple[str, ...]
    """All changed files of the step."""
    origin: str = ""
    """The file or directory that is copied or moved."""


class TriedSteps(NamedTuple):
    """The steps of a change, and their place in the plan."""

    change: PlanChange
    steps: tuple[TriedStep, ...]
    left: tuple[LeftFile, ...]
    covered_paths: tuple[str, ...]
    """The files whose change the plan's steps make, those that it had before included."""


def write_steps(plan: ParsedPlan, tried: TriedChange, *, dry_run: bool = False) -> TriedSteps:
    """Return the edit that writes the steps of a change at the start of Concrete Steps, above what checks them.

    A file is left out if its steps would not make exactly this change. Raises ExecplanError if the plan can't be edited.
    """
    ensure_no_conflicts(plan)
    writer = _StepWriter(plan, tried)
    writer.write_all()
    steps, left = writer.steps, sorted([*tried.left, *writer.left])
    lines = [line for number, block in enumerate(writer.blocks) for line in ([""] if number else []) + [*block.lines]]
    count = f"{len(steps)} step{'s' * (len(steps) != 1)}"
    messages = [
        f"{'would write' if dry_run else 'wrote'} {count} for the files of the change" if steps else "no new steps"
    ]
    messages += [_describe_step(step) for step in steps]
    messages += [f"{file.path} is not a new step: it {file.why}" for file in left]
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
    covered_paths = {path for step in steps for path in step.paths} | writer.known_paths
    return TriedSteps(change, tuple(steps), tuple(left), tuple(sorted(covered_paths)))


def _describe_step(step: TriedStep) -> str:
    subject = f"{step.origin} to {step.path}" if step.origin else join_first(step.paths, _MAX_NAMED_FILES)
    return f"{step.id}: {step.type} {subject}" + (f", for the task {step.task}" if step.task else "")


def _insert_at_start(plan: ParsedPlan, section: Section, lines: Sequence[str]) -> Edit:
    """Return the edit that inserts code blocks below the heading of a section, or in place of its placeholder text."""
    texts = [plan.text.lines[at] for at in range(section.body_start, section.content_end)]
    if all([has_no_content(text) for text in texts if text.strip()]):
        return append_to_section(plan, section, lines)
    return insert_padded(plan.text.lines, section.body_start, lines)


class _StepWriter:
    """Writes steps one after the other, each for the files that the steps before it leave."""

    def __init__(self, plan: ParsedPlan, tried: TriedChange) -> None:
        drafts = find_plan_steps(plan).drafts
        self.steps: list[TriedStep] = []
        self.blocks: list[Block] = []
        self.left: list[LeftFile] = []
        self.known_paths: set[str] = set()
        """Files of steps that the plan has already."""
        self._plan, self._tried = plan, tried
        self._known_steps = {
            step_key(draft.attributes, draft.body) for draft in drafts if draft.attributes.get("type", "") in FILE_TYPES
        }
        self._ids = StepIdAllocator([name for draft in drafts for name in (draft.id, draft.attributes.get("id", ""))])
        files = {file.path: TreeFile(file.before, file.old_mode) for file in tried.files if file.before is not None}
        copied = {tried.copies[file.path]: file for file in tried.files if file.path in tried.copies}
        sources = {path: TreeFile(file.after or b"", file.mode) for path, file in copied.items() if path not in files}
        self._tree = TriedTree({**sources, **files})

    def write_all(self) -> None:
        """Write the steps of the whole change: copies first, as long as their sources are there."""
        files = {file.path: file for file in self._tried.files}
        for copy in find_copies(self._tried):
            self._write_transfer("copy", copy.origin, copy.target, copy.paths, files)
        for move in find_moves(self._tried):
            self._write_transfer("move", move.origin, move.target, move.paths, files)
        for shared in find_replacements(self._tree, self._tried.files):
            step_id = self._ids.allocate_for_text(f"replace {shared.old} {shared.new}")
            task, attribute = self._task(shared.paths)
            block = replacement_block(shared.paths, shared.old, shared.new, shared.places, step_id, attribute)
            tree = self._tree.result_of(block)
            if isinstance(tree, TriedTree) and all([_is_done(tree, files[path]) for path in shared.paths]):
                self._accept(block, tree, step_id, task, shared.paths)
        for file in self._tried.files:
            if not _is_done(self._tree, file):
                self._write_file(file)

    def _write_transfer(
        self, kind: str, origin: str, target: str, paths: tuple[str, ...], files: dict[str, TriedFile]
    ) -> None:
        """Write a copy or a move, unless the rest of the change of one of its files can't be written after it."""
        step_id = self._ids.allocate_for_file(kind, origin)
        task, attribute = self._task([*paths, *[path for path in (origin, target) if "/" in path]])
        block = transfer_block(kind, origin, target, step_id, attribute)
        tree = self._tree.result_of(block)
        if isinstance(tree, TriedTree) and all([_can_be_finished(tree, files[path]) for path in paths]):
            self._accept(block, tree, step_id, task, paths, (origin, target))

    def _write_file(self, file: TriedFile) -> None:
        """Write the steps for one file: several only if its hunks belong to several tasks."""
        before = self._tree.data(file.path)
        if before is None or file.after is None:
            task, reference = find_task_naming(self._plan, [file.path])
            if why := self._write_version(file, file.after, task, reference):
                self.left.append(LeftFile(file.path, why))
            return
        start = (self._tree, len(self.steps), len(self.blocks))
        for group in group_hunks(self._plan, file.path, before, file.after):
            if why := self._write_version(file, group.data, group.task, group.reference):
                self._tree = start[0]
                del self.steps[start[1] :], self.blocks[start[2] :]
                self.left.append(LeftFile(file.path, why))
                return

    def _write_version(self, file: TriedFile, data: bytes | None, task: str, reference: str) -> str:
        """Write the step that gives a file other bytes; return why there is none, or an empty string."""
        if file.path not in self._tree.files:
            verb = "add"
        elif data is None:
            verb = "delete"
        else:
            verb = "edit"
        step_id = self._ids.allocate_for_file(verb, file.path)
        version = file._replace(after=data)
        why = _reason_not_to_write(self._tree, version)
        for block in _possible_blocks(self._tree, version, step_id, f" task={reference}" if reference else ""):
            tree = self._tree.result_of(block)
            why = tree if isinstance(tree, str) else _find_difference(tree, version)
            if isinstance(tree, TriedTree) and not why:
                self._accept(block, tree, step_id, task, (file.path,))
                return ""
        return why or "can't be written as a step"

    def _task(self, paths: Sequence[str]) -> tuple[str, str]:
        """Return the task that names some files, and the attribute for it."""
        task, reference = find_task_naming(self._plan, paths)
        return task, f" task={reference}" if reference else ""

    def _accept(
        self,
        block: Block,
        tree: TriedTree,
        step_id: str,
        task: str,
        paths: tuple[str, ...],
        transfer: tuple[str, str] | None = None,
    ) -> None:
        """Take a step over, unless the plan has it already; the next steps see its files."""
        self._tree = tree
        if block.key in self._known_steps:
            self.known_paths.update(paths)
            self.left += [LeftFile(path, _IS_STEP) for path in paths]
        else:
            self.blocks.append(block)
            origin, path = transfer or ("", paths[0])
            self.steps.append(TriedStep(path, block.type, step_id, task, paths, origin))


def _possible_blocks(tree: TriedTree, file: TriedFile, step_id: str, attributes: str) -> list[Block]:
    before = tree.files.get(file.path)
    old_data, old_mode = (None, file.old_mode) if before is None else before
    if _reason_not_to_write(tree, file):
        return []
    return possible_file_blocks(
        ProjectedChange(file.path, old_data, file.after, file.mode, old_mode), step_id, attributes
    )


def _reason_not_to_write(tree: TriedTree, file: TriedFile) -> str:
    is_binary = any([data is not None and b"\0" in data for data in (tree.data(file.path), file.after)])
    return "is binary" if is_binary and file.after is not None else ""


def _can_be_finished(tree: TriedTree, file: TriedFile) -> bool:
    """Return whether nothing is left of a file's change, or a step can make the rest."""
    if _is_done(tree, file):
        return True
    blocks = _possible_blocks(tree, file, "rest", "")
    results = [tree.result_of(block) for block in blocks]
    return any([isinstance(result, TriedTree) and not _find_difference(result, file) for result in results])


def _is_done(tree: TriedTree, file: TriedFile) -> bool:
    return not _find_difference(tree, file)


def _find_difference(tree: TriedTree, file: TriedFile) -> str:
    """Return why a file is not as the change leaves it, or an empty string."""
    if tree.data(file.path) != file.after:
        return "has line ends or characters that a code block can't keep"
    if file.after is not None and tree.files[file.path].mode & 0o111 != file.mode & 0o111:
        return "changes its mode too, which its step can't do"
    return ""
