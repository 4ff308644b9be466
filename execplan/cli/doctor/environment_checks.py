"""Doctor checks of the environment: settings, directories, Python, Git, and a file system with locks."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from shlex import quote
from time import time

from execplan.cli.doctor.doctor_check import ERROR, WARNING, DoctorContext, DoctorFinding, DoctorFix, check
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_lock
from execplan.core.git import git_query
from execplan.core.project import project_state, user_settings
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import with_directories
from execplan.core.project.project_list import open_project
from execplan.core.scaffold import plan_templates
from execplan.execution.policy_settings import check_user_table
from execplan.linter.checking import custom_rules


@check("python", works_without_settings=True)
def check_python(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """Python is new enough."""
    version = tuple(sys.version_info[:3])
    version_text = ".".join(map(str, version))
    if version < PYTHON:
        needed = ".".join(map(str, PYTHON))
        message = f"Python {version_text} is too old"
        yield DoctorFinding(ERROR, sys.executable, message, f"install execplan with Python {needed} or newer")
    yield version_text


@check("git")
def check_git(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """In a repository, Git is installed and new enough."""
    project = context.project
    if project.git is None:
        yield "no repository: nothing can be committed"
        return
    try:
        version_output = git_query.output(project, "--version").decode("utf-8", "replace").strip()
    except ExecplanError as error:
        yield DoctorFinding(
            ERROR, "", f"{error.message}; nothing can be committed, although {project.root} is a repository", error.hint
        )
        return
    match = re.search(r"(\d+)\.(\d+)", version_output)
    needed = ".".join(map(str, GIT))
    if match is None or (int(match[1]), int(match[2])) < GIT:
        yield DoctorFinding(ERROR, "", f"{version_output or 'git'} is too old", f"install git {needed} or newer")
    lock = os.path.join(project.git, "index.lock")
    if os.path.lexists(lock) and time() - os.lstat(lock).st_mtime > _MINUTE:
        remedy = f"if no git process is running anymore: rm {quote(project.display_path(lock))}"
        message = "another git process has locked the index, or has died; nothing can be committed"
        yield DoctorFinding(WARNING, project.display_path(lock), message, remedy)
    yield version_output.removeprefix("git version ")


@check("state")
def check_state_folder(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The state directory is writable, has a known format, and its file system supports locks."""
    for project in context.state_projects:
        if (state_format := project_state.find_format(project)) > project_state.FORMAT:
            message = (
                f"a newer execplan has changed the format of the state to {state_format}; this version can't write"
            )
            yield DoctorFinding(ERROR, project.display_path(project.state), message, "upgrade: execplan self check")
        folder = project.state
        while not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        display_path = project.display_path(folder) or folder
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"x")
                file.flush()
                yield from _check_locks(file.fileno(), display_path)
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            remedy = "allow writing there, or free disk space; until then every edit fails"
            yield DoctorFinding(ERROR, display_path, f"this directory is not writable: {reason}", remedy)


def _check_locks(handle: int, display_path: str) -> Iterator[DoctorFinding]:
    """Try to lock an open file, and yield a finding if the file system can't."""
    try:
        file_lock.lock(handle, waits=False)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        remedy = "move the checkout to a local disk; without locks, concurrent writers would lose edits"
        yield DoctorFinding(ERROR, display_path, f"the file system doesn't support locks: {reason}", remedy)


@check("settings", works_without_settings=True)
def check_settings(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The settings can be read, including those of nested projects and your own.

    What they name exists: nested projects, the template of `new`, your own rules.
    """
    for problem in context.settings_problems:
        yield _settings_finding(problem.path, problem.error)
    for project in context.projects:
        template = project.settings.template
        try:
            if not template.endswith(".md"):
                plan_templates.find_template(project, template)
            elif not os.path.isfile(os.path.join(project.base, template)):
                remedy = "put it there, or change the setting template"
                yield DoctorFinding(ERROR, template, "the template of new plans is missing", remedy)
        except ExecplanError as error:
            yield _settings_finding("", error)
    try:
        custom_rules.load_rules(user_settings.rules())
        check_user_table(user_settings.load_table("execution"))
        for path in user_settings.projects():
            yield from _find_unreadable_project(path)
    except ExecplanError as error:
        yield _settings_finding(user_settings.path(), error)
    if len(context.projects) > 1:
        yield f"{len(context.projects)} projects"


def _find_unreadable_project(path: str) -> Iterator[DoctorFinding]:
    """Yield a finding if a project in the user's list can't be read, so that plans in it are unknown."""
    try:
        open_project(path)
    except ExecplanError as error:
        remedy = f"clone it there, or remove it from projects in {user_settings.path()}"
        yield DoctorFinding(WARNING, "", error.message, remedy)


@check("folders")
def check_folders(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The directories in the settings exist as far as required, and are directories."""
    for project in context.projects:
        expected_folders = [project.plans, *project.archives]
        if project.is_flat:
            expected_folders += [project.artifacts_dir("", archived=archived).rstrip("/") for archived in (False, True)]
        for path in dict.fromkeys(expected_folders):
            if os.path.lexists(path) and not os.path.isdir(path):
                message = "a directory in the settings is a file or a broken link"
                yield DoctorFinding(
                    ERROR, project.display_path(path), message, f"move it away: mv {project.display_path(path)} OTHER"
                )
        if os.path.isdir(project.plans) and not os.access(project.plans, os.W_OK | os.X_OK):
            display_path = project.display_path(project.plans)
            message = "the directory is not writable, so plans can't be edited"
            is_mounted_so = sys.platform != "win32" and os.statvfs(project.plans).f_flag & os.ST_RDONLY
            remedy = "mount its file system for writing" if is_mounted_so else f"chmod u+wx {quote(display_path)}"
            yield DoctorFinding(ERROR, display_path, message, remedy)
        # git keeps no empty directory, so one may be missing as long as the project has another place for plans
        places = [path for member in with_directories(project) for path in member.plan_paths]
        places += [os.path.join(project.base, home) for home in project.settings.homes]
        if project.all_settings is None and not any([os.path.lexists(path) for path in places]):
            fix = DoctorFix(f"create {project.display_path(project.plans)}", partial(_create_plans_folder, project))
            message = "the plans directory is missing"
            yield DoctorFinding(WARNING, project.display_path(project.plans), message, "execplan init", fix=fix)


def _create_plans_folder(project: Project, options: WriteOptions) -> list[str]:
    with project_state.lock(project, "project", "doctor"):
        atomic_files.make_directory(project.plans)
    return [f"created {project.display_path(project.plans)}"]


def _settings_finding(path: str, error: ExecplanError) -> DoctorFinding:
    return DoctorFinding(ERROR, path, error.message, error.hint or "resolve this error", line=error.line)


PYTHON = (3, 11)
GIT = (2, 30)
"""Oldest supported versions: the package's minimum Python, and the Git of Debian 11; the tests run with newer ones."""


_MINUTE = 60
