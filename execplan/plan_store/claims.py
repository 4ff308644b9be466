"""Time-limited claims on tasks, stored in the main git directory so that all worktrees share them."""

from __future__ import annotations

import os

from execplan.clock import now
from execplan.errors import CHECK_FAILED, INPUT, POLICY, ExecplanError
from execplan.files import atomic_files, file_access
from execplan.files.file_lock import FileLock, is_held
from execplan.named_tuple import NamedTuple
from execplan.plan.model import DONE, OPEN
from execplan.plan.plan_lookup import find_task, ids_for_texts, match_edited_tasks, task_ids
from execplan.plan_store import plan_store
from execplan.plan_store.author import actor
from execplan.project import project_state
from execplan.text import fast_json
from execplan.trace import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.model import ParsedPlan
    from execplan.plan.plan_change import PlanChange
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

DEFAULT_HOURS = 2.0
"""Default duration of a claim in hours."""
_ENFORCE = "enforce"
"""Value of the setting `claims` that turns an edit of another author's claimed task into an error."""
_MAX_FILE_BYTES = 1 << 20
_MAX_SECONDS = 30 * 24 * 3600
"""Maximum duration of a claim in seconds, also assumed if the duration is unknown."""


class Claim(NamedTuple):
    """A claim on a task for a limited time."""

    plan: str
    """Path of the plan from the repository root, equal in all worktrees; without git, from the project directory."""
    task: str
    """ID of the claimed task."""
    name: str
    until: int
    """Expiry in seconds since 1970."""
    seconds: int = _MAX_SECONDS
    """Duration in seconds; older versions did not record it."""

    def format_end(self) -> str:
        """Format the expiry as a UTC timestamp."""
        from datetime import UTC, datetime

        from execplan.clock import DEFAULT_TIMESTAMP, write_timestamp

        return write_timestamp(datetime.fromtimestamp(self.until, UTC), DEFAULT_TIMESTAMP).strip("()")


def task_claims(project: Project, ref: PlanRef, plan: ParsedPlan) -> dict[str, Claim]:
    """Return the current claims on open tasks of a plan by task ID."""
    open_ids = _open_ids(plan)
    return {claim.task: claim for claim in _plan_claims(project, ref) if claim.task in open_ids}


def claim_task(project: Project, ref: PlanRef, name: str, hours: float, task: str | None = None) -> str | None:
    """Claim a task for `name`, and return its ID, or None if no task is free.

    `task` is a number, an ID or unique text. Without it, the task is the one that `name` has already claimed, or else
    the first open task without a claim. Raises ExecplanError if the task can't be claimed.
    """
    holder = f"claim of {name}"
    with (
        project_state.lock(project, ref.real_path, holder),
        _claims_lock(project, holder),
    ):  # no edit may change the task's ID meanwhile
        plan = _read_plan(project, ref)
        claimed = task_claims(project, ref, plan)
        ids = _open_ids(plan)
        if task is None:
            chosen_id = next((task_id for task_id in ids if task_id in claimed and claimed[task_id].name == name), None)
            chosen_id = chosen_id or next((task_id for task_id in ids if task_id not in claimed), None)
        else:
            chosen_id = _require_claimable(ref, plan, claimed, task, name)
        if chosen_id is not None:
            seconds = int(hours * 3600)
            claim = Claim(_plan_key(project, ref), chosen_id, name, int(now().timestamp()) + seconds, seconds)
            _write_claims_file(project, [*[other for other in load_claims(project) if other[:2] != claim[:2]], claim])
    return chosen_id


def release_claims(project: Project, ref: PlanRef, name: str, task: str | None = None) -> list[str]:
    """Release the claims of `name` on a plan or one of its tasks, and return the task IDs.

    Raises ExecplanError on failure.
    """
    with _claims_lock(project, f"release of {name}"):
        released = _holder_claims(project, ref, name, task)
        if released:
            _write_claims_file(project, [claim for claim in load_claims(project) if claim not in released])
    return [claim.task for claim in released]


