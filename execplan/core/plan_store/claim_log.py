"""Log of claims: when each was made and when it ended, in a file beside the claims, which all worktrees share.

The file of claims has only those that are in force. The log shows later who worked on a task, in which session and when.
A claim that can't be logged is made all the same.
"""

from __future__ import annotations

import os

from execplan.core.clock import now
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.text import fast_json
from execplan.core.trace import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Final

    from execplan.core.project.project import Project

FILE_NAME: Final = "claims.log"
MAX_BYTES: Final = 4 << 20
"""Size of the log in bytes above which its older half is removed."""


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
