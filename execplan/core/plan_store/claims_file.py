"""The files of all claims in the main git directory, which all worktrees share: current ones with a lock, and a log.

The file of claims has only those that are in force. The log shows later who worked on a task, in which session and
when. A claim that can't be logged is made all the same.
"""

from __future__ import annotations

import os

from execplan.core.clock import now
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.files.file_lock import FileLock, is_held
from execplan.core.named_tuple import NamedTuple
from execplan.core.project import project_state
from execplan.core.text import fast_json
from execplan.core.timestamps import format_minute
from execplan.core.trace import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Final

    from execplan.core.project.project import Project

FILE_NAME: Final = "claims.log"
MAX_BYTES: Final = 4 << 20
"""Size of the log in bytes above which its older half is removed."""
_MAX_FILE_BYTES = 1 << 20
_MAX_SECONDS = 30 * 24 * 3600
"""Maximum duration of a claim in seconds, also assumed if the duration is unknown."""
_FINISHED = "finished "
"""Prefix of `Claim.baseline` after the holder has checked off the task."""


class ClaimSpan(NamedTuple):
    """The time in which somebody had a claim on a task, in seconds since 1970."""

    plan: str
    """Path of the plan as in the claim: from the repository root, or from the project directory without git."""
    task: str
    """ID of the task; if it was reworded meanwhile, the last one."""
    name: str
    session: str
    """ID of the agent program's session; empty if there was none."""
    start: int
    end: int
    """When the claim was given back or handed over, or its time was over; its task may be done earlier."""


def record_change(project: Project, old: Sequence[Sequence[Any]], new: Sequence[Sequence[Any]]) -> None:
    """Log the claims that a change makes and ends. The caller holds the lock of the claims."""
    timestamp = int(now().timestamp())
    created = [list(claim) for claim in new if claim not in old]
    ended = [list(claim) for claim in old if claim not in new and claim[3] > timestamp]
    if created or ended:
        _append(project, {"at": timestamp, "created": created, "ended": ended})


def record_plan_move(project: Project, old: str, new: str) -> None:
    """Log that a plan has another path. The caller holds the lock of the claims."""
    if os.path.exists(os.path.join(project.shared_state, FILE_NAME)):
        _append(project, {"at": int(now().timestamp()), "created": [], "ended": [], "moved": [old, new]})


