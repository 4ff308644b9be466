"""A repository's plan folders, found from any folder inside it without asking git."""

from __future__ import annotations

import os

from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.record import NamedTuple
from execplan.repo import settings as config
from execplan.repo.settings import Settings


class Home(NamedTuple):
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
        """The folder of archived plans."""
        return os.path.join(self.base, self.settings.archive)

    @property
    def superseded(self) -> str:
        """Where plans go that others supersede."""
        return self.archive

    def file(self, folder: str, name: str) -> str:
        """Where the plan with this id lies in a folder of plans."""
        return os.path.join(folder, f"{name}.md")

    def artifacts(self, name: str, *, archived: bool = False) -> str:
        """The artifacts folder of a plan."""
        folder = self.settings.archive_artifacts if archived else self.settings.artifacts
        return os.path.join(self.base, folder, name)

    @property
    def state(self) -> str:
        """The folder for what is not committed."""
        return os.path.join(self.git, "execplan") if self.git else os.path.join(self.base, ".agent", ".state")

    @property
    def shared(self) -> str:
        """The folder for what is not committed and all worktrees of a repository see."""
        return os.path.join(common(self.git), "execplan") if self.git else self.state

    def shown(self, path: str) -> str:
        """A path from the root; absolute outside it, and where there is neither a repository nor a home."""
        inside = path.startswith(self.root.rstrip("/") + "/") and (self.exists or self.git is not None)
        return path[len(self.root) :].lstrip("/") if inside else path


def find(start: str) -> Home:
    """The home that a folder lies in: the nearest with settings or plans, up to the root of the repository."""
    start = os.path.realpath(start)
    git_root, git = _repository(start)
    folder = start
    while True:
        found = config.load(folder)
        settings = found.settings if found is not None else Settings()
        if found is not None or os.path.isdir(os.path.join(folder, settings.plans)):
            return Home(git_root or folder, folder, git, settings, exists=True)
        parent = os.path.dirname(folder)
        if folder in (git_root, parent):
            break
        folder = parent
    base = git_root or start
    return Home(base, base, git, Settings(), exists=False)


def require(start: str) -> Home:
    """The home that a folder lies in; raises ExecplanError when there is none."""
    return existing(find(start))


def existing(home: Home) -> Home:
    """The home, if it is one: a plan that is named by its path may lie in none; raises ExecplanError."""
    if not home.exists:
        raise ExecplanError(
            "no-home", f"no plans folder in {home.base} or above", exit=ENVIRONMENT, hint="make one: execplan init"
        )
    return home


def common(git: str) -> str:
    """The main git folder of a worktree's git folder; that folder itself in the main worktree."""
    try:
        with open(os.path.join(git, "commondir"), encoding="utf-8", errors="surrogateescape") as file:
            return os.path.normpath(os.path.join(git, file.readline(5000).strip()))
    except OSError:
        return git


def _repository(start: str) -> tuple[str | None, str | None]:
    """The root of the working tree that a folder lies in, and its git folder; raises ExecplanError in a bare one."""
    folder = start
    while True:
        marker = os.path.join(folder, ".git")
        if os.path.isdir(marker):
            return folder, marker
        if os.path.isfile(marker):
            with open(marker, encoding="utf-8", errors="surrogateescape") as file:
                line = file.readline(5000)
            if line.startswith("gitdir:"):
                return folder, os.path.normpath(os.path.join(folder, line[len("gitdir:") :].strip()))
        if all([os.path.exists(os.path.join(folder, each)) for each in ("HEAD", "objects", "refs")]):
            raise ExecplanError(
                "bare-repository",
                f"{folder} is a git folder or a bare repository: it has no working tree",
                exit=ENVIRONMENT,
                hint="go to a checkout: git worktree add ../checkout",
            )
        parent = os.path.dirname(folder)
        if parent == folder:
            return None, None
        folder = parent
