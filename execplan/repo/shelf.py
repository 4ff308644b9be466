"""The plans in a home: what there is, and which one is meant."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.plan import reader
from execplan.plan.model import ACTIVE, BROKEN, DRAFT, Plan
from execplan.plan.seek import fold, single
from execplan.record import NamedTuple
from execplan.repo import home as homes
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


def refs(home: Home, *, archive: bool = False) -> list[Ref]:
    """The plans of the plans folder by name, or those of the archive."""
    folders = [home.plans]
    if archive:
        depth = 3 if "{" in home.settings.archive + home.settings.superseded else 0
        folders = [each for folder in home.archives for each in _by_day(folder, depth)]
    return [Ref(name, path, archive) for folder in folders for name, path in _plans_in(home, folder)]


def _plans_in(home: Home, folder: str) -> list[tuple[str, str]]:
    """The id and the file of each plan in a folder of plans."""
    names = _names(folder)
    if home.flat:
        plans = [name for name in names if name.endswith(".md") and name.lower() not in NOT_PLANS]
        return [(name[:-3], os.path.join(folder, name)) for name in plans]
    found = []
    for name in names:
        path = home.file(folder, name)
        if os.path.lexists(path):
            found.append((name, path))
        elif home.settings.layout == FOLDER and os.path.isdir(os.path.join(folder, name)):
            own = os.path.join(folder, name)
            found += [(each[:-3], os.path.join(own, each)) for each in _names(own) if each.endswith(f"{name}.md")]
    return found


def _by_day(folder: str, depth: int) -> list[str]:
    """A folder, and those below it that are named by a year, a month and a day."""
    days = [os.path.join(folder, name) for name in _names(folder) if depth and not name.strip("0123456789-_.")]
    return [folder, *[each for day in days if os.path.isdir(day) for each in _by_day(day, depth - 1)]]


def every(home: Home) -> list[Ref]:
    """All plans, those of the archive last."""
    return refs(home) + refs(home, archive=True)


def open_bytes(home: Home, path: str) -> bytes:
    """The bytes of a plan; a link that leads out of the repository is refused. Raises ExecplanError."""
    homes.check_inside(home, path)
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
    among = homes.together(home)
    return [shelved for each in among for shelved in load_all(each, every(each) if archive else refs(each))]


def open_plan(start: str, query: str | None) -> tuple[Home, Ref]:
    """The plan that is meant and its home: named, set by EXECPLAN_PLAN, or the only one; raises ExecplanError."""
    if query is None:
        query = os.environ.get("EXECPLAN_PLAN") or None
    if query is not None and is_path(query) and os.path.lexists(query):
        home = homes.find(os.path.dirname(os.path.abspath(query)))
        return home, by_file(home, query)
    home = homes.require(start)
    return _only(home) if query is None else _named(homes.together(home), query)


def named(home: Home, query: str) -> Ref:
    """The plan with this path, this id, or with these words in its id or title alone; raises ExecplanError."""
    return _named([home], query)[1]


def _named(among: list[Home], query: str) -> tuple[Home, Ref]:
    """The plan that is named, in one of some homes, and its home; raises ExecplanError."""
    from unicodedata import normalize

    home = among[0]
    path = os.path.join(home.root, query)
    if is_path(query) and os.path.lexists(path):
        nearest = homes.find(os.path.dirname(path))
        home = nearest if nearest.exists else home
        return home, by_file(home, path)
    wanted = normalize("NFC", query.removesuffix(".md"))
    direct = [_direct(each, wanted) for each in among]
    if len(among) - direct.count(None) == 1:
        return next((each, ref) for each, ref in zip(among, direct, strict=True) if ref is not None)
    plans = [(each, ref) for each in among for ref in every(each)]
    found = [at for at, (_, ref) in enumerate(plans) if same_id(ref.id) == same_id(wanted)]
    by_case = len({normalize("NFC", plans[at][1].id) for at in found}) > 1
    if not found and wanted.strip():
        folded = wanted.casefold()
        found = [at for at, (_, ref) in enumerate(plans) if folded in same_id(ref.id)]
    current = [at for at in found if not plans[at][1].archived]
    found = current if len(current) == 1 and not by_case else found
    if not found and wanted.strip():
        words = fold(wanted)
        found = [at for at, (each, ref) in enumerate(plans) if words in fold(_title(each, ref) or "")]
    shown = [each.shown(ref.path) for each, ref in plans]
    at = single(found, shown, query, "plan", "name it by its whole id or its path")
    if at is not None:
        return plans[at]
    from difflib import get_close_matches

    near = get_close_matches(query, [ref.id for _, ref in plans], n=3, cutoff=0.4)
    raise ExecplanError(
        "no-such-plan",
        f"there is no plan {query!r}",
        exit=INPUT,
        hint="see the plans: execplan list --all",
        candidates=near,
    )


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


def _direct(home: Home, name: str) -> Ref | None:
    """The plan with this very id, if no other has it; only plain names have no other Unicode form."""
    if not name.isascii() or "/" in name:
        return None
    folders = [home.plans, *home.archives]
    places = [Ref(name, home.file(folder, name), folder != home.plans) for folder in folders]
    found = [ref for ref in places if os.path.lexists(ref.path)]
    if len(found) != 1:
        return None
    # Two names that differ by case only are one on other file systems: the folder is listed, and no plan read.
    entry = (f"{name}.md" if home.flat else name).lower()
    same = [each for folder in folders for each in _names(folder, in_order=False) if each.lower() == entry]
    return found[0] if len(same) == 1 else None


def is_path(query: str) -> bool:
    """Whether a plan's name is written as a path."""
    return "/" in query or query.endswith(".md")


