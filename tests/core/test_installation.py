"""The commands for each kind of installation."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execplan.core import installation
from execplan.core.installation import Installation, find_installation

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Installation]:
    """Find the installation of a package in a prefix with some files, with a record of its source."""

    def find(files: dict[str, str], *, prefix: str = "venv", url: dict[str, object] | None = None) -> Installation:
        directory = tmp_path / prefix
        for name, text in files.items():
            directory.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text)
        metadata = tmp_path / "site" / "execplan-1.0.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: execplan\nVersion: 1.0.0\n")
        if url is not None:
            (metadata / "direct_url.json").write_text(json.dumps(url))
        monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
        monkeypatch.setattr(sys, "prefix", str(directory))
        monkeypatch.setattr(sys, "executable", "/v/bin/python")
        monkeypatch.setattr(installation, "checkout_directory", lambda: None)
        return find_installation()

    return find


def test_a_checkout() -> None:
    found_installation = find_installation()
    assert (found_installation.kind, found_installation.directory) == ("checkout", str(ROOT))
    assert found_installation.command_for("web").endswith(f"-m pip install -e '{ROOT}[web]'")
    assert found_installation.upgrade_command == f"git -C {ROOT} pull"


def test_pipx_keeps_the_other_extras(installed: Callable[..., Installation]) -> None:
    record = json.dumps({"main_package": {"package_or_url": "execplan[tui, mcp]"}})
    pipx = installed({"pipx_metadata.json": record})
    assert pipx.command_for("web") == "pipx install --force 'execplan[mcp,tui,web]'"
    assert (pipx.upgrade_command, pipx.removal_command) == ("pipx upgrade execplan", "pipx uninstall execplan")


def test_pipx_from_a_directory(installed: Callable[..., Installation]) -> None:
    record = json.dumps({"main_package": {"package_or_url": "/src/a b[mcp]"}}, indent=4)
    url = {"url": "file:///src/a%20b", "dir_info": {}}
    pipx = installed({"pipx_metadata.json": record}, url=url)
    assert pipx.command_for("web") == "pipx install --force '/src/a b[mcp,web]'"


def test_uv_tool(installed: Callable[..., Installation]) -> None:
    record = '[tool]\nrequirements = [{ name = "execplan", extras = ["mcp"] }]\n'
    assert installed({"uv-receipt.toml": record}).command_for("web") == "uv tool install --force 'execplan[mcp,web]'"


def test_uvx(installed: Callable[..., Installation]) -> None:
    uvx = installed({"pyvenv.cfg": "home = /usr/bin\nuv = 0.9.0\n"}, prefix="archive-v0/abc")
    assert uvx.command_for("web") == "uvx --from 'execplan[web]' execplan"
    assert (uvx.upgrade_command, uvx.removal_command) == ("uvx execplan@latest", "")


def test_a_virtual_environment(installed: Callable[..., Installation]) -> None:
    environment = installed({"pyvenv.cfg": "home = /usr/bin\n"})
    assert environment.command_for("web") == "/v/bin/python -m pip install 'execplan[web]'"
    assert environment.upgrade_command == "/v/bin/python -m pip install --upgrade execplan"


def test_a_virtual_environment_of_uv_has_no_pip(
    installed: Callable[..., Installation], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment = installed({"pyvenv.cfg": "home = /usr/bin\nuv = 0.9.0\n"})
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    expected = f"VIRTUAL_ENV={tmp_path / 'venv'} uv pip install 'execplan[web]'"
    assert environment.command_for("web") == expected


def test_an_address_of_a_repository(installed: Callable[..., Installation]) -> None:
    url = {"url": "https://example.org/execplan", "vcs_info": {"vcs": "git", "commit_id": "0" * 40}}
    environment = installed({"pyvenv.cfg": ""}, url=url)
    expected = "/v/bin/python -m pip install 'execplan[web] @ git+https://example.org/execplan'"
    assert environment.command_for("web") == expected
