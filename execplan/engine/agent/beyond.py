"""What has changed in the repository beyond what steps declare, as git tells it: for a warning, nothing goes by it."""

from __future__ import annotations

import json
import os

from execplan.errors import ExecplanError
from execplan.record import NamedTuple
from execplan.repo import ask
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from execplan.engine.place import Place
    from execplan.repo.home import Home

_MOST = 10_000
"""Paths beyond which nobody reads a warning: then nothing is compared."""
_LIMIT = 16 << 20


class _Seen(NamedTuple):
    """What differs from a commit."""

    base: str
    """The commit at which the run began."""
    paths: dict[str, list[int]]
    """By path of what differs or is not tracked, what the disk says of it."""


def note(home: Home, place: Place) -> None:
    """Keep in mind what differs now; without git, or where it fails, nothing is."""
    found = _look(home, _noted(place))
    if found is not None:
        try:
            handle = disk.open_regular(_path(place), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with open(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
                json.dump(found._asdict(), file)
        except OSError:
            return


def changed(home: Home, place: Place, declared: Collection[str]) -> list[str]:
    """The paths that have changed since, apart from those that are declared; raises nothing."""
    before = _noted(place)
    found = _look(home, before)
    if found is None or before is None:
        return []
    told = [path for path in {**found.paths, **before.paths} if found.paths.get(path) != before.paths.get(path)]
    return sorted([path for path in told if not any([_within(path, each) for each in declared])])


def _look(home: Home, before: _Seen | None) -> _Seen | None:
    if not home.git:
        return None
    try:
        base = before.base if before is not None else ask.output(home, "rev-parse", "--verify", "HEAD").decode().strip()
        differing = ask.output(home, "-c", "diff.relative=false", "diff", "--name-only", "-z", "--no-renames", base)
        others = ask.output(home, "ls-files", "--others", "--exclude-standard", "-z")
    except ExecplanError:
        return None
    names = [os.fsdecode(each) for each in (*differing.split(b"\0"), *others.split(b"\0")) if each]
    return _Seen(base, {name: _sign(os.path.join(home.root, name)) for name in names}) if len(names) <= _MOST else None


def _noted(place: Place) -> _Seen | None:
    try:
        data = disk.read(_path(place), _LIMIT)[0]
        return _Seen(**json.loads(data.decode("utf-8", "surrogateescape")))
    except (ExecplanError, ValueError, TypeError, RecursionError):
        return None


def _path(place: Place) -> str:
    return os.path.join(place.state, "beyond.json")


def _sign(path: str) -> list[int]:
    """What the disk says of a file: another time or size is another file."""
    try:
        status = os.lstat(path)
    except OSError:
        return []
    return [status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino]


def _within(path: str, folder: str) -> bool:
    return folder == "." or path == folder or path.startswith(f"{folder}/")
