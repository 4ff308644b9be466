"""How the last run of a plan stands, read from the end of its journal: `status` asks of every open plan."""

from __future__ import annotations

import json
import os

from execplan.engine.journal import journal_entries
from execplan.engine.run_lock import run_lock_holder
from execplan.engine.run_records import run_directories
from execplan.errors import CHECK_FAILED, ExecplanError
from execplan.execution import states
from execplan.files import file_access
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from execplan.engine.run_records.run_directories import RunPaths
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project


RUNNING: Final = "running"
WAITING: Final = "waiting"
BY_AGENT: Final = "by_agent"
CUT_SHORT: Final = "cut_short"
ROLLING_BACK: Final = "rolling_back"
STATES = (RUNNING, BY_AGENT, WAITING, CUT_SHORT, ROLLING_BACK, states.COMPLETED, states.FAILED, states.ROLLED_BACK)
"""A process is at work on it; an agent carries it out, call by call; it waits for an answer; it was interrupted or killed, and is to be resumed or rolled back; its
rollback was cut short, and is to be done once more; it ended."""
_TAIL = 1 << 16
_ROLLBACK = (journal_entries.ROLLBACK, journal_entries.RESTORED)
_NEUTRAL_KINDS = (journal_entries.REOPENED,)
"""What is written while a run goes back as well as while it goes on."""


class RunStatus(NamedTuple):
    """The last run of a plan."""

    id: str
    state: str
    """One of STATES."""
    why: str = ""
    """What it waits for, one of WHYS."""
    reason: str = ""
    """Why it failed, also where it was rolled back since; nothing for other runs."""
    ended: str = ""
    """When it failed, or ended before it was rolled back, in UTC; nothing for other runs."""

    def as_document(self) -> dict[str, str | None]:
        """As a document shows it."""
        return {**self._asdict(), **{name: getattr(self, name) or None for name in ("why", "reason", "ended")}}


def find_last_run(project: Project, ref: PlanRef) -> RunStatus | None:
    """How the last run of a plan stands, None where it was never run; raises ExecplanError."""
    for run_paths in run_directories.list_runs(project, ref):
        run_status = read_run_status(project, run_paths)
        if run_status.state != states.PENDING:
            return run_status
    return None


def read_run_status(project: Project, run_paths: RunPaths) -> RunStatus:
    """How a run stands, pending where it was killed before it began; raises ExecplanError."""
    state, fields = _last_state(run_paths.journal)
    if state in (RUNNING, ROLLING_BACK):
        is_running = run_paths.id in run_lock_holder(project)
        state = RUNNING if is_running else _idle_state(run_paths) if state == RUNNING else state
    why = str(fields.get("why", journal_entries.APPROVE)) if state == WAITING else ""
    if state not in (states.FAILED, states.ROLLED_BACK):
        return RunStatus(run_paths.id, state, why)
    reason = str(fields.get("reason", "")) if fields.get("status") == states.FAILED else ""
    return RunStatus(run_paths.id, state, why, reason, str(fields.get("at", "")))


def _idle_state(run_paths: RunPaths) -> str:
    """How a run stands that nobody is at work on at this moment: an agent's goes on with its next call."""
    try:
        with open(file_access.open_regular(run_paths.journal), "rb") as file:
            return BY_AGENT if _parse_entry(file.readline(1 << 20)).get("mode") == "agent" else CUT_SHORT
    except OSError:
        return CUT_SHORT


def _last_state(path: str) -> tuple[str, dict[str, Any]]:
    """What the last entry that counts says of the run, and that entry: of a run that was rolled back, how it had ended."""
    for lines in (_read_lines(path, _TAIL), _read_lines(path, 0)):
        is_partial = False
        """Whether these are the entries of a rollback of some steps, which changes nothing for the run."""
        for index in range(len(lines) - 1, -1, -1):
            fields = _parse_entry(lines[index])
            kind = fields.get("kind")
            if kind == journal_entries.ROLLED_BACK:
                if fields.get("whole"):
                    return states.ROLLED_BACK, _find_end(lines[:index]) or _find_end(_read_lines(path, 0))
                is_partial = True
            elif kind in _ROLLBACK:
                if not is_partial:
                    return ROLLING_BACK, fields
                is_partial = kind != journal_entries.ROLLBACK
            elif kind == journal_entries.ENDED:
                return str(fields.get("status")), fields
            elif kind in (journal_entries.PAUSED, journal_entries.REPLANNED):
                return WAITING, fields
            elif kind not in _NEUTRAL_KINDS:
                return RUNNING, fields
    return (RUNNING if lines else states.PENDING), {}


