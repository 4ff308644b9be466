"""What a step has removed or altered of the plan that is run, and of what is kept of the run: it is put back from the state."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from execplan.engine import copies
from execplan.engine.files.store import BackupStore
from execplan.engine.gone import is_elsewhere
from execplan.engine.place import JOURNAL, LIMIT
from execplan.errors import ExecplanError
from execplan.repo import ask, settings, state
from execplan.repo.execution import approvals, store
from execplan.text import disk, files
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.engine.course import RunState
    from execplan.engine.journal import Journal
    from execplan.engine.ledger.ledger import AuditLog
    from execplan.engine.place import RunPaths
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_SETTINGS = "execplan.toml"


def remember(home: Home, ref: Ref, place: RunPaths) -> None:
    """Keep the plan, and the settings of the home, as they are before a step; raises ExecplanError."""
    for name, path in _own(home, ref):
        data, copy = _read(path), place.copied(name)
        if data is None:
            with suppress(FileNotFoundError):
                os.unlink(copy)
        elif data != _read(copy):
            files.put(copy, data)


def mend(
    home: Home, ref: Ref, place: RunPaths, journal: Journal, ledger: AuditLog, course: RunState, *, at_work: bool
) -> list[str]:
    """Put back what is gone or other, with a warning of it; raises ExecplanError.

    The caller holds the lock of runs. A plan that was renamed or archived meanwhile has taken all of it along. Of what is
    not of the run itself only that is put back which was there before a step that was under way; `at_work`: one was just done.
    """
    harmed = at_work or bool(course.open_attempt())
    if not os.path.lexists(ref.path) and is_elsewhere(home, ref.path, place.id):
        return []
    warnings = []
    for name, path in _own(home, ref) if harmed else ():
        data = _read(place.copied(name))
        if data is not None and _create(home, path, data):
            warnings.append(f"{home.shown(path)} was removed by a step: restored as it was before that step")
    if at_work and _is_reverted(home, ref, place, course):
        what = f"{home.shown(ref.path)} was reset to the last commit by a step"
        warnings.append(f"{what}: restored as it was before that step")
    changed: list[str] = []
    displaced: list[bytes] = []
    for name in copies.altered(place):
        displaced.append(_show(home, place, name))
        changed.append(place.shown(name))
    found = journal.show()
    if found is not None:
        displaced.append(found)
        changed.append(place.shown(JOURNAL))
    if ledger.overwritten is not None:
        displaced.append(ledger.overwritten)
        ledger.overwritten = None
        changed.append(ledger.path)
    beside = _of_plan(home, ref, place, course.digest) if harmed else ()
    changed += [path for path, data in beside if _create(home, path, data)]
    return warnings + ([_told(home, changed, displaced)] if changed else [])


def _told(home: Home, changed: list[str], displaced: list[bytes]) -> str:
    more = f" and {len(changed) - 1} more files of the run were" if len(changed) > 1 else " was"
    backups = BackupStore(home)
    kept = [
        f"; the previous content is in {home.shown(backups.path(backups.save(each)))}" for each in displaced if each
    ]
    return f"{home.shown(changed[0])}{more} removed or changed: restored as the run wrote them{''.join(kept)}"


def _own(home: Home, ref: Ref) -> list[tuple[str, str]]:
    """What no look at the tree takes note of, and a run does not go on without; by what its copy is called."""
    return [(copies.PLAN, ref.path), (_SETTINGS, os.path.join(home.base, settings.FILE))]


def _is_reverted(home: Home, ref: Ref, place: RunPaths, course: RunState) -> bool:
    """Put a plan back that a step has set back to the last commit, as `git stash` does; whether it had to be."""
    kept, now = _read(place.copied(copies.PLAN)), _read(ref.path)
    if kept is None or now is None or kept == now or home.git is None or course.begun["head"] is None:
        return False
    path = os.path.relpath(ref.real, os.path.realpath(home.root))
    try:
        head = ask.output(home, "rev-parse", "--verify", "HEAD").decode().strip()
        if head != course.begun["head"] or ask.output(home, "cat-file", "blob", f"HEAD:{path}") != now:
            return False
    except ExecplanError:
        return False  # git does not have it
    with state.lock(home, ref.real, f"the run of {ref.id}"):
        files.replace(ref.path, now, kept, within=home.root)
    return True


def _of_plan(home: Home, ref: Ref, place: RunPaths, document: str) -> Iterator[tuple[str, bytes]]:
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


def _show(home: Home, place: RunPaths, name: str) -> bytes:
    """Let a file of the run be among the artifacts as its copy; what was there, if it was not of the run."""
    if not name.startswith(copies.TRANSCRIPTS):
        return copies.show(place, name)
    files.make_folder(os.path.dirname(place.shown(name)), within=home.root)
    try:
        os.link(place.copied(name), place.shown(name))
    except OSError as error:
        raise disk.trouble(error, place.shown(name), "write") from None
    return b""


def _read(path: str) -> bytes | None:
    try:
        return disk.read(path, LIMIT)[0] if os.path.lexists(path) else None
    except ExecplanError:
        return None
