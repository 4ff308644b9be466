"""Projects: the directories of plans, archives, artifacts and state in a repository."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files.file_access import list_names, open_regular, resolve_path
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project_settings import FLAT_LAYOUT, FOLDER_LAYOUT, Settings
from execplan.core.text.pure_paths import is_inside
from execplan.core.text.text_lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_NO_TITLES: Mapping[str, str] = {}


class Project(NamedTuple):
    """A project with its plans, given by absolute paths."""

    root: str
    """Root of the repository, or without git the project directory; displayed paths are relative to it."""
    base: str
    """Project directory, to which the paths in the settings are relative."""
    git: str | None
    """Git directory of the worktree, or None without git."""
    settings: Settings
    exists: bool
    """Whether there is a plans directory or a settings file."""
    is_read_only: bool = False
    """Whether it is read from another project, so that nothing is written there, not even a cache."""
    all_settings: Settings | None = None
    """For one of the further plans directories of a project, the settings of the project."""
    shared_archives: tuple[str, ...] = ()
    """Archives that this plans directory shares with another one, which lists their plans."""

    @property
    def plans(self) -> str:
        """Return the plans directory."""
        return os.path.join(self.base, self.settings.plans)

    @property
    def files(self) -> list[str]:
        """Return the plans that are single files outside of the plans directory."""
        return [os.path.join(self.base, file) for file in self.settings.files]

    @property
    def plan_paths(self) -> list[str]:
        """Return the paths of all plans: the plans directory, the archives, and the single files."""
        return [self.plans, *self.archives, *self.files]

    @property
    def archive(self) -> str:
        """Return the directory for plans that are archived today."""
        return self._dated_path(self.settings.archive)

    @property
    def superseded(self) -> str:
        """Return the directory for abandoned plans that are archived today."""
        return self._dated_path(self.settings.superseded or self.settings.archive)

    @property
    def archives(self) -> list[str]:
        """Return the directories of archived plans, without their dated subdirectories."""
        folders = [self.settings.archive, self.settings.superseded]
        return list(dict.fromkeys([os.path.join(self.base, folder.partition("/{")[0]) for folder in folders if folder]))

    def is_in_superseded(self, path: str) -> bool:
        """Return whether a file is in the directory for abandoned plans, where open tasks are to be expected."""
        folder = self.settings.superseded.partition("/{")[0]
        return bool(folder) and path.startswith(os.path.join(self.base, folder) + "/")

    @property
    def is_flat(self) -> bool:
        """Return whether plans are files in one directory, rather than in a directory per plan with its artifacts."""
        return self.settings.layout == FLAT_LAYOUT

    def plan_file(self, folder: str, name: str) -> str:
        """Return the file of the plan with an ID in a plans directory."""
        if self.settings.files and folder == self.plans:
            if single_files := [file for file in self.files if os.path.basename(file) == f"{name}.md"]:
                return single_files[0]
        if self.is_flat:
            return os.path.join(folder, f"{name}.md")
        return os.path.join(
            folder, name, f"{name}.md" if self.settings.layout == FOLDER_LAYOUT else self.settings.layout
        )

    @property
    def titles(self) -> Mapping[str, str]:
        """The role of each title of a section to which the settings give one; keys are in the form of `outline.title_key`."""
        if not self.settings.roles:
            return _NO_TITLES
        from execplan.core.plan.outline import title_key

        return {title_key(title): role for role, titles in self.settings.roles.items() for title in titles}

    def split_plan_path(self, path: str) -> tuple[str, str]:
        """Return the plans directory that contains a plan's file, and the plan's ID; a single file counts as in it."""
        folder, name = os.path.split(path)
        if path in self.files:
            return self.plans, name.removesuffix(".md")
        if self.is_flat:
            return folder, name.removesuffix(".md")
        parent, directory = os.path.split(folder)
        if path == self.plan_file(parent, directory):
            return parent, directory
        is_in_directory = self.settings.layout == FOLDER_LAYOUT and name.endswith(f"{directory}.md")
        return parent if is_in_directory else folder, name.removesuffix(".md")

    def artifacts_dir(self, name: str, *, archived: bool = False) -> str:
        """Return the artifacts directory of the plan with an ID; for an empty ID, that of all plans."""
        if not self.is_flat:
            return os.path.join(self.archive if archived else self.plans, name)
        folder = self.settings.archive_artifacts if archived else self.settings.artifacts
        return os.path.join(self.base, folder, name)

    def plan_artifacts_dir(self, path: str, *, archived: bool) -> str:
        """Return the artifacts directory of the plan in a file at any path."""
        folder, name = self.split_plan_path(path)
        directory, artifacts = os.path.dirname(path), self.artifacts_dir(name, archived=archived)
        has_own_directory = not self.is_flat and folder != directory and not self._has_other_plans(path)
        return directory if has_own_directory and not os.path.isdir(artifacts) else artifacts

    def _has_other_plans(self, path: str) -> bool:
        """Return whether the directory of a plan has others, as `PLAN_x.md` and `TASK_1_x.md` in the directory `x`."""
        directory, file = os.path.split(path)
        ending = f"{os.path.basename(directory)}.md"
        if file == ending or self.settings.layout != FOLDER_LAYOUT:
            return False
        return any([name.endswith(ending) and name != file for name in list_names(directory)])

    def _dated_path(self, folder: str) -> str:
        if "{" in folder:
            from execplan.core.clock import now
            from execplan.core.project.setting_forms import fill

            year, month, day = f"{now():%Y %m %d}".split()
            folder = fill(folder, {"year": year, "month": month, "day": day})
        return os.path.join(self.base, folder)

    @property
    def state(self) -> str:
        """Return the directory for uncommitted state."""
        return os.path.join(self.git, "execplan") if self.git else os.path.join(self.base, ".agent", ".state")

    @property
    def caches(self) -> str:
        """Return the directory for caches: the state directory, or for a read-only project one of the user's own."""
        if not self.is_read_only:
            return self.state
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        return os.path.join(home, "execplan", "projects", digest(os.fsencode(self.state))[:16])

    @property
    def path_base(self) -> str:
        """Return the base of stored paths: the repository root, or without git the project directory.

        It stays the same if a nested project is accessed from the one above.
        """
        return self.root if self.git else self.base

    @property
    def base_path(self) -> str:
        """Return the path of the project directory from the root, which is the same in all worktrees."""
        return os.path.relpath(self.base, self.root)

    @property
    def move_intent_path(self) -> str:
        """Return the path of the file that describes a pending move.

        It exists while a move is in progress or interrupted.
        """
        return os.path.join(self.state, "move.json")

    @property
    def shared_state(self) -> str:
        """Return the directory for uncommitted state that all worktrees of a repository share."""
        return os.path.join(common_git_dir(self.git), "execplan") if self.git else self.state

    def display_path(self, path: str) -> str:
        """Return a path relative to the root; unchanged if it is outside, or without a repository and a project."""
        inside = path.startswith(self.root.rstrip("/") + "/") and (self.exists or self.git is not None)
        return path[len(self.root) :].lstrip("/") if inside else path

    def shown_path(self, path: str) -> str:
        """Return a path for people: relative to the root, or absolute in a project that is only read from another."""
        return path if self.is_read_only else self.display_path(path)


