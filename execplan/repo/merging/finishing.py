"""A plan that holds conflict markers, finished: its two sides merged as plans, with what a person has resolved by hand."""

from __future__ import annotations

import os

from execplan.errors import NO, ExecplanError
from execplan.plan.change import Change, facts
from execplan.plan.merging.markers import Sides, split
from execplan.plan.merging.whole import Marks, Merged
from execplan.plan.reader import marker
from execplan.plan.whole import rebased
from execplan.repo import ask
from execplan.repo.amend import Amended, amend
from execplan.repo.merging import mergefile
from execplan.repo.merging.merge import three

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_BASE, _OURS, _THEIRS = b"1", b"2", b"3"
"""Git's names for the versions of an unmerged file."""


def finish(home: Home, ref: Ref, options: Options) -> tuple[Amended, Merged]:
    """Merge what the markers of a plan keep apart; what can't be merged stays between markers. Raises ExecplanError.

    An archived plan is finished, too, and nothing is committed unless that is asked for: git commits a merge as a whole.
    """
    versions = _versions(home, ref.path)
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
        merged = made[0] = three(*_merged_from(sides, versions, marks), marks)
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


def _merged_from(sides: Sides, versions: dict[bytes, bytes], marks: Marks) -> tuple[bytes, bytes, bytes]:
    """Base, ours and theirs: as git's index holds them, with what was resolved by hand; else as the file holds them.

    The file alone won't do: outside its markers each side already holds lines of the other, which git has put there, so
    that an entry which one side reworded and the other moved would be kept twice.
    """
    base = versions.get(_BASE, sides.base or b"")
    if _OURS not in versions or _THEIRS not in versions:
        return base, sides.ours, sides.theirs
    found = mergefile.merge(base, versions[_OURS], versions[_THEIRS], marks)
    if found is None:
        return base, sides.ours, sides.theirs
    untouched = split(found[0])
    ours = _with_edits(versions[_OURS], untouched.ours, sides.ours)
    return base, ours, _with_edits(versions[_THEIRS], untouched.theirs, sides.theirs)


def _with_edits(version: bytes, untouched: bytes, edited: bytes) -> bytes:
    """A version with the edits that a person made to what git had merged; all of `edited` where they don't fit into it."""
    if untouched == edited:
        return version
    found = mergefile.merge(untouched, version, edited, Marks())
    return found[0] if found and not found[1] else edited


def _versions(home: Home, path: str) -> dict[bytes, bytes]:
    """The versions of an unmerged file by their stage, as they would lie in the working tree; none for any other."""
    return {
        stage: ask.output(home, "cat-file", "--filters", f"--path={shown}", blob)
        for shown, stage, blob in _stages(home, path)
    }


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
