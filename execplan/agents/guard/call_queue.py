"""The queue of calls that need a full check: each waits for one of a few slots, and looks for a grant first."""

from __future__ import annotations

import os

from execplan.agents.guard import call_recording, grant_lookup
from execplan.agents.guard.guard_context import context_from_grant
from execplan.core.errors import ExecplanError
from execplan.core.files.file_lock import is_held, set_timeout
from execplan.core.project import project_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.agents.guard.guard_decision import GuardDecision
    from execplan.agents.guard.tool_call import ToolCall
    from execplan.core.files.file_lock import FileLock
    from execplan.core.project.project import Project

_MAX_SLOTS: Final = 16
_RUN_STARTED_CODES: Final = frozenset(("approval-used", "journal-altered"))
"""Error codes that occur while another call starts the run."""


def decide_in_turn(
    project: Project, call: ToolCall, plan_name: str | None, *, asks: bool
) -> tuple[GuardDecision, tuple[str, ...]]:
    """Decide on a call once it has a slot. Raises ExecplanError.

    Another call may have started the run before or during this.
    """
    with _lock_slot(project):
        return _decide_with_slot(project, call, plan_name, asks=asks)


def _decide_with_slot(
    project: Project, call: ToolCall, plan_name: str | None, *, asks: bool
) -> tuple[GuardDecision, tuple[str, ...]]:
    if (outcome := _decide_by_current_grant(call, plan_name, asks=asks)) is not None:
        return outcome
    from execplan.agents.guard.full_check import decide_by_plan

    try:
        return decide_by_plan(project, call, plan_name, asks=asks)
    except ExecplanError as error:
        if error.code not in _RUN_STARTED_CODES:
            raise
        with call_recording.lock_runs(project, call):
            pass  # wait until the other call has started the run
        if (outcome := _decide_by_current_grant(call, plan_name, asks=asks)) is not None:
            return outcome
        raise


def _decide_by_current_grant(
    call: ToolCall, plan_name: str | None, *, asks: bool
) -> tuple[GuardDecision, tuple[str, ...]] | None:
    """Decide on a call by the grant in force; return None if there is none. Raises ExecplanError."""
    grant = grant_lookup.find_grant(plan_name)
    if grant is None:
        return None
    entries = call_recording.read_entries(grant)
    context = context_from_grant(grant, entries)
    if call_recording.is_run_over(context):
        return None
    return (call_recording.decide_by_grant(call, grant, entries, context, asks=asks), grant.hidden)


def _lock_slot(project: Project) -> FileLock:
    """Acquire one of the slots for calls that check a complete plan.

    There are two slots per processor; other calls wait. The first calls save the later ones most of the work, for
    example by starting the run.
    """
    set_timeout(call_recording.LOCK_TIMEOUT)
    slots = [f"guard-{number}" for number in range(min(2 * (os.cpu_count() or 1), _MAX_SLOTS))]
    free_slots = [slot for slot in slots if not is_held(project_state.lock_path(project, slot))]
    return project_state.lock(project, (free_slots or slots)[os.getpid() % len(free_slots or slots)], "guard")
