"""Which files an agent never reads, and which it never writes, whatever the plan says and whatever they are called."""

from __future__ import annotations

import os

from execplan.agents.guard.device_paths import PIECES
from execplan.agents.guard.path_resolution import is_per_process
from execplan.project import user_settings
from execplan.secrets.secret_files import find_hard_link, is_secret_file
from execplan.text.invisible_characters import has_hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.agents.guard.guard_context import GuardScope
    from execplan.project.project import Project

_AGENT_FILES = {
    ".claude": "the settings, hooks or skills of Claude Code",
    ".codex": "the settings or hooks of Codex",
    ".mcp.json": "the servers that an agent's program starts",
}
"""Of a repository, in any folder of it."""
_USER_AGENT_FILES = (".claude", ".claude.json", ".codex")
_STATE = "where execplan keeps its state"
_LONGEST = 4096


def real_path(folder: str, path: str) -> str:
    """Where a path leads to from a folder, links followed; nothing for what is no path."""
    if not path or "\0" in path or len(path) > _LONGEST:
        return ""
    return os.path.realpath(os.path.join(folder, _expand_user(path)))


def possible_real_paths(folder: str, path: str) -> tuple[str, ...]:
    """Where a path may lead to: programs differ in whether they follow links before `..`, and each has a /proc of its own."""
    resolved_path, joined = real_path(folder, path), os.path.join(folder, _expand_user(path))
    if not resolved_path or not (".." in joined.split("/") or is_per_process(joined)):
        return (resolved_path,)
    normalized_path = os.path.normpath(joined)
    return tuple(
        dict.fromkeys(
            (resolved_path, normalized_path if is_per_process(normalized_path) else os.path.realpath(normalized_path))
        )
    )


def names_in_glob(pattern: str) -> list[str]:
    """The names in a pattern of files, wildcards taken off: one for each way to read it, none where it leaves files out."""
    alternatives = [] if pattern.startswith("!") else pattern.replace("{", ",").replace("}", ",").split(",")
    return [name for alternative in alternatives if (name := alternative.replace("**/", "").strip("*?/"))]


def is_inside(root: str, path: str) -> bool:
    """Whether a real path lies in a folder, or is that folder."""
    return f"{path}/".startswith(f"{root.rstrip('/')}/")


def read_denial_reason(scope: GuardScope, path: str) -> str:
    """Why a real path is not to be read, or nothing."""
    if not path:
        return "it is no path"
    if private_reason := _describe_private(path):
        return private_reason
    parts = path.casefold().split("/")
    if ".git" in parts and "execplan" in parts[parts.index(".git") :]:
        return _STATE
    relative_path = os.path.relpath(path, scope.root) if is_inside(scope.root, path) else ""
    if (
        relative_path
        and (".state" in parts or "approvals" in parts)
        and scope.protected(relative_path).partition(" ")[0] == "what"
    ):
        return scope.protected(relative_path)
    if reason := secret_reason(relative_path or path, folder=os.path.isdir(path)):
        return reason
    secret_file = find_hard_link(path, (scope.root, os.path.expanduser("~"), _login_home()))
    return f"it is another name of {secret_file}, which holds credentials" if secret_file else ""


def secret_reason(path: str, *, folder: bool = False) -> str:
    """Why a file is not to be shown, by its name, and why a device is not, as the table of risks has it."""
    if is_secret_file(path, is_directory=folder):
        return "it holds credentials"
    folded = path.casefold()
    if not any([fragment in folded for fragment in PIECES]):
        return ""
    from execplan.execution.risk.risk_table import builtin_table
    from execplan.execution.risk.row_matching import row_matches_path

    reasons = [row.reason for row in builtin_table().rows if row.reading and row.path and row_matches_path(path, row)]
    return f"it {reasons[0]}" if reasons else ""


def describe_protected(
    scope: GuardScope, project: Project, folder: str, path: str, *, include_parents: bool = False
) -> str:
    """What a path from a folder is that no agent may change, or nothing; `include_parents`: also where such lies below it."""
    if not path.isprintable() or has_hidden(path):
        return "a path with characters that nobody sees"
    absolute_path = os.path.normpath(os.path.join(folder, _expand_user(path)))
    for candidate in dict.fromkeys((absolute_path, real_path(folder, path))):
        if description := _describe_owned(scope, project, candidate) or (
            include_parents and _find_protected_below(scope, project, candidate)
        ):
            return description or ""
    return _find_hard_link(project, absolute_path)


