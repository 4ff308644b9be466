"""Parts of the core in Windows' own Python, which Wine runs: `make test-windows`. The command line does not support Windows yet."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.needs import client, need

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).resolve().parent.parent
_HOLD = """
from execplan.core.files.file_lock import FileLock, is_held, read_holder, set_timeout
from execplan.core.errors import ExecplanError
import os, subprocess, sys
if len(sys.argv) > 1:
    set_timeout(1)
    try:
        with FileLock("a.lock", "the second"):
            print("locked")
    except ExecplanError as error:
        print(error.code, "held" if is_held("a.lock") else "free")
else:
    again = [sys.executable, __file__, "again"]
    with FileLock("a.lock", "the first"):
        print(subprocess.check_output(again, text=True).strip())
    print(read_holder("a.lock").partition(",")[0])
    print(subprocess.check_output(again, text=True).strip())
"""
_IMPORT = """
import importlib, pathlib
for path in sorted(pathlib.Path(ROOT, "execplan", "core").rglob("*.py")):
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    try:
        importlib.import_module(name)
    except Exception as error:
        print(f"{name}: {error}")
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for Wine's files, which takes ten seconds to create."""
    need("wine", "python for windows")
    return tmp_path_factory.mktemp("wine") / "prefix"


def run(prefix: Path, folder: Path, code: str) -> str:
    """Run code with the package in Windows' Python, and return what it prints."""
    packages = Path(client("python for windows")).parent.parent / "packages"
    script = folder / "script.py"
    head = f"import sys\nROOT = {f'Z:{ROOT}'!r}\nsys.path[:0] = [ROOT, {f'Z:{packages}'!r}]\n"
    script.write_text(head + code, encoding="utf-8")
    environment = {**os.environ, "WINEPREFIX": str(prefix), "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree=;mshtml="}
    completed = subprocess.run(
        ["wine", client("python for windows"), f"Z:{script}"],
        cwd=folder,
        env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


def test_the_core_can_be_imported(prefix: Path, tmp_path: Path) -> None:
    assert run(prefix, tmp_path, _IMPORT) == ""


def test_a_lock_excludes_other_processes(prefix: Path, tmp_path: Path) -> None:
    lines = run(prefix, tmp_path, _HOLD).split("\n")
    assert lines[0] == "busy held"
    assert lines[1].startswith("the first")
    assert lines[2] == "locked"


def test_the_command_line_says_what_is_missing(prefix: Path, tmp_path: Path) -> None:
    code = "from execplan.cli.main import main\nsys.stderr = sys.stdout\nprint(main())\n"
    assert run(prefix, tmp_path, code) == "execplan: Windows is not supported yet; use Linux, macOS or WSL\n6\n"
