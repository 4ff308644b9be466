"""Run a command with a PATH that contains only Python, git, make and the basic utilities of any Unix.

Usage: `python scripts/bare_path.py COMMAND...`. The tests promise to need no other program. CI runs them this way
because its machine has every optional tool (bwrap, strace, unshare, setpriv, zsh, fish, tmux, ...) and would never
notice. The exit status is the command's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile

PROMISED = ("git", "make", "sh")
"""Required programs besides Python, which is the one that runs this script."""
UTILITIES = """
    awk basename bash cat chmod cmp cp cut date dd diff dirname echo env expr false find grep head hostname id kill ln ls
    mkdir mkfifo mktemp mv nl nohup od printf ps pwd readlink rm rmdir sed seq sleep sort stat stty tail tar tee test
    timeout touch tr true tty uname uniq wc xargs yes
""".split()
"""Utilities in both a small Linux image and macOS; those missing on this machine are skipped."""


def main(command: list[str]) -> int:
    """Run the command and return its exit status."""
    if not command:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="bare-path-") as directory:
        link(directory)
        status = subprocess.run(command, env={**os.environ, "PATH": directory}, check=False).returncode
    return status if status >= 0 else 128 - status


def link(directory: str) -> None:
    """Fill a directory with links to the available programs."""
    for name in (*PROMISED, *UTILITIES):
        program = shutil.which(name)
        if program is not None:
            os.symlink(program, os.path.join(directory, name))
    os.symlink(os.path.realpath(sys.executable), os.path.join(directory, "python3"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
