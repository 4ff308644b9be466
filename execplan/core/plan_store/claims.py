"""Time-limited claims on tasks: claiming, releasing and transferring them, and edits of claimed tasks."""

from __future__ import annotations

import os

from execplan.core.clock import now
from execplan.core.errors import ExecplanError
from execplan.core.plan.model import is_unfinished
from execplan.core.plan.plan_lookup import find_task, ids_for_texts, match_edited_tasks, task_ids
from execplan.core.plan_store import claims_file, plan_store
from execplan.core.plan_store.author import actor, session_id
from execplan.core.plan_store.claims_file import Claim, claims_path, load_claims, lock_claims, write_claims
from execplan.core.project import project_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan.plan_change import PlanChange
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

DEFAULT_HOURS = 2.0
"""Default duration of a claim in hours."""
CHECKPOINT_PAGE = "checkpoint.md"
"""Name of the restart page among a plan's artifacts."""
_ENFORCE = "enforce"
"""Value of the setting `claims` that turns an edit of another author's claimed task into an error."""


def task_claims(project: Project, ref: PlanRef, plan: ParsedPlan) -> dict[str, Claim]:
    """Return the current claims on open tasks of a plan by task ID."""
    open_ids = _open_ids(plan)
    return {
        claim.task: claim for claim in _plan_claims(project, ref) if claim.task in open_ids and not claim.is_finished
    }


def claims_of_others(project: Project, ref: PlanRef, plan: ParsedPlan) -> dict[str, Claim]:
    """Return the current claims of other authors on open tasks of a plan by task ID."""
    claims_by_task = task_claims(project, ref, plan)
    name = actor(project) if claims_by_task else ""
    return {task_id: claim for task_id, claim in claims_by_task.items() if claim.name != name}


def load_task_claims(project: Project, plans: Sequence[PlanRef]) -> dict[str, dict[str, Claim]]:
    """Return the current claims on tasks of plans, by path and task ID, after one read of the claims."""
    if not (all_claims := load_claims(project)):
        return {}
    paths_by_key = {_plan_key(project, ref): ref.path for ref in plans}
    claims_by_path: dict[str, dict[str, Claim]] = {}
    for claim in all_claims:
        if claim.plan in paths_by_key and not claim.is_finished:
            claims_by_path.setdefault(paths_by_key[claim.plan], {})[claim.task] = claim
    return claims_by_path


def claim_task(
    project: Project,
    ref: PlanRef,
    name: str,
    hours: float,
    task: str | None = None,
    blocked: Collection[str] = (),
    done: Collection[str] = (),
) -> str | None:
    """Claim a task for `name`, and return its ID, or None if no task is free.

    `task` is a number, an ID or unique text. Without it, the task is the one that `name` has already claimed, or else
    the first open task without a claim whose ID is not in `blocked`. Tasks in `done`, which are done in another worktree,
    are only claimed if `task` names them. Raises ExecplanError if the task can't be claimed.
    """
    holder = f"claim of {name}"
    with (
        project_state.lock(project, ref.real_path, holder),
        lock_claims(project, holder),
    ):  # no edit may change the task's ID meanwhile
        plan = _read_plan(project, ref)
        claimed = task_claims(project, ref, plan)
        ids = _open_ids(plan)
        if task is None:
            ids = [task_id for task_id in ids if task_id not in done]
            chosen_id = next((task_id for task_id in ids if task_id in claimed and claimed[task_id].name == name), None)
            chosen_id = chosen_id or next(
                (task_id for task_id in ids if task_id not in claimed and task_id not in blocked), None
            )
        else:
            chosen_id = _require_claimable(ref, plan, claimed, task, name)
        if chosen_id is not None:
            seconds = int(hours * 3600)
            session = session_id() or ""
            baseline = log_state(project, ref.path, plan) if session else ""
            expiry = int(now().timestamp()) + seconds
            claim = Claim(_plan_key(project, ref), chosen_id, name, expiry, seconds, session, baseline)
            write_claims(project, [*[other for other in load_claims(project) if other[:2] != claim[:2]], claim])
    return chosen_id


def has_claims(project: Project, ref: PlanRef) -> bool:
    """Return whether the current author has a claim on a task of a plan that is in force, also if the task is done."""
    plan_claims = _plan_claims(project, ref)
    return bool(plan_claims) and actor(project) in [claim.name for claim in plan_claims]


def release_claims(project: Project, ref: PlanRef, name: str, task: str | None = None) -> list[str]:
    """Release the claims of `name` on a plan or one of its tasks, and return the task IDs.

    Raises ExecplanError on failure.
    """
    with lock_claims(project, f"release of {name}"):
        if released := _holder_claims(project, ref, name, task):
            write_claims(project, [claim for claim in load_claims(project) if claim not in released])
    return [claim.task for claim in released]


