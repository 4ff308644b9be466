"""A plan that holds conflict markers, finished: its two sides taken out of the file and merged as plans."""

from __future__ import annotations

import os

from execplan.errors import NO, ExecplanError
from execplan.plan.change import Change, facts
from execplan.plan.merging.markers import split
from execplan.plan.merging.whole import Marks, Merged
from execplan.plan.reader import marker
from execplan.plan.whole import rebased
from execplan.repo import ask
from execplan.repo.amend import Amended, amend
from execplan.repo.merging.merge import three

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_BASE = b"1"
"""Git's name for the version that both sides grew out of."""


def finish(home: Home, ref: Ref, options: Options) -> tuple[Amended, Merged]:
    """Merge what the markers of a plan keep apart; what can't be merged stays between markers. Raises ExecplanError.

    Both sides are read from the file, so that what somebody has resolved by hand stays; only what they grew out of
    comes from git, where the plan is unmerged in its index. An archived plan is finished, too, and nothing is committed
    unless that is asked for: git commits a merge as a whole.
    """
    base = _base(home, ref.path)
    made = [Merged(b"", 0, ())]

    def change(plan: Plan) -> Change:
        data = plan.text.to_bytes()
        if not plan.conflicts:
            made[0] = Merged(data, 0, ())
            return Change((), facts(plan), "", ("no conflict markers: there is nothing to merge",))
        sides = split(data)
        default = Marks()
        ours, theirs = sides.labels
        size = marker(plan.text.lines[plan.conflicts[0]])[1]
        marks = Marks(size, ours or default.ours, theirs or default.theirs)
        merged = made[0] = three(base or sides.base or b"", sides.ours, sides.theirs, marks)
        if merged.conflicts and options.commit:
            raise ExecplanError(
                "conflicts-left",
                f"{merged.conflicts} of {sides.conflicts} conflicts can't be merged; nothing was written or committed",
                exit=NO,
                hint="write what can be merged, and resolve the rest by hand: execplan merge",
            )
        said = f"merged: {sides.conflicts - min(merged.conflicts, sides.conflicts)} of {sides.conflicts} conflicts"
        return rebased(plan, data, merged.data, said, said, "")

    amended = amend(home, ref, change, options._replace(commit=bool(options.commit)), verb="merge", resolves=True)
    return amended, made[0]


def is_unmerged(home: Home, path: str) -> bool:
    """Whether git still takes a file for one that is in conflict; raises ExecplanError."""
    return any([name for name, _, _ in _stages(home, path)])


def _base(home: Home, path: str) -> bytes | None:
    """What both sides of an unmerged file grew out of, as it would lie in the working tree; None for any other."""
    for shown, stage, blob in _stages(home, path):
        if stage == _BASE:
            return ask.output(home, "cat-file", "--filters", f"--path={shown}", blob)
    return None


def _stages(home: Home, path: str) -> list[tuple[str, bytes, str]]:
    """The versions of an unmerged file in git's index: its path, which one, and the id of its content."""
    if home.git is None:
        return []
    shown = home.shown(os.path.realpath(path))
    found = []
    for line in ask.output(home, "--literal-pathspecs", "ls-files", "-uz", "--", shown).split(b"\0"):
        about, _, name = line.partition(b"\t")
        if os.fsdecode(name) == shown:
            found.append((shown, about[-1:], about.split(b" ")[1].decode()))
    return found
