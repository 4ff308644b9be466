"""The real Codex, for commands that need no model: in a home and a network of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.needs import need

_ROOT = Path(__file__).resolve().parents[3]
_PATTERN = ".venv/clients/node_modules/@openai/codex-*/vendor/*/bin/codex"
_NO_PROXY = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")


class Codex:
    """Codex, as EXECPLAN_CODEX names it or as it is installed for the tests; a test is skipped without it."""

    def __init__(self, home: Path) -> None:
        paths = [os.environ.get("EXECPLAN_CODEX", ""), *sorted(map(str, _ROOT.glob(_PATTERN)))]
        self._path = next(filter(os.path.isfile, paths), "")
        if not self._path:
            pytest.skip("needs codex: EXECPLAN_CODEX does not name it")
        need("unshare")
        self._home = home

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
