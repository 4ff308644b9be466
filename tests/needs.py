"""Tools that some tests need and not every machine has: such a test is skipped by name, or fails where they are required."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]

SANDBOX_WARNING = "execplan: warning: commands run without a sandbox: bwrap is not installed\n"
"""What runs print on standard error where bwrap is missing."""

REQUIRED = "EXECPLAN_TOOLS"
"""The environment variable that makes a skip for want of a tool a failure, when it says `required`."""

SKIPPED = "Skipped: needs "
"""How the reason of such a skip begins, and its name goes on."""


def need(*names: str) -> None:
    """Skip the test, or fail it, unless every tool is there and may be used here."""
    for name in names:
        why = missing(name)
        if why is None:
            continue
        if os.environ.get(REQUIRED) == "required" and name not in _NEVER_REQUIRED:
            pytest.fail(f"needs {name}, which {REQUIRED}=required asks for: {why}", pytrace=False)
        pytest.skip(f"needs {name}: {why}")


@cache
def missing(name: str) -> str | None:
    """Why a tool can't be used here, or None."""
    if name in _CLIENTS:
        return (
            None if client(name) else f"{_CLIENTS[name][0]} does not name it, and `make clients` has not installed it"
        )
    if shutil.which(name) is None:
        return "it is not installed"
    with tempfile.TemporaryDirectory() as folder:
        trial = _TRIALS.get(name)
        if trial is None:
            return None
        completed = subprocess.run(["sh", "-c", trial], cwd=folder, capture_output=True, timeout=60, check=False)
        log = Path(folder, "log").read_text("utf-8", "replace") if Path(folder, "log").exists() else ""
        if name == "strace" and completed.returncode < 0 and "killed by SIGKILL" in log:
            return None
        if name != "strace" and completed.returncode == 0:
            return None
    error_lines = completed.stderr.decode("utf-8", "replace").strip().splitlines()
    return f"it does not work here: {error_lines[0] if error_lines else f'exit {completed.returncode}'}"


def client(name: str) -> str:
    """The path of an agent's program: the one that a variable names, or the one that is installed for the tests."""
    variable, pattern = _CLIENTS[name]
    paths = [os.environ[variable]] if variable in os.environ else sorted(map(str, _ROOT.glob(pattern or "no pattern")))
    return next(filter(os.path.isfile, paths), "")


_CLIENTS = {
    "codex": ("EXECPLAN_CODEX", ".venv/clients/node_modules/@openai/codex-*/vendor/*/bin/codex"),
    "claude": ("EXECPLAN_CLAUDE", ""),
    "gemini": ("EXECPLAN_GEMINI", ".venv/clients/node_modules/.bin/gemini"),
    "opencode": ("EXECPLAN_OPENCODE", ""),
    "qwen": ("EXECPLAN_QWEN", ""),
    "continue": ("EXECPLAN_CONTINUE", ""),
    "cline": ("EXECPLAN_CLINE", ""),
    "goose": ("EXECPLAN_GOOSE", ""),
    "backlog": ("EXECPLAN_BACKLOG", ".venv/clients/node_modules/.bin/backlog"),
    "openspec": ("EXECPLAN_OPENSPEC", ".venv/clients/node_modules/.bin/openspec"),
    "task-master": ("EXECPLAN_TASK_MASTER", ".venv/clients/node_modules/.bin/task-master"),
    "python for windows": ("EXECPLAN_WINDOWS_PYTHON", ".venv/windows/cp313/python.exe"),
    "git for windows": ("EXECPLAN_WINDOWS_GIT", ".venv/windows/git/git.exe"),
    "mkdocs": ("EXECPLAN_MKDOCS", ".venv/docs/bin/mkdocs"),
    "specify": ("EXECPLAN_SPECIFY", ".venv/clients/specify/bin/specify"),
    "vscode extension": ("EXECPLAN_VSIX", "editors/vscode/dist/execplan.vsix"),
    "planning-with-files": (
        "EXECPLAN_PLANNING_WITH_FILES",
        ".venv/clients/node_modules/planning-with-files/scripts/check-complete.sh",
    ),
}
"""The programs of agents, and other tools that write plans, each with the variable that names it, and where `make clients` puts it."""

_NEVER_REQUIRED = frozenset(
    (
        *("claude", "opencode", "qwen", "continue", "cline", "goose", "emacs", "task-master"),
        *("wine", "python for windows", "git for windows"),
    )
)
"""Programs that CI may not install because of their licenses, or does not install because they are large."""

_TRIALS = {
    # A container may forbid to trace, and an old strace knows no injection.
    "strace": "exec strace -qq -o log -e trace=exit_group -e inject=exit_group:signal=KILL:when=1 true",
    # A kernel may forbid namespaces of one's own, or mounts in them.
    "unshare": "exec unshare -rm sh -c 'mkdir here && mount --bind here here && mount -o remount,bind,ro here && mount -t tmpfs tmpfs .'",
    # A container may allow too little memory or too few processes for a browser.
    "chromium": "exec chromium --headless --no-sandbox --disable-gpu --dump-dom about:blank",
    # The client of Emacs for the protocol is a package of its own before Emacs 29.
    "emacs": "exec emacs --batch --eval \"(progn (require 'package) (package-activate-all) (require 'eglot))\"",
    "setpriv": "exec setpriv --bounding-set=-dac_override true",
}
"""What a tool must be able to do."""
