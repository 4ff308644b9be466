"""Archiving a plan with its artifacts, and restoring it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from execplan.core import features
from execplan.core.archive import document_mentions
from execplan.core.archive.archive_blockers import find_blockers, unfinished_reasons
from execplan.core.archive.archive_evidence import build_evidence, recorded_digest
from execplan.core.archive.document_mentions import ConfirmRewrite
from execplan.core.archive.move_target import archived_id, has_other_id_in_archive, restored_id, target_of
from execplan.core.archive.plan_move import MoveResult, move_plan
from execplan.core.clock import now
from execplan.core.edits import journal_moves
from execplan.core.edits.digest_check import ensure_digest_matches
from execplan.core.edits.edit_entries import MOVE
from execplan.core.edits.lost_edits import detect_lost_edits
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.edits.undo_stack import read_stack
from execplan.core.errors import ExecplanError
from execplan.core.plan.front_matter import parse_front_matter
from execplan.core.plan.front_matter_edits import set_key
from execplan.core.plan.log_edits import add_revision_note
from execplan.core.plan.model import ABANDONED_PREFIX, FORCED_PREFIX, RESTORED_PREFIX, SUPERSEDED_PREFIX, ParsedPlan
from execplan.core.plan.plan_change import ChangeBuilder, PlanChange, plan_content, task_label
from execplan.core.plan_store import missing_plans, plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.plan_dialects import dialect_of
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import require_existing, whole_project, with_directories
from execplan.core.text.text_lines import Edit, digest

_WORDS = re.compile(rb"""[\s`()\[\]<>"'/#,;:]+""")
"""What separates the parts of paths in a text."""


def archive_plan(
    project: Project,
    ref: PlanRef,
    options: WriteOptions,
    *,
    reason: str | None = None,
    successor: PlanRef | None = None,
    abandoned: bool = False,
    origin: str = "",
    confirm_rewrite: ConfirmRewrite | None = None,
) -> MoveResult:
    """Move a finished plan and its artifacts into the archive, with evidence of its state; raises ExecplanError.

    `reason`, as normalized text, forces the archive, or explains why the plan is `abandoned`. `successor` is the plan
    that supersedes it; then it need not be finished either. `origin` is the path from which its file was moved by hand.
    `confirm_rewrite` decides whether documents that mention it are rewritten.
    """
    require_existing(project)
    _ensure_plan(project, ref)
    if ref.archived and not origin:
        if reason is not None or successor is not None:
            raise ExecplanError(
                "archived-plan",
                f"{project.display_path(ref.path)} is archived already, so how it ended is recorded",
                hint=f"to change that, restore it first: execplan restore {ref.shell_name}",
            )
        return _already_in_place(project, ref, options, confirm_rewrite)
    outcome, successor_id, folder = "forced" if reason is not None else "completed", None, project.archive
    changer = _archive_change(project, ref, reason)
    if successor is not None:
        outcome, successor_id, folder = "superseded", successor.id, project.superseded
        changer = _note_change(
            f"{SUPERSEDED_PREFIX} {_successor_name(project, ref, successor)}", f"archive, superseded by {successor.id}"
        )
    elif abandoned:
        outcome, folder = "abandoned", project.superseded
        changer = _note_change(f"{ABANDONED_PREFIX}: {reason}", f"archive, abandoned: {reason}")
    name = ref.id if ref.archived else archived_id(project, ref)
    path = ref.path if ref.archived else project.plan_file(folder, name)
    goal = target_of(project, ref, name, path, archived=True)
    if not options.dry_run:
        with suppress(ExecplanError):  # what can't be read is archived as it is
            features.load(features.LOST_EVIDENCE)(project, ref)
    make_evidence = partial(build_evidence, project, ref, origin, goal.path, outcome, successor_id)
    lost_edits = detect_lost_edits(project, ref).lost  # before the move, after which the journal has another path
    move_result = move_plan(
        project,
        ref,
        goal,
        changer,
        options,
        command="archive",
        make_evidence=make_evidence,
        origin=origin,
        confirm_rewrite=confirm_rewrite,
    )
    remedy = f"execplan restore {ref.shell_name}, then execplan doctor --restore {ref.shell_name}"
    warnings = [
        f"another program has overwritten an edit: {step.description}; to restore it: {remedy}" for step in lost_edits
    ]
    return move_result._replace(warnings=(*warnings, *move_result.warnings))


def order_by_mentions(plans: Sequence[tuple[Project, PlanRef]]) -> list[tuple[Project, PlanRef]]:
    """Return plans in an order in which each follows those that it names, because no path in an archived plan is updated.

    Plans that name each other stay in their order. Raises ExecplanError if one can't be read.
    """
    paths = {os.fsencode(ref.id.rpartition("/")[2]): ref.path for _, ref in plans}
    mentioned_paths: dict[str, set[str]] = {}
    for project, ref in plans if len(plans) > 1 else ():
        words = [
            word.rstrip(b".").removesuffix(b".md") for word in _WORDS.split(plan_store.read_bytes(project, ref.path))
        ]
        mentioned_paths[ref.path] = {paths[word] for word in words if word in paths} - {ref.path}
    ordered: list[str] = []
    waiting = [ref.path for _, ref in plans]
    while waiting:
        ready = [
            path for path in waiting if all([other in ordered for other in mentioned_paths.get(path, ())])
        ] or waiting[:1]
        ordered += ready
        waiting = [path for path in waiting if path not in ready]
    return sorted(plans, key=lambda plan: ordered.index(plan[1].path))


def _ensure_plan(project: Project, ref: PlanRef) -> None:
    """Raise ExecplanError for a document outside the plans directories, such as a README, that was named by its path."""
    plan = plan_store.load(project, ref).plan
    if plan is None or not plan.is_document or ref.archived or ref in plan_store.refs(project):
        return
    raise ExecplanError(
        "not-a-plan",
        f"{project.display_path(ref.path)} is a document, not a plan: it has no tasks, and no section that only plans have",
        hint=f"to make a plan of it: execplan new --from {plan_store.quote_plan_name(project.display_path(ref.path))}",
    )


def hand_moved_from(project: Project, ref: PlanRef) -> str:
    """Return the path from which a plan's file was moved by hand, into the archive or under another name, or "".

    Raises ExecplanError.
    """
    if ref.archived and recorded_digest(project, ref.path):
        return ""
    origin = missing_plans.original_path(project, ref)
    if origin or not ref.archived:
        return origin
    left_behind = os.path.isdir(project.artifacts_dir(ref.id)) and not os.path.lexists(
        project.plan_file(project.plans, ref.id)
    )
    return project.plan_file(project.plans, ref.id) if left_behind else ""


def restore_plan(
    project: Project,
    ref: PlanRef,
    options: WriteOptions,
    *,
    reason: str | None = None,
    confirm_rewrite: ConfirmRewrite | None = None,
) -> MoveResult:
    """Move an archived plan and its artifacts back; a plan archived unfinished gets a note. Raises ExecplanError."""
    require_existing(project)
    if not ref.archived:
        return _already_in_place(project, ref, options, confirm_rewrite)
    name = restored_id(project, ref)
    path = project.plan_file(project.plans, name)
    goal = target_of(project, ref, name, path, archived=False)
    return move_plan(
        project,
        ref,
        goal,
        _restore_change(project, ref, reason),
        options,
        command="restore",
        confirm_rewrite=confirm_rewrite,
    )


def _already_in_place(
    project: Project, ref: PlanRef, options: WriteOptions, confirm_rewrite: ConfirmRewrite | None = None
) -> MoveResult:
    """Handle a plan already at its target; documents may still mention its old path. Raises ExecplanError."""
    ensure_digest_matches(project, ref, options.if_match)
    data = plan_store.read_bytes(project, ref.path)
    move_result = MoveResult(project.display_path(ref.path), False, digest(data), "", (), (), (), None, None, ())
    if confirm_rewrite is None:
        return move_result
    artifacts = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    old_paths = _paths_before_archive(project, ref) if ref.archived else _paths_in_archives(project, ref)
    moves = [(old_artifacts, artifacts) for _, old_artifacts in old_paths if old_artifacts]
    moves += [(old_path, ref.path) for old_path, _ in old_paths]
    mentions = document_mentions.find_mentions(project, [pair for pair in moves if not os.path.lexists(pair[0])])
    if options.dry_run or not mentions or not confirm_rewrite(mentions):
        return move_result._replace(mentions=tuple(mentions))
    moves_of_plan = [step.latest.id for step in read_stack(project, ref.path).undoable if step.latest.kind == MOVE]
    for operation in moves_of_plan[-1:]:
        for mention in mentions:
            journal_moves.add_document(project, ref.path, operation, mention.path)
    rewrite_result = document_mentions.rewrite_documents(project, mentions, commits=False)
    remaining = tuple([mention for mention in mentions if mention.path not in rewrite_result.paths])
    return move_result._replace(
        changed=bool(rewrite_result.paths),
        rewritten=rewrite_result.paths,
        mentions=remaining,
        warnings=rewrite_result.warnings,
    )


def _paths_before_archive(project: Project, ref: PlanRef) -> list[tuple[str, str]]:
    """Return the paths that an archived plan can have had, each with that of its artifacts, empty if it had none of its own."""
    name = restored_id(project, ref)
    members = [member for member in with_directories(whole_project(project)) if member.archives == project.archives]
    paths = [(member.plan_file(member.plans, name), member.artifacts_dir(name)) for member in members]
    return paths + [(file, "") for file in project.files if has_other_id_in_archive(project, file)]


def _paths_in_archives(project: Project, ref: PlanRef) -> list[tuple[str, str]]:
    """Return the paths that a restored plan would have had in the archives today, each with that of its artifacts."""
    folders = dict.fromkeys((project.archive, project.superseded))
    paths = [project.plan_file(folder, archived_id(project, ref)) for folder in folders]
    return [(path, project.plan_artifacts_dir(path, archived=True)) for path in paths]


def _successor_name(project: Project, ref: PlanRef, successor: PlanRef) -> str:
    """Format the superseding plan for a revision note; raises ExecplanError if a plan supersedes itself."""
    if successor.real_path == ref.real_path:
        raise ExecplanError(
            "own-successor", f"{ref.id} can't supersede itself", hint="specify the plan that supersedes it with --by"
        )
    title = plan_store.parse(project, plan_store.read_bytes(project, successor.path)).title
    return f"{successor.id} ({title})" if title else successor.id


def _restore_change(project: Project, ref: PlanRef, reason: str | None) -> ChangeBuilder:
    def change(plan: ParsedPlan) -> PlanChange:
        dialect = dialect_of(os.path.relpath(ref.path, project.base), project.settings.dialects)
        is_done = parse_front_matter(plan.text.lines).fields.get("status") == dialect.done_status
        edits = _status_edits(plan, dialect.restored_status) if is_done else ()
        if not plan.is_archived_unfinished and reason is None:
            return PlanChange(edits, plan_content(plan), "restore", ())
        noted = _note_change(f"{RESTORED_PREFIX}: {reason}" if reason else RESTORED_PREFIX, "restore")(plan)
        return noted._replace(edits=(*edits, *noted.edits))

    return change


def _note_change(note: str, summary: str) -> ChangeBuilder:
    """Return a change that adds a revision note, with the summary of the move that it belongs to."""
    change = add_revision_note(note, now(), may_repeat=True)
    return lambda plan: change(plan)._replace(summary=summary)


def _archive_change(project: Project, ref: PlanRef, reason: str | None) -> ChangeBuilder:
    """Return the change for an archive: none for a finished plan, else a note with the reason; an error without one."""

    def change(plan: ParsedPlan) -> PlanChange:
        plan_store.mark_template_text(project, plan)
        if not unfinished_reasons(plan):
            messages = [] if reason is None else ["--force was not needed; the reason was not recorded"]
            messages += [f"dropped: {task_label(task.number, task.text)}" for task in plan.tasks if task.is_dropped]
            dialect = dialect_of(os.path.relpath(ref.path, project.base), project.settings.dialects)
            edits = _status_edits(plan, dialect.done_status)
            return PlanChange(edits, plan_content(plan), "archive", tuple(messages))
        if reason is not None:
            return _note_change(f"{FORCED_PREFIX}: {reason}", f"archive, by force: {reason}")(plan)
        blockers = find_blockers(project, ref, plan)
        raise ExecplanError(
            "not-finished",
            "the plan is not finished",
            hint=blockers.hint,
            candidates=blockers.reasons,
            data={"reasons": list(blockers.reasons)},
        )

    return change


def _status_edits(plan: ParsedPlan, status: str) -> tuple[Edit, ...]:
    """Return the edit of the status in the front matter; none if the dialect knows no status."""
    if not status or "status" not in parse_front_matter(plan.text.lines).fields:
        return ()
    edit = set_key(plan.text.lines, ("status",), status)
    return (edit,) if edit is not None else ()