def transfer_claims(
    project: Project, ref: PlanRef, name: str, new_holder: str, task: str | None = None, hours: float | None = None
) -> list[str]:
    """Transfer the claims of `name` on a plan or one of its tasks to another author in one step; return the task IDs.

    Each claim keeps its expiry, or lasts for `hours` if given. Raises ExecplanError on failure.
    """
    with lock_claims(project, f"release of {name} to {new_holder}"):
        old_claims = _holder_claims(project, ref, name, task)
        new_claims = [claim._replace(name=new_holder, session="", baseline="") for claim in old_claims]
        if hours is not None:
            seconds = int(hours * 3600)
            new_claims = [
                claim._replace(until=int(now().timestamp()) + seconds, seconds=seconds) for claim in new_claims
            ]
        if old_claims:
            write_claims(project, [*[claim for claim in load_claims(project) if claim not in old_claims], *new_claims])
    return [claim.task for claim in old_claims]


def move_claims(project: Project, old: str, new: str, *, is_archived: bool) -> tuple[str, ...]:
    """Move the claims on a plan to its new path, or drop them if the plan is archived; return warnings on failure.

    While another worktree has the plan at its old path, the claims also stay there.
    """
    if not os.path.exists(claims_path(project)):
        return ()
    try:
        with lock_claims(project, "claims of a plan that moves"):
            old_key, new_key = [os.path.relpath(path, os.path.realpath(project.path_base)) for path in (old, new)]
            claims = load_claims(project)
            moved = [claim._replace(plan=new_key) if claim.plan == old_key else claim for claim in claims]
            moved = [claim for claim in moved if not (is_archived and claim.plan == new_key)]
            if not is_archived and _is_in_other_worktree(project, old_key):
                moved += [claim for claim in claims if claim.plan == old_key]
            if moved != claims:
                write_claims(project, moved)
            claims_file.record_plan_move(project, old_key, new_key)
    except ExecplanError as error:
        return (f"claims on the plan were not moved: {error.message}",)
    return ()


class ClaimGuard:
    """Context manager for edits of a plan that reports tasks claimed by others, and keeps claims on their tasks."""

    def __init__(self, project: Project, ref: PlanRef, *, dry_run: bool, enforced: bool) -> None:
        self.project = project
        self.ref = ref
        self._lock = (
            lock_claims(project, f"edit of {ref.id}") if not dry_run and os.path.exists(claims_path(project)) else None
        )
        self._enforced = enforced and project.settings.claims == _ENFORCE

    def __enter__(self) -> ClaimGuard:
        if self._lock is not None:
            self._lock.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.__exit__(None, None, None)

    def check_change(self, old: bytes, change: PlanChange) -> tuple[str, ...]:
        """Return warnings about changed tasks that others have claimed. Raises ExecplanError if claims are enforced."""
        if not change.edits or not (claims := _plan_claims(self.project, self.ref)):
            return ()

        actor_name = actor(self.project)
        other_claims = {claim.task: claim for claim in claims if claim.name != actor_name and not claim.is_finished}
        plan = plan_store.parse(self.project, old)
        claimed_ids = [task_id for task_id in _touched_task_ids(plan, change) if task_id in other_claims]
        if not claimed_ids:
            return ()
        tasks_by_id = dict(zip(task_ids(plan.tasks), plan.tasks, strict=True))
        lines = [
            f"task {tasks_by_id[task_id].number} is claimed by {other_claims[task_id].name} until {other_claims[task_id].format_end()}, but you act as {actor_name}"
            for task_id in claimed_ids
        ]
        if self._enforced:
            raise ExecplanError(
                "claimed-task",
                "; ".join(lines),
                hint=_handover_hint(self.ref, other_claims[claimed_ids[0]].name, actor_name),
            )
        return tuple(lines)

    def follow_tasks(self, old: bytes, change: PlanChange) -> tuple[str, ...]:
        """Move claims to the tasks that a change has reworded or split, and mark those whose holder finishes them.

        Returns warnings on failure. While another worktree has the plan, and so the old tasks, the claims also stay on
        these.
        """
        try:
            plan_claims = _plan_claims(self.project, self.ref)
            if not plan_claims or self._lock is None:
                return ()

            old_tasks, new_tasks = plan_store.parse(self.project, old).tasks, change.expected_content.tasks
            new_texts, actor_name = [text for _, text in new_tasks], actor(self.project)
            ids, new_ids = task_ids(old_tasks), ids_for_texts(new_texts)
            new_indexes = dict(zip(ids, match_edited_tasks([task.text for task in old_tasks], new_texts), strict=True))
            moved: list[Claim] = []
            for claim in plan_claims:
                for index in new_indexes.get(claim.task, ()):
                    moved_claim = claim._replace(task=new_ids[index])
                    is_finished = not is_unfinished(*new_tasks[index])
                    moved.append(
                        moved_claim.mark_finished(is_finished=is_finished) if claim.name == actor_name else moved_claim
                    )
            if moved != plan_claims:
                key = _plan_key(self.project, self.ref)
                if _is_in_other_worktree(self.project, key):
                    moved_ids = [claim.task for claim in moved]
                    moved += [claim for claim in plan_claims if claim.task not in moved_ids]
                write_claims(
                    self.project,
                    [*[other for other in load_claims(self.project) if other.plan != key], *dict.fromkeys(moved)],
                )
        except ExecplanError as error:
            return (f"claims on the plan were not updated: {error.message}",)
        return ()


