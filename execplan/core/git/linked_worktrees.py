"""The worktrees of a repository, read from its git directory without a git process."""

from __future__ import annotations

import os
from typing import NamedTuple

from execplan.core.files import file_access
from execplan.core.git.git_directory import current_branch
from execplan.core.project.project import Project, common_git_dir

_FOLDER = "worktrees"
"""Directory in the main git directory with a subdirectory for each linked worktree."""
_INITIALIZING = "initializing"
"""Reason of the lock that git holds while it creates a worktree."""
_BRANCH_PREFIX = "refs/heads/"
_CONFIG_FILES = ("config", "config.worktree")
_MAX_CONFIG_CHARACTERS = 1 << 20


class Worktree(NamedTuple):
    """A working tree of a repository."""

    root: str
    """Absolute path of the working tree, with all links resolved."""
    git: str
    """Absolute path of its git directory."""
    branch: str
    """Short name of its branch, also during a rebase of it; empty for a detached HEAD."""
    is_main: bool
    lock_reason: str | None = None
    """Why the worktree is locked, possibly empty; None if it is not locked."""

    @property
    def exists(self) -> bool:
        """Whether the working tree is on disk."""
        return os.path.lexists(os.path.join(self.root, ".git"))

    @property
    def is_initializing(self) -> bool:
        """Whether git is creating the worktree, or was killed while it did."""
        return self.lock_reason == _INITIALIZING


def has_linked_worktrees(project: Project) -> bool:
    """Return whether the repository has more than its main worktree."""
    return project.git is not None and os.path.isdir(os.path.join(common_git_dir(project.git), _FOLDER))


def list_worktrees(project: Project) -> list[Worktree]:
    """Return the worktrees of a project's repository: the main one if there is one, then the linked ones by name.

    A linked worktree whose directory was removed is included. Raises ExecplanError if a file can't be read.
    """
    if project.git is None:
        return []
    common = common_git_dir(project.git)
    worktrees = []
    root = os.path.realpath(project.root) if common == project.git else _main_root(common)
    if root is not None:
        worktrees.append(Worktree(root, common, _branch_of(common), is_main=True))
    parent = os.path.join(common, _FOLDER)
    for name in sorted(os.listdir(parent)) if os.path.isdir(parent) else ():
        git = os.path.join(parent, name)
        if location := _read_line(os.path.join(git, "gitdir")):
            root = os.path.realpath(os.path.dirname(os.path.join(git, location)))
            reason = _read_line(os.path.join(git, "locked"))
            worktrees.append(Worktree(root, git, _branch_of(git), is_main=False, lock_reason=reason))
    return worktrees


def worktree_of(project: Project, worktrees: list[Worktree]) -> Worktree | None:
    """Return the worktree that contains a project."""
    root = os.path.realpath(project.root)
    return next((worktree for worktree in worktrees if worktree.root == root), None)


def project_in(project: Project, worktree: Worktree) -> Project:
    """Return the same project in another worktree, with the same settings."""
    base = os.path.normpath(os.path.join(worktree.root, os.path.relpath(project.base, project.root)))
    return project._replace(root=worktree.root, base=base, git=worktree.git)


def main_directory(project: Project) -> str:
    """Return the root of the main worktree, or the git directory of a bare repository."""
    main = next((worktree for worktree in list_worktrees(project) if worktree.is_main), None)
    return main.root if main is not None else common_git_dir(project.git or project.root)


def _main_root(common: str) -> str | None:
    """Return the root of the main worktree for a git directory; None for a bare repository."""
    settings = _core_settings(common)
    if settings.get("bare") == "true":
        return None
    if "worktree" in settings:
        return os.path.realpath(os.path.join(common, settings["worktree"]))
    return os.path.realpath(os.path.dirname(common)) if os.path.basename(common) == ".git" else None


def _core_settings(common: str) -> dict[str, str]:
    """Return the settings in the section `core` of the repository's configuration, with names in lower case."""
    lines: list[str] = []
    for name in _CONFIG_FILES:
        try:
            with open(file_access.open_regular(os.path.join(common, name)), encoding="utf-8", errors="replace") as file:
                lines += file.read(_MAX_CONFIG_CHARACTERS).splitlines()
        except OSError:
            continue
    section, settings = "", {}
    for line in map(str.strip, lines):
        if line.startswith("["):
            section = line.strip("[] \t").lower()
        elif section == "core" and "=" in line:
            name, _, value = line.partition("=")
            settings[name.strip().lower()] = value.strip().strip('"')
    return settings


def _branch_of(git: str) -> str:
    """Return the short name of the branch of a git directory, also while it is rebased; empty if there is none."""
    branch = current_branch(git)
    if branch is None:
        names = [_read_line(os.path.join(git, folder, "head-name")) for folder in ("rebase-merge", "rebase-apply")]
        branch = next(filter(None, names), "")
    return branch.removeprefix(_BRANCH_PREFIX) if branch.startswith(_BRANCH_PREFIX) else ""


def _read_line(path: str) -> str | None:
    """Return the first line of a file; None if it does not exist."""
    try:
        with open(file_access.open_regular(path), encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(5000).strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise file_access.file_error(error, path, "read") from None
