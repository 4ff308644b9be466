"""Doctor checks of the integrations added by `install`: intact, up to date, and able to run."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType

from execplan.agents.integrations import (
    agents_md,
    completion,
    githooks,
    integration_changes,
    managed_block,
    managed_directory,
    merge_driver,
    plugin,
    precommit,
    skill,
)
from execplan.agents.integrations.integration_changes import EDITED_BY_HAND, ChangeSet, IntegrationChange
from execplan.cli.doctor.doctor_check import ERROR, WARNING, DoctorContext, DoctorFinding, DoctorFix, check
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.core.project import project_state
from execplan.core.project.project import Project

NOT_INSTALLED = "not installed"
"""Note of a check for an integration that is not installed."""
_NO_GIT = "no repository: not checked"
_PYTHON_PATH = re.compile(r"(?:execplan_python=|entry: ')(.+?)(?: -P -m execplan .*)?$")
"""Pattern for the Python interpreter that a hook names."""


@check("agents")
def check_agents_md(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The blocks in AGENTS.md and CLAUDE.md are intact and up to date."""
    yield from _check_module(context.project, agents_md)


@check("pre-commit")
def check_pre_commit(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The block in .pre-commit-config.yaml is intact and up to date, and its Python exists."""
    project = context.project
    if project.git is None:
        yield _NO_GIT
        return
    yield from _check_module(project, precommit)


@check("git-hooks")
def check_git_hooks(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The block in the git hook is intact and up to date, git runs it, and its Python exists."""
    project = context.project
    if project.git is None:
        yield _NO_GIT
        return
    hooks_folder, common = git_query.hooks_and_common_dir(project)
    for folder in dict.fromkeys([hooks_folder, os.path.join(common, "hooks")]):
        hook = os.path.join(folder, "pre-commit")
        if not _has_block(hook):
            continue
        display_path = project.display_path(os.path.realpath(hook))
        if os.path.realpath(folder) != os.path.realpath(hooks_folder):
            message = f"git doesn't run this hook, because core.hooksPath is {hooks_folder}"
            remedy = "remove the lines from execplan:begin to execplan:end, then: execplan install git-hooks"
            yield DoctorFinding(WARNING, display_path, message, remedy)
        elif not os.access(hook, os.X_OK):
            message = "this hook is not executable, so git ignores it"
            yield DoctorFinding(ERROR, display_path, message, f"chmod +x {shlex.quote(display_path)}")
    if not os.path.realpath(hooks_folder).startswith((os.path.realpath(common) + "/", project.root + "/")):
        yield f"{hooks_folder} is outside the repository: not checked"
        return
    planned_removal = githooks.uninstall(project, force=True)
    if [change.action for change in planned_removal.changes] == ["moved"]:
        source = planned_removal.changes[0].source
        fix = make_fix(project, partial(githooks.uninstall, project, force=True), f"rename {source} back")
        path = project.display_path(source)
        message = "this hook was renamed to make room for one that no longer exists"
        yield DoctorFinding(WARNING, path, message, "execplan uninstall git-hooks", fix=fix)
        return
    for warning in planned_removal.warnings:
        yield DoctorFinding(WARNING, "", warning, "keep one of the two as pre-commit, and remove the other")
    yield from _check_module(project, githooks)


def _check_module(project: Project, integration: ModuleType) -> Iterator[DoctorFinding | str]:
    """Yield the problems of an integration of a project, given by its module, if it is installed."""
    install, uninstall = partial(integration.install, project), partial(integration.uninstall, project)
    yield from check_integration(project, integration.NAME, install, uninstall)


@check("merge-driver")
def check_merge_driver(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """If .gitattributes names the merge driver, git is configured to run it."""
    project = context.project
    if project.git is None:
        yield _NO_GIT
        return
    driver_state, command = merge_driver.state(project), f"execplan install {merge_driver.NAME}"
    fix = make_fix(project, partial(merge_driver.install, project, force=False), f"update it: {command}")
    if driver_state == "attribute only":
        message = "this file names the merge driver for plans, but git has no working driver configured here; it merges line by line"
        yield DoctorFinding(ERROR, ".gitattributes", message, command, fix=fix)
    elif driver_state == "installed":
        for change in merge_driver.install(project, force=False).changes:
            if change.path.endswith(".gitattributes") and change.action != "kept":
                message = "the part that execplan wrote is out of date"
                yield DoctorFinding(WARNING, project.display_path(change.path), message, command, fix=fix)
    # A driver that is configured but not named does nothing; another branch may name it.
    yield {"absent": NOT_INSTALLED, "config only": "configured, but not named in a .gitattributes here"}.get(
        driver_state, driver_state
    )


@check("completion")
def check_completions(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The shell completion scripts are intact and up to date."""
    is_installed = False
    for shell in completion.SHELLS:
        uninstall = partial(completion.uninstall, shell)
        if any([change.action != "kept" for change in uninstall(force=True).changes]):
            is_installed = True
            install = partial(completion.install, shell, context.script(shell))
            yield from check_integration(context.project, f"{completion.NAME} --shell {shell}", install, uninstall)
    if not is_installed:
        yield NOT_INSTALLED


def check_integration(
    project: Project, integration: str, install: Callable[..., ChangeSet], uninstall: Callable[..., ChangeSet]
) -> Iterator[DoctorFinding | str]:
    """Yield the problems of an integration if it is installed: damage, a missing Python, or outdated content."""
    command = f"execplan install {integration}"
    try:
        if not any([change.action != "kept" for change in uninstall(force=True).changes]):
            yield NOT_INSTALLED
            return
        planned = install(force=False)
    except ExecplanError as error:
        yield DoctorFinding(ERROR, "", error.message, error.hint or command, line=error.line)
        return
    fix = make_fix(project, partial(install, force=False), f"update it: {command}")
    for change in planned.changes:
        path = project.display_path(change.path)
        python_path, is_edited = _find_python(change), change.reason == EDITED_BY_HAND
        if python_path and not os.access(python_path, os.X_OK):
            remedy = f"{command} --force" if is_edited else command
            message = f"this file names {python_path}, which no longer exists or can't run, so plans are not checked"
            yield DoctorFinding(ERROR, path, message, remedy, fix=None if is_edited else fix)
        elif change.action != "kept" and not _is_current_except_python(change, python_path):
            yield DoctorFinding(WARNING, path, "the part that execplan wrote is out of date", command, fix=fix)
        elif is_edited:
            yield f"{path} was edited by hand and is left unchanged"


def _find_python(change: IntegrationChange) -> str:
    """Return the Python interpreter named in a file's block, or an empty string."""
    for line in _block_lines(change.old, change.path):
        match = _PYTHON_PATH.search(line)
        if match:
            command = match[1].replace("''", "'") if line.lstrip().startswith("entry") else match[1]
            try:
                return (shlex.split(command) or [""])[0]
            except ValueError:  # the line was edited by hand
                return command
    return ""


def _is_current_except_python(change: IntegrationChange, python_path: str) -> bool:
    """Return whether a block is up to date except for its Python interpreter, which is as good as the current one."""
    old, new = [
        [
            _PYTHON_PATH.sub(lambda match: match[0].replace(match[1], ""), line)
            for line in _block_lines(data, change.path)
        ]
        for data in (change.old, change.new)
    ]
    return bool(python_path) and old == new


def _block_lines(data: bytes | None, path: str) -> tuple[str, ...]:
    style = managed_block.MARKDOWN if path.endswith(".md") else managed_block.SHELL
    block = managed_block.find_block(data or b"", style, path)
    return block.lines if block is not None else ()


def _has_block(path: str) -> bool:
    try:
        return managed_block.SHELL.begin_marker() in (integration_changes.read_file(path) or b"")
    except ExecplanError:
        return False


def make_fix(project: Project, plan_changes: Callable[[], ChangeSet], description: str) -> DoctorFix:
    """Return a fix that plans the changes again under the lock, and applies them."""

    def apply(options: WriteOptions) -> list[str]:
        with project_state.lock(project, "project", "doctor"):
            planned = plan_changes()
            integration_changes.apply_changes(planned.changes)
        return [
            f"{change.action} {project.display_path(change.path)}"
            for change in planned.changes
            if change.action != "kept"
        ]

    return DoctorFix(description, apply)


@check("skill")
def check_skill(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The skill's files are intact and up to date."""
    project, programs = context.project, skill.installed_programs(context.project)
    if not programs:
        yield NOT_INSTALLED
        return
    install = partial(skill.install, project, programs=programs)
    yield from _check_directories(project, skill.NAME, install, partial(skill.uninstall, project, programs=programs))


@check("plugin")
def check_plugin(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The plugin's files in your data directory are intact and up to date."""
    if not plugin.is_installed():
        yield NOT_INSTALLED
        return
    yield from _check_directories(
        context.project, plugin.NAME, partial(plugin.install, None), partial(plugin.uninstall, None)
    )


def _check_directories(
    project: Project, integration: str, install: Callable[..., ChangeSet], uninstall: Callable[..., ChangeSet]
) -> Iterator[DoctorFinding | str]:
    """Yield the problems of an integration, without those of a list whose files have problems too."""
    results = list(check_integration(project, integration, install, uninstall))
    findings = [result for result in results if isinstance(result, DoctorFinding)]
    is_list = [os.path.basename(finding.path) == managed_directory.LIST_NAME for finding in findings]
    for result in results:
        if not isinstance(result, DoctorFinding):
            yield result
        elif all(is_list) or not is_list[findings.index(result)]:
            is_missing = result.path and not os.path.lexists(os.path.join(project.root, result.path))
            yield result._replace(message="is missing") if is_missing else result