def _touched_task_ids(plan: ParsedPlan, change: PlanChange) -> list[str]:
    """Return the IDs of the tasks that a change rewords, splits, completes, reopens or removes."""
    new_tasks = change.expected_content.tasks
    new_indexes = match_edited_tasks([task.text for task in plan.tasks], [text for _, text in new_tasks])
    successors = [[new_tasks[index] for index in indexes] for indexes in new_indexes]
    return [
        task_id
        for task_id, task, new in zip(task_ids(plan.tasks), plan.tasks, successors, strict=True)
        if new != [(task.mark, task.text)]
    ]


def _require_claimable(ref: PlanRef, plan: ParsedPlan, claimed: dict[str, Claim], query: str, name: str) -> str:
    """Return the ID of the named task. Raises ExecplanError if it is done, dropped or claimed by another author."""
    task_id, task = find_task(plan, query)
    if not task.is_unfinished:
        message = f"task {task.number} is {task.state_label}: {task.text}"
        hint = f"reopen it first: execplan reopen {task_id} -p {ref.shell_name}"
        raise ExecplanError("task-done", message, hint=hint)
    claim = claimed.get(task_id)
    if claim is not None and claim.name != name:
        raise ExecplanError(
            "already-claimed",
            f"task {task.number} is claimed by {claim.name} until {claim.format_end()}: {task.text}",
            hint=_handover_hint(ref, claim.name, name),
        )
    return task_id


def _handover_hint(ref: PlanRef, name: str, new_holder: str) -> str:
    return f"choose another task, or have it handed over: {handover_command(ref, name, new_holder)}"


def handover_command(ref: PlanRef, name: str, new_holder: str) -> str:
    """Return the command that hands the claims of `name` over to another author."""
    import shlex

    return f"execplan next {ref.shell_name} --release {shlex.quote(name)} --to {shlex.quote(new_holder)}"


def _holder_claims(project: Project, ref: PlanRef, name: str, query: str | None) -> list[Claim]:
    """Return an author's claims on a plan or one of its tasks. Raises ExecplanError on failure."""
    task_id = find_task(_read_plan(project, ref), query)[0] if query is not None else None
    return [claim for claim in _plan_claims(project, ref) if claim.name == name and task_id in (None, claim.task)]


def log_state(project: Project, path: str, plan: ParsedPlan) -> str:
    """Return the state of a plan's log: it changes with each decision, discovery, revision note and restart page."""
    page = os.path.join(project.plan_artifacts_dir(path, archived=False), CHECKPOINT_PAGE)
    try:
        page_time = os.stat(page).st_mtime_ns
    except OSError:
        page_time = 0
    counts = (len(plan.decisions), len(plan.discoveries), len(plan.outcomes), len(plan.revisions))
    return " ".join([str(number) for number in (*counts, page_time)])


def session_claims(project: Project, session: str) -> list[tuple[Claim, str]]:
    """Return the claims that a session made and that are in force, each with the path of its plan here."""
    base = os.path.realpath(project.path_base)
    return [
        (claim, os.path.join(base, claim.plan))
        for claim in load_claims(project)
        if session and claim.session == session
    ]


def _read_plan(project: Project, ref: PlanRef) -> ParsedPlan:

    return plan_store.parse(project, plan_store.read_bytes(project, ref.path))


def _open_ids(plan: ParsedPlan) -> list[str]:
    return [name for name, task in zip(task_ids(plan.tasks), plan.tasks, strict=True) if task.is_unfinished]


def _plan_claims(project: Project, ref: PlanRef) -> list[Claim]:
    claims = load_claims(project)
    key = _plan_key(project, ref) if claims else ""
    return [claim for claim in claims if claim.plan == key]


def _is_in_other_worktree(project: Project, key: str) -> bool:
    """Return whether another worktree has a plan at this path from its root."""
    from execplan.core.git.linked_worktrees import has_linked_worktrees, list_worktrees  # off the fast path: edits only

    if not has_linked_worktrees(project):
        return False
    root = os.path.realpath(project.root)
    return any(
        [
            os.path.lexists(os.path.join(worktree.root, key))
            for worktree in list_worktrees(project)
            if worktree.root != root
        ]
    )


def _plan_key(project: Project, ref: PlanRef) -> str:
    return os.path.relpath(ref.real_path, os.path.realpath(project.path_base))
