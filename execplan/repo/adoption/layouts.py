"""Where a repository keeps its plans already: paths of plans → settings, without a disk."""

from __future__ import annotations

import os
from collections import Counter

from execplan.record import NamedTuple
from execplan.repo import naming
from execplan.repo.plan_directories import ACTIVE, FINISHED, GIVEN_UP, is_plans_directory_name
from execplan.repo.settings import FLAT_LAYOUT, FOLDER_LAYOUT, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeVar

    T = TypeVar("T")

_PAIRED = ("completed", "complete", "closed", "finished")
"""Folders for finished plans that stand beside one for active ones, rather than in the folder of these."""
_WRAPPERS = frozenset(("docs", "doc", "documentation", "design", "engineering", "internal", "notes"))
_COLLECTIONS = frozenset(
    ("packages", "services", "apps", "libs", "crates", "modules", "projects", "plugins", "components")
)
_MARKERS = (
    "package.json pyproject.toml setup.py Cargo.toml go.mod pom.xml build.gradle build.gradle.kts Gemfile composer.json "
    "mix.exs AGENTS.md CLAUDE.md .agent"
).split()
GUIDES = (".agent/PLANS.md", "PLANS.md", "docs/PLANS.md", ".agents/PLANS.md")
"""Where a guide for authors may lie."""
_FEWEST = 3
"""Plans that make a folder of any name one that plans are kept in."""


class Layout(NamedTuple):
    """A folder that plans are kept in, with those beside it for plans that are finished."""

    base: str
    """The folder that settings count from, from the root; empty for the root itself."""
    folder: str
    """What the folders of the plans have in common, from the root."""
    settings: Settings
    plans: tuple[str, ...]
    """Those that the settings find."""


class Recognised(NamedTuple):
    """How a repository keeps its plans."""

    chosen: tuple[Layout, ...]
    """The largest of each base."""
    others: tuple[Layout, ...]


class _Spot(NamedTuple):
    """A plan's place, taken apart."""

    path: str
    home: str
    """The folder without that of the state."""
    state: str
    """The name of the folder that says how far its plans are, or nothing."""
    days: int
    """How many folders below that are named by year, month and day."""
    layout: str
    id: str


def recognise(plans: Sequence[str], is_there: Callable[[str], bool], wanted: str | None = None) -> Recognised:
    """The layouts that the paths of plans, from the root, come to; with a folder that is wanted, that one alone.

    `is_there` says whether a path from the root exists.
    """
    names = Counter([(os.path.dirname(os.path.dirname(path)), os.path.basename(path)) for path in plans])
    spots = [_spot(path, names) for path in plans]
    own = {os.path.dirname(spot.path) for spot in spots if spot.layout != FLAT_LAYOUT}
    groups: dict[str, list[_Spot]] = {}
    for spot in spots:
        at = os.path.dirname(spot.path)
        if not (spot.layout == FLAT_LAYOUT and at in own) and not any([above in own for above in _above(at)]):
            groups.setdefault(spot.home, []).append(spot)
    _join_done(groups, is_there)
    layouts = [_layout(folder, group, is_there) for folder, group in groups.items() if folder]
    if wanted is not None:
        fit = [each for each in layouts if wanted in (each.folder, each.settings.plans)]
        folder = os.path.dirname(wanted) if os.path.basename(wanted).lower() in ACTIVE else wanted
        layout = fit[0] if fit else _layout(folder or wanted, [], is_there)
        return Recognised((_based(layout, "", is_there),), ())
    layouts = [each for each in layouts if _is_kept(each, groups[each.folder])]
    layouts.sort(key=lambda each: (-len(each.plans), each.settings.plans != Settings().plans, each.folder))
    chosen: dict[str, Layout] = {}
    others = []
    for layout in layouts:
        base = _base(layout.folder, is_there)
        if base in chosen:
            others.append(layout)
        else:
            chosen[base] = _based(layout, base, is_there)
    return Recognised(tuple([chosen[base] for base in sorted(chosen)]), tuple(others))


def _spot(path: str, names: Counter[tuple[str, str]]) -> _Spot:
    folder, name = os.path.split(path)
    above, own = os.path.split(folder)
    stem, layout = name.removesuffix(".md"), FLAT_LAYOUT
    if above and own.lower() not in (*ACTIVE, *FINISHED, *GIVEN_UP) and not is_plans_directory_name(own):
        if stem == own or stem.endswith((f"_{own}", f"-{own}")):
            folder, layout = above, FOLDER_LAYOUT
        elif stem.lower().replace("-", "").replace("_", "") == "execplan" or names[above, name] > 1:
            folder, stem, layout = above, own, name
    elif above and stem == own:
        folder, layout = above, FOLDER_LAYOUT
    parts = folder.split("/")
    days = 0
    while days < 3 and len(parts) > 1 + days and not parts[-1 - days].strip("0123456789-_."):
        days += 1
    if days and parts[-1 - days].lower() not in (*FINISHED, *GIVEN_UP):
        days = 0
    parts = parts[: len(parts) - days]
    state = parts.pop() if parts[-1].lower() in (*ACTIVE, *FINISHED, *GIVEN_UP) else ""
    return _Spot(path, "/".join(parts), state, days, layout, stem)