def transfer_claims(
    project: Project, ref: PlanRef, name: str, new_holder: str, task: str | None = None, hours: float | None = None
) -> list[str]:
    """Transfer the claims of `name` on a plan or one of its tasks to another author in one step; return the task IDs.

    Each claim keeps its expiry, or lasts for `hours` if given. Raises ExecplanError on failure.
    """
    with _claims_lock(project, f"release of {name} to {new_holder}"):
        old_claims = _holder_claims(project, ref, name, task)
        new_claims = [claim._replace(name=new_holder) for claim in old_claims]
        if hours is not None:
            seconds = int(hours * 3600)
            new_claims = [
                claim._replace(until=int(now().timestamp()) + seconds, seconds=seconds) for claim in new_claims
            ]
        if old_claims:
            _write_claims_file(
                project, [*[claim for claim in load_claims(project) if claim not in old_claims], *new_claims]
            )
    return [claim.task for claim in old_claims]


def move_claims(project: Project, old: str, new: str | None) -> tuple[str, ...]:
    """Move the claims on a plan to its new path, or drop them if there is none; return warnings on failure."""
    if not os.path.exists(_claims_path(project)):
        return ()
    try:
        with _claims_lock(project, "claims of a plan that moves"):
            old_key, new_key = [
                path and os.path.relpath(path, os.path.realpath(project.path_base)) for path in (old, new)
            ]
            claims = load_claims(project)
            moved = [claim._replace(plan=new_key) if claim.plan == old_key and new_key else claim for claim in claims]
            moved = [claim for claim in moved if claim.plan != old_key]
            if moved != claims:
                _write_claims_file(project, moved)
    except ExecplanError as error:
        return (f"claims on the plan stay where they were: {error.message}",)
    return ()