def ensure_inside(project: Project, path: str, folder: str | None = None) -> str:
    """Resolve the links of a path.

    Raises ExecplanError if it is outside the repository, or outside the given directory.
    """
    target = resolve_path(path)
    within = project.root if folder is None else resolve_path(folder)
    if not is_inside(target, within):
        boundary = "the repository" if folder is None else project.display_path(folder)
        raise ExecplanError(
            "link-outside",
            f"{project.display_path(path)} is a symbolic link to {target}, outside of {boundary}",
            hint=f"put the file itself into {boundary}",
        )
    return target


def is_linked_worktree(git: str) -> bool:
    """Return whether a git directory is that of a linked worktree, rather than of the main one."""
    return os.path.lexists(os.path.join(git, "commondir"))


def common_git_dir(git: str) -> str:
    """Return the main git directory for a worktree's git directory; the same directory in the main worktree."""
    try:
        with open(open_regular(os.path.join(git, "commondir")), encoding="utf-8", errors="surrogateescape") as file:
            return os.path.normpath(os.path.join(git, file.readline(5000).strip()))
    except OSError:
        return git


IN_GIT_DIR = "is inside a git directory, where only git and execplan's own state belong"
"""Message about a path for which `is_in_git_dir` is true."""


def is_in_git_dir(project: Project, path: str) -> bool:
    """Return whether a real path is in a git directory: that of the project, or any other one."""
    git_dirs = [project.git, common_git_dir(project.git)] if project.git is not None else []
    return ".git" in path.split("/") or any([is_inside(path, os.path.realpath(git)) for git in git_dirs])
