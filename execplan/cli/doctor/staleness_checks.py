"""Doctor check of plans that are not what they say, which reads git's history and runs only when asked for."""

from __future__ import annotations

from collections.abc import Iterator

from execplan.cli.doctor.doctor_check import NOT_ARCHIVED, WARNING, DoctorContext, DoctorFinding, check
from execplan.core.plan.model import COMPLETE
from execplan.core.plan_store import plan_store
from execplan.core.text.message_parts import format_count
from execplan.execution.engine.run_records.run_statuses import list_open_runs
from execplan.team.staleness.stale_plan import READY_TO_ARCHIVE
from execplan.team.staleness.stale_plans import find_stale_plans


@check("stale", is_about_staleness=True)
def check_stale_plans(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """Every plan is what it says, as far as git's history shows."""
    stored_plans = [plan_store.load(listed.project, listed.ref) for listed in context.plans]
    for stale_plan in find_stale_plans(stored_plans):
        stored_plan = stale_plan.stored_plan
        if stale_plan.kind == READY_TO_ARCHIVE and list_open_runs(stored_plan.project, stored_plan.ref):
            continue  # the plan can't be archived before its run ends
        path = stored_plan.project.display_path(stored_plan.ref.path)
        message = f"{stale_plan.kind}: {'; '.join(stale_plan.evidence)}"
        is_complete = stale_plan.remedy == f"execplan archive {stored_plan.ref.shell_name}"
        joint = NOT_ARCHIVED if is_complete and stored_plan.state == COMPLETE else None
        yield DoctorFinding(WARNING, path, message, stale_plan.remedy, line=stale_plan.line + 1, joint=joint)
    open_count = len([listed for listed in context.plans if not listed.ref.archived])
    yield f"{format_count(open_count, 'open plan')} checked"
