"""Where the names of programs lead to on this machine, and which of them are scripts."""

from __future__ import annotations

import os

from execplan.execution.world import Program
from execplan.text.disk import open_regular
from execplan.text.lines import hasher

_LINE = 256
"""Bytes of a script's first line that the kernel reads."""


def locate(root: str, name: str, cwd: str, path: str, first: str) -> Program:
    """The program that a name means in a directory from the root; the one that execve(2) would be given."""
    if "/" in name:
        found = os.path.join(root, cwd, name)
        return place_of(root, found) if _runs(found) else Program()
    search = (path or os.environ.get("PATH", os.defpath)).split(os.pathsep)
    for folder in [os.path.join(root, first), *search] if first else search:
        found = os.path.join(root, cwd, folder, name)
        if _runs(found):
            return place_of(root, found)
    return Program()


def interpreter(path: str) -> str:
    """The program that the first line of a script names, looked through `env`; nothing for what is no script."""
    try:
        with open(open_regular(path), "rb") as file:
            line = file.read(_LINE).partition(b"\n")[0]
    except OSError:
        return ""
    words = os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else ""


def place_of(root: str, found: str, *, digested: bool = False) -> Program:
    """Where a file is; its digest where it is in the repository, or where it is wanted."""
    path, real, top = os.path.normpath(found), os.path.realpath(found), os.path.realpath(root)
    place = _from_root(real, top)
    sha256 = "" if place.startswith("/") and not digested else _digest(real)
    return Program(_from_root(_from_root(path, top), os.path.normpath(root)), place, sha256)


def _from_root(path: str, root: str) -> str:
    return path.removeprefix(f"{root.rstrip('/')}/")


def _digest(path: str) -> str:
    """SHA-256 of a file; nothing where it can be run and not read."""
    found = hasher()()
    try:
        with open(open_regular(path), "rb", buffering=0) as file:
            while part := file.read(1 << 20):
                found.update(part)
    except OSError:
        return ""
    return str(found.hexdigest())


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
