"""What `init` finds, and what it would make: a home in the default folders, or settings for plans that are there."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.record import NamedTuple
from execplan.repo import homes, shelf
from execplan.repo import settings as config
from execplan.repo.adoption import layouts, settings_file, tree
from execplan.repo.home import Project
from execplan.repo.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.shelf import PlanRef

_FOLDER = "folder"
_GUIDE = "the guide for authors"
_LAYOUT = ("plans", "archive", "superseded", "artifacts", "archive_artifacts", "layout", "name")
"""The settings that say where plans lie."""


def counted(plans: int) -> str:
    """So many plans, in words."""
    return f"{plans} plan{'s' if plans != 1 else ''}"


class Path(NamedTuple):
    """A path of a home, and whether `init` makes it."""

    path: str
    made: bool
    why: str


class Prepared(NamedTuple):
    """A home as it is, or as `init` would make it."""

    home: Project
    new: bool
    """Whether its settings are still to be written."""
    old: bytes = b""
    """The settings file that is replaced, if one is."""


class Survey(NamedTuple):
    """What `init` finds, and what it would make."""

    homes: tuple[Prepared, ...]
    """That of the folder itself, then those below it."""
    paths: tuple[Path, ...]
    others: tuple[Other, ...]
    elsewhere: tuple[str, ...]
    """Files that read as plans and lie in none of all these, from the root of the repository."""
    warnings: tuple[str, ...]
    unlisted: tuple[PlanRef, ...] = ()
    """Plans that are listed now, in the default directory, and would not be with the new settings: they have to be moved."""


class Other(NamedTuple):
    """A folder of plans that is not taken: another has more, or the settings name another."""

    folder: str
    """From the root of the repository."""
    plans: int
    take: str
    """The command that takes it instead."""


def survey(home: Project, wanted: str | None = None) -> Survey:
    """Look for plans below a home's base; a folder that is wanted is taken, whatever is there. Raises ExecplanError."""
    base = home.base
    found = config.load(base)
    wanted = _below(home, wanted) if wanted is not None else None
    plans = tree.plans(base)

    def is_there(path: str) -> bool:
        return os.path.lexists(os.path.join(base, path))

    seen = layouts.recognise(plans, is_there, wanted)
    chosen = {layout.base: layout for layout in seen.chosen}
    names = sorted({*chosen, *[os.path.relpath(each, base) for each in tree.homes(base)]} - {""})
    settings = home.settings
    old = b""
    if found is None:
        settings = chosen[""].settings if "" in chosen else Settings(guide=layouts.guide(is_there))
        settings = settings._replace(homes=tuple(names))
    elif wanted is not None and chosen[""].settings.plans != settings.plans:
        old = _as_written(home, found)
        settings = settings._replace(**{name: getattr(chosen[""].settings, name) for name in _LAYOUT})
    new = found is None or bool(old)
    prepared = [Prepared(homes.ensure_folders_inside(home._replace(settings=settings, exists=True)), new, old)]
    for name in names:
        other = homes.nested_project(home, name)
        is_new = config.load(other.base) is None
        if is_new and name in chosen:
            other = homes.ensure_folders_inside(other._replace(settings=chosen[name].settings, exists=True))
        prepared.append(Prepared(other, is_new))
    kept = {ref.path for each in prepared for ref in shelf.all_refs(each.home)}
    strewn = [path for path in plans if os.path.join(base, path) not in kept]
    left = [each for each in (*seen.chosen, *seen.others) if each.plans and set(each.plans) <= set(strewn)]
    others = tuple([_other(home, each) for each in left])
    elsewhere = [path for path in strewn if not any([path in each.plans for each in left])]
    warnings = []
    unlisted = [ref for ref in shelf.all_refs(home) if ref.path not in kept] if home.exists and wanted is None else []
    moving = {home.display_path(ref.path) for ref in unlisted}
    others = tuple([each for each in others if not _is_below(each.folder, moving)])
    if found is None:
        why = "left out, since another folder has more; to take that one instead"
        warnings = [f"{counted(each.plans)} in {each.folder} {why}: {each.take}" for each in others]
    unnamed = [name for name in names if name not in settings.homes]
    warnings += [f"{name} has a home of its own: name it under homes in the settings" for name in unnamed]
    shown = [home.display_path(os.path.join(base, path)) for path in elsewhere]
    strays = tuple([path for path in shown if path not in moving])
    return Survey(tuple(prepared), tuple(_paths(prepared)), others, strays, tuple(warnings), tuple(unlisted))


