"""Plans that git tracks and that are gone from the working tree: deleted, or moved by hand without execplan."""

from __future__ import annotations

import os
from shlex import quote

from execplan.errors import INPUT, ExecplanError
from execplan.record import NamedTuple
from execplan.repo import shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Missing(NamedTuple):
    """A plan that git tracks and that is not where it was."""

    id: str
    path: str
    """Where it was; absolute."""
    blob: str
    """What it held when it was last staged or committed."""


def missing(home: Home) -> list[Missing]:
    """The plans of a project that are gone from the working tree; none where git can't be asked. Raises ExecplanError."""
    if home.git is None:
        return []
    from execplan.repo import ask

    folders = [home.shown(folder) for folder in (home.plans, *home.archives)]
    try:
        gone = ask.output(home, "--literal-pathspecs", "ls-files", "-z", "--deleted", "--", *folders).split(b"\0")
    except ExecplanError:
        return []
    paths = {os.fsdecode(path) for path in gone if path.endswith(b".md")}
    if not paths:
        return []
    known = {each.path: each.blob for each in ask.indexed(home, folders)}
    found = []
    for path in sorted(paths & set(known)):
        absolute = os.path.join(home.root, path)
        folder, name = home.place(absolute)
        if folder in (home.plans, *home.archives):
            found.append(Missing(name, absolute, known[path]))
    return found


def moved_to(home: Home, gone: Missing) -> Ref | None:
    """The file to which a plan was moved by hand: untracked, with the same content, ID or title; None for none, or several."""
    from execplan.repo import ask

    others = ask.output(home, "ls-files", "-z", "--others", "--exclude-standard", "--", "*.md").split(b"\0")
    paths = [os.path.join(home.root, os.fsdecode(path)) for path in others if path]
    if not paths:
        return None
    ways: tuple[Callable[[str], bool], ...] = (
        lambda path: _blob(home, path) == gone.blob,
        lambda path: os.path.basename(path) == os.path.basename(gone.path) and _title(home, path) is not None,
        lambda path: _title(home, path) == _old_title(home, gone),
    )
    for way in ways:
        fits = [path for path in paths if way(path)]
        if fits:
            return shelf.by_file(home, fits[0]) if len(fits) == 1 else None
    return None


def origin(home: Home, ref: Ref) -> str:
    """Where a plan was before somebody moved its file by hand; empty where nobody did. Raises ExecplanError."""
    for gone in missing(home):
        found = moved_to(home, gone)
        if found is not None and found.path == ref.path:
            return gone.path
    return ""


def find(home: Home, fits: Callable[[str], bool]) -> Ref | None:
    """The file of a plan that was moved by hand and whose old ID fits; None where no plan is gone.

    Raises ExecplanError for one that was deleted.
    """
    gone = [each for each in missing(home) if fits(each.id)]
    if len(gone) != 1:
        return None
    found = moved_to(home, gone[0])
    if found is not None:
        from execplan import trace

        trace.warnings.append(f"{home.shown(gone[0].path)} was moved by hand: to {home.shown(found.path)}")
        return found
    shown = home.shown(gone[0].path)
    raise ExecplanError(
        "plan-deleted",
        f"{shown} was deleted in the working tree; git still has it",
        exit=INPUT,
        hint=f"bring it back: git restore {quote(os.path.relpath(gone[0].path))}",
    )


def _blob(home: Home, path: str) -> str:
    from execplan.repo import ask

    return ask.output(home, "hash-object", "--", path).decode().strip()


def _title(home: Home, path: str) -> str | None:
    plan = shelf.load(home, shelf.by_file(home, path)).plan
    return plan.title if plan is not None else None


def _old_title(home: Home, gone: Missing) -> str:
    """The title that a plan had; a text that no title is where it can't be read."""
    from execplan.plan import reader
    from execplan.repo import ask

    try:
        return reader.read(ask.output(home, "cat-file", "blob", gone.blob)).title or "\n"
    except ExecplanError:
        return "\n"
