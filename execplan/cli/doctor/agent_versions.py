"""The agent programs on PATH, and what the guard can't guarantee with each of their versions."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from execplan.agents.integrations.hook_file import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Version = tuple[int, ...]

_SECONDS = 10
"""Seconds that a program may take to print its version."""
_VERSION = re.compile(r"\b(\d+)\.(\d+)\.(\d+)\b")


class VersionLimit(NamedTuple):
    """Something that the guard can't guarantee, or denies for that reason, with some versions of a program."""

    program: str
    before: Version | None
    """First version without the limit; None if all have it."""
    text: str


GUARANTEE = "asks the guard before each call, and blocks what it denies"
LIMITS = (
    VersionLimit("claude", (2, 1, 295), "a guard that takes longer than 30 seconds lets the call through"),
    VersionLimit("claude", (2, 1, 85), "it may ignore a question, so calls that need one are denied"),
    VersionLimit("claude", (2, 1, 0), "an unknown event in its settings disables all hooks in the file"),
    VersionLimit("claude", None, "a session below the root of the repository runs no hooks"),
    VersionLimit("claude", None, "with -w, hooks in uncommitted settings don't run"),
    VersionLimit("codex", None, "a guard that takes longer than 30 seconds lets the call through"),
    VersionLimit("codex", (0, 166, 0), "commands of scripts are denied, and so is a relative workdir"),
    VersionLimit("codex", None, "it can't ask, so the run is paused when a step asks"),
    VersionLimit("codex", None, "hooks that aren't trusted are ignored without a message"),
)
"""Limits, measured with the real programs."""


def describe_version(name: str, version: Version) -> str:
    """Describe in one line what the guard guarantees with a version of a program, and what it doesn't."""
    limits = [limit.text for limit in LIMITS if limit.program == name and (not limit.before or version < limit.before)]
    return f"{PROGRAMS[name].name} {'.'.join(map(str, version))} {GUARANTEE}, but: {'; '.join(limits)}"


def describe_installed(names: Sequence[str]) -> Iterator[str]:
    """Describe the programs on PATH, among those with these names."""
    for name in names:
        version = find_version(name)
        if version is not None:
            yield describe_version(name, version)


def find_version(name: str) -> Version | None:
    """Return the version of a program on PATH; None if it is not there or doesn't print one."""
    path = shutil.which(name)
    if path is None:
        return None
    try:
        completed = subprocess.run(  # noqa: S603 - the program that the user's PATH names
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(completed.stdout.decode("utf-8", "replace"))
    return tuple(map(int, match.groups())) if match else None
