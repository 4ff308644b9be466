"""How a plan is getting on."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, time, timedelta

from execplan.clock import now
from execplan.errors import ExecplanError
from execplan.lint.stalled import is_on_hold, latest_date
from execplan.lint.stamps import day_of
from execplan.repo import ask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan
    from execplan.repo.home import Home


class Activity:
    """Which plans are stalled; git is asked once for a directory, and only where a plan's own timestamps are old.

    A clone, a checkout or a backup sets the times of files, so that these count only for what git does not have as it is.
    """

    def __init__(self) -> None:
        self._committed: dict[tuple[str, str, date], set[str] | None] = {}
        self._folders: dict[str, str] = {}
        self._uncommitted: dict[tuple[str, str], list[str] | None] = {}

    def is_stalled(self, home: Home, path: str, plan: Plan) -> bool:
        """Whether an open plan has had no timestamp, edit or commit for the days that the settings say."""
        today = now().date()
        first = today - timedelta(days=home.settings.stalled_days)
        try:
            edited = datetime.fromtimestamp(os.stat(path).st_mtime, UTC).date() >= first
        except FileNotFoundError:  # moved since it was read: somebody is at it
            return False
        dated = day_of(latest_date(plan))
        if (dated is not None and dated >= (first - date(1970, 1, 1)).days * 1440) or is_on_hold(
            plan, home.shown(path)
        ):
            return False
        if home.git is None:
            return not edited
        path = self._real(path)
        committed = self._commits(home, os.path.dirname(path), first)
        if committed is None:
            return not edited
        if home.shown(path) in committed:
            return False
        return not (edited and self._differs(home, path))

    def _real(self, path: str) -> str:
        """The path without links; a directory is asked once."""
        if os.path.islink(path):
            return os.path.realpath(path)
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)

    def _commits(self, home: Home, folder: str, first: date) -> set[str] | None:
        """The files of a directory that commits have changed since a day, None where git can't tell."""
        key = home.root, folder, first
        if key not in self._committed:
            since = int(datetime.combine(first, time(), UTC).timestamp())
            asked = (
                "log",
                f"--since=@{since}",
                "--format=",
                "--name-only",
                "-z",
                "--no-renames",
                "--no-show-signature",
            )
            where = ("--", home.shown(folder) or ".")
            try:
                out = ask.output(home, "-c", "diff.relative=false", "--literal-pathspecs", *asked, *where)
                self._committed[key] = {os.fsdecode(each.lstrip(b"\n")) for each in out.split(b"\0") if each.strip()}
            except ExecplanError:  # no commit yet, or no git
                self._committed[key] = None
        return self._committed[key]

    def _differs(self, home: Home, path: str) -> bool:
        """Whether a file is not as it was committed; also where git can't tell."""
        folder = os.path.dirname(path)
        key = home.root, folder
        if key not in self._uncommitted:
            asked = ("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files=all")
            where = ("--ignored=matching", "--", home.shown(folder) or ".")
            try:
                out = ask.output(home, "--no-optional-locks", "--literal-pathspecs", *asked, *where)
                self._uncommitted[key] = [os.fsdecode(line[3:]) for line in out.split(b"\0") if line]
            except ExecplanError:
                self._uncommitted[key] = None
        known = self._uncommitted[key]
        shown = home.shown(path)
        return known is None or any(
            [shown == each or (each.endswith("/") and shown.startswith(each)) for each in known]
        )
