"""Files that an agent may never read or never write, whatever the plan allows and however they are named."""

from __future__ import annotations

import os

from execplan.agents.guard.path_resolution import is_per_process
from execplan.core.files.agent_files import CONFIGURATION, USER_CONFIGURATION, describe_configuration
from execplan.core.project import user_settings
from execplan.core.project.project_discovery import with_directories
from execplan.core.secrets.secret_files import find_hard_link, is_secret_file
from execplan.core.text.invisible_characters import has_hidden
from execplan.core.text.pure_paths import WILDCARDS, is_inside
from execplan.execution.approvals import reserved_paths
from execplan.execution.shell.command_table import DEVICE_PATHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.agents.guard.guard_context import GuardScope
    from execplan.core.project.project import Project

_STATE = "execplan's state"
_LONGEST = 4096


def real_path(folder: str, path: str) -> str:
    """Resolve a path from a directory, with all links followed; empty if it is not a path."""
    if not path or "\0" in path or len(path) > _LONGEST:
        return ""
    return os.path.realpath(os.path.join(folder, _expand_user(path)))


def possible_real_paths(folder: str, path: str) -> tuple[str, ...]:
    """Return the possible targets of a path.

    Programs differ in whether they follow links before `..`, and each process has its own /proc.
    """
    resolved_path, joined = real_path(folder, path), os.path.join(folder, _expand_user(path))
    if not resolved_path or not (".." in joined.split("/") or is_per_process(joined)):
        return (resolved_path,)
    normalized_path = os.path.normpath(joined)
    return tuple(
        dict.fromkeys(
            (resolved_path, normalized_path if is_per_process(normalized_path) else os.path.realpath(normalized_path))
        )
    )


def possible_targets(folder: str, path: str) -> tuple[str, ...]:
    """Return the possible targets of a path or, of a pattern, also the files for secrets that it may match."""
    targets = possible_real_paths(folder, path)
    if WILDCARDS.isdisjoint(path) and "\\" not in path and "{" not in path:
        return targets
    from execplan.agents.guard.secret_patterns import find_matching_secrets

    return (*targets, *find_matching_secrets(path, folder))


def read_denial_reason(scope: GuardScope, path: str) -> str:
    """Return why a real path may not be read; empty if it may."""
    if not path:
        return "it is not a path"
    if private_reason := _describe_private(path):
        return private_reason
    parts = path.casefold().split("/")
    if ".git" in parts and "execplan" in parts[parts.index(".git") :]:
        return _STATE
    relative_path = os.path.relpath(path, scope.root) if is_inside(path, scope.root) else ""
    if relative_path and (".state" in parts or "approvals" in parts):
        protection_reason = scope.protected(relative_path)
        if protection_reason in (reserved_paths.STATE, reserved_paths.EVIDENCE):
            return protection_reason
    if reason := secret_reason(relative_path or path, folder=os.path.isdir(path)):
        return reason
    secret_file = find_hard_link(path, (scope.root, os.path.expanduser("~"), _login_home()))
    return f"it is a hard link to {secret_file}, which contains credentials" if secret_file else ""


def secret_reason(path: str, *, folder: bool = False) -> str:
    """Return why a file may not be shown, by its name or as a device in the risk table; empty if it may."""
    if is_secret_file(path, is_directory=folder):
        return "it contains credentials"
    folded = path.casefold()
    if not any([fragment in folded for fragment in DEVICE_PATHS]):
        return ""
    from execplan.execution.risk.risk_table import builtin_table
    from execplan.execution.risk.row_matching import row_matches_path

    reasons = [row.reason for row in builtin_table().rows if row.reading and row.path and row_matches_path(path, row)]
    return f"it {reasons[0]}" if reasons else ""


def describe_protected(
    scope: GuardScope, project: Project, folder: str, path: str, *, include_parents: bool = False
) -> str:
    """Describe a path that no agent may change; empty if it may be changed.

    `include_parents` also covers directories that contain such a path.
    """
    if not path.isprintable() or has_hidden(path):
        return "a path with invisible characters"
    absolute_path = os.path.normpath(os.path.join(folder, _expand_user(path)))
    for candidate in dict.fromkeys((absolute_path, real_path(folder, path))):
        if description := _describe_owned(scope, project, candidate) or (
            include_parents and _find_protected_below(scope, project, candidate)
        ):
            return description or ""
    return _find_hard_link(project, absolute_path)


def _describe_owned(scope: GuardScope, project: Project, path: str) -> str:
    """Describe an absolute path that no agent may change; empty if it may be changed."""
    for root in dict.fromkeys((scope.root, project.root)):
        if is_inside(path, root):
            relative_path = os.path.relpath(path, root)
            return (
                scope.protected(relative_path)
                or describe_configuration(relative_path)
                or _describe_project_file(project, path)
                or _describe_program_file(path)
            )
    return (
        _describe_private(path)
        or describe_configuration(path)
        or _describe_project_file(project, path)
        or _describe_program_file(path)
    )


