"""Choice of the plan that a call belongs to, as far as it depends on names and files, not on what is in an approval."""

from __future__ import annotations

import os

from execplan.core.errors import POLICY, ExecplanError
from execplan.core.plan_store import plan_store
from execplan.execution.approvals import approval_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


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
    hint = name_hint if refs else "a person must approve one: execplan approve"
    return ExecplanError("not-approved", message, exit=POLICY, hint=hint, candidates=[ref.id for ref in refs])
