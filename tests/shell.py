"""Commands as a reader types them, in a scratch folder whose output is the same on every machine."""

from __future__ import annotations

import os
import pwd
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import execplan
from tests import fork_server, tool_lookups

ROOT = Path(__file__).resolve().parents[1]

HOME = "/home/ann"
"""What the scratch folder is called in what commands print."""

_CONFIG = """\
[user]
	name = Ann
	email = ann@example.org
[init]
	defaultBranch = main
[commit]
	gpgSign = false
[advice]
	detachedHead = false
"""

_USER = re.escape(pwd.getpwuid(os.getuid()).pw_name)
_VARYING = (
    (re.compile(r"\b(\d{4})-[0-9a-f]{8}\b"), r"\1-1f0c2a9b"),
    (re.compile(r"\b\d+\.\d s\b"), "0.1 s"),
    (re.compile(r"\bin \d+\.\d{3}s\b"), "in 0.001s"),
    (re.compile(r"\bin \d+\.\d{3}s\b"), "in 0.001s"),
    (re.compile(r'("(?:seconds|cpu_s|duration_s)"): [0-9.e-]+'), r"\1: 0.1"),
    (re.compile(r'("peak_memory_bytes"): \d+'), r"\1: 8388608"),
    (re.compile(rf'(\bby |"user": "){_USER}\b'), r"\1ann"),
    (re.compile(r"(\bredacted_[a-z]+_\d+_)[0-9a-f]{8}\b"), r"\g<1>1f0c2a9b"),
    (re.compile(r"(\bbytes, )[0-9a-f]{12}\b"), r"\g<1>5d41402abc4b"),
)
"""What is other each time: the ids of runs, what they took, whose login it is, what stands for secrets that are sent."""


class CommandResult(NamedTuple):
    """What a command printed, as it is shown, and how it ended."""

    exit: int
    out: str
    err: str


class Shell:
    """A home folder with an empty folder `project` in it, where commands are run.

    The clock and the author are fixed. What differs from machine to machine is shown in one way: the scratch folder
    as /home/ann, the Python that runs execplan as /usr/bin/python3, and of runs what is other each time.
    """

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch.resolve()
        self.project = self.scratch / "project"
        self.project.mkdir(parents=True)
        tools = self.scratch / ".local" / "bin"
        tools.mkdir(parents=True)
        (self.scratch / ".gitconfig").write_text(_CONFIG, encoding="utf-8")
        self.env = {
            "CHECKOUT": str(ROOT),
            "EDITOR": "true",
            "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
            "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_DEFAULT_HASH": "sha1",
            "HOME": str(self.scratch),
            "LC_ALL": "C.UTF-8",
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "SHELL": "/bin/sh",
            "SOURCE_DATE_EPOCH": "1767225600",  # 2026-01-01 00:00 UTC
            "TZ": "UTC",
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
            **tool_lookups.passed_on(),
        }
        fork = fork_server.command({**self.env, "PATH": os.environ["PATH"]})
        command = tools / "execplan"
        command.write_text(f'#!/bin/sh\nexec {fork} "$@"\n', encoding="utf-8")
        command.chmod(0o755)

    def run(self, line: str) -> CommandResult:
        """Run a line in the project folder."""
        completed = subprocess.run(
            ["sh", "-c", line],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        return CommandResult(completed.returncode, self._normalize(completed.stdout), self._normalize(completed.stderr))

    def write(self, name: str, content: str) -> None:
        """Write a file of the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def _normalize(self, output: bytes) -> str:
        text = output.decode("utf-8", "backslashreplace")
        text = text.replace(str(self.scratch), HOME).replace(sys.executable, "/usr/bin/python3")
        text = text.replace(f"execplan {execplan.__version__}", "execplan 1.0.0")  # so that a release changes no page
        for pattern, replacement in _VARYING:
            text = pattern.sub(replacement, text)
        return text
