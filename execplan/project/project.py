"""A repository's plan folders, found from any folder inside it without asking git."""

from __future__ import annotations

import os

from execplan.errors import POLICY, ExecplanError
from execplan.files.file_access import open_regular, resolve_path
from execplan.named_tuple import NamedTuple
from execplan.project.project_settings import FLAT_LAYOUT, FOLDER_LAYOUT, Settings


class Project(NamedTuple):
    """Where plans live; every path is absolute."""

    root: str
    """The repository's root; without git, the folder that holds the home. Shown paths count from it."""
    base: str
    """The folder that settings and plan folders count from."""
    git: str | None
    """The worktree's git folder, or None without git."""
    settings: Settings
    exists: bool
    """Whether there is a plans folder or a settings file."""

    @property
    def plans(self) -> str:
        """The folder of the plans."""
        return os.path.join(self.base, self.settings.plans)

    @property
    def archive(self) -> str:
        """The folder into which a plan is archived today."""
        return self._dated_path(self.settings.archive)

    @property
    def superseded(self) -> str:
        """The folder into which a plan is archived today that was given up."""
        return self._dated_path(self.settings.superseded or self.settings.archive)

    @property
    def archives(self) -> list[str]:
        """The folders of archived plans, without those that are named by the day."""
        folders = [self.settings.archive, self.settings.superseded]
        return list(dict.fromkeys([os.path.join(self.base, folder.partition("/{")[0]) for folder in folders if folder]))

    def is_in_superseded(self, path: str) -> bool:
        """Whether a file lies in the folder for plans that were given up, where open tasks are no wonder."""
        folder = self.settings.superseded.partition("/{")[0]
        return bool(folder) and path.startswith(os.path.join(self.base, folder) + "/")

    @property
    def is_flat(self) -> bool:
        """Whether plans are files of one folder; else each lies in a folder of its own, with its artifacts."""
        return self.settings.layout == FLAT_LAYOUT

    def plan_file(self, folder: str, name: str) -> str:
        """The file of the plan with this id in a folder of plans."""
        if self.is_flat:
            return os.path.join(folder, f"{name}.md")
        return os.path.join(
            folder, name, f"{name}.md" if self.settings.layout == FOLDER_LAYOUT else self.settings.layout
        )

    def split_plan_path(self, path: str) -> tuple[str, str]:
        """The folder of plans that a plan's file lies in, and its id."""
        folder, name = os.path.split(path)
        if self.is_flat:
            return folder, name.removesuffix(".md")
        parent, directory = os.path.split(folder)
        if path == self.plan_file(parent, directory):
            return parent, directory
        is_in_directory = self.settings.layout == FOLDER_LAYOUT and name.endswith(f"{directory}.md")
        return parent if is_in_directory else folder, name.removesuffix(".md")

    def artifacts_dir(self, name: str, *, archived: bool = False) -> str:
        """The artifacts folder of a plan with this id; of all plans for an empty one."""
        if not self.is_flat:
            return os.path.join(self.archive if archived else self.plans, name)
        folder = self.settings.archive_artifacts if archived else self.settings.artifacts
        return os.path.join(self.base, folder, name)

    def plan_artifacts_dir(self, path: str, *, archived: bool) -> str:
        """The artifacts folder of the plan in a file, wherever it lies."""
        folder, name = self.split_plan_path(path)
        return self.artifacts_dir(name, archived=archived) if folder == os.path.dirname(path) else os.path.dirname(path)

    def _dated_path(self, folder: str) -> str:
        if "{" in folder:
            from execplan.clock import now
            from execplan.project.template_fields import fill

            year, month, day = f"{now():%Y %m %d}".split()
            folder = fill(folder, {"year": year, "month": month, "day": day})
        return os.path.join(self.base, folder)

    @property
    def state(self) -> str:
        """The folder for what is not committed."""
        return os.path.join(self.git, "execplan") if self.git else os.path.join(self.base, ".agent", ".state")

    @property
    def path_base(self) -> str:
        """What kept paths count from, also when a home is looked at from another one above it, without git."""
        return self.root if self.git else self.base

    @property
    def move_intent_path(self) -> str:
        """The file that says what a move is about to do; it is there while one is under way, or was cut short."""
        return os.path.join(self.state, "move.json")

    @property
    def shared_state(self) -> str:
        """The folder for what is not committed and all worktrees of a repository see."""
        return os.path.join(common_git_dir(self.git), "execplan") if self.git else self.state

    def display_path(self, path: str) -> str:
        """A path from the root; absolute outside it, and where there is neither a repository nor a home."""
        inside = path.startswith(self.root.rstrip("/") + "/") and (self.exists or self.git is not None)
        return path[len(self.root) :].lstrip("/") if inside else path


def ensure_inside(project: Project, path: str, folder: str | None = None) -> str:
    """Where a path leads to, inside the repository, or inside a folder of it; raises ExecplanError."""
    target = resolve_path(path)
    within = project.root if folder is None else resolve_path(folder)
    if not f"{target}/".startswith(within.rstrip("/") + "/"):
        boundary = "the repository" if folder is None else project.display_path(folder)
        raise ExecplanError(
            "link-outside",
            f"{project.display_path(path)} is a link out of {boundary}, to {target}",
            exit=POLICY,
            hint=f"put the file itself into {boundary}",
        )
    return target


def common_git_dir(git: str) -> str:
    """The main git folder of a worktree's git folder; that folder itself in the main worktree."""
    try:
        with open(open_regular(os.path.join(git, "commondir")), encoding="utf-8", errors="surrogateescape") as file:
            return os.path.normpath(os.path.join(git, file.readline(5000).strip()))
    except OSError:
        return git
