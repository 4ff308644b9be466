"""The version for people: in a checkout, also what it has beyond the last release."""

from __future__ import annotations

import os
import re

from execplan import __version__
from execplan.core.installation import checkout_directory

_DESCRIPTION = re.compile(r"(?:(v.+)-(\d+)-g)?([0-9a-f]+)")
"""Output of `git describe --long --always`."""
_TIMEOUT = 5
"""Timeout in seconds; without an answer, the version is shown alone."""


def full_version() -> str:
    """Return the version; in a checkout that is past its release, with the number of commits since then and the commit."""
    directory = checkout_directory()
    if directory is None or not os.path.exists(os.path.join(directory, ".git")):
        return __version__
    match = _DESCRIPTION.fullmatch(_describe(directory))
    if match is None:
        return __version__
    tag, count, commit = match[1], int(match[2] or 0), match[3]
    if tag is None:
        return f"{__version__} (checkout at {commit}, no release yet)"
    if tag == f"v{__version__}" and not count:
        return __version__
    return f"{__version__} (checkout at {commit}, {count} commit{'s' if count != 1 else ''} after {tag})"


def _describe(directory: str) -> str:
    """Return how git describes the commit of a directory; empty if git can't."""
    import subprocess

    from execplan.core.git.git_command import prepare_git_command

    arguments = ("describe", "--tags", "--match", "v[0-9]*", "--long", "--always")
    command, environment = prepare_git_command(directory, arguments)
    environment = {name: value for name, value in environment.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    try:
        process = subprocess.run(  # noqa: S603 - git is found on the user's PATH, as in execplan/core/git
            command, cwd=directory, env=environment, capture_output=True, check=False, text=True, timeout=_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return process.stdout.strip()
