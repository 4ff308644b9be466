"""Can every plan be read, and does it lie where it belongs?"""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from execplan.engine.open_runs import list_open_runs
from execplan.lint.runner import lint_plan
from execplan.lint.selection import RuleSelection
from execplan.repo import shelf
from execplan.repo.checking.one import CheckOptions, make_rule_context
from execplan.repo.checking.selected import active_levels
from execplan.repo.checking.whole import list_artifacts
from execplan.view.doctor.check import ERROR, WARNING, Finding, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.repo.shelf import StoredPlan
    from execplan.view.doctor.ground import DoctorContext

_UNFINISHED, _UNFILED = "EP502", "EP503"
_ORPHAN = "EP505"


@check("plans")
def check_plans(context: DoctorContext) -> Iterator[Finding | str]:
    """Every plan can be read, and none holds conflict markers."""
    for stored_plan in context.plans:
        path = stored_plan.project.display_path(stored_plan.ref.path)
        if stored_plan.error is not None:
            yield Finding(ERROR, path, stored_plan.error.message, stored_plan.error.hint, line=stored_plan.error.line)
        elif stored_plan.plan is not None and stored_plan.plan.conflict_lines:
            count = len(stored_plan.plan.conflict_lines)
            remedy = f"execplan merge {quote(path)}, or take one side and remove the markers"
            message = f"{count} conflict markers are left, so nothing can be written"
            yield Finding(ERROR, path, message, remedy, line=stored_plan.plan.conflict_lines[0] + 1)
    for problem in context.unreadable_folders:
        if not os.path.isdir(os.path.join(context.project.root, problem.path)):
            continue  # the check of folders says so
        hint = f"let yourself in: chmod u+rx {quote(problem.path)}"
        yield Finding(ERROR, problem.path, f"plans may be hidden: {problem.error.message}", hint)
    archived_flags = [stored_plan.ref.archived for stored_plan in context.plans]
    count = archived_flags.count(False)
    yield f"{count} plan{'s' if count != 1 else ''}, {archived_flags.count(True)} archived"


@check("places")
def check_plan_locations(context: DoctorContext) -> Iterator[Finding | str]:
    """Finished plans lie in the archive, and no unfinished one does unless it says why."""
    for stored_plan in context.plans:
        if stored_plan.plan is not None and not stored_plan.plan.conflict_lines:
            yield from _find_misplaced(stored_plan)


def _find_misplaced(stored_plan: StoredPlan) -> Iterator[Finding]:
    """What lint finds about the place of a plan, as the settings want it."""
    project, ref, _, plan, _ = stored_plan
    assert plan is not None
    path = project.display_path(ref.path)
    rule_levels = {code: level for code, level in active_levels(project, RuleSelection(), path).items() if code in (_UNFINISHED, _UNFILED)}
    for finding in lint_plan(plan, make_rule_context(project, ref, CheckOptions()), rule_levels):
        if finding.code == _UNFILED:
            if list_open_runs(project, ref):
                continue  # the check of runs reports it: the plan can't be archived before
            remedy = f"execplan archive {ref.shell_name}"
        elif plan.is_archived_unfinished or finding.code != _UNFINISHED:
            continue
        else:
            remedy = f"execplan restore {ref.shell_name}, then finish it, or archive it with --force --reason"
        yield Finding(WARNING, path, finding.message, remedy, line=finding.line)


@check("ids")
def check_ids(context: DoctorContext) -> Iterator[Finding | str]:
    """No two plans have the same id, in no case and no Unicode form, archived ones and those of other homes too."""
    plans_by_id: dict[str, list[StoredPlan]] = {}
    for stored_plan in context.plans:
        plans_by_id.setdefault(shelf.normalize_id(stored_plan.ref.id), []).append(stored_plan)
    for duplicates in plans_by_id.values():
        if len(duplicates) > 1:
            paths = [stored_plan.project.display_path(stored_plan.ref.path) for stored_plan in duplicates]
            movable_index = next((index for index, stored_plan in enumerate(duplicates) if not stored_plan.ref.archived), None)
            command = f"execplan rename {quote(paths[movable_index])} 'Another title'" if movable_index is not None else ""
            remedy = command or f"give one of the files another name: git mv {quote(paths[0])} OTHER"
            yield Finding(WARNING, paths[0], f"its id is also that of {', '.join(paths[1:])}", remedy)


@check("artifacts")
def check_artifacts(context: DoctorContext) -> Iterator[Finding | str]:
    """Every folder of artifacts belongs to a plan."""
    stored_plans = context.plans
    for project in context.projects if not context.unreadable_folders else ():
        if _ORPHAN not in active_levels(project, RuleSelection(), ""):
            yield f"not looked at in {project.display_path(project.base) or '.'}: its settings leave {_ORPHAN} out"
            continue
        names = {shelf.normalize_id(stored_plan.ref.id) for stored_plan in stored_plans if stored_plan.project is project}
        for name, path in list_artifacts(project):
            if name not in names:
                folder = os.path.dirname(path)
                remedy = f"mv {quote(path)} {quote(folder)}/ID-OF-ITS-PLAN, or remove it: rm -r {quote(path)}"
                yield Finding(WARNING, path, "artifacts of a plan that is not there", remedy)
