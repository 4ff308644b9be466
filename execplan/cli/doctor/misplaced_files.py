"""Files at the wrong place: plans that are there twice, not listed or deleted, and artifacts that are not where their plan is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from shlex import quote

from execplan.cli.doctor.doctor_check import WARNING, DoctorFinding
from execplan.core.edits.edit_entries import MOVE
from execplan.core.edits.undo_stack import build_stack, load_entries
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_facts.listed_plan import ListedPlan
from execplan.core.plan_store import missing_plans
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.plan_journal import former_paths
from execplan.core.project.project import Project
from execplan.core.project.project_settings import NON_PLAN_FILES


def find_misplaced_artifacts(project: Project, refs: Sequence[PlanRef]) -> Iterator[DoctorFinding]:
    """Yield a finding for each directory of artifacts that commands don't find, because its plan was moved without it."""
    names = {(ref.id, ref.archived) for ref in refs}
    for ref in refs if project.is_flat else ():
        folder = project.artifacts_dir(ref.id, archived=not ref.archived)
        target = project.plan_artifacts_dir(ref.path, archived=ref.archived)
        is_of_other_plan = (ref.id, not ref.archived) in names
        if is_of_other_plan or os.path.realpath(folder) == os.path.realpath(target) or not os.path.isdir(folder):
            continue
        entries = file_access.list_names(folder)
        if entries:
            state = "is archived" if ref.archived else "is not archived"
            message = f"the plan {state}, but these artifacts of it are elsewhere, so commands don't find them"
            remedy = _suggest_move(project.display_path(folder), project.display_path(target), entries, target)
            yield DoctorFinding(WARNING, project.display_path(folder), message, remedy)


def find_deleted_plans(project: Project) -> Iterator[DoctorFinding]:
    """Yield a finding for each plan that was deleted and that git has. Raises ExecplanError if git fails."""
    for path in missing_plans.find_deleted(project):
        removal = missing_plans.removal_command([path])
        remedy = f"{missing_plans.restore_command([path])}; or commit its removal: {removal}"
        yield DoctorFinding(WARNING, project.display_path(path), "deleted, but git still has it", remedy)


def suggest_listed_file(project: Project, path: str, targets: set[str]) -> str:
    """Return the command that moves a plan to where commands list it, and add the new path to `targets`.

    In a layout with a directory for each plan, the file is renamed in the one that it is in, because the directory may
    have more files of the plan.
    """
    directory = os.path.dirname(path)
    name = os.path.splitext(os.path.basename(path))[0].strip(".") or "plan"
    target = project.plan_file(project.plans, name)
    plan_folders = (project.plans, *project.archives)
    if not project.is_flat and directory not in plan_folders and os.path.dirname(directory) in plan_folders:
        target = project.plan_file(*os.path.split(directory))
    if os.path.basename(target).lower() in NON_PLAN_FILES or target in targets or os.path.lexists(target):
        target = project.plan_file(project.plans, "OTHER-NAME")
    targets.add(target)
    parent = os.path.dirname(target)
    creation = "" if os.path.isdir(parent) else f"mkdir -p {quote(project.display_path(parent))} && "
    return f"{creation}mv {quote(project.display_path(path))} {quote(project.display_path(target))}"


def _suggest_move(folder: str, target: str, entries: Sequence[str], target_path: str) -> str:
    """Return the command that moves the entries of a directory to another one, or what to do if both have some of them."""
    if not os.path.lexists(target_path):
        return f"mkdir -p {quote(os.path.dirname(target))} && mv {quote(folder)} {quote(target)}"
    in_both = [name for name in entries if os.path.lexists(os.path.join(target_path, name))]
    if in_both:
        return f"move its files to {quote(target)}, and join those that exist there too: {', '.join(in_both)}"
    files = " ".join([quote(os.path.join(folder, name)) for name in entries])
    return f"mv {files} {quote(target)} && rmdir {quote(folder)}"


class RestoredPlan(NamedTuple):
    """A plan at its former place, with a text that it had there."""

    path: str
    """Path from the repository root."""
    moved_path: str
    """Path to which execplan has moved the plan."""
    remedy: str


def find_restored_plans(plans: Sequence[ListedPlan]) -> Iterator[RestoredPlan]:
    """Yield the plans that are also at a former path of theirs. Raises ExecplanError if a journal can't be read."""
    plans_by_path = {plan.ref.path: plan for plan in plans}
    for plan in plans:
        paths = {*former_paths(plan.project, plan.ref.path)} - {plan.ref.path}
        copies = [plans_by_path[path] for path in sorted(paths) if path in plans_by_path]
        entries = load_entries(plan.project, plan.ref.path) if copies else []
        versions = {digest for entry in entries for digest in (entry.old_digest, entry.new_digest) if digest}
        for copy in copies:
            if copy.facts.digest not in versions:
                continue
            old, new = quote(copy.display_path), quote(plan.display_path)
            last = build_stack(entries).undoable[-1:]
            is_undoable = last and last[0].latest.kind == MOVE and last[0].latest.old_digest == copy.facts.digest
            discard = f"execplan undo -p {new}" if is_undoable else f"rm {new}"
            yield RestoredPlan(
                copy.display_path, plan.display_path, f"keep the new one: rm {old}; or the old one: {discard}"
            )
