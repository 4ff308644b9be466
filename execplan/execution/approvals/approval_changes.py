"""What has changed since a plan was approved: its steps, the files that they use, programs and the policy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from execplan.core.documents.document_io import load_document
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.git.blob_reader import BlobReader
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest
from execplan.execution.approval_document import Approval
from execplan.execution.approvals import artifact_store
from execplan.execution.approvals.approval_states import EXPIRED, REVOKED, STALE, USED
from execplan.execution.approvals.approved_plan import check_approvals, find_candidate
from execplan.execution.approvals.plan_evaluation import EvaluatedPlan
from execplan.execution.binding import Binding, describe_difference, drift
from execplan.execution.evaluation.evaluation_text import describe_commands, describe_settings
from execplan.execution.evaluation.unified_diff import file_diff
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.execution.world import FILE, Program

ADDED = "added"
REMOVED = "removed"
CHANGED = "changed"
_COMPARED_STATES = (STALE, EXPIRED, USED, REVOKED)
"""States of approvals whose signature counts."""


class Change(NamedTuple):
    """A step or a file that differs from the approved one."""

    name: str
    kind: str
    """What has become of a step: ADDED, REMOVED or CHANGED; of a file, how it differs."""
    diff: str = ""
    """Unified diff from what was approved; empty if that is not known, or not text."""


class ApprovalChanges(NamedTuple):
    """The changes since an approval."""

    approval: Approval
    steps: tuple[Change, ...] | None
    """Changed steps, in the order of the plan; None if the approved steps are not known any more."""
    files: tuple[Change, ...]
    other: tuple[str, ...]
    """Changes of programs and of the policy, one line each."""

    def as_json(self) -> dict[str, Any]:
        """Return the changes as JSON data."""
        steps = None if self.steps is None else [_step_json(change) for change in self.steps]
        return {
            "approval": self.approval.digest,
            "approver": self.approval.approver,
            "steps": steps,
            "files": [{"path": change.name, "why": change.kind, "diff": change.diff} for change in self.files],
            "other": list(self.other),
        }


def _step_json(change: Change) -> dict[str, str]:
    return {"id": change.name, "change": change.kind, "diff": change.diff}


def find_changes(project: Project, ref: PlanRef, evaluated_plan: EvaluatedPlan) -> ApprovalChanges | None:
    """Return what has changed since the newest approval, or None if nothing has or the plan never was approved.

    Files that a run changed under the approval are left out. Raises ExecplanError.
    """
    checked_approvals = check_approvals(project, ref, find_candidate(project, ref))
    newest = next(iter(checked_approvals), None)
    if newest is None or newest.state not in _COMPARED_STATES:
        return None
    approval: Approval = newest.stored.approval  # type: ignore[union-attr]  # in these states, it can be read
    old, new = approval.binding, evaluated_plan.binding
    steps: tuple[Change, ...] | None = ()
    if old.document != new.document:
        approved_document = _find_document(project, ref, approval)
        current = evaluated_plan.current_plan.document
        steps = None if approved_document is None else tuple(_compare_steps(approved_document, current))
    files: tuple[Change, ...] = ()
    other: tuple[str, ...] = ()
    if newest.state != USED:
        files = tuple(_compare_files(project, approval, evaluated_plan))
        files += tuple(_compare_code(project, approval, new, {change.name for change in files}))
        code_names = {name for name, program in (old.programs or {}).items() if _is_edited(program, new, name)}
        programs = {name: program for name, program in (old.programs or {}).items() if name not in code_names}
        other = drift(old._replace(document=new.document, states={}, programs=programs), new._replace(states={}))
    changes = ApprovalChanges(approval, steps, files, other)
    return None if changes.steps == () and not files and not other else changes


def _find_document(project: Project, ref: PlanRef, approval: Approval) -> ExecutionPlan | None:
    """Return the approved steps: from the plan's artifacts, one of its runs, or a commit; None if they are not there."""
    for data in _candidate_documents(project, ref, approval):
        if digest(data) == approval.document:
            return load_document(data, ExecutionPlan, "the approved execution plan")
    return None


def _candidate_documents(project: Project, ref: PlanRef, approval: Approval) -> Iterator[bytes]:
    path = artifact_store.path_of(project, ref)
    yield artifact_store.read(project, ref) or b""
    runs = os.path.join(os.path.dirname(path), "runs")
    for name in sorted(os.listdir(runs) if os.path.isdir(runs) else (), reverse=True):
        copy = os.path.join(runs, name, artifact_store.PLAN_FILE_NAME)
        if os.path.isfile(copy):
            yield file_access.read(copy, artifact_store.MAX_BYTES)[0]
    yield from _committed_files(project, os.path.relpath(path, project.root), "HEAD", approval.head or "HEAD")


