"""Evidence for a plan: files copied into its artifacts folder, each content once, and named in the plan."""

from __future__ import annotations

import os

from execplan.plan.body import note
from execplan.plan.change import Change, facts
from execplan.record import NamedTuple
from execplan.repo import shelf, state
from execplan.repo.amend import amend, stop_gone
from execplan.repo.edits.journal import Operation
from execplan.repo.moving.details import Details, pack
from execplan.text import disk, files
from execplan.text.folder import Folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.change import Changer
    from execplan.plan.model import Plan
    from execplan.repo.amend import Amended, Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


_COPY = ".execplan-copy-"


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

    def naming(placed: Sequence[Attached]) -> Changer:
        return _naming(home, placed, words, create=create)

    folder = home.artifacts_of(ref.path, archived=ref.archived)
    placed = _placed(folder, sources)
    tried = amend(home, ref, naming(placed), options._replace(dry_run=True), verb="attach")
    if options.dry_run:
        return tried, placed
    put: list[str] = []
    made: list[str] = []
    try:
        with Folder(os.path.dirname(folder), within=home.root, make=True) as above:
            made += above.made
            copies: list[str] = []
            _sweep(above)
            try:
                for source, file in zip(sources, placed, strict=True):
                    copies.append(_copy(source, file, above, len(copies)))
                with state.lock(home, "home", f"attach to {ref.id}"):
                    stop_gone(home, ref)
                    with Folder(folder, within=home.root, make=True) as into:
                        made += into.made
                        placed = _placed(folder, sources)
                        for file, copy in zip(placed, copies, strict=True):
                            if file.copied:
                                _put(above, copy, into, file.path)
                                put.append(file.path)
                    beside = tuple([each.path for each in placed])
                    operation = _operation(home, ref, folder, placed, made)
                    amended = amend(
                        home,
                        ref,
                        naming(placed),
                        options,
                        verb="attach",
                        beside=beside,
                        operation=lambda: operation,
                    )
                    return amended, placed
            finally:
                for copy in copies:
                    above.unlink(copy)
    except BaseException:
        _take_back(home, ref, put)
        for each in reversed(made):
            files.remove_empty(each)
        raise


def _operation(home: Home, ref: Ref, folder: str, placed: Sequence[Attached], made: Sequence[str]) -> Operation:
    """What the journal stores, so that the files can be taken out again."""
    copied = [each for each in placed if each.copied]
    if not copied:
        return Operation()
    files = tuple([(each.path, each.path) for each in copied])
    seen = {each.path: each.digest for each in copied}
    about = Details((ref.id, ref.id), ref.path, ref.path, (folder, folder), files, tuple(made), None, None, seen)
    return Operation(details=pack(home, about))


def _naming(home: Home, placed: Sequence[Attached], words: str, *, create: bool) -> Changer:
    """The change that names the files that a plan does not name yet."""
    names = ", ".join([os.path.basename(each.path) for each in placed])
    lines = {home.shown(each.path): _line(home, each, words) for each in placed}

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
    known: dict[str, Attached] = {}
    placed = []
    for source in sources:
        digest, size = digest_of(source)
        if digest in known:
            placed.append(known[digest]._replace(copied=False))
            continue
        same = [path for path in there if os.path.isfile(path) and os.path.getsize(path) == size]
        held = next((path for path in same if digest_of(path)[0] == digest), None)
        stem, end = os.path.splitext(os.path.basename(os.path.abspath(source)))
        name = shelf.free_name(stem, taken, end)
        known[digest] = Attached(held or os.path.join(folder, name), digest, size, copied=held is None)
        taken.add(shelf.same_id(name))
        placed.append(known[digest])
    return placed


def digest_of(path: str) -> tuple[str, int]:
    """SHA-256 and size of a regular file, whatever its size; raises ExecplanError."""
    from hashlib import file_digest

    handle, size = disk.open_file(path)
    with open(handle, "rb") as file:
        return file_digest(file, "sha256").hexdigest(), size


def _copy(source: str, file: Attached, above: Folder, number: int) -> str:
    """The name of a copy of a file, on disk and read back, for the time being; raises ExecplanError.

    It lies above the artifacts of the plan, because they may be moved away meanwhile.
    """
    from hashlib import file_digest
    from shutil import copyfileobj

    name = f"{_COPY}{os.getpid()}-{number}.tmp"
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        with (
            open(os.open(name, flags, 0o666, dir_fd=above.handle), "w+b") as copy,
            open(disk.open_file(source)[0], "rb") as given,
        ):
            copyfileobj(given, copy)
            copy.flush()
            os.fsync(copy.fileno())
            copy.seek(0)
            if file_digest(copy, "sha256").hexdigest() != file.digest:
                raise disk.changed_underneath(source)
    except BaseException as error:
        above.unlink(name)
        if isinstance(error, OSError):
            raise disk.trouble(error, above.join(name), "write") from None
        raise
    return name


def _sweep(above: Folder) -> None:
    """Remove the copies that killed processes have left."""
    for name in os.listdir(above.handle):
        process = name.removeprefix(_COPY).partition("-")[0]
        if name.startswith(_COPY) and name.endswith(".tmp") and process.isdecimal() and not _runs(int(process)):
            above.unlink(name)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _put(above: Folder, copy: str, into: Folder, path: str) -> None:
    """Give a copy its name; raises ExecplanError."""
    try:
        os.link(
            copy,
            os.path.basename(path),
            src_dir_fd=above.handle,
            dst_dir_fd=into.handle,
            follow_symlinks=False,
        )
        into.sync()
    except OSError as error:
        raise disk.trouble(error, path, "write") from None


def _take_back(home: Home, ref: Ref, paths: Sequence[str]) -> None:
    """Remove files that were put there, but for those that the plan names: then only its commit has failed."""
    text = shelf.open_bytes(home, ref.path) if os.path.lexists(ref.path) else b""
    for path in paths:
        if os.fsencode(home.shown(path)) not in text and os.path.lexists(path):
            os.unlink(path)


def _line(home: Home, file: Attached, words: str) -> str:
    about = f": {words}" if words else ""
    return f"`{home.shown(file.path)}`{about} ({file.size:,} bytes, sha256 {file.digest[:16]})"
