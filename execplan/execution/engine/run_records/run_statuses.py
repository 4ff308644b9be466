"""The status of a plan's last run by the kinds of its entries: `status` checks every open plan, and parsing takes long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.text import fast_json
from execplan.execution import rare_features, states
from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.journal.journal_entries import RunProgress
from execplan.execution.engine.run_lock import run_lock_holder
from execplan.execution.engine.run_records import run_directories

if TYPE_CHECKING:
    from typing import Any, Final

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.engine.run_state import Question


RUNNING: Final = "running"
WAITING: Final = "waiting"
BY_AGENT: Final = "by_agent"
CUT_SHORT: Final = "cut_short"
ROLLING_BACK: Final = "rolling_back"
STATES = (RUNNING, BY_AGENT, WAITING, CUT_SHORT, ROLLING_BACK, states.COMPLETED, states.FAILED, states.ROLLED_BACK)
"""States of a run.

In order: a process works on it; an agent performs it call by call; it waits for an answer; it was interrupted or
killed, and has to be resumed or rolled back; its rollback was interrupted and has to be repeated; it ended.
"""
EDITED: Final = "edited"
"""Why a run can continue only with a new revision: the plan's steps were edited.

If it was interrupted in a step, whose outcome nobody knows, it continues only with the steps that it began with.
"""
REMOVED: Final = "removed"
"""Why a run can only be rolled back: all steps were removed from the plan."""
_STOP_STATES = {
    journal_entries.PAUSED: WAITING,
    journal_entries.REPLANNED: WAITING,
    journal_entries.ROLLED_BACK: states.ROLLED_BACK,
}
"""State of a run after an entry; `RUNNING` for other kinds. An end names its status itself."""


class RunStatus(NamedTuple):
    """The status of a run of a plan."""

    id: str
    state: str
    """State of the run, one of `STATES`."""
    why: str = ""
    """Why the run waits, one of `QUESTION_REASONS`; `EDITED` for a run that is to be replanned, or `REMOVED`."""
    reason: str = ""
    """Why the run failed, even if it was rolled back since, or the question that it waits for; empty for other runs."""
    ended: str = ""
    """UTC time at which the run failed, or ended before its rollback; empty for other runs."""
    executor: str = ""
    """Executor with which a run that can be resumed was begun or last resumed; empty for this machine."""

    def as_document(self) -> dict[str, str | None]:
        """Return the status in the form of a document."""
        return {name: value or None for name, value in self._asdict().items()}


def find_last_run(project: Project, ref: PlanRef) -> RunStatus | None:
    """Return the status of a plan's last run; None if the plan never ran. Raises ExecplanError."""
    for run_paths in run_directories.list_runs(project, ref):
        run_status = read_run_status(run_paths)
        if run_status.state != states.PENDING:
            return run_status
    return None


def read_run_status(run_paths: RunPaths) -> RunStatus:
    """Return the status of a run; pending if it was killed before it began. Raises ExecplanError."""
    run_status = read_journaled_status(run_paths)
    if run_status.state not in (WAITING, BY_AGENT, CUT_SHORT, states.FAILED):
        return run_status
    from execplan.execution.engine.replanning.run_revisions import has_edited_steps
    from execplan.execution.engine.run_records.run_summary import load_run_state, read_run_entries

    try:
        entries = read_run_entries(run_paths)
        if not has_edited_steps(run_paths, entries):
            return run_status
        if run_status.state in (BY_AGENT, CUT_SHORT) and load_run_state(run_paths, entries).open_attempts():
            is_cut_short = run_status.state == CUT_SHORT  # an agent reports the step first
            return run_status._replace(why=EDITED) if is_cut_short else run_status
    except ExecplanError:  # `audit` and `doctor` report it
        return run_status
    why = REMOVED if features.load(features.NO_STEPS)(run_paths.project, run_paths.ref) else EDITED
    if run_status.state == states.FAILED:
        return run_status._replace(why=why)
    return run_status._replace(state=WAITING, why=why, reason="")


