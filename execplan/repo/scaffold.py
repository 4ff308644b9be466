"""New things: a home, and a plan in it."""

from __future__ import annotations

import os

from execplan.clock import now
from execplan.errors import NO, USAGE, About, ExecplanError
from execplan.plan import reader
from execplan.plan.change import words_of
from execplan.record import NamedTuple
from execplan.repo import draft, shelf, state, stock, templates
from execplan.repo import settings as config
from execplan.repo.amend import Options
from execplan.repo.commit import commit_paths
from execplan.repo.home import Home
from execplan.repo.slug import slug
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LONGEST_TITLE = 300

_FOLDER = "folder"
_GUIDE = "the guide for authors"


class Made(NamedTuple):
    """A new plan."""

    id: str
    path: str
    """From the root of the repository."""
    data: bytes
    diff: str
    paths: tuple[str, ...]
    """All that was made, or would be."""
    commit: str | None
    warnings: tuple[str, ...]


class Path(NamedTuple):
    """A path of a home, and whether `init` makes it."""

    path: str
    made: bool
    why: str


def new_plan(
    home: Home, title: str, purpose: str, tasks: Sequence[str], options: Options, template: str | None = None
) -> Made:
    """Write a plan from a template; words are cleaned but for the title. Raises ExecplanError."""
    home = home._replace(exists=True)
    title = checked_title(title)
    chosen = templates.find(home, template if template is not None else home.settings.template)

    def content(name: str) -> tuple[bytes, tuple[str, ...]]:
        return draft.draft(home, chosen.name, name, title, purpose, tasks)

    return _file(home, _named(home, slug(title)), content, title, options)


def adopt_plan(home: Home, data: bytes, source: str, options: Options) -> Made:
    """File a whole plan that was written elsewhere, byte for byte; its stem is its id if it has the settings' form.

    The source is a path, or `-` for standard input.
    """
    from execplan.lint.runner import ERROR, Given, lint_plan

    home = home._replace(exists=True)
    stem = "" if source == "-" else os.path.basename(source).removesuffix(".md")
    with About(source if stem else "standard input"):
        plan = reader.read(data)
    errors = [each for each in lint_plan(plan, Given(draft_is_fine=True)) if each.level == ERROR]
    if errors:
        lines = [f"{source}:{each.line}:{each.column} {each.code} {each.message}" for each in errors]
        shown = home.shown(os.path.abspath(source)) if stem else source
        raise ExecplanError(
            "lint-errors",
            f"the plan has {len(errors)} error{'s' if len(errors) > 1 else ''}; nothing was written",
            exit=NO,
            hint=f"mend them, then try again; what a code means: execplan explain {errors[0].code}",
            candidates=lines,
            data={"findings": [each.to_json(shown) for each in errors]},
        )
    name = stem if stem and has_form(home, stem) else _named(home, slug(plan.title or stem or "plan"))
    return _file(home, name, lambda _: (data, ()), plan.title or name, options)


def checked_title(title: str) -> str:
    """The title as one line; raises ExecplanError for none, for control characters, for more than 300 characters."""
    title = words_of(title, "the title")
    if len(title) > LONGEST_TITLE:
        raise ExecplanError(
            "long-title",
            f"the title has {len(title)} characters; a title has at most {LONGEST_TITLE}",
            exit=USAGE,
            hint="say it shorter, and the rest with --purpose",
        )
    return title


def has_form(home: Home, name: str) -> bool:
    """Whether a file name has the form that the settings give: a real date, a slug of letters, digits and hyphens."""
    from execplan.clock import read_stamp

    head, _, tail = home.settings.name.partition("{slug}")
    before, has_date, after = head.partition("{date}")
    if has_date:
        stamp = read_stamp(name[len(before) : len(before) + 10])
        if not name.startswith(before) or stamp is None or not stamp.possible:
            return False
        rest = name[len(before) + 10 :]
        if not rest.startswith(after):
            return False
        rest = rest[len(after) :]
    elif name.startswith(head):
        rest = name[len(head) :]
    else:
        return False
    if tail and not rest.endswith(tail):
        return False
    rest = rest[: len(rest) - len(tail)]
    return bool(rest) and all([char.isalnum() or char in "-_." for char in rest]) and rest[0].isalnum()


