"""A home is made: one in the default folders, or settings for plans that a repository has already."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.record import NamedTuple
from execplan.repo import adopt, shelf, state, stock, tree
from execplan.repo import home as homes
from execplan.repo import settings as config
from execplan.repo.commit import commit_paths
from execplan.repo.home import Home, check_inside
from execplan.repo.settings import Settings
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.amend import Options

_FOLDER = "folder"
_GUIDE = "the guide for authors"


class Path(NamedTuple):
    """A path of a home, and whether `init` makes it."""

    path: str
    made: bool
    why: str


class Prepared(NamedTuple):
    """A home as it is, or as `init` would make it."""

    home: Home
    new: bool
    """Whether its settings are still to be written."""


class Survey(NamedTuple):
    """What `init` finds, and what it would make."""

    homes: tuple[Prepared, ...]
    """That of the folder itself, then those below it."""
    paths: tuple[Path, ...]
    others: tuple[Other, ...]
    elsewhere: tuple[str, ...]
    """Files that read as plans and lie in none of all these, from the root of the repository."""
    warnings: tuple[str, ...]


class Other(NamedTuple):
    """A folder of plans that is not taken: another has more, or the settings name another."""

    folder: str
    """From the root of the repository."""
    plans: int
    take: str
    """The command that takes it instead."""


def survey(home: Home, wanted: str | None = None) -> Survey:
    """Look for plans below a home's base; a folder that is wanted is taken, whatever is there. Raises ExecplanError."""
    base = home.base
    found = config.load(base)
    if wanted is not None:
        wanted = _wanted(home, wanted, found)
    plans = tree.plans(base)
    seen = adopt.survey(plans, lambda path: os.path.lexists(os.path.join(base, path)), wanted)
    layouts = {layout.base: layout for layout in seen.chosen}
    names = sorted({*layouts, *[os.path.relpath(each, base) for each in tree.homes(base)]} - {""})
    settings = home.settings
    if found is None:
        settings = (layouts[""].settings if "" in layouts else Settings())._replace(homes=tuple(names))
    prepared = [Prepared(homes.inside(home._replace(settings=settings, exists=True)), found is None)]
    for name in names:
        other = homes.below(home, name)
        new = config.load(other.base) is None
        if new and name in layouts:
            other = homes.inside(other._replace(settings=layouts[name].settings, exists=True))
        prepared.append(Prepared(other, new))
    kept = {ref.path for each in prepared for ref in shelf.every(each.home)}
    strewn = [path for path in plans if os.path.join(base, path) not in kept]
    left = [each for each in (*seen.chosen, *seen.others) if each.plans and set(each.plans) <= set(strewn)]
    others = tuple([_other(home, each, prepared[0].new) for each in left])
    elsewhere = [path for path in strewn if not any([path in each.plans for each in left])]
    warnings = []
    if found is None:
        warnings = [f"{each.plans} in {each.folder} left out, another folder has more: {each.take}" for each in others]
    unnamed = [name for name in names if name not in settings.homes]
    warnings += [f"{name} has a home of its own: name it under homes in the settings" for name in unnamed]
    shown = tuple([home.shown(os.path.join(base, path)) for path in elsewhere])
    return Survey(tuple(prepared), tuple(_paths(prepared)), others, shown, tuple(warnings))


def init(survey: Survey, options: Options) -> tuple[str | None, tuple[str, ...]]:
    """Make what a survey says; what is there already stays as it is. The commit if one was made, and warnings."""
    home = survey.homes[0].home
    files = {_guide(home): stock.text("PLANS.md").encode("utf-8")}
    for each in survey.homes:
        files[os.path.join(each.home.base, config.FILE)] = settings_text(each.home.settings).encode("utf-8")
    made = [os.path.join(home.root, each.path) for each in survey.paths if each.made]
    for path in made:
        check_inside(home, os.path.dirname(path))
    if options.dry_run:
        return None, ()
    with state.lock(home, "home", "init"):
        for path in made:
            if path in files:
                disk.make_folder(os.path.dirname(path))
                disk.create(path, files[path])
            else:
                disk.make_folder(path)
    if options.commits(home):
        ours = [path for path, content in files.items() if _holds(path, content)]
        done = commit_paths(home, "init", ours, "init", "init", {}, "init")
        return done.digest, done.warnings
    return None, ()


