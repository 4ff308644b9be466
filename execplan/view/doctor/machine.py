"""Is what the tool stands on as it has to be: Python, git, and a file system that locks?"""

from __future__ import annotations

import fcntl
import os
import re
import sys
import tempfile
from shlex import quote
from time import time
from typing import TYPE_CHECKING

from execplan.errors import ExecplanError
from execplan.repo import ask
from execplan.view.doctor.check import ERROR, WARNING, Finding, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.view.doctor.ground import Ground

PYTHON = (3, 11)
GIT = (2, 30)
"""The oldest that are good enough: the package's own, and the git of Debian 11; a newer one is what the tests run with."""


_MINUTE = 60


@check("python", anywhere=True)
def python(ground: Ground) -> Iterator[Finding | str]:
    """Python is new enough."""
    version = tuple(sys.version_info[:3])
    shown = ".".join(map(str, version))
    if version < PYTHON:
        needed = ".".join(map(str, PYTHON))
        yield Finding(
            ERROR, sys.executable, f"Python {shown} is too old", f"install execplan with Python {needed} or newer"
        )
    yield shown


@check("git")
def git(ground: Ground) -> Iterator[Finding | str]:
    """Git is there and new enough, where there is a repository."""
    home = ground.home
    if home.git is None:
        yield "no repository: nothing can be committed"
        return
    try:
        said = ask.output(home, "--version").decode("utf-8", "replace").strip()
    except ExecplanError as error:
        yield Finding(
            ERROR, "", f"{error.message}, and {home.root} is a repository: nothing can be committed", error.hint
        )
        return
    found = re.search(r"(\d+)\.(\d+)", said)
    needed = ".".join(map(str, GIT))
    if found is None or (int(found[1]), int(found[2])) < GIT:
        yield Finding(ERROR, "", f"{said or 'git'} is too old", f"install git {needed} or newer")
    lock = os.path.join(home.git, "index.lock")
    if os.path.lexists(lock) and time() - os.lstat(lock).st_mtime > _MINUTE:
        mend = f"when no git process is at work any more: rm {quote(home.shown(lock))}"
        yield Finding(
            WARNING, home.shown(lock), "another git process holds the index, or has died: no commit is made", mend
        )
    yield said.removeprefix("git version ")


@check("state")
def state(ground: Ground) -> Iterator[Finding | str]:
    """The folder for locks and journals can be written to, and its file system can lock."""
    for home in ground.states:
        folder = home.state
        while not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        shown = home.shown(folder) or folder
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"x")
                file.flush()
                yield from _locks(file.fileno(), shown)
        except OSError as error:
            why = os.strerror(error.errno or 0).lower()
            mend = "let yourself write there, or make room; until then every edit is refused"
            yield Finding(ERROR, shown, f"can't be written to: {why}", mend)


def _locks(handle: int, shown: str) -> Iterator[Finding]:
    """Try a lock on an open file."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        why = os.strerror(error.errno or 0).lower()
        mend = "put the checkout on a local disk: without locks writers would lose each other's edits"
        yield Finding(ERROR, shown, f"the file system can't lock: {why}", mend)