def _append(project: Project, record: dict[str, Any]) -> None:
    import json

    path = os.path.join(project.shared_state, FILE_NAME)
    line = json.dumps(record, ensure_ascii=False)
    try:
        handle = file_access.open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(handle, f"\n{line}".encode("utf-8", "backslashreplace"))  # starts a line: the last may be torn
            size = os.fstat(handle).st_size
        finally:
            os.close(handle)
        if size > MAX_BYTES:
            data = file_access.read(path, size)[0]
            atomic_files.replace(path, data[data.index(b"\n", size // 2) :])
    except (OSError, ValueError, ExecplanError) as error:
        log(f"couldn't log the claims: {error}")


def read_spans(project: Project) -> list[ClaimSpan]:
    """Return the times of all logged claims, oldest first. Raises ExecplanError if the log can't be read.

    A claim that moved to another task or plan, because the task was reworded or the plan renamed, is one span.
    """
    path = os.path.join(project.shared_state, FILE_NAME)
    if not os.path.exists(path):
        return []
    spans: list[ClaimSpan] = []
    open_indexes: dict[tuple[Any, ...], int] = {}
    for line in file_access.read(path, 2 * MAX_BYTES)[0].split(b"\n"):
        record = _parse_record(line)
        if record is None:
            continue
        timestamp, created, ended, (old_plan, new_plan) = record
        if new_plan:
            spans = [span._replace(plan=new_plan) if span.plan == old_plan else span for span in spans]
        moved: dict[tuple[Any, ...], int] = {}
        for claim in ended:
            index = open_indexes.pop(claim, None)
            if index is not None:
                moved[claim[2:6]] = index
                spans[index] = spans[index]._replace(end=min(spans[index].end, timestamp))
        for claim in created:
            plan, task, name, until, seconds, session = claim[:6]
            index = moved.pop(claim[2:6], None)
            if index is not None:
                old_plan, old_task = spans[index][:2]
                spans = [
                    span._replace(plan=plan, task=task) if span[:2] == (old_plan, old_task) else span for span in spans
                ]
                spans[index] = spans[index]._replace(end=until)
            else:
                index = len(spans)
                spans.append(ClaimSpan(plan, task, name, session, max(until - seconds, 0), until))
            open_indexes[claim] = index
    return spans


def _parse_record(
    line: bytes,
) -> tuple[int, list[tuple[Any, ...]], list[tuple[Any, ...]], tuple[str, str]] | None:
    """Return the time, the created and the ended claims of a line, and the old and new path of a plan, or two empty ones.

    Returns None for a line that is torn or has another form.
    """
    try:
        record = fast_json.loads(line)
        created, ended = [[_parse_claim(row) for row in record[field]] for field in ("created", "ended")]
        old_plan, new_plan = record.get("moved", ("", ""))
        return int(record["at"]), created, ended, (str(old_plan), str(new_plan))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError):
        return None


def _parse_claim(row: Any) -> tuple[Any, ...]:
    plan, task, name, until, seconds, session, baseline = row
    return str(plan), str(task), str(name), int(until), int(seconds), str(session), str(baseline)


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
    session: str = ""
    """ID of the agent program's session that made the claim; empty if there was none, or if it was handed over."""
    baseline: str = ""
    """State of the plan's log when a session made the claim, as returned by `log_state`; see also `mark_finished`."""

    @property
    def is_finished(self) -> bool:
        """Return whether the holder has checked off the task: should it be reopened, it is nobody's."""
        return self.baseline.startswith(_FINISHED)

    def mark_finished(self, *, is_finished: bool) -> Claim:
        """Return the claim with or without the mark of a finished task, in a field that older versions keep."""
        baseline = self.baseline.removeprefix(_FINISHED)
        return self._replace(baseline=_FINISHED + baseline if is_finished else baseline)

    def format_end(self) -> str:
        """Format the expiry as a UTC timestamp."""
        return format_minute(self.until)


def load_claims(project: Project) -> list[Claim]:
    """Load the current claims. Raises ExecplanError if the file is damaged.

    A claim made while the clock was ahead ends after its own duration from now. The first command that finds such a
    claim writes the corrected expiry.
    """
    claims = _read_claims_file(project)
    timestamp = int(now().timestamp())
    current = [_cap_claim(claim, timestamp) for claim in claims if claim.until > timestamp]
    has_corrected = any([claim not in claims for claim in current])
    if has_corrected and not project.is_read_only and not is_held(_lock_path(project)):
        try:
            with lock_claims(project, "claims from the future"):
                write_claims(
                    project,
                    [_cap_claim(claim, timestamp) for claim in _read_claims_file(project) if claim.until > timestamp],
                )
        except ExecplanError as error:
            log(f"claims from the future were not recorded: {error.message}")
    return current


def _cap_claim(claim: Claim, timestamp: int) -> Claim:
    """Limit a claim's expiry to that of a claim of the same duration made now."""
    latest = timestamp + claim.seconds
    return claim._replace(until=latest) if claim.until > latest else claim


def write_claims(project: Project, claims: Sequence[Claim]) -> None:
    """Replace all claims in the file, and log the change; raises ExecplanError."""
    import json

    data = json.dumps([list(claim) for claim in claims], indent=1).encode()
    path = claims_path(project)
    old_claims = _read_claims_file(project)
    if os.path.exists(path):
        atomic_files.replace_if_unchanged(path, file_access.read(path, _MAX_FILE_BYTES)[0], data)
    else:
        atomic_files.create(path, data)
    record_change(project, old_claims, claims)


def _read_claims_file(project: Project) -> list[Claim]:
    """Read all claims in the file, including expired ones. Raises ExecplanError if the file is damaged."""
    if not os.path.exists(claims_path(project)):
        return []
    try:
        rows = fast_json.loads(file_access.read(claims_path(project), _MAX_FILE_BYTES)[0])
        return [
            Claim(
                str(row[0]),
                str(row[1]),
                str(row[2]),
                int(row[3]),
                int(row[4]) if len(row) > 4 else _MAX_SECONDS,
                *[str(field) for field in row[5:7]],
            )
            for row in rows
        ]
    except (ValueError, TypeError, IndexError, KeyError, RecursionError, OverflowError) as error:
        raise ExecplanError(
            "claims-damaged",
            f"{claims_path(project)} can't be read: {error}",
            hint="remove that file, which deletes all claims",
        ) from None


def lock_claims(project: Project, holder: str) -> FileLock:
    """Create the lock to hold while claims are changed; `holder` describes the command.

    Raises ExecplanError for a read-only project.
    """
    project_state.make_state_dir(project, "locks")
    atomic_files.make_directory(project.shared_state)
    return FileLock(_lock_path(project), holder)


def claims_path(project: Project) -> str:
    """Return the path of the file of all claims."""
    return os.path.join(project.shared_state, "claims.json")


def _lock_path(project: Project) -> str:
    return os.path.join(project.shared_state, "claims.lock")
