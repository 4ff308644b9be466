"""Doctor checks for leftovers of killed processes and of deleted plans."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from shlex import quote
from time import time

from execplan.agents.integrations import skill
from execplan.agents.integrations.hook_file import PROGRAMS
from execplan.cli.doctor.doctor_check import WARNING, DoctorContext, DoctorFinding, DoctorFix, check
from execplan.core.edits.backup_copies import PlanBackup, list_backups, save_backup
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.files.file_lock import is_held
from execplan.core.git import git_history, git_query
from execplan.core.plan_facts.listed_plan import ListedPlan
from execplan.core.plan_store import claims_file, plan_store
from execplan.core.project import directory_tree, project_state
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import project_at, with_nested_projects
from execplan.core.text.text_lines import digest

TEMPORARY = re.compile(r"\.execplan-([0-9a-f]{16}|new|copy-(?P<pid>\d+)-\d+)\.tmp")
"""Pattern for the names of temporary files during a write."""
_STATE_TEMPORARY = re.compile(r".+\.new|.+\.(?P<pid>\d+)\.tmp")
_OVERWRITTEN = re.compile(r".+\.displaced-\d+")
_DAY_SECONDS = 24 * 3600
_MAX_BYTES = 1 << 30
_JOURNAL_DAYS = 30
"""Days that a plan may be missing, moved by hand or on an uncommitted branch, before its journal is a leftover."""


@check("temporary")
def check_temporary_files(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """No temporary files are left from killed processes."""
    for project in context.projects:
        for folder in _writable_folders(project):
            is_state_folder = folder.startswith(project.state)
            for name in file_access.list_names(folder):
                match = TEMPORARY.fullmatch(name) or (_STATE_TEMPORARY.fullmatch(name) if is_state_folder else None)
                path = os.path.join(folder, name)
                if match and _is_abandoned(project, path, match["pid"]):
                    # only execplan has read the content of these
                    is_own_content = is_state_folder or match["pid"] or match[1] == "new"
                    remove = partial(_remove_file if is_own_content else _remove_temporary, project, path)
                    display_path = project.display_path(path)
                    message = "this file was left by a killed process"
                    remedy = "execplan doctor --fix, which backs up unread content"
                    fix = DoctorFix(f"remove {display_path}", remove)
                    yield DoctorFinding(WARNING, display_path, message, remedy, fix=fix)


@check("recovered")
def check_backups(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """No backup copies of overwritten files remain."""
    for project in context.state_projects:
        backups = list_backups(project) + [
            os.path.join(folder, name)
            for folder in _writable_folders(project)
            for name in file_access.list_names(folder)
            if _OVERWRITTEN.fullmatch(name)
        ]
        for path in backups:
            display_path = project.display_path(path)
            remedy = f"check whether the plan or file is missing any of this content, then remove the copy: rm {quote(display_path)}"
            message = "this file contains content that an edit overwrote, or that couldn't be restored"
            yield DoctorFinding(WARNING, display_path, message, remedy)


def _writable_folders(project: Project) -> list[str]:
    """Return the directories in which files are replaced or created."""
    state_folders = [os.path.join(project.state, name) for name in file_access.list_names(project.state)]
    folders = [project.root, project.base, os.path.join(project.base, ".agent"), project.state, *state_folders]
    folders += [folder for archived in (False, True) for folder, _ in _list_plan_files(project, archived=archived)]
    folders += [os.path.join(project.git, "hooks")] if project.git else []
    folders += [os.path.dirname(os.path.join(project.root, program.file)) for program in PROGRAMS.values()]
    folders += [os.path.join(project.root, name) for name in skill.DIRECTORIES.values()]
    folders += [project.plans, project.archive]
    folders += [project.artifacts_dir("", archived=is_archived) for is_archived in (False, True)]
    return list(dict.fromkeys([folder.rstrip("/") for folder in folders]))


def _list_plan_files(project: Project, *, archived: bool) -> list[tuple[str, list[str]]]:
    try:
        return plan_store.plan_files(project, archive=archived)
    except ExecplanError:
        return []


def _is_abandoned(project: Project, path: str, pid: str | None) -> bool:
    """Return whether no process writes a temporary file anymore."""
    try:
        if pid:
            os.kill(int(pid), 0)
            return False
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    locks = [project_state.lock_path(project, name) for name in ("project", *_find_target(path)[:1])]
    return not any(map(is_held, locks)) and os.path.lexists(path) and not any(map(is_held, locks))


def _find_target(path: str) -> list[str]:
    """Return the existing file that a temporary file next to it was to replace, or an empty list."""
    folder, temporary_name = os.path.split(path)
    return [
        os.path.join(os.path.realpath(folder), name)
        for name in file_access.list_names(folder)
        if atomic_files.temp_file_name(name) == temporary_name
    ]


def _remove_temporary(project: Project, path: str, options: WriteOptions) -> list[str]:
    """Remove a temporary file as the next writer would; content that no one has read is saved as a backup copy."""
    target = _find_target(path)
    display_path = project.display_path(path)
    with project_state.lock(project, "project", "doctor"):
        if not target:
            messages = []
            if data := file_access.read(path, _MAX_BYTES)[0]:
                messages.append(f"backed up its content as {project.display_path(save_backup(project, path, data))}")
            return messages + _unlink(project, path)
        with project_state.lock(project, target[0], "doctor"):
            recovery = PlanBackup(project, target[0])
            known_contents = (file_access.read(target[0], _MAX_BYTES)[0],)
            atomic_files.retry_on_change(
                lambda: atomic_files.remove_leftover(
                    target[0], known_contents, within=project.root, backup_writer=recovery
                ),
                display_path,
            )
    return [f"removed {display_path}", *recovery.warnings]


@check("copies")
def check_editor_copies(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """No editor copies remain that couldn't be written back to their plan."""
    plans_by_name: dict[str, list[ListedPlan]] = {}
    for listed in context.plans:
        plans_by_name.setdefault(os.path.basename(listed.ref.path), []).append(listed)
    for project in context.state_projects:
        folder = os.path.join(project.state, "edit")
        for name in file_access.list_names(folder):
            path = os.path.join(folder, name)
            if name.startswith(".") or not os.path.isfile(path):
                continue
            data = file_access.read(path, 5 << 20)[0]
            if any([_has_content(listed, data) for listed in plans_by_name.get(name.partition("-")[2], ())]):
                if time() - os.stat(path).st_mtime > _DAY_SECONDS:  # otherwise an editor may have it open
                    yield _removable_finding(project, path, "this is an editor copy with the same content as its plan")
                continue
            remedy = f"close the editor that has it open, or copy what the plan is missing, then: rm {quote(project.display_path(path))}"
            message = "this file contains text from an editor that is not in the plan"
            yield DoctorFinding(WARNING, project.display_path(path), message, remedy)


