"""Doctor checks of plan files: whether each plan can be read, and whether it is in the right place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from shlex import quote

from execplan.cli.doctor.doctor_check import ERROR, NOT_ARCHIVED, NOTICE, WARNING, DoctorContext, DoctorFinding, check
from execplan.cli.doctor.leftover_checks import TEMPORARY
from execplan.cli.doctor.misplaced_files import (
    find_deleted_plans,
    find_misplaced_artifacts,
    find_restored_plans,
    suggest_listed_file,
)
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.files.tree_walk import walk_tree
from execplan.core.git import gitignore
from execplan.core.git.unmerged_files import list_unmerged
from execplan.core.plan import reader
from execplan.core.plan.model import COMPLETE
from execplan.core.plan.plan_recognition import document_reason
from execplan.core.plan_facts.listed_plan import ListedPlan
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.pending_merge import describe_unmerged, plan_paths
from execplan.core.project import directory_tree, plan_discovery
from execplan.core.project.project import Project
from execplan.core.project.project_settings import NON_PLAN_FILES
from execplan.core.text.message_parts import format_count
from execplan.execution.engine.run_records.run_statuses import list_open_runs
from execplan.linter.checking.effective_rules import active_levels
from execplan.linter.checking.plan_check import CheckOptions, make_rule_context
from execplan.linter.checking.project_check import list_artifacts
from execplan.linter.rule_selection import RuleSelection
from execplan.linter.rules.lifecycle_rules import ARCHIVE_HINT
from execplan.linter.runner import lint_plan

_MAX_DEPTH = 4
"""Maximum depth of directories in the search for nested projects."""
_LEFTOVER_SUFFIXES = (".orig", ".rej", ".bak", ".swp", "~")
"""Suffixes of files left by a merge or an editor."""


@check("plans")
def check_plans(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """Every plan can be read, and none contains conflict markers."""
    for listed in context.plans:
        if not listed.facts.error and not listed.facts.conflict_line:
            continue
        stored_plan = plan_store.load(listed.project, listed.ref)
        path = listed.display_path
        if stored_plan.error is not None:
            yield DoctorFinding(
                ERROR, path, stored_plan.error.message, stored_plan.error.hint, line=stored_plan.error.line
            )
        elif stored_plan.plan is not None and stored_plan.plan.conflict_lines:
            count = len(stored_plan.plan.conflict_lines)
            remedy = f"resolve the conflict: execplan merge {quote(path)}; or keep one side and remove the markers"
            message = f"{format_count(count, 'conflict marker')} left, so the plan can't be edited"
            yield DoctorFinding(ERROR, path, message, remedy, line=stored_plan.plan.conflict_lines[0] + 1)
    yield from _find_unmerged(context)
    for problem in context.unreadable_folders:
        if not os.path.isdir(os.path.join(context.project.root, problem.path)):
            continue  # another check reports the directory
        hint = f"allow access: chmod u+rx {quote(problem.path)}"
        yield DoctorFinding(ERROR, problem.path, f"plans may be hidden: {problem.error.message}", hint)
    archived_flags = [listed.ref.archived for listed in context.plans]
    count = archived_flags.count(False)
    yield f"{format_count(count, 'plan')}, {archived_flags.count(True)} archived"


def _find_unmerged(context: DoctorContext) -> Iterator[DoctorFinding]:
    """Yield a finding for each file of a plan without conflict markers that git lists as unmerged."""
    unmerged = list_unmerged(context.project) if context.project.git is not None else []
    for listed in context.plans if unmerged else ():
        if listed.facts.conflict_line:
            continue
        paths = plan_paths(listed.project, listed.ref)
        for reason in describe_unmerged(listed.project, paths, unmerged):
            remedy = f"resolve the conflict: execplan merge {quote(listed.display_path)}"
            yield DoctorFinding(ERROR, listed.display_path, reason, remedy)


@check("places")
def check_plan_locations(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """Completed plans are in the archive, and no unfinished plan is there unless it states why."""
    for listed in context.plans:
        if listed.facts.counts is None or listed.facts.conflict_line:
            continue
        if listed.facts.open_tasks if listed.ref.archived else listed.facts.state == COMPLETE:
            yield from _find_misplaced(listed)


def _find_misplaced(listed: ListedPlan) -> Iterator[DoctorFinding]:
    """Yield the lint findings about a plan's location, according to the settings."""
    project, ref, _ = listed
    plan, path = plan_store.load(project, ref).plan, listed.display_path
    if plan is None:
        return  # it has changed since it was listed
    rule_levels = {
        code: level
        for code, level in active_levels(project, RuleSelection(), path).items()
        if code in (_UNFINISHED, _UNFILED)
    }
    for finding in lint_plan(plan, make_rule_context(project, ref, CheckOptions()), rule_levels):
        if finding.code == _UNFILED:
            if list_open_runs(project, ref):
                continue  # another check reports the run: the plan can't be archived before it ends
            is_ready = listed.facts.finishing_command == "archive"
            remedy = f"execplan {'archive' if is_ready else 'lint'} {ref.shell_name}"
            joint = NOT_ARCHIVED  # its remedy also lists what is missing in the plans that are not ready
        else:
            abandon = f"execplan archive {ref.shell_name} --as abandoned --reason 'Why'"
            remedy = f"execplan restore {ref.shell_name}, then finish it, or then abandon it: {abandon}"
            joint = None
        message = finding.message.partition(ARCHIVE_HINT)[0]
        yield DoctorFinding(WARNING, path, message, remedy, line=finding.line, joint=joint)


