"""Is anything left of what was killed, or of plans that are gone?"""

from __future__ import annotations

import os
import re
from functools import partial
from shlex import quote
from time import time
from typing import TYPE_CHECKING

from execplan.agents.hook_file import PROGRAMS
from execplan.errors import ExecplanError
from execplan.repo import ask, claims, past, shelf, state
from execplan.repo.adoption import tree
from execplan.repo.edits.recovered import Recovery, every, keep
from execplan.repo.homes import at, together
from execplan.text import disk, files
from execplan.text.lock import is_held
from execplan.view.doctor.check import WARNING, Finding, Fix, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.view.doctor.ground import Ground

TEMPORARY = re.compile(r"\.execplan-([0-9a-f]{16}|new|copy-(?P<pid>\d+)-\d+)\.tmp")
"""What a file is called that is being written."""
_OF_STATE = re.compile(r".+\.new|.+\.(?P<pid>\d+)\.tmp")
_DISPLACED = re.compile(r".+\.displaced-\d+")
_DAY = 24 * 3600
_MOST = 1 << 30
_JOURNAL_DAYS = 30
"""So long a plan may be gone, moved by hand or on a branch that was never committed, before its journal is left over."""


@check("temporary")
def temporary(ground: Ground) -> Iterator[Finding | str]:
    """No temporary file is left by a process that was killed."""
    for home in ground.homes:
        for folder in _written_to(home):
            of_state = folder.startswith(home.state)
            for name in _names(folder):
                found = TEMPORARY.fullmatch(name) or (_OF_STATE.fullmatch(name) if of_state else None)
                path = os.path.join(folder, name)
                if found and _is_left(home, path, found["pid"]):
                    plain = of_state or found["pid"] or found[1] == "new"  # nobody has read what is in them but we
                    would = Fix(f"remove {home.shown(path)}", partial(_remove if plain else _tidy, home, path))
                    mend = "execplan doctor --fix, which keeps what nobody has read"
                    yield Finding(WARNING, home.shown(path), "was left by a process that was killed", mend, fix=would)


@check("recovered")
def recovered(ground: Ground) -> Iterator[Finding | str]:
    """No version of a file is kept that an edit displaced."""
    for home in ground.states:
        kept = every(home) + [
            os.path.join(folder, name)
            for folder in _written_to(home)
            for name in _names(folder)
            if _DISPLACED.fullmatch(name)
        ]
        for path in kept:
            told = home.shown(path)
            mend = f"look whether the plan, or the file, lacks something of it, then remove it: rm {quote(told)}"
            yield Finding(WARNING, told, "holds what was displaced by an edit, or could not be put back", mend)


def _written_to(home: Home) -> list[str]:
    """The folders in which files are replaced or made."""
    below = [os.path.join(home.state, name) for name in _names(home.state)]
    folders = [home.root, home.base, os.path.join(home.base, ".agent"), home.state, *below]
    folders += [folder for archived in (False, True) for folder, _ in _listed(home, archived=archived)]
    folders += [os.path.join(home.git, "hooks")] if home.git else []
    folders += [os.path.dirname(os.path.join(home.root, each.file)) for each in PROGRAMS.values()]
    folders += [home.plans, home.archive, *[home.artifacts("", archived=each) for each in (False, True)]]
    return list(dict.fromkeys([folder.rstrip("/") for folder in folders]))


def _listed(home: Home, *, archived: bool) -> list[tuple[str, list[str]]]:
    try:
        return shelf.files(home, archive=archived)
    except ExecplanError:
        return []


def _is_left(home: Home, path: str, pid: str | None) -> bool:
    """Whether nobody writes a file any more."""
    try:
        if pid:
            os.kill(int(pid), 0)
            return False
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    locks = [state.lock_path(home, name) for name in ("home", *_target(path)[:1])]
    return not any(map(is_held, locks)) and os.path.lexists(path) and not any(map(is_held, locks))


def _target(path: str) -> list[str]:
    """The file beside a temporary one that it was to replace, if it is there."""
    folder, own = os.path.split(path)
    return [os.path.join(os.path.realpath(folder), name) for name in _names(folder) if files.temporary(name) == own]


