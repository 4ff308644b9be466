"""The real Codex, for commands that need no model: in a home and a network of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from tests.needs import client, need

if TYPE_CHECKING:
    from pathlib import Path

_NO_PROXY = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")


class Codex:
    """Codex, as EXECPLAN_CODEX names it or as it is installed for the tests; a test is skipped without it."""

    def __init__(self, home: Path) -> None:
        need("codex", "unshare")
        self._path, self._home = client("codex"), home

    def run(self, *arguments: str) -> str:
        """Run a command without a network, expect it to work, and return its standard output."""
        unshare = [shutil.which("unshare") or "unshare", *([] if os.getuid() == 0 else ["-r"]), "-n"]
        (self._home / ".codex").mkdir(exist_ok=True)
        completed = subprocess.run(
            [*unshare, self._path, *arguments],
            env={**_NO_PROXY, "HOME": str(self._home), "PATH": os.environ["PATH"]},
            cwd=self._home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert completed.returncode == 0, completed
        return completed.stdout
