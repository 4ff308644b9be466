"""What the tests of `doctor` share."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

from tests import forks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder

FIELDS = ["check", "level", "path", "line", "message", "mend", "fixable"]


def doctor(folder: Folder, *arguments: str, **env: Any) -> dict[str, Any]:
    """The data of a run, whose exit status fits it."""
    result = folder.run("doctor", *arguments, "--json", **env)
    assert "Traceback" not in result.err
    data: dict[str, Any] = result.json["data"]
    wrong = bool(data["findings"]) or not all(each["ok"] for each in data["checks"])
    assert result.exit == (1 if wrong else 0), result
    assert all(list(each) == FIELDS for each in data["findings"])
    assert all(each["message"] and each["mend"] for each in data["findings"])
    return data


def findings(folder: Folder, check: str, *arguments: str, **env: Any) -> list[dict[str, Any]]:
    """What one check finds; no other finds anything."""
    data = doctor(folder, *arguments, **env)
    assert {each["check"] for each in data["findings"]} <= {check}, data["findings"]
    found: list[dict[str, Any]] = data["findings"]
    return found


def one(folder: Folder, check: str, *arguments: str, **env: Any) -> dict[str, Any]:
    """The only thing that is found."""
    (found,) = findings(folder, check, *arguments, **env)
    return found


def clean(folder: Folder, **env: Any) -> None:
    """Expect that nothing is wrong, in words too."""
    assert doctor(folder, **env)["findings"] == []
    assert folder.run("doctor", "-q", **env).out == ""


def obey(folder: Folder, mend: str) -> None:
    """Run the command that mends something."""
    script = f'execplan() {{ {forks.command(folder.env)} "$@"; }}; {mend}'
    done = subprocess.run(["sh", "-ec", script], cwd=folder.path, env=folder.env, capture_output=True, check=False)
    assert done.returncode == 0, (mend, done)


def age(path: Path, seconds: float) -> None:
    """Let a file seem not to have been touched for so long."""
    status = path.lstat()
    os.utime(path, (status.st_atime - seconds, status.st_mtime - seconds), follow_symlinks=False)
