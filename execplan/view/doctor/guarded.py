"""Is the guard asked before every call of an agent, where it was installed?"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from functools import partial
from typing import TYPE_CHECKING, Any

from execplan.agents import guard_hook
from execplan.agents.hook_file import PROGRAMS
from execplan.engine import last
from execplan.errors import ExecplanError
from execplan.repo.execution import approvals, standing
from execplan.text import disk
from execplan.view.doctor.check import ERROR, WARNING, Finding, check
from execplan.view.doctor.integrations import ABSENT, fix_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref
    from execplan.view.doctor.ground import Ground

_INSTALL = f"execplan install {guard_hook.WHAT}"
_MANAGED = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
"""What an organization has decided for Claude Code, on Linux and on macOS."""
_LIMIT = 5 << 20


@check("guard")
def guard(ground: Ground) -> Iterator[Finding | str]:
    """The hook that asks the guard is whole and of today, and nothing that is known of switches it off."""
    home = ground.home
    there = [name for name in PROGRAMS if _is_asked(home, name)]
    for name in there:
        yield from _entry(home, name)
    if not there:
        yield ABSENT
        return
    if shutil.which("execplan") is None:
        message = "execplan is not on PATH: a program that does not find it either has every call denied"
        yield Finding(WARNING, "", message, "put the folder of execplan on PATH, or install it there: pipx install .")
    yield from switched_off(home, there, ERROR, "asks no guard")
    if not any([_allows(shelved.home, shelved.ref) for shelved in ground.plans if not shelved.ref.archived]):
        yield "no plan is approved, so an agent may only read: execplan approve PLAN"


def _is_asked(home: Home, program: str) -> bool:
    """Whether a hook of the guard stands in the file of a program, ours or one that was put there by hand."""
    return b"execplan guard" in _bytes(os.path.join(home.root, PROGRAMS[program].file))


def _entry(home: Home, program: str) -> Iterator[Finding | str]:
    """Whether an entry is as it was put in, and as it would be put in today."""
    named = PROGRAMS[program]
    try:
        file = guard_hook.open_file(home, program)
    except ExecplanError as error:
        message = f"{error.message}: {named.name} can't read it either, and asks no guard"
        yield Finding(ERROR, named.file, message, "mend the file", line=error.line)
        return
    if not file.entries:
        yield f"put into {file.display_path} by hand"
    elif file.is_edited:
        message = "the entry of the guard was edited by hand: it may not be asked before every call"
        yield Finding(WARNING, file.display_path, message, f"look at it; then for the one of today: {_INSTALL} --force")
    elif not file.is_current:
        command = f"{_INSTALL} --for {program}"
        fix = fix_by(home, partial(guard_hook.install, home, force=False, programs=[program]), f"renew it: {command}")
        yield Finding(WARNING, file.display_path, "lacks what execplan would write today", command, fix=fix)


def switched_off(home: Home, programs: Sequence[str], level: str, so: str) -> Iterator[Finding]:
    """What keeps the programs from running hooks of the repository, and what comes of that."""
    if "claude" in programs:
        yield from _claude(home, level, so)
    if "codex" in programs:
        yield from _codex(home, level, so)


def _claude(home: Home, level: str, so: str) -> Iterator[Finding]:
    own = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    ours = os.path.join(home.root, PROGRAMS["claude"].file)
    local = os.path.join(home.root, ".claude", "settings.local.json")
    for path in (ours, local, os.path.join(own, "settings.json"), *_MANAGED):
        said = _json(path)
        for key in ("disableAllHooks", *(["allowManagedHooksOnly"] if path in _MANAGED else [])):
            if said.get(key) is True:
                message = f"{key} switches off the hooks of this repository, so Claude Code {so}"
                yield Finding(level, home.shown(path), message, f"take {key} out of it")
    if wrong := _misshapen(_json(ours).get("hooks")):
        message = f"{wrong} is not of the form that Claude Code wants: it passes over the whole file, and {so}"
        yield Finding(
            level, home.shown(ours), message, "mend that entry; `/hooks` in Claude Code shows what it has read"
        )


def _misshapen(hooks: Any) -> str:
    """Where the hooks of a file are of another form than Claude Code takes."""
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        if not isinstance(groups, list):
            return f"hooks.{event}"
        for number, group in enumerate(groups):
            if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
                return f"hooks.{event}.{number}"
            if not isinstance(group.get("matcher", ""), str):
                return f"hooks.{event}.{number}.matcher"
    return ""


def _codex(home: Home, level: str, so: str) -> Iterator[Finding]:
    own = os.path.join(os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex"), "config.toml")
    for path in (os.path.join(home.root, ".codex", "config.toml"), own):
        features = _table(_toml(path), "features")
        if features.get("hooks", features.get("codex_hooks")) is False:
            message = f"switches hooks off ([features] hooks = false), so Codex {so}"
            yield Finding(level, home.shown(path), message, "take that line out of it")
    trust = _table(_table(_toml(own), "projects"), home.root).get("trust_level")
    if os.path.isdir(os.path.dirname(own)) and trust != "trusted":
        message = f"Codex has not been told to trust this repository, so it runs no hook of it, and {so}"
        mend = "start codex in it and trust it when it asks; then trust the hook, too: /hooks"
        yield Finding(WARNING, PROGRAMS["codex"].file, message, mend)


def _allows(home: Home, ref: Ref) -> bool:
    """Whether a plan has an approval that holds, or a run that is under way."""
    if not approvals.every(home, ref):
        return False
    run = last.find_last_run(home, ref)
    under_way = run is not None and run.state in (last.RUNNING, last.BY_AGENT, last.WAITING, last.CUT_SHORT)
    return under_way or standing.standing(home, ref, programs=False).state == standing.APPROVED


def _bytes(path: str) -> bytes:
    try:
        with open(disk.open_regular(path), "rb") as file:
            return file.read(_LIMIT)
    except OSError:
        return b""


def _json(path: str) -> dict[str, Any]:
    """What a file of settings says; nothing where it can't be read."""
    try:
        said = json.loads(_bytes(path) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _toml(path: str) -> dict[str, Any]:
    """What a file of settings says; nothing where it can't be read."""
    try:
        return tomllib.loads(_bytes(path).decode("utf-8"))
    except (ValueError, RecursionError):
        return {}


def _table(said: dict[str, Any], key: str) -> dict[str, Any]:
    found = said.get(key)
    return found if isinstance(found, dict) else {}
