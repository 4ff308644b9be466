"""The plans in a home."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.plan import reader
from execplan.plan.model import BROKEN, Plan
from execplan.record import NamedTuple
from execplan.repo.home import check_inside
from execplan.repo.homes import together
from execplan.repo.settings import FOLDER, NOT_PLANS
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home


class Ref(NamedTuple):
    """A plan's place, before it is read."""

    id: str
    path: str
    archived: bool

    @property
    def real(self) -> str:
        """Where its file lies, behind every link; raises ChangedMeanwhileError where folders keep changing places."""
        return disk.real(self.path)

    @property
    def typed(self) -> str:
        """As it can be typed in a shell: its id; its path where the id would be taken for a flag."""
        from shlex import quote

        return quote(self.path if self.id.startswith("-") else self.id)


class Shelved(NamedTuple):
    """A plan as it was read, or why it could not be."""

    home: Home
    ref: Ref
    data: bytes
    plan: Plan | None
    error: ExecplanError | None

    @property
    def state(self) -> str:
        """One of the five states."""
        return self.plan.state(archived=self.ref.archived) if self.plan is not None else BROKEN


def files(home: Home, *, archive: bool = False) -> list[tuple[str, list[str]]]:
    """The folders in which plans lie, or archived ones, each with the names of their files."""
    folders = [home.plans]
    if archive:
        depth = 3 if "{" in home.settings.archive + home.settings.superseded else 0
        folders = [each for folder in home.archives for each in _by_day(folder, depth)]
    return [place for folder in folders for place in _plans_in(home, folder)]


def refs(home: Home, *, archive: bool = False) -> list[Ref]:
    """The plans of the plans folder by name, or those of the archive."""
    return [
        Ref(home.place(path)[1], path, archive)
        for folder, names in files(home, archive=archive)
        for path in [os.path.join(folder, name) for name in names]
    ]


def _plans_in(home: Home, folder: str) -> list[tuple[str, list[str]]]:
    """The files of the plans in a folder of plans, with the folder in which they lie: it, or one of each plan's own."""
    names = entries(folder)
    if home.flat:
        return [(folder, [name for name in names if name.endswith(".md") and name.lower() not in NOT_PLANS])]
    found = []
    for name in names:
        own, file = os.path.split(home.file(folder, name))
        if os.path.lexists(os.path.join(own, file)):
            found.append((own, [file]))
        elif home.settings.layout == FOLDER and os.path.isdir(own):
            found.append((own, [each for each in entries(own) if each.endswith(f"{name}.md")]))
    return found


def _by_day(folder: str, depth: int) -> list[str]:
    """A folder, and those below it that are named by a year, a month and a day."""
    days = [os.path.join(folder, name) for name in entries(folder) if depth and not name.strip("0123456789-_.")]
    return [folder, *[each for day in days if os.path.isdir(day) for each in _by_day(day, depth - 1)]]


def every(home: Home) -> list[Ref]:
    """All plans, those of the archive last."""
    return refs(home) + refs(home, archive=True)


def open_bytes(home: Home, path: str) -> bytes:
    """The bytes of a plan; a link that leads out of the repository is refused. Raises ExecplanError."""
    check_inside(home, path)
    data, size = disk.read(path, reader.MAX_BYTES)
    if size > reader.MAX_BYTES:
        raise reader.too_large(size)
    return data


def load(home: Home, ref: Ref) -> Shelved:
    """The plan, or what keeps it from being read."""
    data = b""
    try:
        data = open_bytes(home, ref.path)
        return Shelved(home, ref, data, reader.read(data), None)
    except ExecplanError as error:
        return Shelved(home, ref, data, None, error)


def load_all(home: Home, plans: list[Ref]) -> list[Shelved]:
    """Each of the plans, but for those that were moved away since their folder was listed."""
    shelved = [load(home, ref) for ref in plans]
    return [each for each in shelved if each.error is None or os.path.lexists(each.ref.path)]


def load_together(home: Home, *, archive: bool = False) -> list[Shelved]:
    """The plans of a home and of those that its settings name, with the archive or without."""
    among = together(home)
    return [shelved for each in among for shelved in load_all(each, every(each) if archive else refs(each))]


def by_file(home: Home, path: str) -> Ref:
    """The plan in a file, which may lie anywhere."""
    path = os.path.abspath(path)
    folder, name = home.place(path)
    return Ref(name, path, _is_archive(home, os.path.realpath(folder)))


def _is_archive(home: Home, folder: str) -> bool:
    """Whether a folder holds archived plans."""
    archives = [os.path.realpath(each) for each in home.archives]
    if "{" in home.settings.archive + home.settings.superseded:
        while folder != "/" and not os.path.basename(folder).strip("0123456789-_."):
            folder = os.path.dirname(folder)
    return folder in archives


def taken_ids(home: Home) -> set[str]:
    """Every id that a new plan may not have: of plans and artifacts, archived too, and of files that are no plans."""
    names = [ref.id for ref in every(home)] + [name.removesuffix(".md") for name in NOT_PLANS]
    for archived in (False, True):
        names += entries(home.artifacts("", archived=archived))
    return {same_id(name) for name in names}


def free_name(name: str, taken: set[str], end: str = "") -> str:
    """The name, or the name with the first number that makes it free, and what it ends with; taken are ids as compared."""
    free, number = name + end, 1
    while same_id(free) in taken:
        number += 1
        free = f"{name}-{number}{end}"
    return free


def same_id(name: str) -> str:
    """An id without case and in one Unicode form: what file systems may take for the same name."""
    if name.isascii():
        return name.lower()
    from unicodedata import normalize

    return normalize("NFC", name).casefold()


def entries(folder: str, *, in_order: bool = True) -> list[str]:
    """What is in a folder, by name; hidden files are left out, and a folder that is not there is empty."""
    try:
        names = [name for name in os.listdir(folder) if not name.startswith(".")]
        return sorted(names) if in_order else names
    except FileNotFoundError:
        return []
    except OSError as error:
        raise disk.trouble(error, folder, "read") from None