def _describe_project_file(project: Project, path: str) -> str:
    """Describe a path of a project that controls what is allowed: a plan template or execplan's state."""
    folded = path.casefold()
    if is_inside(folded, os.path.join(project.base, project.settings.templates).casefold()):
        return "a plan template"
    if any([is_inside(folded, directory.casefold()) for directory in (project.state, project.shared_state)]):
        return _STATE
    return ""


def _describe_program_file(path: str) -> str:
    """Describe a path that is a part of this program; empty for other paths."""
    import execplan

    folder = os.path.dirname(os.path.realpath(execplan.__file__))
    return "the guard's own program" if is_inside(path, folder) or is_inside(os.path.realpath(path), folder) else ""


def _describe_private(path: str) -> str:
    """Describe an absolute path of the user's private files: the key, approvals, settings of agent programs."""
    folded = path.casefold()
    for folder, description in _private_directories():
        if is_inside(folded, folder.casefold()):
            return description
    return ""


def find_private_below(path: str) -> str:
    """Describe a private path below a real path; empty if there is none."""
    return next(
        (
            description
            for folder, description in _private_directories()
            if is_inside(folder, path) and os.path.lexists(folder)
        ),
        "",
    )


def _private_directories() -> Iterator[tuple[str, str]]:
    """Yield the user's private directories, by environment variables and by the user database, with descriptions."""
    user_homes = dict.fromkeys((os.path.expanduser("~"), _login_home()))
    states = [
        os.environ.get("XDG_STATE_HOME", ""),
        *[os.path.join(user_home, ".local", "state") for user_home in user_homes if user_home],
    ]
    settings = [
        os.path.dirname(user_settings.path()),
        *[os.path.join(user_home, ".config", "execplan") for user_home in user_homes if user_home],
    ]
    pairs = [(directory, "the user's key and settings") for directory in settings]
    pairs += [(os.path.join(directory, "execplan"), _STATE) for directory in states if directory]
    pairs += [
        (os.path.join(user_home, name), "the user's settings of an agent program")
        for user_home in user_homes
        if user_home
        for name in USER_CONFIGURATION
    ]
    configured_directories = [os.environ.get("CLAUDE_CONFIG_DIR", ""), os.environ.get("CODEX_HOME", "")]
    pairs += [
        (directory, "the user's settings of an agent program") for directory in configured_directories if directory
    ]
    for folder, description in pairs:
        for path in dict.fromkeys((os.path.abspath(folder), os.path.realpath(folder))):
            yield path, description


def _login_home() -> str:
    """Return the user's home directory from the user database, whatever HOME contains."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def _expand_user(path: str) -> str:
    return os.path.expanduser(path) if path.startswith("~") else path


def _find_protected_below(scope: GuardScope, project: Project, path: str) -> str:
    """Describe a directory that contains a protected path; empty if it contains none."""
    protected_paths = [
        os.path.join(project.base, ".agent", "execplan.toml"),
        os.path.join(project.base, project.settings.templates),
    ]
    protected_paths += [
        *[member.plans for member in with_directories(project)],
        project.state,
        project.git or project.state,
    ]
    protected_paths += [os.path.join(scope.root, name) for name in CONFIGURATION]
    protected_paths += [folder for folder, _ in _private_directories()]
    return next(
        (
            f"a directory that contains {protected_path}"
            for protected_path in protected_paths
            if os.path.lexists(protected_path) and is_inside(protected_path, path)
        ),
        "",
    )


def _find_hard_link(project: Project, path: str) -> str:
    """Check whether a path is a hard link to a file that controls what an agent may do; return a description."""
    try:
        file_status = os.stat(path)
    except (OSError, ValueError):
        return ""
    if file_status.st_nlink < 2 or os.path.isdir(path):
        return ""
    for policy_file in _policy_files(project):
        try:
            other_status = os.stat(policy_file)
        except OSError:
            continue
        if (file_status.st_dev, file_status.st_ino) == (other_status.st_dev, other_status.st_ino):
            return f"a hard link to {policy_file}"
    return ""


def _policy_files(project: Project) -> Sequence[str]:
    """List the known files that control what an agent may do."""
    names = [os.path.join(project.root, name) for name in CONFIGURATION]
    folders = [os.path.dirname(user_settings.path()), *names]
    folders += [os.path.join(project.git, "hooks"), project.git] if project.git else []
    policy_paths = [os.path.join(project.base, ".agent", "execplan.toml"), *names]
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                policy_paths += [entry.path for entry in entries]
        except OSError:
            continue
    return policy_paths
