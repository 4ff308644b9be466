"""A draft that nobody has worked on, dropped until it is committed."""

from __future__ import annotations

import os

from execplan.errors import CHECK_FAILED, ExecplanError
from execplan.plan import reader
from execplan.plan.model import DRAFT, OPEN
from execplan.repo import ask, claims
from execplan.repo.amend import ensure_not_archived
from execplan.repo.author import actor
from execplan.repo.edits.entries import CREATE
from execplan.repo.edits.stack import read_stack
from execplan.repo.homes import require_existing
from execplan.repo.operations.whole import remove_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.amend import EditResult, WriteOptions
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef


def drop_plan(project: Project, ref: PlanRef, options: WriteOptions, *, force: bool) -> EditResult:
    """Remove a plan that is not committed, with its text in the journal; raises ExecplanError.

    Without `force` only a draft that nobody has worked on.
    """
    require_existing(project)
    ensure_not_archived(project, ref)

    def check(data: bytes) -> None:
        _ensure_uncommitted(project, ref)
        reasons = [] if force else signs_of_work(project, ref, data)
        if reasons:
            raise ExecplanError(
                "worked-on",
                f"{ref.id} is not a draft that nobody has worked on",
                exit=CHECK_FAILED,
                hint=f"drop it all the same: execplan drop {ref.shell_name} --force; execplan undo brings it back",
                candidates=reasons,
                data={"reasons": reasons},
            )

    message = f"dropped: {ref.id}; execplan undo brings it back"
    return remove_plan(project, ref, options, "drop", f"drop, {ref.id}", message, check)


def signs_of_work(project: Project, ref: PlanRef, data: bytes) -> list[str]:
    """Everything that shows that somebody has worked on a plan; raises ExecplanError."""
    steps = read_stack(project, ref.path).undoable
    created = [step for step in steps if step.latest.kind == CREATE]
    edits = steps[steps.index(created[-1]) + 1 :] if created else steps
    reasons = [f"edited: {step.operation.summary}" for step in edits]
    if created and not edits and not _is_text_of(created[-1].latest.new_digest, data):
        reasons.append("edited since it was created, by hand")
    reasons += [
        f"created by {step.operation.author}" for step in created[-1:] if step.operation.author not in ("", actor(project))
    ]
    try:
        plan = reader.read(data)
    except ExecplanError:
        return [*reasons, "it can't be read as a plan"]
    if plan.state() != DRAFT:
        reasons.append(f"it is {plan.state()}, not a draft")
    reasons += [f"task {task.number} is {task.state}: {task.text}" for task in plan.tasks if task.state != OPEN]
    logs = {
        "decisions": plan.decisions,
        "discoveries": plan.discoveries,
        "outcomes": plan.outcomes,
        "revision notes": plan.revisions,
    }
    reasons += [f"it has {len(entries)} {name}" for name, entries in logs.items() if entries]
    return reasons + [f"{claim.name} has claimed {task}" for task, claim in claims.task_claims(project, ref, plan).items()]


def _is_text_of(digest: str, data: bytes) -> bool:
    from execplan.text.lines import digest as digest_of

    return digest_of(data) == digest


def _ensure_uncommitted(project: Project, ref: PlanRef) -> None:
    """Refuse to drop a plan that git has; raises ExecplanError."""
    if project.git is None:
        return
    relative_path = os.path.relpath(ref.real_path, os.path.realpath(project.root))
    if ask.output_or_none(project, "rev-parse", "-q", "--verify", "--end-of-options", f"HEAD:{relative_path}", no_status=1):
        raise ExecplanError(
            "committed-plan",
            f"{project.display_path(ref.path)} is committed, so it is archived, not dropped",
            exit=CHECK_FAILED,
            hint=f"execplan archive {ref.shell_name} --force --reason 'Why it was given up'",
        )
    if ask.output(project, "--literal-pathspecs", "ls-files", "-s", "--", relative_path).strip():
        raise ExecplanError(
            "staged-plan",
            f"{project.display_path(ref.path)} is staged for the next commit",
            exit=CHECK_FAILED,
            hint=f"unstage it first: git restore --staged {relative_path}",
        )