def _has_content(listed: ListedPlan, data: bytes) -> bool:
    """Return whether the file of a plan has this content; a broken plan has no facts that say so."""
    if listed.facts.error:
        return plan_store.load(listed.project, listed.ref).data == data
    return listed.facts.digest == digest(data)


@check("journals")
def check_journals(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """Every journal of edits belongs to a plan, unless the plan was removed less than 30 days ago."""
    for project in context.state_projects:
        folder = os.path.join(project.state, "journal")
        old_names = [
            name
            for name in file_access.list_names(folder)
            if not (name.endswith(".new") or TEMPORARY.fullmatch(name))
            and time() - os.stat(os.path.join(folder, name)).st_mtime > _JOURNAL_DAYS * _DAY_SECONDS
        ]
        known_keys = _journal_keys(context, project) if old_names else set()
        for name in old_names:
            if name not in known_keys:
                yield _removable_finding(
                    project, os.path.join(folder, name), "this is the journal of a plan that no longer exists"
                )


def _journal_keys(context: DoctorContext, project: Project) -> set[str]:
    """Return the journal names of all existing plans, and of all plans that Git knows."""
    paths = {listed.ref.path for listed in context.plans}
    for base in directory_tree.find_projects(project.root):
        for nested in with_nested_projects(project_at(base)):
            paths |= {ref.path for ref in plan_store.all_refs(nested)}
    if project.git is not None:
        tracked = [path for path in git_query.tracked_files(project) if path.endswith(".md")]
        folders = [listed.display_path(folder) for listed in context.projects for folder in listed.plan_paths]
        committed = git_history.ever_committed_paths(project, folders)
        paths |= {os.path.join(project.root, path) for path in (*tracked, *committed)}
    return {project_state.path_key(os.path.realpath(path)) for path in paths}


@check("claims")
def check_claims(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """Every claimed task is in an existing plan."""
    for project in context.state_projects:
        if os.path.isdir(os.path.join(os.path.dirname(project.shared_state), "worktrees")):
            continue  # another worktree may have the plan
        file = project.display_path(os.path.join(project.shared_state, "claims.json"))
        for claim in claims_file.load_claims(project):
            path = os.path.join(project.path_base, claim.plan)
            if not os.path.lexists(path):
                remedy = f"it expires automatically; to end it now, remove it from {quote(file)}"
                message = f"{claim.name} claims a task of this plan, which no longer exists"
                yield DoctorFinding(WARNING, project.display_path(path), message, remedy)


def _removable_finding(project: Project, path: str, message: str) -> DoctorFinding:
    display_path = project.display_path(path)
    fix = DoctorFix(f"remove {display_path}", partial(_remove_file, project, path))
    return DoctorFinding(WARNING, display_path, message, f"rm {quote(display_path)}", fix=fix)


def _remove_file(project: Project, path: str, options: WriteOptions) -> list[str]:
    with project_state.lock(project, "project", "doctor"):
        return _unlink(project, path)


def _unlink(project: Project, path: str) -> list[str]:
    try:
        os.unlink(path)
    except OSError as error:
        raise file_access.file_error(error, path, "remove") from None
    return [f"removed {project.display_path(path)}"]
