"""`install merge-driver`: attributes that say which files are plans, and the setting of git that says how to merge them."""

from __future__ import annotations

import os
import shlex
import sys

from execplan.agents import block as blocks
from execplan.agents import managed
from execplan.agents.change import Change, Planned, read
from execplan.agents.managed import File
from execplan.errors import NO, ExecplanError
from execplan.repo import ask, homes, stock
from execplan.repo.adoption import tree
from execplan.repo.home import common
from execplan.repo.merging.driver import FORM
from execplan.repo.settings import FLAT, FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home

WHAT = "merge-driver"
_FILE = ".gitattributes"
_NAME = "merge.execplan.name"
_DRIVER = "merge.execplan.driver"
_ATTRIBUTE = "execplan"
_CALL = " -P -m execplan merge --driver "
_NEAR = 4
"""Folders down to which homes are looked for that no settings name."""


def command() -> str:
    """The driver, a line of shell: where Python or the package is gone it merges line by line, and says so.

    Without that git would take our side for the result of a driver that could not be started.
    """
    python = shlex.quote(sys.executable).replace("%", "%%")
    line = stock.text("merge-driver.sh").strip()
    return line.replace("{python}", python).replace("{form}", " ".join(FORM))


def attributes(home: Home) -> list[str]:
    """The lines for .gitattributes: where the plans of a repository lie, those of all its homes."""
    near = [homes.at(folder) for folder in [home.root, *tree.homes(home.root, _NEAR)]]
    named = [each for top in [home, *near] if top.exists for each in homes.together(top)]
    return sorted({line for each in named if each.root == home.root for line in _of_home(each)})


def _put(data: bytes, lines: list[str]) -> bytes:
    """The file with the block behind its last whole line: what is added to a line without an end would join the block."""
    return blocks.put(data, len(data.rpartition(b"\n")[0]) + 1 if b"\n" in data else 0, lines, blocks.SHELL)


def _of_home(home: Home) -> list[str]:
    layout = home.settings.layout
    file = {FLAT: "*.md", FOLDER: "*/*.md"}.get(layout, f"*/{_literal(layout)}")
    days = range(4 if "{" in home.settings.archive + home.settings.superseded else 1)
    below = [(home.plans, ""), *[(folder, "[0-9]*/" * day) for folder in home.archives for day in days]]
    patterns = [f"/{_literal(os.path.relpath(os.path.realpath(path), home.root))}/{day}{file}" for path, day in below]
    return [f"{_quoted(pattern)} merge={_ATTRIBUTE}" for pattern in patterns]


def _literal(path: str) -> str:
    return "".join([f"\\{char}" if char in "*?[]\\" else char for char in path])


def _quoted(pattern: str) -> str:
    """A pattern as git reads it: in quotes when it would end at a space, with the escapes of C."""
    if not any([char.isspace() or char == '"' or char < " " for char in pattern]):
        return pattern
    escaped = pattern.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join([f"\\{ord(char):03o}" if char < " " else char for char in escaped]) + '"'


def install(home: Home, *, force: bool) -> Planned:
    """Add the attributes and the settings, or renew them; raises ExecplanError."""
    ask.require(home)
    file, lines = _file(home), attributes(home)
    planned = managed.install(file, lines, lambda data: _put(data, lines), force=force)
    driver = ask.setting(_config(home), _DRIVER)
    if driver is not None and not _is_ours(driver) and not force:
        raise ExecplanError(
            "foreign-driver",
            f"git has another merge driver that is called execplan here: {driver}",
            exit=NO,
            hint=f"keep it, or put ours in its place: execplan install {WHAT} --force",
        )
    values = {_NAME: "plans, by tasks and entries", _DRIVER: command()}
    links = (f"{_FILE} is a link, which git does not follow",) if os.path.islink(file.path) else ()
    return planned._replace(
        changes=(*planned.changes, *[_set(home, name, value) for name, value in values.items()]),
        warnings=(*planned.warnings, *links),
    )


def uninstall(home: Home, *, force: bool) -> Planned:
    """Take the attributes and the settings out; raises ExecplanError. A driver of somebody else's stays."""
    ask.require(home)
    planned = managed.uninstall(_file(home), force=force)
    driver = ask.setting(_config(home), _DRIVER)
    ours = driver is None or _is_ours(driver) or force
    taken = [_set(home, name, None) for name in (_DRIVER, _NAME)] if ours else []
    return planned._replace(changes=(*planned.changes, *taken))


def state(home: Home) -> str:
    """`absent`, `installed`, `attribute only` or `config only`, as git sees it; raises ExecplanError.

    A driver whose Python is gone is none.
    """
    probe = os.path.relpath(os.path.realpath(home.file(home.plans, "plan")), home.root)
    said = ask.output(home, "check-attr", "-z", "merge", "--", probe).split(b"\0")
    attribute = said[2:3] == [_ATTRIBUTE.encode()]
    driver = (ask.answer(home, "config", "--get", _DRIVER, no=1) or b"").decode("utf-8", "replace").strip()
    config = bool(driver) and (not _is_ours(driver) or os.access(_python(driver), os.X_OK))
    if attribute:
        return "installed" if config else "attribute only"
    return "config only" if config else "absent"


def _is_ours(driver: str) -> bool:
    return _CALL in driver


def _python(driver: str) -> str:
    """The Python of a driver of ours; nothing when the line was changed by hand."""
    try:
        return "".join(shlex.split(driver.partition(_CALL)[0].partition("$(")[2])).replace("%%", "%")
    except ValueError:
        return ""


def _set(home: Home, name: str, value: str | None) -> Change:
    path = _config(home)
    old, new = [each if each is None else os.fsencode(each) for each in (ask.setting(path, name), value)]
    return Change(WHAT, path, old, new, "" if old != new else "there already" if new else "not installed", setting=name)


def _config(home: Home) -> str:
    """The local settings, which all worktrees share."""
    assert home.git is not None
    return os.path.join(common(home.git), "config")


def _file(home: Home) -> File:
    path = os.path.join(home.root, _FILE)
    return File(WHAT, path, _FILE, read(home, path), blocks.SHELL)
