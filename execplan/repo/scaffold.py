"""New plans."""

from __future__ import annotations

import os

from execplan.errors import NO, USAGE, About, ExecplanError
from execplan.plan import form, reader
from execplan.plan.change import words_of
from execplan.record import NamedTuple
from execplan.repo import ignored, naming, shelf, state
from execplan.repo.amend import Options
from execplan.repo.commit import commit_paths
from execplan.repo.drafting import draft, templates
from execplan.repo.drafting.namesakes import plan_title, same_title
from execplan.repo.edits.entries import CREATE
from execplan.repo.edits.journal import Operation, Recording
from execplan.repo.home import Home
from execplan.repo.slug import slug
from execplan.text import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LONGEST_TITLE = 300
_BESIDE = ".execplan-new.tmp"


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
    fits = stem and form.fits(home.settings.name, stem)
    name = stem if fits else _named(home, slug(plan.title or stem or "plan"))
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


def _named(home: Home, short: str) -> str:
    return naming.fill(home.settings.name, short)


def _file(
    home: Home, name: str, content: Callable[[str], tuple[bytes, tuple[str, ...]]], title: str, options: Options
) -> Made:
    """Put a new plan into the plans folder under a free id, with its artifacts folder.

    `content` gives its bytes under an id, and warnings; it refuses before anything is made.
    """
    from execplan.repo.amend import diff

    free = _free(shelf.taken_ids(home), name)
    if options.commits(home):
        ignored.require_visible(home, home.file(home.plans, free))
    invisible = ignored.warnings(home)
    data, warnings = content(free)

    def made(commit: str | None, more: tuple[str, ...]) -> Made:
        path = home.shown(home.file(home.plans, free))
        shown = diff(b"", data, path) if options.dry_run else ""
        artifacts = home.shown(home.artifacts(free)) + "/"
        return Made(free, path, data, shown, (path, artifacts), commit, warnings + more + invisible)

    if options.dry_run:
        warnings += same_title(home, plan_title(data), free)
        return made(None, ())
    with state.lock(home, "home", f"new {name}"):
        taken = shelf.taken_ids(home)
        while True:
            if shelf.same_id(free) in taken:
                free = _free(taken, name)
                data, warnings = content(free)
            path = home.file(home.plans, free)
            namesakes = same_title(home, plan_title(data), free)
            if _create(home, path, home.artifacts(free), title, data):
                break
            taken.add(shelf.same_id(free))
        warnings += namesakes
    if options.commits(home):
        done = commit_paths(home, free, [path, home.artifacts(free)], "new", f"new, {title}", {}, title)
        return made(done.digest, done.warnings)
    return made(None, ())


def _create(home: Home, path: str, artifacts: str, title: str, data: bytes) -> bool:
    """Write a plan and make its artifacts folder; False, with nothing written, when the name is taken."""
    with Recording(home, path, "new", f"new, {title}", b"", data, Operation(kind=CREATE)) as recording:
        if not files.create(path, data, within=home.root, folders=True, beside=_BESIDE):
            recording.cancel()
            return False
        try:
            files.make_folder(artifacts, within=home.root)
        except ExecplanError:
            files.remove(path, data)
            raise
    return True


def _free(taken: set[str], name: str) -> str:
    """The name, with its number, or the name with the first number behind it that makes it free."""
    return shelf.free_name(naming.number(name, taken), taken)
