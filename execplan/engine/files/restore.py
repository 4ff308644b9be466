"""Changes taken back: each path has the bytes, the mode, the link or the absence again that it had before."""

from __future__ import annotations

from execplan.engine.entries import Change
from execplan.engine.files.walk import Walk
from execplan.errors import CHANGED, ENVIRONMENT, ExecplanError
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, OUTSIDE, State
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from execplan.engine.files.ground import Ground
    from execplan.engine.files.store import Store

_ABSENT = State(ABSENT)
_MADE = State(FOLDER, mode=-1)
"""A folder that was made, whatever its mode."""


class Restored(NamedTuple):
    """What was done to the files."""

    restored: tuple[str, ...]
    """Paths that have their bytes, modes and links again."""
    removed: tuple[str, ...]
    """Paths that are gone again, folders too."""
    kept: tuple[tuple[str, str], ...]
    """Paths, and the digests of the bytes that were there and are among the backups now."""
    left: tuple[str, ...] = ()
    """Folders that were to be removed, and in which something else is by now."""


def whole(changes: Iterable[Change], folders: Iterable[str]) -> list[Change]:
    """What an attempt changed, the folders that it made among it: for `net`, which goes by the order of attempts."""
    return [*[Change(path, _ABSENT, _MADE) for path in folders], *changes]


def net(changes: Iterable[Change]) -> list[Change]:
    """One change for each path: from how it was before the first one to how the last one left it."""
    found: dict[str, Change] = {}
    for change in changes:
        first = found.get(change.path)
        found[change.path] = change if first is None else change._replace(before=first.before)
    return [change for change in found.values() if change.before != change.after]


def restorable(change: Change) -> bool:
    """Whether what was before can be brought back: not a device, and not a file that could not be read."""
    before = change.before
    return before.kind in (ABSENT, LINK, FOLDER) or (before.kind == FILE and bool(before.sha256))


def restore(
    ground: Ground,
    store: Store,
    changes: Sequence[Change],
    folders: Sequence[str],
    tell: Callable[[str, str], None],
    *,
    done: Collection[str] = (),
    again: bool = False,
    begin: Callable[[], None] = lambda: None,
) -> Restored:
    """Take changes back, given in the order in which they were made, and remove the folders that were made before them, where
    nothing else is in them.

    `tell` is called with each path as soon as that is done, and the digest of the bytes that were there and are kept, or
    nothing. `again`: an earlier try was cut short; it had told of those that are `done`. Every backup and every path is
    looked at first, and where one is not as it should be nothing is touched; `begin` is called behind that. Raises
    ExecplanError.
    """
    every, work = _checked(ground, store, changes, folders, done=done, again=again)
    begin()
    kept: list[tuple[str, str]] = []
    for path, digest in work.do():
        tell(path, digest)
        if digest:
            kept.append((path, digest))
    gone = [each.path for each in every if each.before.kind == ABSENT and each.path not in work.left]
    back = [each.path for each in every if each.before.kind != ABSENT]
    return Restored(tuple(back), tuple(gone), tuple(kept), tuple(work.left))


def check(
    ground: Ground,
    store: Store,
    changes: Sequence[Change],
    folders: Sequence[str],
    *,
    done: Collection[str] = (),
    again: bool = False,
) -> None:
    """Look whether all of it could be taken back, as `restore` does first; raises ExecplanError where it could not."""
    _checked(ground, store, changes, folders, done=done, again=again)


def _checked(
    ground: Ground,
    store: Store,
    changes: Sequence[Change],
    folders: Sequence[str],
    *,
    done: Collection[str],
    again: bool,
) -> tuple[list[Change], _Work]:
    every = net(whole(changes, folders))
    work = _Work(ground, store, [each for each in every if each.path not in done], again=again)
    work.check()
    return every, work


