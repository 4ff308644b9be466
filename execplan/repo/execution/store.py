"""Where the execution plan of a plan lies: among its artifacts, so that archiving takes it along."""

from __future__ import annotations

import os

from execplan.errors import INPUT, About, ExecplanError
from execplan.plan import reader
from execplan.record import NamedTuple
from execplan.repo import shelf, state
from execplan.repo.amend import format_diff, ensure_not_archived, ensure_plan_exists
from execplan.repo.home import ensure_inside
from execplan.repo.homes import require_existing
from execplan.text import disk, files
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from execplan.repo.amend import WriteOptions
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef

NAME: Final = "execution-plan.json"
MAX_BYTES = 5 * 1024 * 1024


class Stored(NamedTuple):
    """What became of it."""

    path: str
    """From the root of the repository."""
    changed: bool
    digest: str
    """SHA-256 of the document's bytes."""
    diff: str
    """Unified, in a dry run only."""
    commit: str | None
    warnings: tuple[str, ...]


def path_of(home: Project, ref: PlanRef, name: str = NAME) -> str:
    """The file, or another of the artifacts, whether it is there or not."""
    return os.path.join(home.plan_artifacts_dir(ref.path, archived=ref.archived), name)


def read(home: Project, ref: PlanRef, name: str = NAME) -> bytes | None:
    """Its bytes, or None where there is none; raises ExecplanError."""
    return _read(home, path_of(home, ref, name))


def _read(home: Project, path: str) -> bytes | None:
    if not os.path.lexists(path):
        return None
    ensure_inside(home, path)
    data, size = disk.read(path, MAX_BYTES)
    if size > MAX_BYTES:
        with About(home.display_path(path)):
            raise reader.too_large(size)
    return data


def save(
    home: Project, ref: PlanRef, make: Callable[[], bytes], options: WriteOptions, *, verb: str, summary: str, name: str = NAME
) -> Stored:
    """Store what `make` gives while the plan's lock is held, and commit it when asked; raises ExecplanError.

    A document that is there already, to the byte, is not written again.
    """
    require_existing(home)
    ensure_not_archived(home, ref)
    path = path_of(home, ref, name)
    shown = home.display_path(path)
    if options.dry_run:
        old, new = _read(home, path), make()
        _stop_large(home, path, new)
        told = format_diff(old or b"", new, shown) if new != old else ""
        return Stored(shown, new != old, digest(new), told, None, ())
    if options.should_commit(home):
        from execplan.repo import git

        git.load_gitpython()
    with state.lock(home, ref.real_path, f"{verb} of {ref.id}"):
        ensure_plan_exists(home, ref)
        new = make()
        old = files.again(lambda: put(home, path, new), shown)
        stored = Stored(shown, old != new, digest(new), "", None, ())
        if not stored.changed or not options.should_commit(home):
            return stored
        from execplan.repo.commit import commit_paths

        before = {} if old is None else {path: old}
        title = reader.read(shelf.read_bytes(home, ref.path)).title
        made = commit_paths(home, ref.id, [path], verb, summary, before, title)
        return stored._replace(commit=made.digest, warnings=made.warnings)


def put(home: Project, path: str, new: bytes) -> bytes | None:
    """Let a file of the artifacts hold these bytes; what it held before, None if it was not there.

    The caller holds the plan's lock. Raises ChangedMeanwhileError, ExecplanError.
    """
    _stop_large(home, path, new)
    old = _read(home, path)
    if old is None:
        if not files.create(path, new, within=home.root, folders=True):
            raise disk.ChangedMeanwhileError(path)
    elif old != new:
        files.replace(path, old, new, within=home.root)
    else:
        files.tidy(path, (old,), within=home.root)
    return old


def _stop_large(home: Project, path: str, new: bytes) -> None:
    """Refuse to write what could not be read again; raises ExecplanError."""
    if len(new) > MAX_BYTES:
        what = f"{home.display_path(path)} would have {len(new):,} bytes, and at most {MAX_BYTES:,} are read again"
        raise ExecplanError("too-large", what, exit=INPUT, hint="write long files with a command, and not with a step")
