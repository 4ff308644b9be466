"""Real editors with the language server: a person types, and an agent edits the same plan at the same time."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.needs import client, need
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Folder

SESSIONS = Path(__file__).with_name("editors")
ROOT = Path(__file__).resolve().parents[2]
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
    assert "problem" not in result, (result["problem"], completed.stderr.decode())
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


def unpack_extension(folder: Path) -> list[str]:
    """Unpack the extension for VS Code, and return the names of its files."""
    need("vscode extension")
    with zipfile.ZipFile(client("vscode extension")) as package:
        package.extractall(folder)
        return package.namelist()


def test_the_package_for_vs_code_has_what_it_needs(tmp_path: Path) -> None:
    names = unpack_extension(tmp_path)
    assert sorted(names) == [
        "[Content_Types].xml",
        "extension.vsixmanifest",
        "extension/dist/extension.js",
        "extension/package.json",
        "extension/readme.md",
    ]
    manifest = json.loads((tmp_path / "extension/package.json").read_text())
    source = json.loads((ROOT / "editors/vscode/package.json").read_text())
    assert manifest["contributes"] == source["contributes"]
    assert manifest["main"] == "./dist/extension.js"


def test_vs_code_shows_the_board(repo: Folder) -> None:
    need("node")
    extension = repo.path.parent / "extension"
    unpack_extension(extension)
    repo.env["EXTENSION"] = str(extension / "extension/dist/extension.js")
    repo.env["NO_COLOR"] = "1"
    result = run_session(repo, "node", str(SESSIONS / "vscode_session.js"))
    assert result["errors"] == []
    assert {*result["commands"]} >= {"execplan.showBoard", "execplan.restartServer", "execplan.done"}
    assert result["opened"] == [str(repo.path / ".agent/execplans/2026-01-01_parser.md")]
    assert "Build the parser" in result["board"]
    assert 'src="data:image/svg+xml;base64,' in result["charts"]
    assert "is not a page of the server" in result["elsewhere"]
    assert result["shown"] == result["charts"]
    assert result["options"] == {
        "enableScripts": False,
        "enableForms": False,
        "enableCommandUris": ["execplan.openPage"],
        "localResourceRoots": [],
    }
    for page in (result["board"], result["charts"]):
        assert "default-src 'none'; style-src 'nonce-" in page
        assert "<script" not in page
        assert 'href="/' not in page
        assert 'src="/' not in page
        assert 'data-theme="dark"' in page