def _join_done(groups: dict[str, list[_Spot]], is_there: Callable[[str], bool]) -> None:
    """Take the finished plans of `.agents/done` to those of `.agents/execplans`."""
    for folder, spots in list(groups.items()):
        if is_plans_directory_name(folder) or not folder or {spot.state.lower() for spot in spots} - {*FINISHED, *GIVEN_UP}:
            continue
        beside = [f"{folder}/{name}" for name in ("execplans", "exec-plans", "exec_plans", "plans")]
        home = next((each for each in beside if each in groups or is_there(each)), beside[0])
        groups.setdefault(home, []).extend([spot._replace(home=home, state=f"../{spot.state}") for spot in spots])
        del groups[folder]


def _layout(folder: str, spots: Sequence[_Spot], is_there: Callable[[str], bool]) -> Layout:
    """The settings for the plans of one folder and of those below it that say how far they are."""
    layout = _most([spot.layout for spot in spots]) or FLAT_LAYOUT
    spots = [spot for spot in spots if spot.layout == layout]
    done = _state(folder, spots, FINISHED, is_there)
    active = _most([spot.state for spot in spots if spot.state.lower() in ("", *ACTIVE)])
    if active is None:
        there = [name for name in ACTIVE if is_there(f"{folder}/{name}")]
        active = there[0] if there else "active" if done and done.lower() in _PAIRED else ""
    above = os.path.dirname(folder)
    if done is None and os.path.basename(above).startswith(".") and is_there(f"{above}/done"):
        done = "../done"
    if done is None:
        done = "completed" if active else "archive"
    given_up = _state(folder, spots, GIVEN_UP, is_there)
    days = _most([spot.days for spot in spots if spot.state == done]) or 0
    plans, archive = [os.path.normpath(os.path.join(folder, name)) for name in (active, done)]
    settings = Settings(
        plans=plans,
        archive=archive + "".join(["/{year}", "/{month}", "/{day}"][:days]),
        superseded=os.path.normpath(os.path.join(folder, given_up)) if given_up else "",
        layout=layout,
        name=naming.guess_form([spot.id for spot in spots]) if spots else Settings().name,
    )
    if layout == FLAT_LAYOUT:
        settings = settings._replace(artifacts=f"{folder}/artifacts", archive_artifacts=f"{archive}/artifacts")
    found = [spot.path for spot in spots if spot.state in (active, done, given_up)]
    return Layout("", folder, settings, tuple(found))


def _state(folder: str, spots: Sequence[_Spot], names: Sequence[str], is_there: Callable[[str], bool]) -> str | None:
    """Which folder of a kind holds the most plans; else which of them there is."""
    used = _most([spot.state for spot in spots if os.path.basename(spot.state).lower() in names])
    return used or next((name for name in names if is_there(f"{folder}/{name}")), None)


def _is_kept(layout: Layout, spots: Sequence[_Spot]) -> bool:
    """Whether plans are kept in a folder, rather than strewn there or laid off with what is old."""
    if {part.lower() for part in layout.folder.split("/")[:-1]} & {*FINISHED, *GIVEN_UP}:
        return False
    by_state = any([spot.state for spot in spots])
    return bool(layout.plans) and (
        is_plans_directory_name(layout.folder) or by_state or layout.settings.layout != FLAT_LAYOUT or len(layout.plans) >= _FEWEST
    )


def _base(folder: str, is_there: Callable[[str], bool]) -> str:
    """The package that a folder of plans belongs to; the root, where there is no sign of one."""
    parts = folder.split("/")[:-1]
    while parts:
        base = "/".join(parts)
        wraps = parts[-1].lower() in _WRAPPERS or parts[-1].startswith(".")
        collected = len(parts) > 1 and parts[-2] in _COLLECTIONS
        if not wraps and (collected or any([is_there(f"{base}/{each}") for each in _MARKERS])):
            return base
        parts.pop()
    return ""


def _based(layout: Layout, base: str, is_there: Callable[[str], bool]) -> Layout:
    """The layout with settings that count from a base, and with the guide that there is."""
    lead = f"{base}/" if base else ""
    folder = layout.folder.removeprefix(lead)
    folders = {
        name: getattr(layout.settings, name).removeprefix(lead)
        for name in ("plans", "archive", "superseded", "artifacts", "archive_artifacts")
    }
    there = guide(
        lambda path: is_there(lead + path), os.path.join(os.path.dirname(folder), "PLANS.md"), f"{folder}/PLANS.md"
    )
    return layout._replace(base=base, settings=layout.settings._replace(guide=there, **folders))


def guide(is_there: Callable[[str], bool], *more: str) -> str:
    """Where the guide for authors is, or where it is put."""
    return next((each for each in (*GUIDES, *more) if is_there(each)), Settings().guide)


def _above(folder: str) -> Iterable[str]:
    """The folders above a folder."""
    while folder:
        folder = os.path.dirname(folder)
        yield folder


def _most(values: Sequence[T]) -> T | None:
    """What occurs most often."""
    return Counter(values).most_common(1)[0][0] if values else None
