"""Which tests CI runs once more without optional tools: those that find one, or that start what may look for one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tool_lookups import CURRENT, FILE

ROOT = Path(__file__).resolve().parents[1]
WATCH = "import os, shutil, subprocess, sys; from tests import tool_lookups; tool_lookups.watch_lookups(); "
TEST = "tests/test_x.py::test_y[a (b)]"


@pytest.mark.parametrize(
    ("code", "is_noted"),
    [
        ("shutil.which('some-tool')", True),
        ("shutil.which('no-such-tool')", False),
        ("shutil.which('git')", False),
        ("subprocess.run(['some-tool'])", True),
        ("subprocess.run(['git', '--version'])", False),
        ("subprocess.run([sys.executable, '-c', '0'])", True),
        ("subprocess.run(['sh', '-c', 'git some-tool && no-such-tool'])", False),
        ("subprocess.run(['sh', '-c', 'git some-tool && some-tool'])", True),
        ("subprocess.run(['sh', '-c', './script'])", True),
        ("subprocess.run(['sh', 'script'])", True),
        ("subprocess.run(['sh', '-c', 'true'], env={'PATH': os.environ['PATH']})", True),
    ],
)
def test_what_is_noted(tmp_path: Path, code: str, is_noted: bool) -> None:
    for name in ("bin/some-tool", "script"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n", encoding="utf-8")
        path.chmod(0o755)
    noted = tmp_path / "noted"
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        FILE: str(noted),
        CURRENT: f"{TEST} (call)",
    }
    subprocess.run([sys.executable, "-c", WATCH + code], cwd=tmp_path, env=environment, check=True)
    assert (noted.read_text("utf-8") if noted.exists() else "") == (f"{TEST}\n" if is_noted else "")