def read_journaled_status(run_paths: RunPaths) -> RunStatus:
    """Return the status of a run without regard to its plan. Raises ExecplanError."""
    progress = _read_progress(run_paths.journal)
    state, fields = _state_of(progress), progress.last_fields
    if state in (RUNNING, ROLLING_BACK):
        if run_paths.id in run_lock_holder(run_paths.project):
            state = RUNNING
        elif state == RUNNING:  # an agent's run continues with its next call
            state = BY_AGENT if progress.is_agent_run else CUT_SHORT
    if state == BY_AGENT and (question := _find_question(run_paths)) is not None:
        return RunStatus(run_paths.id, WAITING, question.why, question.words)
    why = str(fields.get("why", journal_entries.APPROVE)) if state == WAITING else ""
    executor = progress.executor if state in (WAITING, CUT_SHORT, states.FAILED) else ""
    if state not in (states.FAILED, states.ROLLED_BACK):
        question_text = str(fields.get("question", "")) if state == WAITING else ""
        return RunStatus(run_paths.id, state, why, question_text, executor=executor)
    reason = str(fields.get("reason", "")) if fields.get("status") == states.FAILED else ""
    return RunStatus(run_paths.id, state, why, reason, str(fields.get("at", "")), executor)


def _find_question(run_paths: RunPaths) -> Question | None:
    """Return the question before the next step of an agent's run; None if the run can't be read, as `handoff` reports."""
    from execplan.execution.engine.replanning.run_revisions import load_document
    from execplan.execution.engine.run_records.run_summary import read_run_entries
    from execplan.execution.engine.run_state import RunState

    try:
        entries = read_run_entries(run_paths)
        run_state = RunState(load_document(run_paths, entries), entries)
        question: Question | None = features.load(rare_features.AGENT_QUESTION)(run_paths.project, run_state)
    except ExecplanError:
        return None
    return question


def is_agent_run(run_paths: RunPaths) -> bool:
    """Return whether an agent performs the steps of a run, call by call."""
    return _read_progress(run_paths.journal).is_agent_run


def _state_of(progress: RunProgress) -> str:
    """Return the state of a run without regard to the processes that work on it."""
    if progress.is_rolling_back:
        return ROLLING_BACK
    if progress.last_kind == journal_entries.ENDED:
        return str(progress.last_fields.get("status"))
    return states.PENDING if progress.last_kind is None else _STOP_STATES.get(progress.last_kind, RUNNING)


def _read_progress(path: str) -> RunProgress:
    """Return how far a run has come, by its journal."""
    progress = RunProgress()
    for line in _read_lines(path):
        kind = _kind_of(line)
        progress.advance(kind, _parse_entry(line) if kind in RunProgress.KINDS else {})
    return progress


def _read_lines(path: str) -> list[bytes]:
    """Return the complete lines of a journal; none if it does not exist."""
    try:
        with open(file_access.open_regular(path), "rb") as file:
            return file.read().split(b"\n")[:-1]
    except OSError:
        return []


def _kind_of(line: bytes) -> str:
    """Return the kind of the entry in a line, which is its second field, without parsing the others."""
    return line[:64].partition(b',"kind":"')[2].partition(b'"')[0].decode("ascii", "replace")


def _parse_entry(line: bytes) -> dict[str, Any]:
    try:
        fields = fast_json.read(line.decode(), allow_surrogates=True)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


OPEN_STATES: Final = (RUNNING, BY_AGENT, WAITING, CUT_SHORT, ROLLING_BACK)
"""States of an unfinished run: all but completed, failed and rolled back."""
_DESCRIPTIONS: Final = {
    RUNNING: "is running",
    BY_AGENT: "is in progress, performed by an agent",
    WAITING: "is waiting for an answer",
    EDITED: "can't continue: its steps were edited in the plan",
    REMOVED: "can't continue: its steps were removed from the plan",
    CUT_SHORT: "was interrupted",
    ROLLING_BACK: "is only partly rolled back: the rollback was interrupted",
}
"""Description for users of each open state, and of a run whose steps were edited or removed."""


def describe_open_state(state: str, why: str, *, is_approved: bool = False) -> str:
    """Describe the state of an unfinished run, as in "was interrupted", given why it waits.

    `is_approved` says whether the new revision for which it waits has been approved.
    """
    if why == journal_entries.APPROVE:
        return "can be resumed: its new revision is approved" if is_approved else "is waiting for an approval"
    if why == journal_entries.COVERED:
        return "can be resumed: its new revision needs no approval"
    if why == EDITED and state == CUT_SHORT:
        return "was interrupted in a step: to resume it, change the steps in the plan back"
    return _DESCRIPTIONS[why if why in (EDITED, REMOVED) else state]


def run_number(run: str) -> int:
    """Return the number of a run in its plan, from 1, by its ID."""
    return int(run.partition("-")[0])


def list_open_runs(project: Project, ref: PlanRef) -> list[RunStatus]:
    """List every unfinished run of a plan, last one first. Raises ExecplanError.

    A merge of two branches may bring more than one.
    """
    statuses = [read_run_status(run_paths) for run_paths in run_directories.list_runs(project, ref)]
    return [run_status for run_status in statuses if run_status.state in OPEN_STATES]