def _only(home: Home) -> tuple[Home, Ref]:
    among = homes.together(home)
    plans = [(each, ref) for each in among for ref in refs(each)]
    if len(plans) == 1:
        return plans[0]
    shelved = only([shelved for each in among for shelved in load_all(each, refs(each))])
    return shelved.home, shelved.ref


def only(plans: list[Shelved]) -> Shelved:
    """The only plan of those outside the archive, else the only one that is draft or active; raises ExecplanError."""
    if len(plans) == 1:
        return plans[0]
    going = [each for each in plans if each.state in (DRAFT, ACTIVE)]
    if len(going) == 1:
        return going[0]
    candidates = [each.ref.id for each in going or plans]
    if not candidates:
        raise ExecplanError(
            "no-plan", "there is no plan outside the archive", exit=INPUT, hint="write one: execplan new 'Its title'"
        )
    raise ExecplanError(
        "ambiguous-plan",
        f"{len(candidates)} plans could be meant",
        exit=INPUT,
        hint="name one of them, or set EXECPLAN_PLAN",
        candidates=candidates,
    )


def _title(home: Home, ref: Ref) -> str | None:
    shelved = load(home, ref)
    return shelved.plan.title if shelved.plan is not None else None


def taken_ids(home: Home) -> set[str]:
    """Every id that a new plan may not have: of plans and artifacts, archived too, and of files that are no plans."""
    names = [ref.id for ref in every(home)] + [name.removesuffix(".md") for name in NOT_PLANS]
    for archived in (False, True):
        names += _names(home.artifacts("", archived=archived))
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
    from unicodedata import normalize

    return normalize("NFC", name).casefold()


def _names(folder: str, *, in_order: bool = True) -> list[str]:
    """What is in a folder, by name; hidden files are left out, and a folder that is not there is empty."""
    try:
        names = [name for name in os.listdir(folder) if not name.startswith(".")]
        return sorted(names) if in_order else names
    except FileNotFoundError:
        return []
    except OSError as error:
        raise disk.trouble(error, folder, "read") from None