def settings_text(settings: Settings) -> str:
    """The settings file that `init` writes: every setting, as a comment where it has its default."""
    lines = ["# Settings of execplan. Every line that is commented out shows the default.", ""]
    for name, value in settings._asdict().items():
        default = getattr(Settings(), name)
        lines += [f"# {config.ABOUT[name]}", f"{'# ' if value == default else ''}{name} = {config.literal(value)}", ""]
    return "\n".join(lines[:-1]) + "\n"


def _wanted(home: Home, folder: str, found: config.Found | None) -> str | None:
    """The folder that is to be taken, from the base, None when it is taken already; raises ExecplanError."""
    path = os.path.relpath(os.path.realpath(folder), home.base)
    if path in (".", "..") or path.startswith("../"):
        raise ExecplanError(
            "bad-folder",
            f"{folder} is not below {home.base}",
            exit=INPUT,
            hint="name a folder below the one that gets the home: execplan init DIR --plans DIR/plans",
        )
    if found is not None and found.settings.plans != path:
        raise ExecplanError(
            "home-exists",
            f"{home.base} is set up already: plans = {config.literal(found.settings.plans)} in {found.file}",
            exit=INPUT,
            hint=f"change it there, with the other folders, or remove {found.file} and try again",
        )
    return path if found is None else None


def _other(home: Home, layout: adopt.Layout, new: bool) -> Other:
    from shlex import quote

    base = os.path.join(home.base, layout.base)
    here = os.path.realpath(os.getcwd())
    folder = os.path.join(home.base, layout.folder)
    where = "" if base.rstrip("/") == home.base else f" {quote(os.path.relpath(base, here))}"
    take = f"execplan init{where} --plans {quote(os.path.relpath(folder, here))}"
    return Other(home.shown(folder), len(layout.plans), take)


def _paths(prepared: list[Prepared]) -> list[Path]:
    """What is made and what is left, folders first; where there are plans no folder is made for them."""
    home = prepared[0].home
    paths = []
    if not shelf.every(home) and (len(prepared) == 1 or os.path.isdir(home.plans)):
        folders = [home.plans, home.archives[0], home.artifacts(""), home.artifacts("", archived=True)]
        for folder in dict.fromkeys([each.rstrip("/") for each in folders]):
            there = os.path.isdir(folder)
            paths.append(Path(home.shown(folder), not there, "there already" if there else _FOLDER))
    above = _guide_above(home)
    if above:
        paths.append(Path(home.shown(above), False, "the guide of the repository"))
    else:
        paths.append(_file(home, _guide(home), _GUIDE))
    for each in prepared:
        file = os.path.join(each.home.base, config.FILE)
        found = config.load(each.home.base)
        if found is not None and found.file != config.FILE:
            paths.append(Path(home.shown(file), False, f"settings are in {found.file}"))
        else:
            paths.append(_file(home, file, "settings"))
    return paths


def _file(home: Home, path: str, why: str) -> Path:
    there = os.path.lexists(path)
    return Path(home.shown(path), not there, "there already" if there else why)


def _guide(home: Home) -> str:
    return os.path.join(home.base, home.settings.guide)


def _guide_above(home: Home) -> str | None:
    """The guide of the repository, for a home below its root that has none of its own."""
    if home.base == home.root or os.path.lexists(_guide(home)):
        return None
    guides = [os.path.join(home.root, each) for each in adopt.GUIDES]
    return next((each for each in guides if os.path.lexists(each)), None)


def _holds(path: str, content: bytes) -> bool:
    """Whether a file is as `init` wrote it, now or in a run whose commit failed."""
    return os.path.isfile(path) and disk.read(path, len(content)) == (content, len(content))
