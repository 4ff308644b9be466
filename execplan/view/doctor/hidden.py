"""Is there a plan that `list` does not show, or something that it shows and that is no plan?"""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from execplan.errors import ExecplanError
from execplan.plan import reader
from execplan.repo import ignored
from execplan.repo.adoption import tree
from execplan.text import disk
from execplan.view.doctor.check import ERROR, WARNING, Finding, check
from execplan.view.doctor.leftovers import TEMPORARY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.repo.home import Home
    from execplan.view.doctor.ground import Ground

_NEAR = 4
"""Folders down to which other homes are looked for."""
_LEFT = (".orig", ".rej", ".bak", ".swp", "~")
"""How files end that a merge or an editor leaves."""


@check("hidden")
def hidden(ground: Ground) -> Iterator[Finding | str]:
    """`list --all` shows every plan that lies in the folders of plans: none is nested deeper or has another name."""
    shown = {each.ref.path for each in ground.plans}
    for home in ground.homes:
        for folder in dict.fromkeys([home.plans, *home.archives]):
            yield from _below(home, folder, shown)
        for archived in (False, True) if home.flat else ():
            yield from _among_artifacts(home, home.artifacts("", archived=archived).rstrip("/"))
    named = {home.base for home in ground.homes}
    others = [home.shown(base) for base in tree.homes(ground.home.base, _NEAR) if base not in named]
    if others:
        yield f"homes of their own, which the settings do not name: {', '.join(others)}"


@check("ignored")
def ignored_plans(ground: Ground) -> Iterator[Finding | str]:
    """Git sees the plans directories, the settings and the guide."""
    for home in ground.homes:
        if home.git is None:
            yield "no repository: not checked"
        elif found := ignored.ignored_folders(home):
            mend = ignored.way(home, found)
            yield Finding(WARNING, "", ignored.problem(found), mend)


@check("files")
def files(ground: Ground) -> Iterator[Finding | str]:
    """What lies among the plans is a plan, and nothing that a merge or an editor has left."""
    others = 0
    for shelved in ground.plans:
        if shelved.plan is not None and not any([section.name for section in shelved.plan.sections]):
            path = shelved.home.shown(shelved.ref.path)
            message = "lies among the plans and has no section of a plan"
            mend = f"move it elsewhere, such as {quote(shelved.home.shown(shelved.home.artifacts('')))}: mv {quote(path)} …"
            yield Finding(WARNING, path, message, mend)
    for home in ground.homes:
        for folder in [home.plans, *home.archives] if home.flat else ():
            for name in _names(folder):
                path = os.path.join(folder, name)
                if name.endswith(_LEFT) and os.path.isfile(path):
                    told = home.shown(path)
                    mend = f"look whether it holds what the plan lacks, then: rm {quote(told)}"
                    yield Finding(WARNING, told, "was left by a merge or an editor", mend)
                elif not name.endswith(".md") and not name.startswith(".") and os.path.isfile(path):
                    others += 1
    if others:
        yield f"{others} other files are left alone"


def _below(home: Home, top: str, shown: set[str]) -> Iterator[Finding]:
    """The plans below a folder of plans that are not shown, and the folders that can't be looked into."""
    guide = os.path.join(home.base, home.settings.guide)
    closed: list[OSError] = []
    for folder, folders, names in os.walk(top, onerror=closed.append):
        folders[:] = sorted([name for name in folders if not _is_passed(home, top, os.path.join(folder, name), shown)])
        for name in folders:
            path = os.path.join(folder, name)
            if os.path.islink(path) and _holds_markdown(path):
                message = "is a link to a folder, and what lies in it is not listed"
                yield Finding(
                    ERROR, home.shown(path), message, f"put the folder itself there: mv {os.readlink(path)} …"
                )
        for name in sorted(names):
            path = os.path.join(folder, name)
            if path not in shown and path != guide and not (name.endswith(_LEFT) or TEMPORARY.fullmatch(name)):
                yield from _unlisted(home, path)
    for error in closed:
        path = home.shown(str(error.filename))
        message = f"plans may be hidden: can't be read: {os.strerror(error.errno or 0).lower()}"
        if path != home.shown(top):  # the plans folder itself is told elsewhere
            yield Finding(ERROR, path, message, f"let yourself in: chmod u+rx {quote(path)}")


def _is_passed(home: Home, top: str, folder: str, shown: set[str]) -> bool:
    """Whether a folder below one of plans is looked at elsewhere, or holds what belongs to a plan."""
    others = [home.plans, *home.archives, os.path.join(home.base, home.settings.templates)]
    others += [home.artifacts("", archived=archived).rstrip("/") for archived in (False, True)]
    if os.path.basename(folder) == ".git" or (folder in others and folder != top):
        return True
    return not home.flat and any([path.startswith(folder + "/") for path in shown])


def _among_artifacts(home: Home, folder: str) -> Iterator[Finding]:
    """The plans that lie among the folders of artifacts; what lies in such a folder may be a copy."""
    for name in _names(folder):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            yield from _unlisted(home, path)


def _unlisted(home: Home, path: str) -> Iterator[Finding]:
    """What is to be said of a file that is not listed: nothing, if it is no plan."""
    told = home.shown(path)
    try:
        data, size = disk.read(path, reader.MAX_BYTES)
    except ExecplanError as error:
        if path.endswith(".md"):
            yield Finding(ERROR, told, f"is not listed, and may be a plan: {error.message}", error.hint)
        return
    if size > reader.MAX_BYTES and path.endswith(".md"):
        yield Finding(ERROR, told, "is not listed, and may be a plan", reader.too_large(size).hint)
    if tree.reads_as_plan(data):
        name = os.path.splitext(os.path.basename(path))[0].strip(".") or "plan"
        target = home.shown(home.file(home.plans, name))
        if name.lower() in ("readme", "index", "plans", "agents", "claude"):
            target = home.shown(home.file(home.plans, "OTHER-NAME"))
        mend = f"put it where plans are listed: mv {quote(told)} {quote(target)}"
        yield Finding(ERROR, told, "is a plan, and no verb lists it", mend)


def _holds_markdown(folder: str) -> bool:
    """Whether a file of a folder may be a plan; one that can't be looked into may hold some."""
    try:
        return any([name.endswith(".md") for name in os.listdir(folder)])
    except OSError:
        return True


def _names(folder: str) -> list[str]:
    """What is in a folder, hidden files too; nothing where it can't be read, which is told elsewhere."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
