"""Activity of plans: whether an open plan is stalled, and when a plan without dates was last changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta

from execplan.core.clock import now
from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_dates import day_start, is_on_hold, latest_date
from execplan.core.project.project import Project
from execplan.core.timestamps import format_minute


class PlanActivity:
    """Check for stalled plans, which queries git once per directory and only if a plan's own timestamps are old.

    A clone, a checkout or a backup changes file times. They therefore count only for content that differs from git's.
    """

    def __init__(self) -> None:
        self._committed: dict[tuple[str, str, date], set[str] | None] = {}
        self._folders: dict[str, str] = {}
        self._uncommitted: dict[tuple[str, str], list[str] | None] = {}

    def is_stalled(self, project: Project, path: str, plan: ParsedPlan) -> bool:
        """Return whether an open plan has had no timestamp, edit or commit for the number of days in the settings."""
        return self.is_stalled_since(
            project, path, latest_date(plan), on_hold=lambda: is_on_hold(plan, project.display_path(path))
        )

    def is_stalled_since(self, project: Project, path: str, last_date: str, *, on_hold: Callable[[], bool]) -> bool:
        """Like `is_stalled`, for a plan whose latest date is known; `on_hold` tells whether it is on hold."""
        today = now().date()
        cutoff = today - timedelta(days=project.settings.stalled_days)
        try:
            was_edited = datetime.fromtimestamp(os.stat(path).st_mtime, UTC).date() >= cutoff
        except FileNotFoundError:  # moved since it was read: somebody is working on it
            return False
        last_dated = day_start(last_date)
        if (last_dated is not None and last_dated >= (cutoff - date(1970, 1, 1)).days * 1440) or on_hold():
            return False
        if project.git is None:
            return not was_edited
        path = self._real_path(path)
        committed = self._committed_files(project, os.path.dirname(path), cutoff)
        if committed is None:
            return not was_edited
        if project.display_path(path) in committed:
            return False
        return not (was_edited and self._is_uncommitted(project, path))

    def last_edit(self, project: Project, path: str) -> str:
        """Return the date of a plan's last commit, or of the last edit if git does not have its content.

        Raises OSError if there is no such file.
        """
        edit_seconds = int(os.stat(path).st_mtime)
        path = self._real_path(path)
        if project.git is None or self._is_uncommitted(project, path):
            return format_minute(edit_seconds)[:10]
        from execplan.core.git import git_query

        args = ("log", "-1", "--format=%ct", "--no-show-signature", "--", project.display_path(path))
        try:
            commit_seconds = git_query.output(project, "--literal-pathspecs", *args).strip()
        except ExecplanError:
            commit_seconds = b""
        return format_minute(int(commit_seconds or edit_seconds))[:10]

    def _real_path(self, path: str) -> str:
        """Return the path with links resolved; each directory is resolved only once."""
        if os.path.islink(path):
            return os.path.realpath(path)
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)

    def _committed_files(self, project: Project, folder: str, cutoff: date) -> set[str] | None:
        """Return the files in a directory that commits have changed since a date; None if git can't tell."""
        key = project.root, folder, cutoff
        if key not in self._committed:
            since = int(datetime.combine(cutoff, time(), UTC).timestamp())
            args = ("log", f"--since=@{since}", *"-c --format= --name-only -z --no-renames --no-show-signature".split())
            pathspec = ("--", project.display_path(folder) or ".")
            from execplan.core.git import git_query

            try:
                out = git_query.output(project, "-c", "diff.relative=false", "--literal-pathspecs", *args, *pathspec)
                self._committed[key] = {os.fsdecode(name.lstrip(b"\n")) for name in out.split(b"\0") if name.strip()}
            except ExecplanError:  # there is no commit yet, or no git
                self._committed[key] = None
        return self._committed[key]

    def _is_uncommitted(self, project: Project, path: str) -> bool:
        """Return whether a file differs from its committed version; also if git can't tell."""
        folder = os.path.dirname(path)
        key = project.root, folder
        if key not in self._uncommitted:
            args = ("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files=all")
            pathspec = ("--ignored=matching", "--", project.display_path(folder) or ".")
            from execplan.core.git import git_query

            try:
                query = ("--no-optional-locks", "--literal-pathspecs", *args, *pathspec)
                out = git_query.output(project, *query, limit=git_query.SCAN_TIMEOUT)
                self._uncommitted[key] = [os.fsdecode(line[3:]) for line in out.split(b"\0") if line]
            except ExecplanError:
                self._uncommitted[key] = None
        uncommitted = self._uncommitted[key]
        display_path = project.display_path(path)
        return uncommitted is None or any(
            [
                display_path == changed_path or (changed_path.endswith("/") and display_path.startswith(changed_path))
                for changed_path in uncommitted
            ]
        )
