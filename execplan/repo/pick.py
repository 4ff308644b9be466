"""Which plan is meant: named by its id, by words or by its path, or the only one."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.plan.model import ACTIVE, DRAFT
from execplan.plan.seek import fold, single
from execplan.repo import homes, shelf
from execplan.repo.shelf import Ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home
    from execplan.repo.shelf import Shelved


def open_plan(start: str, query: str | None) -> tuple[Home, Ref]:
    """The plan that is meant and its home: named, set by EXECPLAN_PLAN, or the only one; raises ExecplanError."""
    if query is None:
        query = os.environ.get("EXECPLAN_PLAN") or None
    if query is not None and is_path(query) and os.path.lexists(query):
        home = homes.find(os.path.dirname(os.path.abspath(query)))
        if os.path.lexists(query):  # else a move that was cut short has been finished
            return home, shelf.by_file(home, query)
    home = homes.require(start)
    return _only(home) if query is None else _named(homes.together(home), query)


def _named(among: list[Home], query: str) -> tuple[Home, Ref]:
    """The plan that is named, in one of some homes, and its home; raises ExecplanError."""
    from unicodedata import normalize

    home = among[0]
    path = os.path.join(home.root, query)
    if is_path(query) and os.path.lexists(path):
        nearest = homes.find(os.path.dirname(path))
        home = nearest if nearest.exists else home
        return home, shelf.by_file(home, path)
    if is_path(query):
        gone = [(each, ref) for each in among for ref in _moved(each, query)]
        if len(gone) == 1:
            return gone[0]
    wanted = normalize("NFC", query.removesuffix(".md"))
    direct = [_direct(each, wanted) for each in among]
    if len(among) - direct.count(None) == 1:
        return next((each, ref) for each, ref in zip(among, direct, strict=True) if ref is not None)
    plans = [(each, ref) for each in among for ref in shelf.every(each)]
    found = [at for at, (_, ref) in enumerate(plans) if shelf.same_id(ref.id) == shelf.same_id(wanted)]
    by_case = len({normalize("NFC", plans[at][1].id) for at in found}) > 1
    if not found and wanted.strip():
        folded = wanted.casefold()
        found = [at for at, (_, ref) in enumerate(plans) if folded in shelf.same_id(ref.id)]
    current = [at for at in found if not plans[at][1].archived]
    found = current if len(current) == 1 and not by_case else found
    if not found and wanted.strip():
        words = fold(wanted)
        found = [at for at, (each, ref) in enumerate(plans) if words in fold(_title(each, ref) or "")]
    shown = [each.shown(ref.path) for each, ref in plans]
    at = single(
        found, shown, query, "plan", "name it by its path" if by_case else "name it by its whole id or its path"
    )
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


def _moved(home: Home, query: str) -> list[Ref]:
    """The plans with the id of a file that is no longer in the plans folder: it may have been archived."""
    for path in (os.path.abspath(query), os.path.join(home.root, query)):
        folder, name = home.place(path)
        if folder == home.plans:
            return [ref for ref in shelf.every(home) if ref.id == name]
    return []


def _direct(home: Home, name: str) -> Ref | None:
    """The plan with this very id, if no other has it; only plain names have no other Unicode form."""
    if not name.isascii() or "/" in name:
        return None
    folders = [home.plans, *home.archives]
    places = [shelf.Ref(name, home.file(folder, name), folder != home.plans) for folder in folders]
    found = [ref for ref in places if os.path.lexists(ref.path)]
    if len(found) != 1:
        return None
    # Two names that differ by case only are one on other file systems: the folder is listed, and no plan read.
    entry = (f"{name}.md" if home.flat else name).lower()
    same = [each for folder in folders for each in shelf.entries(folder, in_order=False) if each.lower() == entry]
    return found[0] if len(same) == 1 else None


def is_path(query: str) -> bool:
    """Whether a plan's name is written as a path."""
    return "/" in query or query.endswith(".md")


def _only(home: Home) -> tuple[Home, Ref]:
    among = homes.together(home)
    plans = [(each, ref) for each in among for ref in shelf.refs(each)]
    if len(plans) == 1:
        return plans[0]
    shelved = only([shelved for each in among for shelved in shelf.load_all(each, shelf.refs(each))])
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
    shelved = shelf.load(home, ref)
    return shelved.plan.title if shelved.plan is not None else None
