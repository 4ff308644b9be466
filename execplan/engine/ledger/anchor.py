"""The anchor of a ledger: which record was its last one when it was moved, kept where the ledger is not.

With git it is a ref of a blob, `refs/execplan/ledger/NAME`, and in a further worktree one of its own,
`refs/worktree/execplan/ledger/NAME`: it has a ledger of its own. Without git it is a file in the user's folder for state.
"""

from __future__ import annotations

import json
import os

from execplan.errors import NO, ExecplanError
from execplan.record import NamedTuple
from execplan.repo import ask
from execplan.repo.home import common
from execplan.text import disk, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home

_REFS = "refs/execplan/ledger/"
_OWN = "refs/worktree/execplan/ledger/"
"""Git lets no other worktree see what is below refs/worktree."""
_SYNCED = ("-c", "core.fsync=loose-object,reference")
"""By default git leaves it to the system when a blob is on disk; a ref of one that was lost breaks `git log --all`."""
_LIMIT = 1 << 12
_LONGEST = 180
"""Bytes of a file's name, of the 255 that file systems take, for git puts `.lock` behind it."""


class Anchor(NamedTuple):
    """The last record that is known for sure."""

    seq: int
    """0 where it can't be read."""
    hash: str
    token: str
    """What must be there still when it is moved: the blob's id, or the file's text."""


class MovedMeanwhileError(Exception):
    """Another process has moved the anchor since it was read."""


def ref_of(home: Home, name: str) -> str:
    """The ref of a ledger's anchor."""
    return _refs(home) + key(name)


def _refs(home: Home) -> str:
    """Where the refs of anchors are; those of the main worktree outlive the others."""
    return _REFS if home.git is None or common(home.git) == home.git else _OWN


def every(home: Home) -> set[str]:
    """The keys of all anchors; raises ExecplanError."""
    if home.git is None:
        folder = os.path.dirname(_path(home, ""))
        return {name.removesuffix(".json") for name in os.listdir(folder)} if os.path.isdir(folder) else set()
    found = ask.output(home, "for-each-ref", "--format=%(refname)", _refs(home))
    return {line.decode().removeprefix(_refs(home)) for line in found.splitlines()}


def key(name: str) -> str:
    """A name as part of a ref and of a file's name: letters, digits, `_`, `-`, and `%` with two digits for all else."""
    parts = [
        chr(byte) if byte < 128 and (chr(byte).isalnum() or byte in b"_-") else f"%{byte:02X}"
        for byte in os.fsencode(name)
    ]
    text = "".join(parts)
    if len(text) <= _LONGEST:
        return text
    from execplan.text.lines import digest

    return f"{text[:100]}%{digest(os.fsencode(name))[:32]}"


def get(home: Home, name: str) -> Anchor | None:
    """The anchor of the ledger of this name; None where there is none. Raises ExecplanError."""
    if home.git is None:
        path = _path(home, name)
        if not os.path.lexists(path):
            return None
        data = disk.read(path, _LIMIT)[0]
        return _parsed(data, data.decode("utf-8", "replace"))
    ref = ref_of(home, name)
    about, _, rest = ask.output(home, "cat-file", "--batch", stdin=ref.encode() + b"\n").partition(b"\n")
    if not about.endswith(b" missing"):
        return _parsed(rest, about.split(b" ")[0].decode())
    lost = ask.answer(home, "rev-parse", "--verify", "--quiet", ref, no=1)
    return Anchor(0, "", lost.decode().strip()) if lost else None


def move(home: Home, name: str, old: Anchor | None, seq: int, own: str) -> Anchor:
    """Let the anchor know a later record; raises MovedMeanwhileError, and ExecplanError with the anchor as it was."""
    text = json.dumps({"ledger": name, "seq": seq, "hash": own}, ensure_ascii=False) + "\n"
    data = text.encode("utf-8", "backslashreplace")
    if home.git is None:
        _put(home, name, old, data)
        return Anchor(seq, own, data.decode())
    blob = ask.output(home, *_SYNCED, "hash-object", "-w", "--stdin", stdin=data).decode().strip()
    known = old.token if old is not None else "0" * len(blob)
    try:
        ask.output(home, *_SYNCED, "update-ref", ref_of(home, name), blob, known)
    except ExecplanError:
        found = get(home, name)
        if (found and found.token) == (old and old.token):
            raise
        raise MovedMeanwhileError from None
    return Anchor(seq, own, blob)


def _put(home: Home, name: str, old: Anchor | None, data: bytes) -> None:
    path = _path(home, name)
    files.make_folder(os.path.dirname(path))
    try:
        if old is not None:
            files.replace(path, old.token.encode(), data)
        elif not files.create(path, data):
            raise MovedMeanwhileError
    except disk.ChangedMeanwhileError:
        raise MovedMeanwhileError from None


def _parsed(data: bytes, token: str) -> Anchor:
    try:
        told = json.loads(data)
        seq, own = told["seq"], told["hash"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return Anchor(0, "", token)
    return Anchor(seq, own, token) if isinstance(seq, int) and isinstance(own, str) else Anchor(0, "", token)


def _path(home: Home, name: str) -> str:
    from execplan.repo.execution import private, standing

    return os.path.join(private.ledgers(home), standing.place(home)[:32], f"{key(name)}.json")


def broken(shown: str, typed: str, why: str) -> ExecplanError:
    """The refusal to go on with a ledger that is not as it was written."""
    return ExecplanError(
        "ledger-broken",
        f"{shown}: {why}",
        exit=NO,
        hint=f"bring it back as it was, from git or a backup; see where it is broken: execplan audit {typed} --verify; "
        f"or go on, on record: execplan audit {typed} --accept REASON",
        data={"reasons": [why]},
    )