def plan_init(home: Home) -> list[Path]:
    """What `init` makes and what it leaves, folders first."""
    found = config.load(home.base)
    folders = [home.plans, home.archive, home.artifacts(""), home.artifacts("", archived=True)]
    paths = [_folder(home, folder.rstrip("/")) for folder in folders]
    for name, why in ((home.settings.guide, _GUIDE), (config.FILE, "settings")):
        path = os.path.join(home.base, name)
        there = os.path.lexists(path)
        if name == config.FILE and found and not there:
            paths.append(Path(home.shown(path), False, f"settings are in {found.file}"))
        else:
            paths.append(Path(home.shown(path), not there, "there already" if there else why))
    return paths


def init(home: Home, options: Options) -> tuple[list[Path], str | None, tuple[str, ...]]:
    """Make a home; what is there already stays as it is. The paths, the commit if one was made, and warnings."""
    home = home._replace(exists=True)
    paths = plan_init(home)
    if options.dry_run:
        return paths, None, ()
    guide, settings = os.path.join(home.base, home.settings.guide), os.path.join(home.base, config.FILE)
    files = {guide: stock.text("PLANS.md").encode("utf-8"), settings: settings_text().encode("utf-8")}
    with state.lock(home, "home", "init"):
        for path in [os.path.join(home.root, each.path) for each in paths if each.made]:
            if path in files:
                disk.make_folder(os.path.dirname(path))
                disk.create(path, files[path])
            else:
                disk.make_folder(path)
    if options.commits(home):
        ours = [path for path, content in files.items() if _holds(path, content)]
        done = commit_paths(home, "init", ours, "init", "init", {}, "init")
        return paths, done.digest, done.warnings
    return paths, None, ()


def _holds(path: str, content: bytes) -> bool:
    """Whether a file is as `init` wrote it, now or in a run whose commit failed."""
    return os.path.isfile(path) and disk.read(path, len(content)) == (content, len(content))


def settings_text() -> str:
    """The settings file that `init` writes: every setting with its default, as a comment."""
    lines = ["# Settings of execplan. Every line that is commented out shows the default.", ""]
    for name, value in config.Settings()._asdict().items():
        shown = f'"{value}"' if isinstance(value, str) else str(value).lower()
        lines += [f"# {config.ABOUT[name]}", f"# {name} = {shown}", ""]
    return "\n".join(lines[:-1]) + "\n"


def _named(home: Home, short: str) -> str:
    return home.settings.name.format(date=f"{now():%Y-%m-%d}", slug=short)


def _file(
    home: Home, name: str, content: Callable[[str], tuple[bytes, tuple[str, ...]]], title: str, options: Options
) -> Made:
    """Put a new plan into the plans folder under a free id, with its artifacts folder.

    `content` gives its bytes under an id, and warnings; it refuses before anything is made.
    """
    from execplan.repo.amend import diff

    free = _free(shelf.taken_ids(home), name)
    data, warnings = content(free)

    def made(commit: str | None, more: tuple[str, ...]) -> Made:
        path = home.shown(os.path.join(home.plans, f"{free}.md"))
        shown = diff(b"", data, path) if options.dry_run else ""
        artifacts = home.shown(home.artifacts(free)) + "/"
        return Made(free, path, data, shown, (path, artifacts), commit, warnings + more)

    if options.dry_run:
        return made(None, ())
    disk.make_folder(home.plans)
    with state.lock(home, "home", f"new {name}"):
        taken = shelf.taken_ids(home)
        while True:
            if shelf.same_id(free) in taken:
                free = _free(taken, name)
                data, warnings = content(free)
            path = os.path.join(home.plans, f"{free}.md")
            if disk.create(path, data):
                break
            taken.add(shelf.same_id(free))
        disk.make_folder(home.artifacts(free))
    if options.commits(home):
        done = commit_paths(home, free, [path, home.artifacts(free)], "new", f"new, {title}", {}, title)
        return made(done.digest, done.warnings)
    return made(None, ())


def _free(taken: set[str], name: str) -> str:
    """The name, or the name with the first number that makes it free."""
    free, number = name, 1
    while shelf.same_id(free) in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def _folder(home: Home, path: str) -> Path:
    there = os.path.isdir(path)
    return Path(home.shown(path), not there, "there already" if there else _FOLDER)
