"""What a step has removed or altered of the plan that is run, and of what is kept of the run: it is put back from the state."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from execplan.engine import copies
from execplan.engine.files.store import Store
from execplan.engine.place import JOURNAL, LIMIT
from execplan.errors import ExecplanError
from execplan.repo import belongings, settings, shelf
from execplan.repo.execution import approvals, store
from execplan.text import disk, files
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.engine.book import Book
    from execplan.engine.place import Place
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_PLAN = "plan.md"
_SETTINGS = "execplan.toml"


def remember(home: Home, ref: Ref) -> None:
    """Keep the plan, and the settings of the home, as they are before a step; raises ExecplanError."""
    above = belongings.make(home, ref.path)
    for name, path in _own(home, ref):
        data, copy = _read(path), os.path.join(above, name)
        if data is None:
            with suppress(FileNotFoundError):
                os.unlink(copy)
        elif data != _read(copy):
            files.put(copy, data)


def mend(home: Home, ref: Ref, place: Place, book: Book) -> list[str]:
    """Put back what is gone or other, with a warning of it; raises ExecplanError.

    The caller holds the lock of runs. A plan that was renamed or archived meanwhile has taken all of it along. Of what is
    not of the run itself only that is put back which was there before a step that was under way.
    """
    harmed = book.is_at_work or bool(book.course.open_attempt())
    if not os.path.lexists(ref.path) and _is_elsewhere(home, ref, place):
        return []
    warnings = []
    for name, path in _own(home, ref) if harmed else ():
        data = _read(os.path.join(belongings.folder(home, ref.path), name))
        if data is not None and _create(home, path, data):
            what = f"{home.shown(path)} was removed while the run was at work"
            warnings.append(f"{what}: it is there again as it was before the step that removed it")
    changed: list[str] = []
    displaced: list[bytes] = []
    for name in copies.altered(place):
        displaced.append(_show(home, place, name))
        changed.append(place.shown(name))
    found = book.journal.show()
    if found is not None:
        displaced.append(found)
        changed.append(place.shown(JOURNAL))
    if book.ledger.came_back:
        book.ledger.came_back = False
        changed.append(book.ledger.path)
    beside = _of_plan(home, ref, place, book.course.digest) if harmed else ()
    changed += [path for path, data in beside if _create(home, path, data)]
    return warnings + ([_told(home, changed, displaced)] if changed else [])


def _told(home: Home, changed: list[str], displaced: list[bytes]) -> str:
    more = f" and {len(changed) - 1} more files were" if len(changed) > 1 else " was"
    what = f"{home.shown(changed[0])}{more} removed or altered while the run was at work"
    backups = Store(home)
    kept = [f"; what was there is kept: {home.shown(backups.path(backups.keep(each)))}" for each in displaced if each]
    return f"{what}: all is there again as the run has written it{''.join(kept)}"


def plan_kept(folder: str) -> bytes | None:
    """The text of a plan as it was before the last step of its runs, by its folder of the state."""
    return _read(os.path.join(folder, _PLAN))


def _own(home: Home, ref: Ref) -> list[tuple[str, str]]:
    """What no look at the tree takes note of, and a run does not go on without; by what its copy is called."""
    return [(_PLAN, ref.path), (_SETTINGS, os.path.join(home.base, settings.FILE))]


def _of_plan(home: Home, ref: Ref, place: Place, document: str) -> Iterator[tuple[str, bytes]]:
    """What a plan has beside its runs, as far as its run knows of it: the execution plan and the approvals."""
    for name in copies.papers(place):
        data = _read(place.copied(name)) or b""
        if name.startswith("approval"):
            try:
                approved = str(json.loads(data)["digest"])
            except (ValueError, KeyError, TypeError, RecursionError):
                continue  # it lets nothing run
            if approved.isalnum():
                yield approvals.path(home, ref, approved), data
        elif digest(data) == document:
            yield store.path_of(home, ref), data


def _create(home: Home, path: str, data: bytes) -> bool:
    return not os.path.lexists(path) and files.create(path, data, within=home.root, folders=True)


def _show(home: Home, place: Place, name: str) -> bytes:
    """Let a file of the run be among the artifacts as its copy; what was there, if it was not of the run."""
    if not name.startswith(copies.TRANSCRIPTS):
        return copies.show(place, name)
    files.make_folder(os.path.dirname(place.shown(name)), within=home.root)
    try:
        os.link(place.copied(name), place.shown(name))
    except OSError as error:
        raise disk.trouble(error, place.shown(name), "write") from None
    return b""


def _is_elsewhere(home: Home, ref: Ref, place: Place) -> bool:
    """Whether another plan has the run among its artifacts."""
    others = [each for each in shelf.every(home) if each.path != ref.path]
    folders = [home.artifacts_of(each.path, archived=each.archived) for each in others]
    return any([os.path.lexists(os.path.join(folder, "runs", place.id)) for folder in folders])


def _read(path: str) -> bytes | None:
    try:
        return disk.read(path, LIMIT)[0] if os.path.lexists(path) else None
    except ExecplanError:
        return None
