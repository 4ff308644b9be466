"""The restart page of a plan: made for `checkpoint`, and again when the plan gets another id."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.errors import NO, ExecplanError
from execplan.repo import shelf
from execplan.repo.moving.following import Renewed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

NAME = "checkpoint.md"


def page(home: Home, ref: Ref, *, if_match: str | None = None, force: bool = False, but: Sequence[str] = ()) -> bytes:
    """The page as of now, or the one that is there if it says the same; raises ExecplanError.

    What git says of the files `but`, absolute paths, is left out.
    """
    from execplan.cli.bearings import bearings, redact
    from execplan.clock import utc
    from execplan.context import restart
    from execplan.plan import reader
    from execplan.repo.edits.since import check_match
    from execplan.repo.execution import store
    from execplan.text.files import temporary

    data = shelf.open_bytes(home, ref.path)
    check_match(home, ref, if_match, data)
    plan = reader.read(data)
    old, path = store.read(home, ref, NAME), store.path_of(home, ref, NAME)
    if old is not None and not force and not restart.is_unedited(old):
        raise ExecplanError(
            "edited-checkpoint",
            f"{home.shown(path)} was edited by hand, or is none of ours; nothing was written",
            exit=NO,
            hint=f"put elsewhere what is to stay, then: execplan checkpoint {ref.typed} --force",
        )
    shelved = shelf.Shelved(home, ref, data, plan, None)
    own = (path, os.path.join(os.path.dirname(path), temporary(NAME)))
    new = restart.format_page(bearings(shelved, plan, but=(*own, *but)), redact(), utc())
    return old if old is not None and restart.is_unedited(old) and restart.is_same_content(old, new) else new


def renew(home: Home, ref: Ref, moves: Sequence[tuple[str, str]], *, commits: bool) -> Renewed:
    """Make the page of a plan again, if it has one, after these moves have given the plan another id.

    The caller holds the plan's lock, and commits the moves or leaves that to somebody.
    """
    from execplan.repo.execution import store
    from execplan.text import files

    path = store.path_of(home, ref, NAME)
    if not os.path.lexists(path):
        return Renewed()
    try:
        new = page(home, ref, but=_moved(moves) if commits else ())
        files.again(lambda: store.put(home, path, new), home.shown(path))
    except ExecplanError as error:
        hint = f"execplan checkpoint {ref.typed}" + (" --force" if error.code == "edited-checkpoint" else "")
        return Renewed((), (f"{home.shown(path)} still names the old id: {error.message}; write it again: {hint}",))
    return Renewed((path,))


def _moved(moves: Sequence[tuple[str, str]]) -> list[str]:
    """Every file that was moved, where it was and where it is."""
    found = [path for pair in moves for path in pair]
    for old, new in moves:
        for place, _, names in os.walk(new):
            below = [os.path.relpath(os.path.join(place, name), new) for name in names]
            found += [os.path.join(folder, each) for each in below for folder in (old, new)]
    return found