def _tidy(home: Home, path: str, options: Options) -> list[str]:
    """Remove a temporary file as the next writer would; what nobody has read is kept."""
    target = _target(path)
    shown = home.shown(path)
    with state.lock(home, "home", "doctor"):
        if not target:
            data = disk.read(path, _MOST)[0]
            said = [f"kept what it held in {home.shown(keep(home, path, data))}"] if data else []
            return [*said, *_unlinked(home, path)]
        with state.lock(home, target[0], "doctor"):
            spare = Recovery(home, target[0])
            known = (disk.read(target[0], _MOST)[0],)
            files.again(lambda: files.tidy(target[0], known, within=home.root, spare=spare), shown)
    return [f"removed {shown}", *spare.warnings]


@check("copies")
def copies(ground: Ground) -> Iterator[Finding | str]:
    """No copy of a plan is kept that could not be written back when its editor closed."""
    texts: dict[str, list[bytes]] = {}
    for shelved in ground.plans:
        texts.setdefault(os.path.basename(shelved.ref.path), []).append(shelved.data)
    for home in ground.states:
        folder = os.path.join(home.state, "edit")
        for name in _names(folder):
            path = os.path.join(folder, name)
            if name.startswith(".") or not os.path.isfile(path):
                continue
            data = disk.read(path, 5 << 20)[0]
            if data in texts.get(name.partition("-")[2], ()):
                if time() - os.stat(path).st_mtime > _DAY:  # else an editor may have it open
                    yield _removable(home, path, "is a copy for an editor, and says what the plan says")
                continue
            mend = f"close the editor that has it open, or take out of it what the plan lacks, then: rm {quote(home.shown(path))}"
            yield Finding(
                WARNING, home.shown(path), "holds what was written in an editor, and is not in the plan", mend
            )


@check("journals")
def journals(ground: Ground) -> Iterator[Finding | str]:
    """Every journal of edits belongs to a plan, unless the plan went less than 30 days ago."""
    for home in ground.states:
        folder = os.path.join(home.state, "journal")
        old = [
            name
            for name in _names(folder)
            if not name.endswith(".new")
            and time() - os.stat(os.path.join(folder, name)).st_mtime > _JOURNAL_DAYS * _DAY
        ]
        known = _keys(ground, home) if old else set()
        for name in old:
            if name not in known:
                yield _removable(home, os.path.join(folder, name), "is the journal of a plan that is gone")


def _keys(ground: Ground, home: Home) -> set[str]:
    """What journals are called of the plans that are there, and of all that git knows of."""
    paths = {each.ref.path for each in ground.plans}
    for base in tree.homes(home.root):
        for each in together(at(base)):
            paths |= {ref.path for ref in shelf.every(each)}
    if home.git is not None:
        tracked = [os.path.join(home.root, path) for path in ask.tracked(home) if path.endswith(".md")]
        folders = [each.shown(folder) for each in ground.homes for folder in (each.plans, *each.archives)]
        paths |= {*tracked, *[os.path.join(home.root, path) for path in past.ever(home, folders)]}
    return {state.key(os.path.realpath(path)) for path in paths}


@check("claims")
def claims_(ground: Ground) -> Iterator[Finding | str]:
    """Every task that somebody has claimed is in a plan that is there."""
    for home in ground.states:
        if os.path.isdir(os.path.join(os.path.dirname(home.shared), "worktrees")):
            continue  # another worktree may have the plan
        file = home.shown(os.path.join(home.shared, "claims.json"))
        for claim in claims.every(home):
            path = os.path.join(home.anchor, claim.plan)
            if not os.path.lexists(path):
                mend = f"it ends by itself; to end it now, take it out of {quote(file)}"
                yield Finding(
                    WARNING, home.shown(path), f"{claim.name} claims a task of this plan, which is gone", mend
                )


def _removable(home: Home, path: str, what: str) -> Finding:
    told = home.shown(path)
    return Finding(WARNING, told, what, f"rm {quote(told)}", fix=Fix(f"remove {told}", partial(_remove, home, path)))


def _remove(home: Home, path: str, options: Options) -> list[str]:
    with state.lock(home, "home", "doctor"):
        return _unlinked(home, path)


def _unlinked(home: Home, path: str) -> list[str]:
    try:
        os.unlink(path)
    except OSError as error:
        raise disk.trouble(error, path, "remove") from None
    return [f"removed {home.shown(path)}"]


def _names(folder: str) -> list[str]:
    """What is in a folder, hidden files too; nothing where it can't be read or is not there."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
