"""What `install` and `uninstall` share: each integration planned, all of them told or made, under one lock."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.agents import change as changes
from execplan.cli.answer import Answer
from execplan.cli.integrations import INTEGRATIONS
from execplan.cli.printing import one_per_line
from execplan.errors import USAGE, ExecplanError
from execplan.repo import homes, state
from execplan.repo.amend import diff

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.agents.change import Change, ChangeSet
    from execplan.repo.home import Home

_IN_HOME = {
    "agents": "agents_md",
    "pre-commit": "precommit",
    "git-hooks": "githooks",
    "merge-driver": "merge_driver",
    "guard": "guard_hook",
    "session-hooks": "session_hooks",
}
_FOR_PROGRAMS = ("guard", "session-hooks")
_SHELLS = ("bash", "zsh", "fish")


class Wanted(NamedTuple):
    """What is to be added or taken back."""

    whats: list[str]
    """The integrations, each once."""
    shell: str | None
    """Of completion."""
    programs: list[str]
    """Of guard and session-hooks; none: those that are found."""


def check(verb: str, whats: Sequence[str], shell: str | None, programs: Sequence[str]) -> Wanted:
    """What is named, if it fits together; raises ExecplanError."""
    wrong = [what for what in whats if what not in INTEGRATIONS]
    if wrong or not whats:
        message = f"there is no integration {wrong[0]!r}" if wrong else f"say what to {verb}"
        lines = [f"{name}  {about}" for name, about in INTEGRATIONS.items()]
        raise ExecplanError("usage", message, exit=USAGE, hint="name one or more of these", candidates=lines)
    if shell is not None and "completion" not in whats:
        raise ExecplanError("usage", "--shell goes with completion", exit=USAGE, hint="leave it out")
    if programs and not set(_FOR_PROGRAMS).intersection(whats):
        raise ExecplanError("usage", "--for goes with guard and session-hooks", exit=USAGE, hint="leave it out")
    return Wanted(list(dict.fromkeys(whats)), shell, list(dict.fromkeys(programs)))


def carry_out(verb: str, wanted: Wanted, *, force: bool, dry_run: bool) -> Answer:
    """Plan every integration, then make all changes or none, or in a dry run only tell them; raises ExecplanError."""
    home, whats = None, wanted.whats
    if set(whats) - {"completion"}:
        home = homes.require(os.getcwd()) if verb == "install" else homes.find(os.getcwd())

    def plan() -> list[ChangeSet]:
        planned: list[ChangeSet] = []
        for what in whats:
            planned.append(_planned(verb, what, home, wanted, _all(planned), force=force))
        return planned

    planned = plan()
    linked: tuple[str, ...] = ()
    if not dry_run and any([change.action != "kept" or change.has_leftover_file for change in _all(planned)]):
        if home is not None and (home.exists or home.git):
            with state.lock(home, "home", f"{verb} {' '.join(whats)}"):
                planned = plan()
                linked = changes.apply_changes(_all(planned))
        else:
            linked = changes.apply_changes(_all(planned))
    warnings = tuple([warning for each in planned for warning in each.warnings]) + linked
    follow = () if dry_run else tuple([command for each in planned for command in each.next_commands])
    return _told(_all(planned), home, warnings, follow, dry_run=dry_run)


def _planned(verb: str, what: str, home: Home | None, wanted: Wanted, before: list[Change], *, force: bool) -> ChangeSet:
    """What an integration changes behind those that were planned before it."""
    if what == "completion":
        return _completion(verb, wanted.shell, force=force)
    act: Callable[..., ChangeSet] = getattr(import_module(f"execplan.agents.{_IN_HOME[what]}"), verb)
    if what not in _FOR_PROGRAMS:
        return act(home, force=force)
    return act(home, force=force, programs=wanted.programs, ahead={change.path: change.new for change in before})


def _completion(verb: str, shell: str | None, *, force: bool) -> ChangeSet:
    from execplan.agents import completion
    from execplan.cli.app import group
    from execplan.cli.completion import script

    if verb == "uninstall":
        return completion.uninstall(shell, force=force)
    shell = shell or os.path.basename(os.environ.get("SHELL", ""))
    if shell not in _SHELLS:
        message = f"SHELL names {shell or 'no shell'}; completion is for {', '.join(_SHELLS)}"
        raise ExecplanError("usage", message, exit=USAGE, hint="execplan install completion --shell bash")
    return completion.install(shell, script(group, shell), force=force)


def _all(planned: list[ChangeSet]) -> list[Change]:
    return [change for each in planned for change in each.changes]


def _told(
    done: list[Change], home: Home | None, warnings: tuple[str, ...], follow: tuple[str, ...], *, dry_run: bool
) -> Answer:
    def shown(path: str) -> str:
        return home.shown(path) if home is not None else path

    told: list[dict[str, Any]] = []
    lines, diffs = [], []
    for change in done:
        path = shown(change.path)
        source = {"from": shown(change.source)} if change.source else {}
        setting = {"setting": change.setting} if change.setting else {}
        told.append({"what": change.integration, "path": path, "action": change.action, **source, **setting})
        lines.append(_line(change, path, **source, dry_run=dry_run))
        if change.action != "kept" and not change.source and not change.setting:
            diffs.append(diff(change.old or b"", change.new, path))
    data = {"changes": told, "changed": any([each["action"] != "kept" for each in told])}
    if dry_run:
        data["diff"] = "\n".join(diffs)
    return Answer(
        data, one_per_line(lines, "\n".join(diffs) if dry_run else ""), warnings=warnings, next=follow, wanted=dry_run
    )


def _line(change: Change, path: str, *, dry_run: bool, **source: str) -> str:
    """What became of a file or a setting, or would."""
    if change.setting:
        path = f"{change.setting} in {path}"
    if change.action == "kept":
        return f"kept  {path}  ({change.integration}: {change.reason})"
    if not dry_run:
        return f"{change.action}  {path}  ({change.integration}{''.join([f', from {each}' for each in source.values()])})"
    would = {"moved": f"would move {source.get('from')} to", "removed": "would remove"}
    return f"{would.get(change.action, 'would write')} {path}"