def _describe_owned(scope: GuardScope, project: Project, path: str) -> str:
    """What an absolute path is that no agent may change."""
    for root in dict.fromkeys((scope.root, project.root)):
        if is_inside(root, path):
            relative_path = os.path.relpath(path, root)
            parts = relative_path.casefold().split("/")
            descriptions = [description for name, description in _AGENT_FILES.items() if name in parts]
            return (
                scope.protected(relative_path)
                or "".join(descriptions[:1])
                or _describe_project_file(project, path)
                or _describe_program_file(path)
            )
    return _describe_private(path) or _describe_project_file(project, path) or _describe_program_file(path)


def _describe_project_file(project: Project, path: str) -> str:
    """What of a home a path is, that says what may be done."""
    folded = path.casefold()
    if is_inside(os.path.join(project.base, project.settings.templates).casefold(), folded):
        return "a template of plans"
    return (
        _STATE
        if any([is_inside(directory.casefold(), folded) for directory in (project.state, project.shared_state)])
        else ""
    )


def _describe_program_file(path: str) -> str:
    """Whether a path is a part of this very program."""
    import execplan

    folder = os.path.dirname(os.path.realpath(execplan.__file__))
    return "the program that guards" if is_inside(folder, path) or is_inside(folder, os.path.realpath(path)) else ""


def _describe_private(path: str) -> str:
    """What of the user's own an absolute path is: the key, what was approved, the settings of agents' programs."""
    folded = path.casefold()
    for folder, description in _private_directories():
        if is_inside(folder.casefold(), folded):
            return description
    return ""


def find_private_below(path: str) -> str:
    """What of the user's own lies below a real path, or nothing."""
    return next(
        (
            description
            for folder, description in _private_directories()
            if is_inside(path, folder) and os.path.lexists(folder)
        ),
        "",
    )


def _private_directories() -> Iterator[tuple[str, str]]:
    """The user's own folders, by what the environment says and by what the machine says, and what is in them."""
    user_homes = dict.fromkeys((os.path.expanduser("~"), _login_home()))
    states = [
        os.environ.get("XDG_STATE_HOME", ""),
        *[os.path.join(user_home, ".local", "state") for user_home in user_homes if user_home],
    ]
    settings = [
        os.path.dirname(user_settings.path()),
        *[os.path.join(user_home, ".config", "execplan") for user_home in user_homes if user_home],
    ]
    pairs = [(directory, "where the user's key and settings are") for directory in settings]
    pairs += [(os.path.join(directory, "execplan"), _STATE) for directory in states if directory]
    pairs += [
        (os.path.join(user_home, name), "the user's settings of an agent's program")
        for user_home in user_homes
        if user_home
        for name in _USER_AGENT_FILES
    ]
    configured_directories = [os.environ.get("CLAUDE_CONFIG_DIR", ""), os.environ.get("CODEX_HOME", "")]
    pairs += [
        (directory, "the user's settings of an agent's program") for directory in configured_directories if directory
    ]
    for folder, description in pairs:
        for path in dict.fromkeys((os.path.abspath(folder), os.path.realpath(folder))):
            yield path, description


def _login_home() -> str:
    """The user's folder as the machine knows it, whatever HOME says."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def _expand_user(path: str) -> str:
    return os.path.expanduser(path) if path.startswith("~") else path


def _find_protected_below(scope: GuardScope, project: Project, path: str) -> str:
    """What of it lies below a folder."""
    protected_paths = [
        os.path.join(project.base, ".agent", "execplan.toml"),
        os.path.join(project.base, project.settings.templates),
    ]
    protected_paths += [project.plans, project.state, project.git or project.state]
    protected_paths += [os.path.join(scope.root, name) for name in _AGENT_FILES]
    protected_paths += [folder for folder, _ in _private_directories()]
    return next(
        (
            f"a folder with {protected_path}"
            for protected_path in protected_paths
            if os.path.lexists(protected_path) and is_inside(path, protected_path)
        ),
        "",
    )


def _find_hard_link(project: Project, path: str) -> str:
    """Whether a path is another name of a file that decides, by a hard link."""
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
            return f"another name of {policy_file}"
    return ""


def _policy_files(project: Project) -> Sequence[str]:
    """The files that decide what an agent may do, as far as they are known by name."""
    folders = [
        os.path.dirname(user_settings.path()),
        os.path.join(project.root, ".claude"),
        os.path.join(project.root, ".codex"),
    ]
    folders += [os.path.join(project.git, "hooks"), project.git] if project.git else []
    policy_paths = [os.path.join(project.base, ".agent", "execplan.toml"), os.path.join(project.root, ".mcp.json")]
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                policy_paths += [entry.path for entry in entries]
        except OSError:
            continue
    return policy_paths
