"""Evidence for a plan: files copied into its artifacts folder, each content once, and named in the plan."""

from __future__ import annotations

import os

from execplan.plan.body import note
from execplan.plan.change import Change, facts
from execplan.record import NamedTuple
from execplan.repo import shelf, state
from execplan.repo.amend import amend, stop_gone
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.change import Changer
    from execplan.plan.model import Plan
    from execplan.repo.amend import Amended, Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Attached(NamedTuple):
    """A file that belongs to a plan."""

    path: str
    """Where it is now, absolute."""
    digest: str
    """SHA-256 of its content."""
    size: int
    copied: bool
    """False when the content was there already."""


def attach(
    home: Home, ref: Ref, sources: Sequence[str], words: str, options: Options, *, create: bool
) -> tuple[Amended, list[Attached]]:
    """Copy files into the artifacts of a plan and name them in Artifacts and Notes, all or none; raises ExecplanError.

    `words` say what the files show, or are empty.
    """

    def naming(files: Sequence[Attached]) -> Changer:
        return _naming(home, files, words, create=create)

    folder = home.artifacts_of(ref.path, archived=ref.archived)
    files = _placed(folder, sources)
    tried = amend(home, ref, naming(files), options._replace(dry_run=True), verb="attach")
    if options.dry_run:
        return tried, files
    above = os.path.dirname(folder)
    made = disk.make_folder(above)
    copies: list[str] = []
    put: list[str] = []
    try:
        for source, file in zip(sources, files, strict=True):
            copies.append(_copy(source, file, above, len(copies)))
        with state.lock(home, "home", f"attach to {ref.id}"):
            stop_gone(home, ref)
            new = disk.make_folder(folder)
            try:
                files = _placed(folder, sources)
                for file, copy in zip(files, copies, strict=True):
                    if file.copied:
                        _put(copy, file.path)
                        put.append(file.path)
                beside = tuple([each.path for each in files])
                return amend(home, ref, naming(files), options, verb="attach", beside=beside), files
            except BaseException:
                _take_back(home, ref, put)
                if new:
                    disk.remove_empty(folder)
                raise
    finally:
        for copy in copies:
            os.unlink(copy)
        if made:
            disk.remove_empty(above)


def _naming(home: Home, files: Sequence[Attached], words: str, *, create: bool) -> Changer:
    """The change that names the files that a plan does not name yet."""
    names = ", ".join([os.path.basename(each.path) for each in files])
    lines = {home.shown(each.path): _line(home, each, words) for each in files}

    def change(plan: Plan) -> Change:
        text = "\n".join(plan.text.lines)
        new = [line for path, line in lines.items() if f"`{path}`" not in text]
        if not new:
            return Change((), facts(plan), "", tuple([f"there already: {path}" for path in lines]))
        return note(new, items=True, create=create)(plan)._replace(summary=f"attach, {names}")

    return change


def _placed(folder: str, sources: Sequence[str]) -> list[Attached]:
    """Where each file is in the folder, or where it would go; raises ExecplanError."""
    there = sorted([each.path for each in os.scandir(folder)]) if os.path.isdir(folder) else []
    taken = {shelf.same_id(os.path.basename(path)) for path in there}
    files: dict[str, Attached] = {}
    placed = []
    for source in sources:
        digest, size = _digest(source)
        if digest in files:
            placed.append(files[digest]._replace(copied=False))
            continue
        same = [path for path in there if os.path.isfile(path) and os.path.getsize(path) == size]
        held = next((path for path in same if _digest(path)[0] == digest), None)
        stem, end = os.path.splitext(os.path.basename(os.path.abspath(source)))
        name = shelf.free_name(stem, taken, end)
        files[digest] = Attached(held or os.path.join(folder, name), digest, size, copied=held is None)
        taken.add(shelf.same_id(name))
        placed.append(files[digest])
    return placed


def _digest(path: str) -> tuple[str, int]:
    """SHA-256 and size of a regular file, whatever its size; raises ExecplanError."""
    from hashlib import file_digest

    handle, size = disk.open_file(path)
    with open(handle, "rb") as file:
        return file_digest(file, "sha256").hexdigest(), size


def _copy(source: str, file: Attached, folder: str, number: int) -> str:
    """A copy of a file, on disk and read back, under a name for the time being; raises ExecplanError.

    It lies above the artifacts of the plan, because they may be moved away meanwhile.
    """
    from shutil import copyfile

    copy = os.path.join(folder, f".execplan-{os.getpid()}-{number}.tmp")
    try:
        copyfile(source, copy)
        with open(copy, "rb+") as written:
            os.fsync(written.fileno())
        if _digest(copy)[0] != file.digest:
            raise disk.changed_underneath(source)
    except BaseException as error:
        if os.path.lexists(copy):
            os.unlink(copy)
        if isinstance(error, OSError):
            raise disk.trouble(error, copy, "write") from None
        raise
    return copy


def _put(copy: str, path: str) -> None:
    """Give a copy its name; raises ExecplanError."""
    try:
        os.link(copy, path, follow_symlinks=False)
    except OSError as error:
        raise disk.trouble(error, path, "write") from None
    disk.sync_folder(os.path.dirname(path))


def _take_back(home: Home, ref: Ref, paths: Sequence[str]) -> None:
    """Remove files that were put there, but for those that the plan names: then only its commit has failed."""
    text = shelf.open_bytes(home, ref.path) if os.path.lexists(ref.path) else b""
    for path in paths:
        if os.fsencode(home.shown(path)) not in text and os.path.lexists(path):
            os.unlink(path)


def _line(home: Home, file: Attached, words: str) -> str:
    about = f": {words}" if words else ""
    return f"`{home.shown(file.path)}`{about} ({file.size:,} bytes, sha256 {file.digest[:16]})"
