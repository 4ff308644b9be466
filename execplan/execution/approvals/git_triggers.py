"""Files from which Git runs programs or reads its settings: a command that writes there acts at the next Git call."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.git import git_query
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project

_PROGRAM_KEYS = frozenset(
    "askpass clean command driver editor external fsmonitor helper pager process program smudge sshcommand textconv uploadpack vcs".split()
)
"""Last components of the settings that name a program."""
_HOOK_MANAGER_FILES = (".husky", ".lefthook", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml")
"""Configuration files in which hook managers look up what to run."""

TriggerSnapshot = dict[str, tuple[int, ...]]
"""Status numbers by path that change when the file is written."""


class TriggerPaths(NamedTuple):
    """Absolute paths inside the repository, existing or not, that trigger programs."""

    git_paths: tuple[str, ...] = ()
    """Hook directories, config files, programs that settings name, and the `.git` links of submodules."""
    hook_manager_paths: tuple[str, ...] = ()
    """Hook manager files, which commands may legitimately write."""


def find_triggers(project: Project) -> TriggerPaths:
    """Return the trigger paths of a repository; none without Git or if Git fails."""
    if project.git is None:
        return TriggerPaths()
    try:
        config_output = git_query.output(project, "config", "--list", "--null", "--show-origin").decode(
            "utf-8", "surrogateescape"
        )
    except ExecplanError:
        return TriggerPaths()
    candidates = _submodule_links(project)
    fields = config_output.split("\0")
    for origin, entry in zip(fields[::2], fields[1::2], strict=False):
        name, _, value = entry.partition("\n")
        config_file = origin.removeprefix("file:") if origin.startswith("file:") else ""
        candidates.append(config_file)
        if name == "core.hookspath":
            candidates.append(value)
        elif name.startswith(("include.", "includeif.")):
            candidates.append(os.path.join(os.path.dirname(config_file), os.path.expanduser(value)))
        elif name.rpartition(".")[2] in _PROGRAM_KEYS:
            candidates += [arg.strip("\"'") for arg in value.split()]
    root = os.path.realpath(project.root)
    paths = {
        os.path.normpath(os.path.join(root, os.path.expanduser(candidate))) for candidate in candidates if candidate
    }
    inside_paths = [path for path in paths if path.startswith(f"{root}/") and not path.startswith(f"{root}/.git/")]
    return TriggerPaths(tuple(sorted(inside_paths)), tuple([os.path.join(root, name) for name in _HOOK_MANAGER_FILES]))


def find_program_setting(project: Project) -> str:
    """Return a setting of the repository's own git configuration that names a program, or an empty string.

    What git runs by the user's own settings is the user's choice. If git fails, the result says so.
    """
    try:
        config_output = git_query.output(project, "config", "--list", "--null", "--show-scope", "--includes")
    except ExecplanError:
        return "its settings can't be read"
    fields = config_output.decode("utf-8", "surrogateescape").split("\0")
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        name, _, value = entry.partition("\n")
        if scope in ("local", "worktree") and name.rpartition(".")[2] in _PROGRAM_KEYS and value not in ("", "false"):
            return name
    return ""


def _submodule_links(project: Project) -> list[str]:
    """Return the `.git` path of each submodule, from the root."""
    try:
        with open(
            file_access.open_regular(os.path.join(project.root, ".gitmodules")),
            encoding="utf-8",
            errors="surrogateescape",
        ) as file:
            key_values = [line.partition("=") for line in file]
    except OSError:
        return []
    return [os.path.join(path.strip().strip('"'), ".git") for name, _, path in key_values if name.strip() == "path"]


def take_snapshot(project: Project) -> TriggerSnapshot:
    """Record the current status of every trigger path."""
    from execplan.core.files.tree_walk import walk_tree

    snapshot: TriggerSnapshot = {}
    for path in [path for paths in find_triggers(project) for path in paths]:
        snapshot |= _path_snapshot(path)
        for directory, subdirectories, files in walk_tree(path):
            for name in [*subdirectories, *files]:
                snapshot |= _path_snapshot(os.path.join(directory, name))
    return snapshot


def changed_triggers(project: Project, old_snapshot: TriggerSnapshot) -> list[str]:
    """Return the trigger paths that have changed since a snapshot, from the root."""
    new_snapshot = take_snapshot(project)
    return [
        project.display_path(path)
        for path in sorted({*old_snapshot, *new_snapshot})
        if old_snapshot.get(path) != new_snapshot.get(path)
    ]


def _path_snapshot(path: str) -> TriggerSnapshot:
    try:
        status = os.lstat(path)
    except OSError:
        return {}
    return {path: (status.st_ino, status.st_mode, status.st_size, status.st_ctime_ns)}
