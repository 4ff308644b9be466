"""Is what `install` has added still whole, of today, and able to run?"""

from __future__ import annotations

import os
import re
import shlex
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from execplan.agents import agents_md, block, completion, githooks, precommit
from execplan.agents import change as changes
from execplan.errors import ExecplanError
from execplan.repo import ask, state
from execplan.view.doctor.check import ERROR, WARNING, Finding, Fix, check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from execplan.agents.change import Change, ChangeSet
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.view.doctor.ground import Ground

ABSENT = "not installed"
"""What a check says of an integration that is not there."""
_NO_GIT = "no repository: not looked at"
_PYTHON = re.compile(r"(?:execplan_python=|entry: ')(.+?)(?: -P -m execplan .*)?$")
"""Where a hook names the Python that runs it."""


@check("agents")
def agents(ground: Ground) -> Iterator[Finding | str]:
    """What was put into AGENTS.md and CLAUDE.md is whole and of today."""
    home = ground.home
    yield from installed(home, agents_md.WHAT, partial(agents_md.install, home), partial(agents_md.uninstall, home))


@check("pre-commit")
def pre_commit(ground: Ground) -> Iterator[Finding | str]:
    """What was put into .pre-commit-config.yaml is whole and of today, and names a Python that is there."""
    home = ground.home
    if home.git is None:
        yield _NO_GIT
        return
    yield from installed(home, precommit.WHAT, partial(precommit.install, home), partial(precommit.uninstall, home))


@check("git-hooks")
def git_hooks(ground: Ground) -> Iterator[Finding | str]:
    """What was put into git's own hook is whole, of today, run by git, and names a Python that is there."""
    home = ground.home
    if home.git is None:
        yield _NO_GIT
        return
    named, common = ask.hooks_folder(home)
    for folder in dict.fromkeys([named, os.path.join(common, "hooks")]):
        hook = os.path.join(folder, "pre-commit")
        if not _has_block(hook):
            continue
        told = home.shown(os.path.realpath(hook))
        if os.path.realpath(folder) != os.path.realpath(named):
            message = f"is not run by git, because core.hooksPath leads to {named}"
            mend = "take out of it what stands from execplan:begin to execplan:end, then: execplan install git-hooks"
            yield Finding(WARNING, told, message, mend)
        elif not os.access(hook, os.X_OK):
            yield Finding(ERROR, told, "can't be executed, so git passes it over", f"chmod +x {shlex.quote(told)}")
    if not os.path.realpath(named).startswith((os.path.realpath(common) + "/", home.root + "/")):
        yield f"{named} is outside the repository: not looked at"
        return
    undo = githooks.uninstall(home, force=True)
    if [change.action for change in undo.changes] == ["moved"]:
        fix = fix_by(
            home, partial(githooks.uninstall, home, force=True), f"give {undo.changes[0].source} its name back"
        )
        path = home.shown(undo.changes[0].source)
        yield Finding(WARNING, path, "was put aside for a hook that is gone", "execplan uninstall git-hooks", fix=fix)
        return
    for warning in undo.warnings:
        yield Finding(WARNING, "", warning, "keep one of the two as pre-commit, and remove the other")
    yield from installed(home, githooks.WHAT, partial(githooks.install, home), partial(githooks.uninstall, home))


@check("merge-driver")
def merge_driver(ground: Ground) -> Iterator[Finding | str]:
    """Where .gitattributes gives plans to execplan to merge, git is told how."""
    home = ground.home
    try:
        driver = import_module("execplan.agents.merge_driver")
    except ModuleNotFoundError:
        yield ABSENT
        return
    if home.git is None:
        yield _NO_GIT
        return
    found = str(driver.state(home))
    fix = fix_by(home, partial(driver.install, home, force=False), f"renew it: execplan install {driver.WHAT}")
    if found == "attribute only":
        message = "names the merge driver of plans, and git knows none here that can run: it merges line by line"
        yield Finding(ERROR, ".gitattributes", message, f"execplan install {driver.WHAT}", fix=fix)
    elif found == "installed":
        for change in driver.install(home, force=False).changes:
            if change.path.endswith(".gitattributes") and change.action != "kept":
                message = "lacks what execplan would write today"
                yield Finding(WARNING, home.shown(change.path), message, f"execplan install {driver.WHAT}", fix=fix)
    # A driver that is configured and not named does nothing; another branch may name it.
    yield {"absent": ABSENT, "config only": "configured, and named by no .gitattributes here"}.get(found, found)


@check("completion")
def completions(ground: Ground) -> Iterator[Finding | str]:
    """The completion scripts of shells are whole and of today."""
    there = False
    for shell in completion.SHELLS:
        undo = partial(completion.uninstall, shell)
        if any([change.action != "kept" for change in undo(force=True).changes]):
            there = True
            install = partial(completion.install, shell, ground.script(shell))
            yield from installed(ground.home, f"{completion.WHAT} --shell {shell}", install, undo)
    if not there:
        yield ABSENT


def installed(
    home: Home, what: str, install: Callable[..., ChangeSet], uninstall: Callable[..., ChangeSet]
) -> Iterator[Finding | str]:
    """What is wrong with an integration, if it is there: damage is raised, the rest is found."""
    command = f"execplan install {what}"
    try:
        if not any([change.action != "kept" for change in uninstall(force=True).changes]):
            yield ABSENT
            return
        planned = install(force=False)
    except ExecplanError as error:
        yield Finding(ERROR, "", error.message, error.hint or command, line=error.line)
        return
    fix = fix_by(home, partial(install, force=False), f"renew it: {command}")
    for change in planned.changes:
        path = home.shown(change.path)
        named, edited = _python(change), change.reason == "edited by hand"
        if named and not os.access(named, os.X_OK):
            mend = f"{command} --force" if edited else command
            message = f"names {named}, which is gone, so plans are not checked"
            yield Finding(ERROR, path, message, mend, fix=None if edited else fix)
        elif change.action != "kept" and not _same_but_python(change, named):
            yield Finding(WARNING, path, "lacks what execplan would write today", command, fix=fix)
        elif edited:
            yield f"{path} was edited by hand and stays as it is"


def _python(change: Change) -> str:
    """The Python that the block of a file names, or nothing."""
    for line in _lines(change.old, change.path):
        found = _PYTHON.search(line)
        if found:
            words = found[1].replace("''", "'") if line.lstrip().startswith("entry") else found[1]
            try:
                return (shlex.split(words) or [""])[0]
            except ValueError:  # somebody wrote into it
                return words
    return ""


def _same_but_python(change: Change, named: str) -> bool:
    """Whether a block is of today but for the Python that it names, which is as good as this one."""
    old, new = [
        [_PYTHON.sub(lambda found: found[0].replace(found[1], ""), line) for line in _lines(data, change.path)]
        for data in (change.old, change.new)
    ]
    return bool(named) and old == new


def _lines(data: bytes | None, path: str) -> tuple[str, ...]:
    found = block.find_block(data or b"", block.MARKDOWN if path.endswith(".md") else block.SHELL, path)
    return found.lines if found is not None else ()


def _has_block(path: str) -> bool:
    try:
        return block.SHELL.begin_marker() in (changes.read_file(path) or b"")
    except ExecplanError:
        return False


def fix_by(home: Home, plan: Callable[[], ChangeSet], would: str) -> Fix:
    """What makes the changes that are planned then."""

    def make(options: Options) -> list[str]:
        with state.lock(home, "home", "doctor"):
            planned = plan()
            changes.apply_changes(planned.changes)
        return [f"{each.action} {home.shown(each.path)}" for each in planned.changes if each.action != "kept"]

    return Fix(would, make)
