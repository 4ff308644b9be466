"""Shared logic of `install` and `uninstall`: plan each integration, then show or apply all changes under one lock."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from execplan.agents.integrations import INTEGRATIONS, integration_changes
from execplan.agents.integrations.integration_changes import ChangeSet, IntegrationChange
from execplan.cli.answer import Answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.core.edits.plan_writer import format_diff
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.project import project_discovery, project_state, user_settings
from execplan.core.project.project import Project
from execplan.core.project.project_settings import SETTINGS_FILE
from execplan.core.text.message_parts import align_descriptions
from execplan.core.text.pure_paths import is_inside
from execplan.core.text.suggestions import did_you_mean

_PROJECT_MODULES = {
    "agents": "agents_md",
    "pre-commit": "precommit",
    "git-hooks": "githooks",
    "merge-driver": "merge_driver",
    "guard": "guard_hook",
    "session-hooks": "session_hooks",
    "stop-gate": "stop_gate",
    "skill": "skill",
    "capture": "capture_hooks",
}
_PROGRAM_INTEGRATIONS = ("guard", "session-hooks", "stop-gate", "skill", "capture")
_USER_INTEGRATIONS = ("completion", "plugin")
"""Integrations that belong to a user, not to a repository."""
_SHELLS = ("bash", "zsh", "fish")
_ACTION_NAMES = {"made": "created"}
"""Words for the actions of changes, where the word for people differs from the one in JSON."""


class IntegrationRequest(NamedTuple):
    """The integrations that a command is to add or remove."""

    names: list[str]
    """Names of the integrations, without duplicates."""
    shell: str | None
    """Shell for completion, if given."""
    programs: list[str]
    """Agent programs for hooks and skill; empty for those that are detected."""
    directory: str | None
    """Directory for the plugin, if given."""


def check_request(
    command_name: str, names: Sequence[str], shell: str | None, programs: Sequence[str], directory: str | None
) -> IntegrationRequest:
    """Build a request from the arguments; raises ExecplanError if they are unknown or incompatible."""
    unknown_names = [name for name in names if name not in INTEGRATIONS]
    if unknown_names or not names:
        message = f"unknown integration {unknown_names[0]!r}" if unknown_names else f"specify what to {command_name}"
        hint = (did_you_mean(unknown_names[0], INTEGRATIONS) if unknown_names else "") or "use one of these"
        hint += "; all of them: execplan uninstall --all" if command_name == "uninstall" else ""
        lines = align_descriptions([*INTEGRATIONS.items()])
        raise usage_error(message, hint, candidates=lines)
    if shell is not None and "completion" not in names:
        raise usage_error("--shell requires completion", "omit it")
    if programs and not set(_PROGRAM_INTEGRATIONS).intersection(names):
        names_text = f"{', '.join(_PROGRAM_INTEGRATIONS[:-1])} or {_PROGRAM_INTEGRATIONS[-1]}"
        raise usage_error(f"--for requires {names_text}", "omit it")
    if directory is not None and "plugin" not in names:
        raise usage_error("--to requires plugin", "omit it")
    return IntegrationRequest(list(dict.fromkeys(names)), shell, list(dict.fromkeys(programs)), directory)


def apply_integrations(command_name: str, request: IntegrationRequest, *, force: bool, dry_run: bool) -> Answer:
    """Plan each integration, then apply all changes or none; a dry run only shows them. Raises ExecplanError."""
    project, names = None, request.names
    if set(names).difference(_USER_INTEGRATIONS):
        find = project_discovery.require if command_name == "install" else project_discovery.find
        project = find(os.getcwd())

    def plan() -> list[ChangeSet]:
        planned: list[ChangeSet] = []
        for name in names:
            planned.append(_plan_integration(command_name, name, project, request, _all_changes(planned), force=force))
        return planned

    planned = plan()
    linked: tuple[str, ...] = ()
    if not dry_run and any([change.action != "kept" or change.has_leftover_file for change in _all_changes(planned)]):
        if project is not None and (project.exists or project.git):
            with project_state.lock(project, "project", f"{command_name} {' '.join(names)}"):
                planned = plan()
                linked = integration_changes.apply_changes(_all_changes(planned))
        else:
            linked = integration_changes.apply_changes(_all_changes(planned))
    distinct_warnings = dict.fromkeys([warning for change_set in planned for warning in change_set.warnings])
    warnings = (*distinct_warnings, *linked)
    next_commands = tuple([command for change_set in planned for command in change_set.next_commands if not dry_run])
    if command_name == "install" and project is not None and not dry_run:
        next_commands += _commit_commands(project, _all_changes(planned))
    return _changes_answer(_all_changes(planned), project, warnings, next_commands, dry_run=dry_run)


def remaining_paths(project: Project) -> list[tuple[str, str]]:
    """Return what no integration has written and `uninstall` leaves, with what it is; only paths that exist."""
    paths = []
    if project.exists:
        paths = [
            (project.plans, "your plans"),
            (os.path.join(project.base, SETTINGS_FILE), "settings of the repository"),
            (project.state, "state: locks, journals, backups, caches; without it, nothing can be undone"),
        ]
    paths.append((user_settings.path(), "your own settings"))
    homes = (
        ("XDG_STATE_HOME", "~/.local/state", "approvals, reports of errors"),
        ("XDG_CACHE_HOME", "~/.cache", "caches"),
    )
    for variable, default, reason in homes:
        paths.append((os.path.join(os.environ.get(variable) or os.path.expanduser(default), "execplan"), reason))
    return [(project.display_path(path), reason) for path, reason in paths if os.path.lexists(path)]


def _plan_integration(
    command_name: str,
    name: str,
    project: Project | None,
    request: IntegrationRequest,
    earlier_changes: list[IntegrationChange],
    *,
    force: bool,
) -> ChangeSet:
    """Plan the changes of an integration on top of those already planned."""
    if name == "completion":
        return _plan_completion(command_name, request.shell, force=force)
    if name == "plugin":
        return _planner("plugin", command_name)(request.directory, force=force)
    plan_change = _planner(_PROJECT_MODULES[name], command_name)
    if name not in _PROGRAM_INTEGRATIONS:
        return plan_change(project, force=force)
    ahead = {change.path: change.new for change in earlier_changes if change.action != "kept"}
    return plan_change(project, force=force, programs=request.programs, ahead=ahead)


def _planner(module: str, command_name: str) -> Callable[..., ChangeSet]:
    """Return the function of an integration's module that plans what a command changes."""
    planner: Callable[..., ChangeSet] = getattr(import_module(f"execplan.agents.integrations.{module}"), command_name)
    return planner


