"""Real editors with the language server: a person types, and an agent edits the same plan at the same time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.needs import need
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Folder

SESSIONS = Path(__file__).with_name("editors")
DONE = CLEAN.replace("- [ ] Build the parser.", "- [x] (2026-01-01 00:00Z) Build the parser.")
ALL_DONE = DONE.replace("- [ ] Write the tests.", "- [x] (2026-01-01 00:00Z) Write the tests.")
CHECKED = "- [x] (2026-01-01 00:00Z) Write the 🚀 tests."


def run_session(folder: Folder, *command: str) -> dict[str, Any]:
    """Run a session of an editor on a plan, and return what it has written down."""
    plan, out = folder.plan(), folder.path.parent / "session.json"
    own_command = [sys.executable, "-P", "-m", "execplan"]
    environment = {**folder.env, "PLAN": str(plan), "OUT": str(out), "EXECPLAN": "\n".join(own_command)}
    completed = subprocess.run(
        command,
        cwd=folder.path,
        env=environment,
        capture_output=True,
        timeout=180,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert completed.returncode == 0, completed
    result: dict[str, Any] = json.loads(out.read_text("utf-8"))
    assert "problem" not in result, (result, completed.stderr.decode())
    return result


def test_neovim_and_an_agent(repo: Folder) -> None:
    need("nvim")
    session = SESSIONS / "neovim_session.lua"
    result = run_session(repo, "nvim", "--headless", "-n", "-u", "NONE", "-i", "NONE", "-c", f"luafile {session}")
    assert {*result["typed"]} >= {"EP206"}
    assert result["fixed"].startswith("- [ ] Write the 🚀 tests.")
    assert "Progress" in result["hover"]
    assert result["unsaved"].rstrip() == CHECKED
    assert result["on_disk"] == DONE.splitlines()
    assert result["reloaded"] == ALL_DONE.splitlines()
    assert not result["modified"]
    assert any([message.startswith("done: 3.") for message in result["messages"]])


def test_emacs_and_an_agent(repo: Folder) -> None:
    need("emacs")
    session = SESSIONS / "emacs_session.el"
    result = run_session(repo, "emacs", "--batch", "--load", str(session))
    assert result["typed"]
    assert result["fixed"].startswith("- [ ] Write the 🚀 tests.")
    assert result["unsaved"].rstrip() == CHECKED
    assert result["on_disk"] == DONE
    assert result["reloaded"] == ALL_DONE