class _Work:
    """What is to be done to each path; first all that goes, the inner ones first, then all that comes, the outer ones first."""

    def __init__(self, ground: Ground, store: Store, changes: list[Change], *, again: bool) -> None:
        self.ground = ground
        self.store = store
        ordered = sorted(changes, key=lambda each: each.path.split("/"))
        self.folders = [
            each.path for each in reversed(ordered) if each.before.kind == ABSENT and each.after.kind == FOLDER
        ]
        self.changes = {each.path: each for each in ordered if each.path not in self.folders}
        self.again = again
        self.now = {path: self._state(path) for path in self.changes}
        self.left: list[str] = []

    def _state(self, path: str) -> State:
        """What is at a path; nothing where a link is on the way, put there or brought back by what is done here."""
        found = self.ground.state(path)
        over = self.changes.get(found.link) if found.kind == OUTSIDE else None
        return _ABSENT if over is not None and LINK in (over.before.kind, over.after.kind) else found

    def check(self) -> None:
        """Refuse where a path or a backup is not as it should be; raises ExecplanError that names all of them."""
        wrong = [line for change in self.changes.values() for line in self._wrong(change)]
        if wrong:
            raise _changed(list(dict.fromkeys(wrong)))
        needed = [each for path, each in self.changes.items() if each.before not in (_ABSENT, self.now[path])]
        lost = [each.path for each in needed if not restorable(each)]
        if lost:
            raise _lost(lost)
        self.store.check([each.before.sha256 for each in needed if each.before.kind == FILE])

    def _wrong(self, change: Change) -> Iterator[str]:
        """What of a path is neither as it was before nor as it was left."""
        now, before, after = self.now[change.path], change.before, change.after
        turned = after.kind == FOLDER != before.kind
        between = self.again and FOLDER in (before.kind, after.kind) and now.kind in (ABSENT, FOLDER)
        remade = after == _MADE and now.kind == FOLDER
        if now not in (before, after) and not remade and not between and not (turned and now.kind == FOLDER):
            yield change.path
        elif now.kind == FOLDER != before.kind:
            yield from self._others(change.path)
        elif before.kind != ABSENT:
            yield from self._in_the_way(change.path)

    def _others(self, path: str) -> Iterator[str]:
        """What is in a folder that has to go, and that is not to be taken back."""
        walk = Walk(self.ground.home, self.ground)
        walk.declared(path)
        for each in walk.found:
            ours = self.changes.get(each)
            if (
                each.startswith(f"{path}/")
                and each not in self.folders
                and (ours is None or ours.before.kind != ABSENT)
            ):
                yield each

    def _in_the_way(self, path: str) -> Iterator[str]:
        """What stands where a folder has to be, and does not become one."""
        above = path.rpartition("/")[0]
        while above:
            ours = self.changes.get(above)
            if (ours is None or ours.before.kind != FOLDER) and self._state(above).kind not in (ABSENT, FOLDER):
                yield above
            above = above.rpartition("/")[0]

    def do(self) -> Iterator[tuple[str, str]]:
        """Do it; each path that is done, and the digest of what it held. Raises ExecplanError."""
        outer = list(self.changes.values())
        self._prepare(outer)
        displaced: dict[str, str] = {}
        for change in reversed(outer):
            if change.before.kind in (ABSENT, FOLDER):
                displaced[change.path] = self._remove(change)
                if change.before.kind == ABSENT:
                    yield change.path, displaced[change.path]
        yield from self._empty()
        for change in outer:
            if change.before.kind == FOLDER:
                self.ground.make_folder(change.path, change.before.mode | 0o700)
            elif change.before.kind != ABSENT:
                yield change.path, self._put(change)
        for change in reversed(outer):
            if change.before.kind == FOLDER:
                self.ground.make_folder(change.path, change.before.mode)
                yield change.path, displaced[change.path]

    def _prepare(self, outer: list[Change]) -> None:
        """Let folders be entered whose mode changed, and remove what a killed writer has left."""
        for change in outer:
            if change.before.kind == FOLDER == self.now[change.path].kind:
                self.ground.make_folder(change.path, change.before.mode | 0o700)
        for change in outer:
            if self.ground.state(change.path.rpartition("/")[0] or ".").kind == FOLDER:
                self.ground.tidy(change.path)

    def _remove(self, change: Change) -> str:
        """Remove what is no folder; the digest of what it held."""
        if self.now[change.path].kind in (ABSENT, FOLDER):
            return ""
        digest = self._keep(change.path)
        self.ground.remove(change.path)
        return digest

    def _empty(self) -> Iterator[tuple[str, str]]:
        """Remove folders; those that a file or a link takes the place of have to go."""
        turned = [path for path, each in self.changes.items() if each.before.kind in (FILE, LINK)]
        turned = [path for path in turned if self.now[path].kind == FOLDER]
        for path in sorted([*self.folders, *turned], key=lambda each: each.split("/"), reverse=True):
            kind = self._state(path).kind
            if kind != ABSENT and not (kind == FOLDER and self.ground.remove_folder(path)):
                if path in turned:
                    raise _changed([path])
                self.left.append(path)
            elif path not in turned:
                yield path, ""

    def _put(self, change: Change) -> str:
        """Let a file or a link be as it was; the digest of what was there."""
        if self.now[change.path] == change.before:
            return ""
        digest = self._keep(change.path)
        if change.before.kind == LINK:
            self.ground.link(change.path, change.before.link)
        else:
            self.ground.pour(change.path, self.store.parts(change.before.sha256), change.before.mode)
        return digest

    def _keep(self, path: str) -> str:
        """Keep what is at a path, if it is a file; raises ExecplanError when it is another than was looked at."""
        found, now = self.store.keep_path(self.ground, path), self.now[path]
        if found != now and {found.kind, now.kind} != {ABSENT, FOLDER}:
            raise _changed([path])
        return found.sha256


AGAIN = "put them aside or as the run left them, then do it again: execplan rollback"
"""Who knows the run names it behind that."""


def _changed(paths: list[str]) -> ExecplanError:
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return ExecplanError(
        "changed-since",
        f"{paths[0]}{more}: changed after the run, and what somebody wrote there is not overwritten",
        exit=CHANGED,
        hint=AGAIN,
        candidates=paths,
    )


def _lost(paths: list[str]) -> ExecplanError:
    return ExecplanError(
        "backup-missing",
        f"there is no backup of {', '.join(paths)}: it was no regular file, or could not be read",
        exit=ENVIRONMENT,
        hint="take it from git, or leave it as it is",
        candidates=paths,
    )
