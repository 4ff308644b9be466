"""Files as units: what the plan names, what is asked for, artifacts; and what keeps a file from being one."""

from __future__ import annotations

import os

from execplan.context.unit import ARTIFACT, FILE, Unit
from execplan.errors import INPUT, POLICY, ExecplanError
from execplan.record import NamedTuple
from execplan.repo.gathering.listing import mentions
from execplan.repo.home import ensure_inside
from execplan.text import disk
from execplan.text.secret_files import is_secret, other_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Final

    from execplan.repo.gathering.listing import Listing
    from execplan.repo.home import Project

LIMIT: Final = 1 << 20
"""Bytes of a file that is read."""
_EVIDENCE = frozenset(("execution-plan.json", "approvals", "ledger.jsonl", "runs", "checkpoint.md"))
"""What is among the artifacts of a plan and is kept by execplan itself, for itself."""
_ARTIFACTS: Final = 200
_TOLD: Final = 5


class Read(NamedTuple):
    """What was read, and what was not."""

    units: tuple[Unit, ...]
    troubles: tuple[ExecplanError, ...]


def read(home: Project, paths: Iterable[str], kind: str = FILE, why: str = "") -> Read:
    """The files of these paths, from the root, the older ones with the lower order; one that can't be read is a trouble."""
    found: list[tuple[int, Unit]] = []
    troubles = []
    for path in dict.fromkeys(paths):
        try:
            found.append(_read(home, path, kind, why))
        except ExecplanError as error:
            troubles.append(error)
    ages = {age: order for order, age in enumerate(sorted({age for age, _ in found}), start=1)}
    return Read(tuple([unit._replace(order=ages[age]) for age, unit in found]), tuple(troubles))


def _read(home: Project, path: str, kind: str, why: str) -> tuple[int, Unit]:
    """A file, and when it was changed, in nanoseconds; raises ExecplanError."""
    full = os.path.join(home.root, path)
    target = ensure_inside(home, full)
    if other := other_name(target, (home.root, os.path.expanduser("~"))):
        message = f"{path} is another name of {other}, a file for secrets"
        hint = "no pack holds one: say what is needed of it in the plan, in words"
        raise ExecplanError("secret-file", message, exit=POLICY, hint=hint)
    if is_secret(path) or is_secret(home.display_path(target)):
        message = f"{path} is a file for secrets, by its name"
        hint = "no pack holds one: say what is needed of it in the plan, in words"
        raise ExecplanError("secret-file", message, exit=POLICY, hint=hint)
    if ".git" in (*path.split(os.sep), *os.path.relpath(target, home.root).split(os.sep)):
        message = f"{path} is git's own file, and such files hold passwords"
        raise ExecplanError(
            "secret-file", message, exit=POLICY, hint="no pack holds one: say what is needed of it in words"
        )
    data, size = disk.read(full, LIMIT)
    if size > LIMIT:
        hint = "put the part that matters into a file of its own"
        raise ExecplanError("too-large", f"{path} has {size:,} bytes, more than {LIMIT:,}", exit=INPUT, hint=hint)
    if b"\0" in data:
        raise ExecplanError("no-text", f"{path} is no text: it holds NUL bytes", exit=INPUT, hint="name a text file")
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = text.count("\n") + (not text.endswith("\n")) if text else 0
    unit = Unit(f"{kind}:{path}", kind, text, path, path, 1 if lines else 0, lines, 0, why)
    return os.stat(full).st_mtime_ns, unit


def asked(home: Project, files: Sequence[str], known: Listing) -> tuple[Read, list[str]]:
    """The files that were asked for by name, and the paths of those in folders that were; raises ExecplanError."""
    inside = []
    single = []
    for name in files:
        if not name:
            message, hint = "a file is asked for by an empty name", "name it; a dot is the whole folder"
            raise ExecplanError("no-such-file", message, exit=INPUT, hint=hint)
        full = os.path.abspath(name)
        path = home.display_path(os.path.join(disk.real(os.path.dirname(full)), os.path.basename(full)))
        if os.path.isabs(path) and disk.real(full) != home.root:
            message = f"{name} lies outside the repository"
            raise ExecplanError("path-outside", message, exit=POLICY, hint=f"name a file below {home.root}")
        if os.path.isdir(full):
            inside += known.below("" if os.path.isabs(path) else path)
        else:
            single.append(path)
    found = read(home, single, why="asked for by name")
    for trouble in found.troubles:
        raise trouble
    return found, [path for path in inside if path not in single]


def unlisted(home: Project, text: str, known: Listing) -> list[str]:
    """The files that a text names and that are there, but not among those that git knows or would add."""
    found = []
    for path in mentions(text):
        if not path.startswith(("/", "..", "~")) and not known.find(path):
            if os.path.isfile(os.path.join(home.root, path)) and ".git" not in path.split("/"):
                found.append(path)
    return found


def artifacts(home: Project, folder: str, but: str) -> Read:
    """The artifacts in a folder but for one file, and what execplan itself keeps there."""
    paths: list[str] = []
    for where, below, names in os.walk(folder):
        top = where == folder
        below[:] = sorted([name for name in below if not (top and name in _EVIDENCE) and not name.startswith(".")])
        keep = [name for name in sorted(names) if not (top and name in _EVIDENCE) and not name.startswith(".")]
        paths += [os.path.join(where, name) for name in keep]
        if len(paths) > _ARTIFACTS:
            break
    shown = [home.display_path(path) for path in paths[:_ARTIFACTS] if path != but]
    return read(home, shown, ARTIFACT)


def told(troubles: Sequence[str]) -> list[str]:
    """What was left out, a line for each of the first; the last line counts the others."""
    lines = [f"left out: {each}" for each in troubles[:_TOLD]]
    if len(troubles) > _TOLD:
        lines.append(f"left out: {len(troubles) - _TOLD} more files, of which the like is true")
    return lines
