"""The plan that a call belongs to, and the stored reason why it allows nothing now: the error of a full check, signed.

The reason is only used to deny: a call that it does not apply to is checked in full. It applies while the clock is in
the same period of every approval, for at most an hour, and while every file that decides about the plan has the same
status.
"""

from __future__ import annotations

import os
from time import time_ns

from execplan import __version__
from execplan.core import clock
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import plan_store
from execplan.core.project import project_state, user_settings
from execplan.core.text import fast_json
from execplan.core.text.hmac_signature import sign, signatures_match
from execplan.execution.approvals import approval_key, approval_paths, file_watch, user_directories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Final

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.approvals.approved_plan import ApprovalCandidate
    from execplan.execution.approvals.file_watch import WatchedPath

_DIRECTORY: Final = "denials"
_MAX_BYTES: Final = 1 << 20
_MAX_AGE_SECONDS: Final = 3600.0
_SIGNATURE_CONTEXT: Final = b"execplan-denial-1\n"
"""Prefix of the signed data, so that a signature of another kind is not accepted here."""
_STORED_CODES: Final = frozenset(
    (
        "not-approved",
        "approval-used",
        "approval-expired",
        "approval-altered",
        "stale-approval",
        "no-steps",
        "paused",
        "run-cut-short",
    )
)
"""Codes of errors that depend only on the watched files and the clock, not on a disk, a lock or another process."""


def find_named(plan_name: str | None) -> tuple[Project, PlanRef] | None:
    """Find the plan that was named, also by EXECPLAN_PLAN; return None if none was. Raises ExecplanError."""
    if plan_name is None and not os.environ.get("EXECPLAN_PLAN"):
        return None
    from execplan.core.plan_store import plan_selection

    return plan_selection.select_plan(os.getcwd(), plan_name)


def find_approved(project: Project) -> list[PlanRef]:
    """Return the plans that have approvals, valid or not; if there are several, those that aren't complete.

    Raises ExecplanError.
    """
    refs = [ref for ref in plan_store.all_refs(project) if not ref.archived and approval_paths.list_paths(project, ref)]
    if len(refs) < 2:
        return refs
    from execplan.core.plan.model import COMPLETE
    from execplan.core.plan_facts import facts_loader

    return [ref for ref in refs if facts_loader.read_plan_facts(project, ref).state != COMPLETE] or refs


def choice_error(refs: Sequence[PlanRef]) -> ExecplanError:
    """Return the error for no plan that allows anything, or for several."""
    message = f"{len(refs)} plans are approved here" if refs else "no plan is approved here"
    name_hint = "specify the plan to run: execplan guard -p PLAN"
    hint = (
        name_hint
        if refs
        else "a person must approve one that has steps: execplan approve; see how to write them: execplan explain steps"
    )
    return ExecplanError("not-approved", message, hint=hint, candidates=[ref.id for ref in refs])


def find(project: Project, plan_name: str | None) -> ExecplanError | None:
    """Return why no plan allows a call; None if that has to be checked. Raises ExecplanError if no plan is found."""
    named_plan = find_named(plan_name)
    if named_plan is not None:
        return load(*named_plan)
    refs = find_approved(project)
    if not refs:
        return choice_error(refs)
    denials = [load(project, ref) for ref in refs]
    if len(refs) == 1 or None in denials:
        return denials[0] if len(refs) == 1 else None
    return choice_error(refs)


def load(project: Project, ref: PlanRef) -> ExecplanError | None:
    """Return the stored error of a plan; None if there is none, or if anything it depends on has changed."""
    try:
        data, size = file_access.read(_path_of(project, ref), _MAX_BYTES)
        signature, newline, body = data.partition(b"\n")
        if size > _MAX_BYTES or not newline or not signatures_match(signature, _sign(project, body)):
            return None
        denial = fast_json.read(body.decode(), allow_surrogates=True)
        valid_from, valid_until = denial["period"]
        error = denial["error"]
        applies = (
            denial["origin"] == _origin(project, ref)
            and valid_from <= clock.epoch_seconds() < valid_until
            and file_watch.are_unchanged(denial["files"])
        )
        if not applies or error["code"] not in _STORED_CODES:
            return None
        return ExecplanError.restore(error)
    except (ExecplanError, OSError, ValueError, KeyError, TypeError):
        return None


class CheckStart(NamedTuple):
    """The time at which a check started, by the clock of files and by that of approvals."""

    ns: int
    """Time in nanoseconds since 1970, as the system sets it for files."""
    seconds: float
    """Time in seconds since 1970, which SOURCE_DATE_EPOCH can fix."""


def start_check() -> CheckStart:
    """Return the current time, before anything that a check depends on is read."""
    return CheckStart(time_ns(), clock.epoch_seconds())