class ClaimGuard:
    """Context manager for edits of a plan that reports tasks claimed by others, and keeps claims on their tasks."""

    def __init__(self, project: Project, ref: PlanRef, *, dry_run: bool, enforced: bool) -> None:
        self.project = project
        self.ref = ref
        self._lock = (
            _claims_lock(project, f"edit of {ref.id}")
            if not dry_run and os.path.exists(_claims_path(project))
            else None
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
        from execplan.plan import reader

        actor_name = actor(self.project)
        other_claims = {claim.task: claim for claim in claims if claim.name != actor_name}
        plan = reader.read(old)
        claimed_ids = [task_id for task_id in _touched_task_ids(plan, change) if task_id in other_claims]
        if not claimed_ids:
            return ()
        tasks_by_id = dict(zip(task_ids(plan.tasks), plan.tasks, strict=True))
        lines = [
            f"task {tasks_by_id[task_id].number} is claimed by {other_claims[task_id].name} until {other_claims[task_id].format_end()}, and you act as {actor_name}"
            for task_id in claimed_ids
        ]
        if self._enforced:
            raise ExecplanError(
                "claimed-task",
                "; ".join(lines),
                exit=POLICY,
                hint=_handover_hint(self.ref, other_claims[claimed_ids[0]].name, actor_name),
            )
        return tuple(lines)

    def follow_tasks(self, old: bytes, change: PlanChange) -> tuple[str, ...]:
        """Move claims to the tasks that a change has reworded or split; return warnings on failure."""
        try:
            plan_claims = _plan_claims(self.project, self.ref)
            if not plan_claims or self._lock is None:
                return ()
            from execplan.plan import reader

            old_tasks, new_texts = reader.read(old).tasks, [text for _, text in change.expected_content.tasks]
            ids, new_ids = task_ids(old_tasks), ids_for_texts(new_texts)
            new_indexes = dict(zip(ids, match_edited_tasks([task.text for task in old_tasks], new_texts), strict=True))
            moved = [
                claim._replace(task=new_ids[index])
                for claim in plan_claims
                for index in new_indexes.get(claim.task, ())
            ]
            if moved != plan_claims:
                key = _plan_key(self.project, self.ref)
                _write_claims_file(
                    self.project,
                    [*[other for other in load_claims(self.project) if other.plan != key], *dict.fromkeys(moved)],
                )
        except ExecplanError as error:
            return (f"claims on the plan are as they were: {error.message}",)
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
    """Return the ID of the named open task. Raises ExecplanError if it is not open or claimed by another author."""
    task_id, task = find_task(plan, query)
    if task.state != OPEN:
        state_text = "done" if task.state == DONE else f"marked {task.mark!r}, not open"
        hint = (
            f"reopen it first: execplan reopen {task_id} -p {ref.shell_name}"
            if task.state == DONE
            else "claim an open task"
        )
        raise ExecplanError("task-done", f"task {task.number} is {state_text}: {task.text}", exit=INPUT, hint=hint)
    claim = claimed.get(task_id)
    if claim is not None and claim.name != name:
        raise ExecplanError(
            "already-claimed",
            f"task {task.number} is claimed by {claim.name} until {claim.format_end()}: {task.text}",
            exit=CHECK_FAILED,
            hint=_handover_hint(ref, claim.name, name),
        )
    return task_id


def _handover_hint(ref: PlanRef, name: str, new_holder: str) -> str:
    import shlex

    command = f"execplan next {ref.shell_name} --release {shlex.quote(name)} --to {shlex.quote(new_holder)}"
    return f"take another task, or let it be handed over: {command}"


def _holder_claims(project: Project, ref: PlanRef, name: str, query: str | None) -> list[Claim]:
    """Return an author's claims on a plan or one of its tasks. Raises ExecplanError on failure."""
    task_id = find_task(_read_plan(project, ref), query)[0] if query is not None else None
    return [claim for claim in _plan_claims(project, ref) if claim.name == name and task_id in (None, claim.task)]


def _read_plan(project: Project, ref: PlanRef) -> ParsedPlan:
    from execplan.plan import reader

    return reader.read(plan_store.read_bytes(project, ref.path))


def _open_ids(plan: ParsedPlan) -> list[str]:
    return [name for name, task in zip(task_ids(plan.tasks), plan.tasks, strict=True) if task.state == OPEN]


def _plan_claims(project: Project, ref: PlanRef) -> list[Claim]:
    claims = load_claims(project)
    key = _plan_key(project, ref) if claims else ""
    return [claim for claim in claims if claim.plan == key]


def _plan_key(project: Project, ref: PlanRef) -> str:
    return os.path.relpath(ref.real_path, os.path.realpath(project.path_base))


def _claims_path(project: Project) -> str:
    return os.path.join(project.shared_state, "claims.json")


def _lock_path(project: Project) -> str:
    return os.path.join(project.shared_state, "claims.lock")


def _claims_lock(project: Project, holder: str) -> FileLock:
    project_state.make_state_dir(project, "locks")
    atomic_files.make_directory(project.shared_state)
    return FileLock(_lock_path(project), holder)


def load_claims(project: Project) -> list[Claim]:
    """Load the current claims. Raises ExecplanError if the file is damaged.

    A claim made while the clock was ahead ends after its own duration from now. The first command that finds such a
    claim writes the corrected expiry.
    """
    claims = _read_claims_file(project)
    timestamp = int(now().timestamp())
    current = [_cap_claim(claim, timestamp) for claim in claims if claim.until > timestamp]
    if any([claim not in claims for claim in current]) and not is_held(_lock_path(project)):
        try:
            with _claims_lock(project, "claims from the future"):
                _write_claims_file(
                    project,
                    [_cap_claim(claim, timestamp) for claim in _read_claims_file(project) if claim.until > timestamp],
                )
        except ExecplanError as error:
            log(f"claims from the future are not written down: {error.message}")
    return current


def _cap_claim(claim: Claim, timestamp: int) -> Claim:
    """Limit a claim's expiry to that of a claim of the same duration made now."""
    latest = timestamp + claim.seconds
    return claim._replace(until=latest) if claim.until > latest else claim


def _read_claims_file(project: Project) -> list[Claim]:
    """Read all claims in the file, including expired ones. Raises ExecplanError if the file is damaged."""
    if not os.path.exists(_claims_path(project)):
        return []
    try:
        rows = fast_json.loads(file_access.read(_claims_path(project), _MAX_FILE_BYTES)[0])
        return [
            Claim(str(row[0]), str(row[1]), str(row[2]), int(row[3]), *[int(seconds) for seconds in row[4:5]])
            for row in rows
        ]
    except (ValueError, TypeError, IndexError, KeyError, RecursionError, OverflowError) as error:
        raise ExecplanError(
            "claims-damaged",
            f"{_claims_path(project)} can't be read: {error}",
            exit=INPUT,
            hint="remove that file; all claims are forgotten then",
        ) from None


def _write_claims_file(project: Project, claims: Sequence[Claim]) -> None:
    import json

    data = json.dumps([list(claim) for claim in claims], indent=1).encode()
    path = _claims_path(project)
    if os.path.exists(path):
        atomic_files.replace(path, file_access.read(path, _MAX_FILE_BYTES)[0], data)
    else:
        atomic_files.create(path, data)