def _committed_files(project: Project, path: str, *commits: str) -> Iterator[bytes]:
    """Yield the content of a file in some commits, as far as Git has it."""
    if project.git is None or "\n" in path:
        return
    with BlobReader(project) as reader:
        for commit in dict.fromkeys(commits):
            answer = reader.read(f"{commit}:{path}")
            if answer is not None:
                yield answer[0]


def _compare_steps(old_plan: ExecutionPlan, new_plan: ExecutionPlan) -> Iterator[Change]:
    """Yield the steps that differ: removed ones first, then the others in the order of the new plan."""
    old, new = [{step.id: _step_text(step) for step in plan.steps} for plan in (old_plan, new_plan)]
    for name in [name for name in old if name not in new]:
        yield Change(name, REMOVED, _text_diff(old[name], None, name))
    for name, text in new.items():
        if name not in old:
            yield Change(name, ADDED, _text_diff(None, text, name))
        elif text != old[name]:
            yield Change(name, CHANGED, _text_diff(old[name], text, name))


def _text_diff(old: str | None, new: str | None, name: str) -> str:
    texts = [None if text is None else text.encode("utf-8", "surrogateescape") for text in (old, new)]
    return file_diff(texts[0], texts[1], name)


def _step_text(step: Step) -> str:
    """Return everything that a step does and how, one line for each setting, and its content at the end."""
    lines = [f"{step.type.value} {step.target or ''}".rstrip(), step.description]
    lines += [f"lines {step.lines[0]} to {step.lines[1]}"] if step.lines is not None else []
    lines += [f"after {', '.join(step.depends_on)}"] if step.depends_on else []
    lines += ["inferred from prose"] if step.inferred else []
    for label, command in describe_commands(step):
        lines.append(f"{label}:\n{command}" if "\n" in command else f"{label}: {command}")
    lines += describe_settings(step)
    lines += [f"{label}:\n{text}" for label, text in (("content", step.content), ("patch", step.patch)) if text]
    return "\n".join(lines).removesuffix("\n") + "\n"


def _compare_files(project: Project, approval: Approval, evaluated_plan: EvaluatedPlan) -> Iterator[Change]:
    """Yield the files that differ from their approved state."""
    new_states = evaluated_plan.binding.states
    for path, before in approval.binding.states.items():
        after = new_states.get(path)
        why = describe_difference(before, after) if after is not None else ""
        if after is None or not why:
            continue
        has_edit = before.kind == after.kind == FILE and before.sha256 != after.sha256
        yield Change(path, why, _file_diff(project, approval, path, before.sha256, after.sha256) if has_edit else "")


def _compare_code(project: Project, approval: Approval, new: Binding, known_paths: set[str]) -> Iterator[Change]:
    """Yield the programs, and the files with code that programs read, of which only the content differs."""
    for name, program in (approval.binding.programs or {}).items():
        if _is_edited(program, new, name) and program.path not in known_paths:
            known_paths.add(program.path)
            after = (new.programs or {})[name].sha256
            why = f"different content ({program.sha256[:12]} → {after[:12]})"
            yield Change(program.path, why, _file_diff(project, approval, program.path, program.sha256, after))


def _is_edited(program: Program, new: Binding, name: str) -> bool:
    now = (new.programs or {}).get(name)
    is_same_file = now is not None and program.is_in_repository and now.path == program.path
    return is_same_file and now is not None and now.sha256 != program.sha256


def _file_diff(project: Project, approval: Approval, path: str, old_digest: str, new_digest: str) -> str:
    """Return the diff of a file from what was approved, if a commit has that and the file has not changed again."""
    contents = _committed_files(project, path, approval.head or "HEAD", "HEAD")
    approved = next((data for data in contents if digest(data) == old_digest), None)
    current = _read_current(project, path, new_digest)
    return "" if approved is None or current is None else file_diff(approved, current, path)


def _read_current(project: Project, path: str, sha256: str) -> bytes | None:
    """Return the bytes of a file if they are those that were evaluated; None if it has changed again."""
    from execplan.execution.approvals.disk_world import DiskWorld

    try:
        data = DiskWorld(project).read(path)
    except ExecplanError:
        return None
    return data if digest(data) == sha256 else None