def _find_end(lines: list[bytes]) -> dict[str, Any]:
    """The last entry among some lines of a journal that says how the run ended; empty where none does."""
    mark = f'"{journal_entries.ENDED}"'.encode()
    entries = [_parse_entry(line) for line in reversed(lines) if mark in line]
    return next((fields for fields in entries if fields.get("kind") == journal_entries.ENDED), {})


def _read_lines(path: str, tail: int) -> list[bytes]:
    """The whole lines of a journal, or of so many bytes at its end; none where it is not there."""
    try:
        with open(file_access.open_regular(path), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - tail) if tail else 0)
            data = file.read()
    except OSError:
        return []
    lines = data.split(b"\n")[:-1]
    return lines[1:] if tail and size > tail else lines


def _parse_entry(line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


OPEN_STATES: Final = (RUNNING, BY_AGENT, WAITING, CUT_SHORT, ROLLING_BACK)
"""The states of a run that is not finished: all but completed, failed and rolled back."""
DESCRIPTIONS: Final = {
    RUNNING: "is running",
    BY_AGENT: "is being carried out by an agent",
    WAITING: "waits for an answer",
    CUT_SHORT: "was interrupted",
    ROLLING_BACK: "was rolled back only in part: the rollback was interrupted",
}
"""What a person reads about such a run."""


def run_number(run: str) -> int:
    """Which run of its plan a run is, from 1, by its id."""
    return int(run.partition("-")[0])


def list_open_runs(project: Project, ref: PlanRef) -> list[RunStatus]:
    """Every unfinished run of a plan, the last one first; raises ExecplanError.

    Two branches that were merged may have brought more than one.
    """
    statuses = [read_run_status(project, run_paths) for run_paths in run_directories.list_runs(project, ref)]
    return [run_status for run_status in statuses if run_status.state in OPEN_STATES]


def finishing_commands(run_status: RunStatus, name: str) -> tuple[str, ...]:
    """The commands that finish a run; the plan as it can be typed."""
    resume, rollback = (f"execplan {command} {run_status.id} -p {name}" for command in ("resume", "rollback"))
    if run_status.state == ROLLING_BACK:
        return (rollback,)
    return (f"execplan handoff {name}" if run_status.state == BY_AGENT else resume, rollback)


def ensure_no_open_runs(project: Project, ref: PlanRef, action: str) -> None:
    """Stop what would put an unfinished run where nobody can resume it or roll it back; raises ExecplanError.

    `action` is what the command would do, such as "archived".
    """
    from execplan.archive.plan_move import ensure_not_running

    ensure_not_running(project, ref)
    statuses = list_open_runs(project, ref)
    if not statuses:
        return
    lines = [f"run {run_status.id} {DESCRIPTIONS[run_status.state]}" for run_status in statuses]
    raise ExecplanError(
        "open-run",
        f"{ref.id} can't be {action}: "
        + ("it has an unfinished run" if len(statuses) == 1 else "it has unfinished runs"),
        exit=CHECK_FAILED,
        hint=f"resume or roll back first: {'; '.join(finishing_commands(statuses[0], ref.shell_name))}",
        candidates=lines,
        data={"reasons": lines},
    )


def open_run_warnings(project: Project, ref: PlanRef) -> tuple[str, ...]:
    """A warning for each unfinished run of a plan that is archived all the same; raises ExecplanError."""
    advice = f"to finish it, restore the plan first: execplan restore {ref.shell_name}"
    return tuple(
        [
            f"run {run_status.id} {DESCRIPTIONS[run_status.state]}; {advice}"
            for run_status in list_open_runs(project, ref)
        ]
    )
