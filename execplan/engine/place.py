"""Where a run lies: its evidence among the plan's artifacts, its working state in the folder that is not committed."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.record import NamedTuple
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_RUNS = "runs"
JOURNAL: Final = "journal.jsonl"
LEDGER: Final = "ledger.jsonl"
LIMIT: Final = 256 << 20
"""Bytes of the longest journal, and of the longest ledger, that is read."""


class RunPaths(NamedTuple):
    """The folders and files of a run; every path is absolute."""

    id: str
    """Its number in the plan, so that runs stand in order whatever a clock says, and eight random digits."""
    folder: str
    """Committed with the plan: journal, document, approval, transcripts, record."""
    state: str
    """Not committed: what a resume and a rollback need beside the journal and the backups, and a copy of the evidence."""
    root: str = ""
    """Of the repository, in which the folder must lie."""

    @property
    def number(self) -> int:
        """Which run of the plan it is, from 1."""
        return int(self.id.partition("-")[0])

    @property
    def copy(self) -> str:
        """The copy of the evidence in the state, which no step removes with the files of the repository."""
        return os.path.join(self.state, "copy")

    @property
    def journal(self) -> str:
        """What happened, an entry a line: the copy, which is written first, unless what was committed goes on behind it."""
        own, shown = self.copied(JOURNAL), self.shown(JOURNAL)
        try:
            size = os.lstat(own).st_size
        except OSError:
            return shown
        try:
            longer = os.lstat(shown).st_size > size
        except OSError:
            return own
        return shown if longer and _goes_on(own, shown) else own

    @property
    def document(self) -> str:
        """The bytes of the execution plan that is run."""
        return self.paper("execution-plan.json")

    @property
    def approval(self) -> str:
        """The approval that lets it run; a later one of the same digest takes the other file's place."""
        return os.path.join(self.folder, "approval.json")

    @property
    def record(self) -> str:
        """What became of it, for whoever does not read journals."""
        return os.path.join(self.folder, "record.json")

    def shown(self, name: str) -> str:
        """A file of the evidence, among the plan's artifacts."""
        return os.path.join(self.folder, name)

    def copied(self, name: str) -> str:
        """Its copy in the state."""
        return os.path.join(self.copy, name)

    def paper(self, name: str) -> str:
        """The one of both to go by: what a step has altered or removed among the artifacts is whole in the copy."""
        own = self.copied(name)
        return own if os.path.lexists(own) else self.shown(name)

    @property
    def transcripts(self) -> str:
        """The folder of what the steps printed."""
        return os.path.join(self.folder, "transcripts")


def folder(home: Home, ref: Ref) -> str:
    """The folder of a plan's runs."""
    return os.path.join(home.artifacts_of(ref.path, archived=ref.archived), _RUNS)


def every(home: Home, ref: Ref) -> list[RunPaths]:
    """The runs of a plan, the last one first; raises ExecplanError.

    Two branches may each have one of a number: then the clock tells which of these is the later one.
    """
    from execplan.repo import belongings, shelf

    names = [name for name in shelf.entries(folder(home, ref)) if is_run(name)]
    kept = [name for name in names_in(belongings.folder(home, ref.path)) if is_run(name) and name not in names]
    found = [at(home, ref, name) for name in names]
    if kept:
        from execplan.engine.lost import is_lost

        found += [
            each
            for each in [at(home, ref, name) for name in kept]
            if is_lost(home, each.copied(JOURNAL), each.shown(JOURNAL))
        ]
    numbers = [each.number for each in found]
    twice = {number for number in numbers if numbers.count(number) > 1} if len(set(numbers)) < len(numbers) else set()

    def order(place: RunPaths) -> tuple[int, str, str]:
        return place.number, _begun(place) if place.number in twice else "", place.id

    return sorted(found, key=order, reverse=True)


def following(home: Home, ref: Ref) -> RunPaths:
    """The place of a run that is about to begin; raises ExecplanError."""
    last = max([each.number for each in every(home, ref)], default=0)
    return at(home, ref, f"{last + 1:04}-{os.urandom(4).hex()}")


def named(home: Home, ref: Ref, name: str | None) -> RunPaths:
    """The run that a number, an id or its beginning names, the last one for none; raises ExecplanError."""
    found = every(home, ref)
    if not found:
        what = f"{ref.id} was never run"
        raise ExecplanError("no-such-run", what, exit=INPUT, hint=f"execplan run {ref.typed}")
    if name is None:
        return found[0]
    fits = [each for each in found if each.id == name or str(each.number) == name.lstrip("0")]
    fits = fits or [each for each in found if name and each.id.startswith(name)]
    if len(fits) == 1:
        return fits[0]
    see = f"see them: execplan runs {ref.typed}"
    shown = [each.id for each in fits or found]
    if fits:
        what = f"{len(fits)} runs of {ref.id} could be meant by {name!r}"
        raise ExecplanError("ambiguous-run", what, exit=INPUT, hint=see, candidates=shown)
    raise ExecplanError("no-such-run", f"{ref.id} has no run {name!r}", exit=INPUT, hint=see, candidates=shown)


def names_in(folder: str) -> list[str]:
    """What is in a folder of the state; nothing where there is none."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _goes_on(own: str, shown: str) -> bool:
    """Whether a journal that is longer than its copy was written in another checkout: the ledger beside it knows the rest."""
    from execplan.text.lines import digest

    try:
        known, data = (disk.read(path, LIMIT)[0] for path in (own, shown))
        ledger = disk.read(os.path.join(os.path.dirname(shown), "..", "..", LEDGER), LIMIT)[0]
    except ExecplanError:
        return False
    rest = data.removeprefix(known)[: data.rfind(b"\n") + 1 - len(known)] if data.startswith(known) else b""
    lines, first = rest.split(b"\n")[:-1], known.count(b"\n") + 1
    numbered = all([line.startswith(f'{{"n":{number},'.encode()) for number, line in enumerate(lines, first)])
    return bool(lines) and numbered and all([f'"line":"{digest(line)}"'.encode() in ledger for line in lines])


def _begun(place: RunPaths) -> str:
    """When a run was begun, by the first line of its journal, or nothing."""
    try:
        with open(disk.open_regular(place.journal), "rb") as file:
            return file.readline(1 << 16).partition(b'"at":"')[2].decode("ascii", "replace")[:20]
    except OSError:
        return ""


def at(home: Home, ref: Ref, name: str) -> RunPaths:
    """The place of a run with this id, whether it is there or not."""
    return RunPaths(name, os.path.join(folder(home, ref), name), os.path.join(home.state, _RUNS, name), home.root)


def is_run(name: str) -> bool:
    """Whether a file is called as a run is."""
    number, dash, rest = name.partition("-")
    return (
        bool(dash) and number.isascii() and number.isdigit() and len(rest) == 8 and not rest.strip("0123456789abcdef")
    )
