"""Which plan is meant: named by its ID, by a part of its ID or title or by its path, or the only one."""

from __future__ import annotations

import os

from execplan.errors import INPUT, USAGE, ExecplanError
from execplan.plan.model import ACTIVE, DRAFT
from execplan.plan.seek import fold, is_long_enough
from execplan.repo import homes, shelf
from execplan.repo.shelf import Ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.repo.home import Home
    from execplan.repo.shelf import Shelved

VARIABLE = "EXECPLAN_PLAN"
"""The environment variable that names a plan where a command names none."""
_LIST = "list all plans: execplan list --all"


def from_environment() -> str | None:
    """The plan that EXECPLAN_PLAN names, as it is written there."""
    return os.environ.get(VARIABLE) or None


def open_plan(start: str, query: str | None) -> tuple[Home, Ref]:
    """The plan that is meant and its home: named, set by EXECPLAN_PLAN, or the only one; raises ExecplanError."""
    if query is not None:
        return _find(start, query)
    variable = from_environment()
    if variable is None:
        return _only(homes.require(start))
    try:
        return _find(start, variable)
    except ExecplanError as error:
        if error.code in ("no-such-plan", "ambiguous-plan", "usage"):
            error.message = f"{VARIABLE} is set to {variable!r}: {error.message}"
            error.hint = f"name another plan in {VARIABLE}, or unset it; {_LIST}"
        raise


def exactly_named(start: str, query: str) -> bool:
    """Whether a text is the whole ID, the whole slug or the path of a plan; raises ExecplanError for bad settings."""
    if is_path(query):
        return os.path.lexists(query)
    home = homes.find(start)
    return home.exists and any(
        [_is_exact(each, ref, query) for each in homes.together(home) for ref in shelf.every(each)]
    )


def _is_exact(home: Home, ref: Ref, query: str) -> bool:
    wanted = shelf.same_id(query)
    return wanted == shelf.same_id(ref.id) or wanted in _slugs(home, ref)


def _find(start: str, query: str) -> tuple[Home, Ref]:
    """The plan that is named; raises ExecplanError."""
    if query.strip() == "-":
        raise ExecplanError(
            "usage",
            "'-' stands for standard input, which this command does not read, and never for a plan",
            exit=USAGE,
            hint=f"name the plan by its ID; {_LIST}",
        )
    if is_path(query) and os.path.lexists(query):
        home = homes.find(os.path.dirname(os.path.abspath(query)))
        if os.path.lexists(query):  # else a move that was cut short has been finished
            return home, shelf.by_file(home, query)
    return _named(homes.together(homes.require(start)), query)


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
    matches = [at for at, (_, ref) in enumerate(plans) if shelf.same_id(ref.id) == shelf.same_id(wanted)]
    by_case = len({normalize("NFC", plans[at][1].id) for at in matches}) > 1
    if not matches and wanted.strip():
        matches = _by_part(plans, wanted)
    current = [at for at in matches if not plans[at][1].archived]
    matches = current if len(current) == 1 and not by_case else matches
    if len(matches) == 1:
        return plans[matches[0]]
    if matches:
        from execplan.repo.candidates import ambiguous

        hint = f"name it by its {'path' if by_case else 'whole ID or its path'}"
        raise ambiguous([shelf.load(*plans[at]) for at in matches], f"{query!r} matches {len(matches)} plans", hint)
    if gone_plan := _gone(among, os.path.basename(wanted)):
        return gone_plan
    raise _unknown(plans, query, wanted)


def _gone(among: list[Home], wanted: str) -> tuple[Home, Ref] | None:
    """The plan that was moved by hand and had this name, any for an empty one, with its home; None for none.

    Raises ExecplanError for one that was deleted.
    """
    from execplan.repo import missing

    folded = shelf.same_id(wanted)
    is_part = not wanted or is_long_enough(wanted)
    for home in among:
        ref = missing.find(
            home, lambda name: folded == shelf.same_id(name) or (is_part and folded in shelf.same_id(name))
        )
        if ref is not None:
            return home, ref
    return None


