"""The plans in a home: what there is, and which one is meant."""

from __future__ import annotations

import os

from execplan.errors import INPUT, POLICY, ExecplanError
from execplan.plan import reader
from execplan.plan.model import ACTIVE, BROKEN, DRAFT, Plan
from execplan.plan.seek import fold, single
from execplan.record import NamedTuple
from execplan.repo import home as homes
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home

NOT_PLANS = frozenset(("readme.md", "index.md", "plans.md", "agents.md", "claude.md"))
"""Files of a plans folder that are none, by their names in lower case."""


class Ref(NamedTuple):
    """A plan's place, before it is read."""

    id: str
    path: str
    archived: bool


class Shelved(NamedTuple):
    """A plan as it was read, or why it could not be."""

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
    folder = home.archive if archive else home.plans
    plans = [name for name in _names(folder) if name.endswith(".md") and name.lower() not in NOT_PLANS]
    return [Ref(name[:-3], os.path.join(folder, name), archive) for name in plans]


def every(home: Home) -> list[Ref]:
    """All plans, those of the archive last."""
    return refs(home) + refs(home, archive=True)


def open_bytes(home: Home, path: str) -> bytes:
    """The bytes of a plan; a link that leads out of the repository is refused. Raises ExecplanError."""
    if os.path.islink(path):
        real = os.path.realpath(path)
        if not real.startswith(home.root.rstrip("/") + "/"):
            raise ExecplanError(
                "link-outside",
                f"{home.shown(path)} is a link out of the repository, to {real}",
                exit=POLICY,
                hint="put the plan itself into the repository",
            )
    data, size = disk.read(path, reader.MAX_BYTES)
    if size > reader.MAX_BYTES:
        raise reader.too_large(size)
    return data


def load(home: Home, ref: Ref) -> Shelved:
    """The plan, or what keeps it from being read."""
    data = b""
    try:
        data = open_bytes(home, ref.path)
        return Shelved(ref, data, reader.read(data), None)
    except ExecplanError as error:
        return Shelved(ref, data, None, error)


def load_all(home: Home, plans: list[Ref]) -> list[Shelved]:
    """Each of the plans, but for those that were moved away since their folder was listed."""
    shelved = [load(home, ref) for ref in plans]
    return [each for each in shelved if each.error is None or os.path.lexists(each.ref.path)]


def open_plan(start: str, query: str | None) -> tuple[Home, Ref]:
    """The plan that is meant and its home: named, set by EXECPLAN_PLAN, or the only one; raises ExecplanError."""
    if query is None:
        query = os.environ.get("EXECPLAN_PLAN") or None
    if query is not None and is_path(query) and os.path.lexists(query):
        home = homes.find(os.path.dirname(os.path.abspath(query)))
        return home, by_file(home, query)
    home = homes.require(start)
    return home, _only(home) if query is None else named(home, query)


def named(home: Home, query: str) -> Ref:
    """The plan with this path, this id, or with these words in its id or title alone; raises ExecplanError."""
    from unicodedata import normalize

    path = os.path.join(home.root, query)
    if is_path(query) and os.path.lexists(path):
        return by_file(home, path)
    wanted = normalize("NFC", query.removesuffix(".md"))
    direct = _direct(home, wanted)
    if direct is not None:
        return direct
    plans = every(home)
    found = [at for at, ref in enumerate(plans) if normalize("NFC", ref.id) == wanted]
    if not found and wanted.strip():
        folded = wanted.casefold()
        found = [at for at, ref in enumerate(plans) if folded in same_id(ref.id)]
    current = [at for at in found if not plans[at].archived]
    found = current if len(current) == 1 else found
    if not found and wanted.strip():
        words = fold(wanted)
        found = [at for at, ref in enumerate(plans) if words in fold(_title(home, ref) or "")]
    at = single(found, [home.shown(ref.path) for ref in plans], query, "plan", "name it by its whole id or its path")
    if at is not None:
        return plans[at]
    from difflib import get_close_matches

    near = get_close_matches(query, [ref.id for ref in plans], n=3, cutoff=0.4)
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
    folder, name = os.path.split(path)
    archived = os.path.realpath(folder) == os.path.realpath(home.archive)
    return Ref(name.removesuffix(".md"), path, archived)


def _direct(home: Home, name: str) -> Ref | None:
    """The plan with this very id, without listing the folders; only plain names have no other Unicode form."""
    if not name.isascii() or "/" in name:
        return None
    places = [
        Ref(name, os.path.join(folder, f"{name}.md"), folder == home.archive) for folder in (home.plans, home.archive)
    ]
    found = [ref for ref in places if os.path.lexists(ref.path)]
    return found[0] if len(found) == 1 else None


def is_path(query: str) -> bool:
    """Whether a plan's name is written as a path."""
    return "/" in query or query.endswith(".md")


def _only(home: Home) -> Ref:
    plans = refs(home)
    return plans[0] if len(plans) == 1 else only(load_all(home, plans)).ref


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


def same_id(name: str) -> str:
    """An id without case and in one Unicode form: what file systems may take for the same name."""
    from unicodedata import normalize

    return normalize("NFC", name).casefold()


def _names(folder: str) -> list[str]:
    """What is in a folder, by name; hidden files are left out, and a folder that is not there is empty."""
    try:
        return sorted([name for name in os.listdir(folder) if not name.startswith(".")])
    except FileNotFoundError:
        return []
    except OSError as error:
        raise disk.trouble(error, folder, "read") from None