@check("ids")
def check_ids(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """No two plans have the same ID, ignoring case and Unicode form, and no moved plan is also at its old place.

    Archived plans and plans of nested projects count.
    """
    restored_plans = {plan.path: plan for plan in find_restored_plans(context.plans)}
    for path, moved_path, remedy in restored_plans.values():
        yield DoctorFinding(
            NOTICE, path, f"this plan was moved to {moved_path}, but its old file is here again", remedy
        )
    plans_by_id: dict[str, list[ListedPlan]] = {}
    for listed in context.plans:
        plans_by_id.setdefault(plan_store.normalize_id(listed.ref.id), []).append(listed)
    for duplicates in plans_by_id.values():
        paths = [listed.display_path for listed in duplicates]
        if len(duplicates) > 1 and restored_plans.keys().isdisjoint(paths):
            movable_index = next((index for index, listed in enumerate(duplicates) if not listed.ref.archived), None)
            command = f"execplan rename {quote(paths[movable_index])} 'New title'" if movable_index is not None else ""
            remedy = command or f"rename one of the files: git mv {quote(paths[0])} OTHER"
            yield DoctorFinding(WARNING, paths[0], f"this plan has the same ID as {', '.join(paths[1:])}", remedy)


@check("artifacts")
def check_artifacts(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """Every artifacts directory belongs to a plan, and is in the archive exactly if the plan is."""
    plans = context.plans
    for project in context.projects if not context.unreadable_folders else ():
        if _ORPHAN not in active_levels(project, RuleSelection(), ""):
            yield f"not checked in {project.display_path(project.base) or '.'}: its settings disable {_ORPHAN}"
            continue
        names = {plan_store.normalize_id(listed.ref.id) for listed in plans if listed.project is project}
        for name, path in list_artifacts(project):
            if name not in names:
                folder = os.path.dirname(path)
                remedy = f"mv {quote(path)} {quote(folder)}/ID-OF-ITS-PLAN, or remove it: rm -r {quote(path)}"
                yield DoctorFinding(
                    WARNING, path, "this is the artifacts directory of a plan that doesn't exist", remedy
                )
        yield from find_misplaced_artifacts(project, [listed.ref for listed in plans if listed.project is project])


@check("hidden")
def check_hidden_plans(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """`list --all` shows every plan in the plans directories: none is in a deeper directory or has another kind of name."""
    listed_paths = {listed.ref.path for listed in context.plans}
    targets: set[str] = set()
    for project in context.projects:
        for folder in dict.fromkeys([project.plans, *project.archives]):
            yield from _find_unlisted(project, folder, listed_paths, targets)
        for archived in (False, True) if project.is_flat else ():
            folder = project.artifacts_dir("", archived=archived).rstrip("/")
            yield from _find_plans_among_artifacts(project, folder, targets)
    known_bases = {project.base for project in context.projects}
    nested_paths = [
        project.display_path(base)
        for base in directory_tree.find_projects(context.project.base, _MAX_DEPTH)
        if base not in known_bases
    ]
    if nested_paths:
        yield f"nested projects missing from the settings: {', '.join(nested_paths)}"


@check("ignored")
def check_ignored(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """Git doesn't ignore the plans directories, the settings or the guide."""
    for project in context.projects:
        if project.git is None:
            yield "no repository: not checked"
        elif ignored_folders := gitignore.find_ignored_project_paths(project):
            remedy = gitignore.suggest_fix(project, ignored_folders)
            yield DoctorFinding(WARNING, "", gitignore.describe_ignored(ignored_folders), remedy)


@check("files")
def check_plan_files(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The plans directories contain all plans that git has, nothing else, and no leftovers of a merge or an editor."""
    other_count = 0
    for listed in context.plans:
        if listed.facts.counts is None or listed.facts.counts.total:
            continue  # where there are tasks, there is the section with them
        plan = plan_store.load(listed.project, listed.ref).plan
        if plan is not None and plan.is_document and not any([section.name for section in plan.sections]):
            folder = listed.project.display_path(listed.project.artifacts_dir(""))
            message = f"this file is in a plans directory, but is not a plan: {document_reason(plan)}"
            remedy = f"move it elsewhere, for example: mkdir -p {quote(folder)} && mv {quote(listed.display_path)} {quote(folder)}"
            yield DoctorFinding(WARNING, listed.display_path, message, remedy)
    yield from find_deleted_plans(context.project)
    for project in context.projects:
        for folder in [project.plans, *project.archives] if project.is_flat else ():
            for name in file_access.list_names(folder):
                path = os.path.join(folder, name)
                if name.endswith(_LEFTOVER_SUFFIXES) and os.path.isfile(path):
                    display_path = project.display_path(path)
                    remedy = f"check whether it has content that the plan is missing, then: rm {quote(display_path)}"
                    yield DoctorFinding(WARNING, display_path, "this file was left by a merge or an editor", remedy)
                elif not name.endswith(".md") and not name.startswith(".") and os.path.isfile(path):
                    other_count += 1
    if other_count:
        yield f"{other_count} other files are ignored"


def _find_unlisted(project: Project, top: str, listed_paths: set[str], targets: set[str]) -> Iterator[DoctorFinding]:
    """Yield findings for unlisted plans below a plans directory, and for directories that can't be read."""
    guide = os.path.join(project.base, project.settings.guide)
    errors: list[OSError] = []
    for folder, folders, names in walk_tree(top, onerror=errors.append):
        folders[:] = sorted(
            [name for name in folders if not _is_skipped(project, top, os.path.join(folder, name), listed_paths)]
        )
        for name in folders:
            path = os.path.join(folder, name)
            if os.path.islink(path) and _holds_markdown(path):
                message = "this is a link to a directory, so the plans in it are not listed"
                display_path, target = project.display_path(path), project.display_path(os.path.realpath(path))
                remedy = f"move the directory itself there: rm {quote(display_path)} && mv {quote(target)} {quote(display_path)}"
                yield DoctorFinding(ERROR, display_path, message, remedy)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if (
                path not in listed_paths
                and path != guide
                and not (name.endswith(_LEFTOVER_SUFFIXES) or TEMPORARY.fullmatch(name))
            ):
                yield from _inspect_unlisted(project, path, targets)
    for error in errors:
        path = project.display_path(str(error.filename))
        message = f"plans may be hidden: can't be read: {os.strerror(error.errno or 0).lower()}"
        if path != project.display_path(top):  # another check reports the plans directory itself
            yield DoctorFinding(ERROR, path, message, f"allow access: chmod u+rx {quote(path)}")


def _is_skipped(project: Project, top: str, folder: str, listed_paths: set[str]) -> bool:
    """Return whether a directory below a plans directory is checked elsewhere, or contains a listed plan's files."""
    skipped_folders = [project.plans, *project.archives, os.path.join(project.base, project.settings.templates)]
    skipped_folders += [project.artifacts_dir("", archived=archived).rstrip("/") for archived in (False, True)]
    if os.path.basename(folder) == ".git" or (folder in skipped_folders and folder != top):
        return True
    return not project.is_flat and any([path.startswith(folder + "/") for path in listed_paths])


def _find_plans_among_artifacts(project: Project, folder: str, targets: set[str]) -> Iterator[DoctorFinding]:
    """Yield findings for plans next to the artifacts directories; files inside such a directory may be copies."""
    for name in file_access.list_names(folder):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            yield from _inspect_unlisted(project, path, targets)


def _inspect_unlisted(project: Project, path: str, targets: set[str]) -> Iterator[DoctorFinding]:
    """Yield a finding for an unlisted file if it is, or may be, a plan; `targets` are the files of earlier remedies."""
    display_path = project.display_path(path)
    try:
        data, size = file_access.read(path, reader.MAX_BYTES)
    except ExecplanError as error:
        if path.endswith(".md"):
            yield DoctorFinding(
                ERROR, display_path, f"this file is not listed and may be a plan: {error.message}", error.hint
            )
        return
    if size > reader.MAX_BYTES and path.endswith(".md"):
        yield DoctorFinding(
            ERROR, display_path, "this file is not listed and may be a plan", reader.too_large_error(size).hint
        )
    file_name = os.path.basename(path).lower()
    is_template = file_name in NON_PLAN_FILES and "template" in file_name
    if plan_discovery.is_plan_text(data) and not is_template:
        remedy = f"move it where plans are listed: {suggest_listed_file(project, path, targets)}"
        yield DoctorFinding(ERROR, display_path, "this is a plan that no command lists", remedy)


def _holds_markdown(folder: str) -> bool:
    """Return whether a directory has a Markdown file, which may be a plan; True if it can't be read."""
    try:
        return any([name.endswith(".md") for name in os.listdir(folder)])
    except OSError:
        return True


_UNFINISHED, _UNFILED = "EP502", "EP503"
_ORPHAN = "EP505"