def store(
    project: Project, ref: PlanRef, error: ExecplanError, candidate: ApprovalCandidate | None, start: CheckStart
) -> None:
    """Store the error of a check if it depends only on files and on the period of approvals; ignore write errors."""
    if (
        error.code not in _STORED_CODES
        or ref.archived
        or not project.exists
        or (candidate is not None and candidate.policy.depends_on_commits)
    ):
        return
    from execplan.core.files import atomic_files

    try:
        watched_files = file_watch.watch([*_list_paths(project, ref, candidate)])
        if file_watch.may_have_changed_since(watched_files, start.ns):
            return
        denial = {
            "origin": _origin(project, ref),
            "period": _find_period(project, ref, start.seconds),
            "files": watched_files,
            "error": {
                "code": error.code,
                "message": error.message,
                "exit": error.exit,
                "hint": error.hint,
                "candidates": error.candidates,
            },
        }
        body = fast_json.write(denial).encode("utf-8", "backslashreplace")
        project_state.make_state_dir(project, _DIRECTORY)
        data = _sign(project, body) + b"\n" + body
        atomic_files.replace(_path_of(project, ref), data, mode=0o600, durable=False, is_locked=False)
    except (ExecplanError, OSError, ValueError, TypeError):
        return


def _sign(project: Project, body: bytes) -> bytes:
    """Sign with the key of approvals; without one, nothing can be approved, and a checksum is enough."""
    return sign(approval_key.read(project) or b"", _SIGNATURE_CONTEXT + body)


def _path_of(project: Project, ref: PlanRef) -> str:
    return os.path.join(project.state, _DIRECTORY, f"{project_state.path_key(ref.path)}.json")


def _origin(project: Project, ref: PlanRef) -> str:
    """Return the other inputs of the check: the release, the user, the project, the plan, and the user's paths."""
    project_fields = [*project[:3], project.settings._asdict(), project.exists]
    paths = [
        user_settings.path(),
        user_directories.config_directory(project),
        user_directories.state_directory(project),
    ]
    origin = [__version__, os.geteuid(), project_fields, list(ref), paths]
    return fast_json.write(origin).encode("utf-8", "backslashreplace").decode()


def _find_period(project: Project, ref: PlanRef, started: float) -> tuple[float, float]:
    """Return the period around a time, in seconds since 1970, in which no approval begins to be valid or expires."""
    from execplan.execution.approvals import approval_files
    from execplan.execution.permission import CLOCK_SKEW_SECONDS, NEVER

    approvals = approval_files.select_readable(approval_files.read_all(project, ref))
    terms = [stored.approval.terms(NEVER) for stored in approvals]
    limits = [limit for term in terms for limit in (term.approved - CLOCK_SKEW_SECONDS, term.expires)]
    return started, min([limit for limit in limits if limit > started], default=started + _MAX_AGE_SECONDS)


def _list_paths(project: Project, ref: PlanRef, candidate: ApprovalCandidate | None) -> Iterator[WatchedPath]:
    """Iterate over the paths that decide whether a plan allows anything: those of its approvals and of its runs.

    Raises ExecplanError.
    """
    from execplan.execution.engine.agent_runs import guard_grant

    yield from file_watch.list_paths(project, ref, candidate, with_programs=False)
    run_paths = [*_list_run_paths(project, ref), guard_grant.path_of(project, ref.id)]
    yield from [(path, True) for path in run_paths]
    inside_paths = [path for path in [ref.path, *run_paths] if path.startswith(f"{project.root}/")]
    yield from [(path, False) for path in file_watch.list_parents(project, inside_paths)]


def _list_run_paths(project: Project, ref: PlanRef) -> Iterator[str]:
    """Iterate over the files of the last run, the directories that show a newer one, and the audit log.

    Raises ValueError if a run's directory is missing: git then decides whether that run counts.
    """
    from execplan.execution.approvals import artifact_store
    from execplan.execution.engine.run_records import run_directories, run_summary

    runs_directory = run_directories.runs_directory(project, ref)
    state_directory = project_state.plan_state_dir(project, ref.path)
    yield from (runs_directory, state_directory, artifact_store.path_of(project, ref, "ledger.jsonl"))
    names = {name for name in file_access.list_names(state_directory) if run_directories.is_run_id(name)}
    if names - set(file_access.list_names(runs_directory)):
        raise ValueError("a run without a directory among the artifacts")
    last_run, _ = run_summary.find_last_begun_run(project, ref)
    for run_paths in run_directories.list_runs(project, ref):
        if last_run is None or run_paths.number >= last_run.number:
            yield from (run_paths.state_journal, run_paths.copy_path(run_directories.JOURNAL), run_paths.kept_path)
            for directory in (run_paths.folder, run_paths.state, run_paths.copy):
                yield directory
                yield from [os.path.join(directory, name) for name in file_access.list_names(directory)]
