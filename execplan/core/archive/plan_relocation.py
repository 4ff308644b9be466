"""Renaming a plan, with its ID, file and artifacts directory, and moving plans to the directories of new settings."""

from __future__ import annotations

import os

from execplan.core.archive.document_mentions import ConfirmRewrite
from execplan.core.archive.move_target import target_of
from execplan.core.archive.plan_move import MoveResult, Regenerate, move_plan
from execplan.core.archive.reference_updates import NO_DEPENDENCIES, Dependencies
from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.item_format import escape_heading
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_change import ChangeBuilder, PlanChange, plan_content
from execplan.core.plan.title_edits import title_edit
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import require_existing
from execplan.core.project.slug import slug
from execplan.core.scaffold.plan_creation import validate_title
from execplan.core.text.text_lines import apply_edits


def rename_plan(
    project: Project,
    ref: PlanRef,
    title: str,
    options: WriteOptions,
    *,
    regenerate: Regenerate | None = None,
    confirm_rewrite: ConfirmRewrite | None = None,
    dependencies: Dependencies = NO_DEPENDENCIES,
) -> MoveResult:
    """Change a plan's title, and rename its file and artifacts to the resulting ID; raises ExecplanError.

    `regenerate` and `confirm_rewrite` are passed to `move_plan`, and those `dependencies` whose names don't fit the new ID.
    """
    require_existing(project)
    ensure_not_archived(project, ref)
    title = validate_title(title)
    stored_plan = plan_store.load(project, ref)
    old_title = stored_plan.plan.title if stored_plan.plan is not None else None
    target_id = renamed_id(ref.id, old_title or "", title)
    other_ids = plan_store.taken_ids(project) - {plan_store.normalize_id(ref.id)}
    if old_title == escape_heading(title) and not os.path.isdir(project.plan_artifacts_dir(ref.path, archived=False)):
        # A killed attempt may have written the title, and moved the artifacts to a place that only the new ID can have.
        other_ids -= {plan_store.normalize_id(target_id)} - {
            plan_store.normalize_id(other_ref.id) for other_ref in plan_store.all_refs(project)
        }
    name = plan_store.free_name(target_id, other_ids)
    path = project.plan_file(project.plans, name) if name != ref.id else ref.path
    goal = target_of(project, ref, name, path, archived=False)
    return move_plan(
        project,
        ref,
        goal,
        _title_change(title, has_own_directory=not project.is_flat),
        options,
        command="rename",
        regenerate=regenerate,
        confirm_rewrite=confirm_rewrite,
        dependencies={
            other_path: [
                (line, used_name)
                for line, used_name in names
                if plan_store.normalize_id(used_name) not in plan_store.normalize_id(name)
            ]
            for other_path, names in dependencies.items()
        },
    )


def renamed_id(old: str, old_title: str, title: str) -> str:
    """Return a plan's ID under a new title, keeping the prefix before the old title's slug, such as a date or a number.

    If the ID does not end in the slug of the old title, only its leading numbers and dates are kept.
    """
    import re

    match = re.match(r"(?:(?:[A-Za-z]{1,8}[-_]|[A-Z]{1,8})?\d[\d-]*[-_ ]+)*", old)  # `lz77_` is a word
    lead = match.group() if match else ""
    old_slug, new_slug = slug(old_title) if old_title else "", slug(title)
    if lead and new_slug.startswith(f"{slug(lead)}-"):
        new_slug = new_slug[len(slug(lead)) + 1 :]
    if old_slug and old[len(lead) :].casefold().endswith(old_slug):
        lead = old[: len(old) - len(old_slug)]
    return lead + new_slug


def _title_change(title: str, *, has_own_directory: bool = False) -> ChangeBuilder:
    """Return a change that puts the title into the heading, in either heading style.

    A plan without a title whose directory has its name needs no change.
    """

    def change(plan: ParsedPlan) -> PlanChange:
        old_facts = plan_content(plan)
        if plan.title is None and has_own_directory:
            return PlanChange((), old_facts, f"rename, {title}", (f"renamed: {title}",))
        if plan.title is None:
            raise ExecplanError("no-title", "the plan has no title to change", hint="add a first line: # Title")
        edit = title_edit(plan, title)
        if edit is None:
            return PlanChange((), old_facts, "rename", (f"unchanged: {title}",))
        new_title = reader.read_text(apply_edits(plan.text, (edit,))).title
        return PlanChange((edit,), old_facts._replace(title=new_title), f"rename, {title}", (f"renamed: {title}",))

    return change