def _by_part(plans: Sequence[tuple[Home, Ref]], wanted: str) -> list[int]:
    """The plans with this whole slug; else with this part in their ID; else with this title; else with this part in it.

    A single character is a part of nearly every name, so it selects a plan only as a whole slug or title.
    """
    folded, words = shelf.same_id(wanted), fold(wanted)
    titles: list[str] = []

    def title(at: int) -> str:
        if not titles:
            titles.extend([fold(_title(home, ref) or "") for home, ref in plans])
        return titles[at]

    is_part = is_long_enough(wanted)
    ways: tuple[Callable[[int], bool], ...] = (
        lambda at: folded in _slugs(*plans[at]),
        lambda at: is_part and folded in shelf.same_id(plans[at][1].id),
        lambda at: words == title(at),
        lambda at: is_part and words in title(at),
    )
    for way in ways:
        matches = [at for at in range(len(plans)) if way(at)]
        if matches:
            return matches
    return []


def _slugs(home: Home, ref: Ref) -> set[str]:
    """The slug of a plan's ID, by the form of names in its settings and by the usual forms."""
    from execplan.repo import naming

    return {shelf.same_id(each) for each in naming.slugs(home.settings.name, ref.id)}


def _unknown(plans: Sequence[tuple[Home, Ref]], query: str, wanted: str) -> ExecplanError:
    """The error for a name that no plan has, with the plans whose names are like it."""
    near = _similar(plans, wanted)
    hint = f"did you mean {near[0]}? To {_LIST}" if near else _LIST
    if wanted.strip() and not is_long_enough(wanted):
        what = f"{query!r} is too short to name a plan, unless it is a whole ID or title"
    else:
        what = f"there is no plan {query!r}"
    return ExecplanError("no-such-plan", what, exit=INPUT, hint=hint, candidates=near)


def _similar(plans: Sequence[tuple[Home, Ref]], wanted: str) -> list[str]:
    """The IDs of the plans with a similar ID, slug, title or word of them, the most similar one first."""
    from difflib import get_close_matches

    named: dict[str, list[str]] = {}
    for home, ref in plans:
        title = fold(_title(home, ref) or "")
        names = {shelf.same_id(ref.id), title, *_slugs(home, ref)}
        words = {word for name in names for word in name.replace("-", " ").replace("_", " ").split() if len(word) > 2}
        for name in names | words:
            named.setdefault(name, []).append(ref.id)
    similar = get_close_matches(shelf.same_id(wanted), list(named), n=8, cutoff=0.65)
    return list(dict.fromkeys([ref for name in similar for ref in named[name]]))[:3]


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
    if not plans and (gone := _gone(among, "")):
        return gone
    shelved = only([shelved for each in among for shelved in shelf.load_all(each, shelf.refs(each))])
    return shelved.home, shelved.ref


def only(plans: Sequence[Shelved]) -> Shelved:
    """The only plan of those outside the archive, else the only one that is draft or active; raises ExecplanError."""
    if len(plans) == 1:
        return plans[0]
    going = [each for each in plans if each.state in (DRAFT, ACTIVE)]
    if len(going) == 1:
        return going[0]
    if not plans:
        raise ExecplanError(
            "no-plan", "there is no plan outside the archive", exit=INPUT, hint="write one: execplan new 'Its title'"
        )
    from execplan.repo.candidates import ambiguous

    what = f"{len(going)} are open" if going else f"{len(plans)} are not archived, and none of them is open"
    raise ambiguous(going or plans, f"no plan specified; {what}", f"name one of them with -p PLAN, or set {VARIABLE}")


def _title(home: Home, ref: Ref) -> str | None:
    shelved = shelf.load(home, ref)
    return shelved.plan.title if shelved.plan is not None else None