def _plan_completion(command_name: str, shell: str | None, *, force: bool) -> ChangeSet:
    from execplan.agents.integrations import completion
    from execplan.cli.app import group
    from execplan.cli.shell_completion import completion_script

    if command_name == "uninstall":
        return completion.uninstall(shell, force=force)
    shell = shell or os.path.basename(os.environ.get("SHELL", ""))
    if shell not in _SHELLS:
        message = f"SHELL names {shell or 'no shell'}; completion supports {', '.join(_SHELLS)}"
        raise usage_error(message, "name the shell: execplan install completion --shell bash")
    return completion.install(shell, completion_script(group, shell), force=force)


def _all_changes(planned: list[ChangeSet]) -> list[IntegrationChange]:
    return [change for planned_change in planned for change in planned_change.changes]


def _commit_commands(project: Project, changes: list[IntegrationChange]) -> tuple[str, ...]:
    """Return the git commands that commit the changed files of the repository; none if git can't say which."""
    from execplan.core.git.git_commit import uncommitted_files

    paths = dict.fromkeys([change.path for change in changes if change.action != "kept" and not change.setting])
    inside = [path for path in paths if is_inside(path, project.root) and not is_inside(path, project.git or path)]
    try:
        files = uncommitted_files(project, inside) if inside and project.git is not None else []
    except ExecplanError:
        return ()
    if not files:
        return ()
    arguments = shlex.join([os.path.relpath(os.path.join(project.root, file)) for file in files])
    return f"git add {arguments}", f"git commit -m 'Set up execplan' -- {arguments}"


def _changes_answer(
    file_changes: list[IntegrationChange],
    project: Project | None,
    warnings: tuple[str, ...],
    next_commands: tuple[str, ...],
    *,
    dry_run: bool,
) -> Answer:
    def display_path(path: str) -> str:
        return project.display_path(path) if project is not None else path

    changes_json: list[dict[str, Any]] = []
    lines, diffs = [], []
    for change in file_changes:
        path = display_path(change.path)
        source = {"from": display_path(change.source)} if change.source else {}
        setting = {"setting": change.setting} if change.setting else {}
        changes_json.append({"what": change.integration, "path": path, "action": change.action, **source, **setting})
        lines.append(_change_line(change, path, **source, dry_run=dry_run))
        if change.action != "kept" and not change.source and not change.setting:
            diffs.append(format_diff(change.old or b"", change.new, path))
    data = {"changes": changes_json, "changed": any([entry["action"] != "kept" for entry in changes_json])}
    if dry_run:
        data["diff"] = "\n".join(diffs)
    return Answer(
        data,
        printable_lines(lines, "\n".join(diffs) if dry_run else ""),
        warnings=warnings,
        next_commands=next_commands,
        is_requested=dry_run,
    )


def _change_line(change: IntegrationChange, path: str, *, dry_run: bool, **source: str) -> str:
    """Describe the change of a file or a setting; in a dry run, the planned change."""
    if change.setting:
        path = f"{change.setting} in {path}"
    if change.action == "kept":
        return f"kept  {path}  ({change.integration}: {change.reason})"
    if not dry_run:
        action = _ACTION_NAMES.get(change.action, change.action)
        return f"{action}  {path}  ({change.integration}{''.join([f', from {origin}' for origin in source.values()])})"
    dry_run_verbs = {"moved": f"would move {source.get('from')} to", "removed": "would remove"}
    return f"{dry_run_verbs.get(change.action, 'would write')} {path}"
