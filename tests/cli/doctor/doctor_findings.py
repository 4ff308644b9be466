"""What the tests of `doctor` share."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

from tests import fork_server

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder

FIELDS = ["check", "level", "path", "line", "message", "mend", "fixable"]


def doctor(folder: Folder, *arguments: str, **env: Any) -> dict[str, Any]:
    """The data of a run, whose exit status fits it."""
    result = folder.run("doctor", *arguments, "--json", **env)
    assert "Traceback" not in result.err
    data: dict[str, Any] = result.json["data"]
    has_problems = any(finding["level"] != "notice" for finding in data["findings"]) or not all(
        check["ok"] for check in data["checks"]
    )
    assert result.exit == (1 if has_problems else 0), result
    assert all(list(finding) == FIELDS for finding in data["findings"])
    assert all(finding["message"] and finding["mend"] for finding in data["findings"])
    return data


def findings(folder: Folder, check: str, *arguments: str, **env: Any) -> list[dict[str, Any]]:
    """What one check finds; no other finds anything."""
    data = doctor(folder, *arguments, **env)
    assert {finding["check"] for finding in data["findings"]} <= {check}, data["findings"]
    reported: list[dict[str, Any]] = data["findings"]
    return reported


def only_finding(folder: Folder, check: str, *arguments: str, **env: Any) -> dict[str, Any]:
    """The only thing that is found."""
    (finding,) = findings(folder, check, *arguments, **env)
    return finding


def assert_clean(folder: Folder, **env: Any) -> None:
    """Expect that nothing is wrong, in words too."""
    assert doctor(folder, **env)["findings"] == []
    assert folder.run("doctor", "-q", **env).out == ""


def run_remedy(folder: Folder, remedy: str) -> None:
    """Run the command that mends something."""
    script = f'execplan() {{ {fork_server.command(folder.env)} "$@"; }}; {remedy}'
    completed = subprocess.run(["sh", "-ec", script], cwd=folder.path, env=folder.env, capture_output=True, check=False)
    assert completed.returncode == 0, (remedy, completed)


def age(path: Path, seconds: float) -> None:
    """Let a file seem not to have been touched for so long."""
    status = path.lstat()
    os.utime(path, (status.st_atime - seconds, status.st_mtime - seconds), follow_symlinks=False)