def _is_below(folder: str, paths: set[str]) -> bool:
    """Whether a folder holds one of some paths."""
    return any([path.startswith(f"{folder}/") for path in paths])


def _below(home: Project, folder: str) -> str:
    """The folder that is to be taken, from the base; raises ExecplanError."""
    path = os.path.relpath(os.path.realpath(folder), home.base)
    if path in (".", "..") or path.startswith("../"):
        raise ExecplanError(
            "bad-folder",
            f"{folder} is not below {home.base}",
            exit=INPUT,
            hint="name a folder below the one that gets the home: execplan init DIR --plans DIR/plans",
        )
    if any(["\ud800" <= char <= "\udfff" for char in path]):
        raise ExecplanError(
            "bad-folder", f"{folder} is no UTF-8, as settings are", exit=INPUT, hint="give the folder another name"
        )
    config.check_value("plans", path, "--plans")
    return path


def _as_written(home: Project, found: config.LoadedSettings) -> bytes:
    """The settings file, if all that it says is in the settings, so that it may be replaced; raises ExecplanError."""
    content = settings_file.content(found.settings)
    if found.file == config.SETTINGS_FILE and settings_file.holds(os.path.join(home.base, found.file), content):
        return content
    raise ExecplanError(
        "home-exists",
        f"{home.base} is set up already: plans = {config.toml_literal(found.settings.plans)} in {found.file}",
        exit=INPUT,
        hint="change it there, with the other folders",
    )


def _other(home: Project, layout: layouts.Layout) -> Other:
    from shlex import quote

    base = os.path.join(home.base, layout.base)
    here = os.path.realpath(os.getcwd())
    folder = os.path.join(home.base, layout.folder)
    where = "" if base.rstrip("/") == home.base else f" {quote(os.path.relpath(base, here))}"
    take = f"execplan init{where} --plans {quote(os.path.relpath(folder, here))}"
    return Other(home.display_path(folder), len(layout.plans), take)


def _paths(prepared: list[Prepared]) -> list[Path]:
    """What is made and what is left, folders first; where there are plans no folder is made for them."""
    home = prepared[0].home
    paths = []
    if not shelf.all_refs(home) and (len(prepared) == 1 or os.path.isdir(home.plans)):
        folders = [home.plans, home.archives[0], home.artifacts_dir(""), home.artifacts_dir("", archived=True)]
        for folder in dict.fromkeys([each.rstrip("/") for each in folders]):
            there = os.path.isdir(folder)
            paths.append(Path(home.display_path(folder), not there, "there already" if there else _FOLDER))
    above = _guide_above(home)
    if above:
        paths.append(Path(home.display_path(above), False, "the guide of the repository"))
    else:
        paths.append(_file(home, guide(home), _GUIDE))
    for each in prepared:
        file = os.path.join(each.home.base, config.SETTINGS_FILE)
        found = config.load(each.home.base)
        if found is not None and found.file != config.SETTINGS_FILE:
            paths.append(Path(home.display_path(file), False, f"settings are in {found.file}"))
        elif each.old:
            paths.append(Path(home.display_path(file), True, "settings, written anew for another folder"))
        else:
            paths.append(_file(home, file, "settings"))
    return paths


def _file(home: Project, path: str, why: str) -> Path:
    there = os.path.lexists(path)
    return Path(home.display_path(path), not there, "there already" if there else why)


def guide(home: Project) -> str:
    """The file of a home's guide."""
    return os.path.join(home.base, home.settings.guide)


def _guide_above(home: Project) -> str | None:
    """The guide of the repository, for a home below its root that has none of its own."""
    if home.base == home.root or os.path.lexists(guide(home)):
        return None
    guides = [os.path.join(home.root, each) for each in layouts.GUIDES]
    return next((each for each in guides if os.path.lexists(each)), None)
