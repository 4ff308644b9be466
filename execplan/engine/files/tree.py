"""What a repository holds at one moment: what a command changes is seen by looking at all of it before and after."""

from __future__ import annotations

import json
import os
import stat
import time

from execplan.engine.entries import Change, state_from, state_json
from execplan.engine.files.counting import LONGEST, counted
from execplan.engine.files.walk import Walk
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.execution.world import ABSENT, FILE, FOLDER, State, normalize_path
from execplan.record import NamedTuple
from execplan.text import disk
from execplan.text.files import temporary
from execplan.text.folder import Folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Final

    from execplan.engine.files.ground import Ground
    from execplan.engine.files.store import Store
    from execplan.repo.home import Home

FILES: Final = 20_000
BYTES: Final = 256 << 20
"""How much of a repository is kept before a command runs; of a larger one only what is declared."""
_MARGIN = 2_000_000_000
"""Nanoseconds by which a file must be older than a look, so that its times tell the next one whether it was written to."""
_LARGEST = 1 << 30
"""Bytes of the longest file that keeps a look."""


class Tree(NamedTuple):
    """Files, links and folders by their paths from the root."""

    states: dict[str, State]
    whole: bool
    """Whether all is here that git does not ignore, and not only what is declared."""
    unseen: frozenset[str] = frozenset()
    """What was not looked into: what git ignores, other repositories, folders that may not be read."""
    signs: dict[str, tuple[int, ...]] = {}  # noqa: RUF012 - nobody writes to it
    """By path, what differs as soon as a file is written to; of files that were written just now nothing."""

    @property
    def folders(self) -> frozenset[str]:
        """The folders."""
        return frozenset([path for path, state in self.states.items() if state.kind == FOLDER])


def look(home: Home, ground: Ground, store: Store, declared: Iterable[str], known: Tree | None, *, keep: bool) -> Tree:
    """Look at all that git does not ignore, and that is not git's or the tool's own, and at what is declared.

    Of a file that is as an earlier look has found it no byte is read. `keep`: the bytes are among the backups then. Above
    FILES or BYTES only what is declared is looked at, unless this is the look behind one that saw all. Raises ExecplanError.
    """
    began = time.time_ns()
    walk = Walk(home, ground)
    whole = known is None or known.whole or keep
    if whole:
        bound = keep or known is None
        whole = walk.all(FILES if bound else None, BYTES if bound else None)
    for path in declared:
        walk.declared(normalize_path(path) or "")
    states: dict[str, State] = {}
    signs: dict[str, tuple[int, ...]] = {}
    with store.together() as batch:
        for path, status in walk.found.items():
            sign = _sign(status)
            state = known.states.get(path) if known is not None and known.signs.get(path) == sign else None
            if state is None or (keep and state.kind == FILE and not batch.has(state.sha256)):
                state = _state(ground, batch if keep else None, path, status)
            if state.kind != ABSENT:
                states[path] = state
            if max(status.st_mtime_ns, status.st_ctime_ns) < began - _MARGIN:
                signs[path] = sign
    return Tree(states, whole, frozenset(walk.unseen), signs)


def _state(ground: Ground, store: Store | None, path: str, status: os.stat_result) -> State:
    """What is at a path; raises ExecplanError."""
    if stat.S_ISDIR(status.st_mode):
        return State(FOLDER, mode=stat.S_IMODE(status.st_mode))
    return ground.state(path) if store is None else store.keep_path(ground, path)


def _sign(status: os.stat_result) -> tuple[int, ...]:
    return status.st_mode, status.st_ino, status.st_dev, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def differences(
    before: Tree, after: Tree, declared: Iterable[str], store: Store, ground: Ground
) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """What changed between two looks, with its lines counted, and the folders that were made; raises ExecplanError.

    Where one of the looks saw only what is declared, so does this.
    """
    said = tuple([normalize_path(path) or "" for path in declared])
    above = {each[:at] for each in said for at, char in enumerate(each) if char == "/"}
    whole = before.whole and after.whole
    changes, folders = [], []
    for path in sorted(before.states.keys() | after.states.keys()):
        ours = _is_below(path, said)
        near = ours or path in above
        if not (near or whole):
            continue
        old, new = before.states.get(path, State(ABSENT)), after.states.get(path, State(ABSENT))
        if new.kind == ABSENT and _is_covered(path, after.unseen):
            new = _hidden(ground, path, old)
        if old == new or (old.kind == ABSENT and not near and _is_covered(path, before.unseen)):
            continue
        if old.kind == ABSENT and new.kind == FOLDER:
            folders.append(path)
        else:
            changes.append(Change(path, old, new, *count(store, ground, path, old, new), declared=ours))
    return tuple(changes), tuple(folders)


def _hidden(ground: Ground, path: str, old: State) -> State:
    """What is at a path that git ignores by now, or that may not be looked at any more, and so did not change."""
    try:
        return ground.state(path)
    except ExecplanError:
        return old


def count(store: Store, ground: Ground, path: str, old: State, new: State) -> tuple[int, int]:
    """Lines added and removed; none where the bytes from before were not kept."""
    if max(old.size, new.size) > LONGEST or FILE not in (old.kind, new.kind):
        return 0, 0
    try:
        before = store.get(old.sha256) if old.kind == FILE else b""
        after = ground.read(path) if new.kind == FILE else b""
    except ExecplanError:
        return 0, 0
    return counted(before, after)


def _is_below(path: str, folders: Collection[str]) -> bool:
    return any([path == each or path.startswith(f"{each}/") for each in folders])


def _is_covered(path: str, folders: frozenset[str]) -> bool:
    """Whether a path, or a folder that it lies in, is one of these."""
    while path:
        if path in folders:
            return True
        path = path.rpartition("/")[0]
    return False


def save(tree: Tree, path: str) -> None:
    """Keep what was looked at, for a run that is killed before it looks again; raises ExecplanError."""
    told = {
        "states": {name: state_json(state) for name, state in tree.states.items()},
        "whole": tree.whole,
        "unseen": sorted(tree.unseen),
        "signs": tree.signs,
    }
    folder, name = os.path.split(path)
    with Folder(folder, make=True) as held:
        try:
            beside = temporary(name)
            held.unlink(beside)
            held.write(beside, json.dumps(told, separators=(",", ":")).encode(), 0o600)
            held.rename(beside, held, name)
            held.sync()
        except OSError as error:
            raise disk.trouble(error, path, "write") from None


def load(path: str) -> Tree:
    """What was looked at; raises ExecplanError."""
    data, _ = disk.read(path, _LARGEST)
    try:
        told = json.loads(data)
        states = {name: state_from(state) for name, state in told["states"].items()}
        signs = {name: tuple(sign) for name, sign in told["signs"].items()}
        return Tree(states, told["whole"], frozenset(told["unseen"]), signs)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        what = f"{path} is not as it was kept: somebody else has written there"
        raise ExecplanError(
            "backup-altered", what, exit=ENVIRONMENT, hint="bring it back from a copy of the disk"
        ) from None
