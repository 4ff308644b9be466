"""`install agents`: how to work with plans, said in AGENTS.md, and in CLAUDE.md where there is one."""

from __future__ import annotations

import os

from execplan.agents import block as blocks
from execplan.agents import managed
from execplan.agents.change import Planned, read
from execplan.agents.managed import File
from execplan.repo import stock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home

WHAT = "agents"
_FILE, _OTHER = "AGENTS.md", "CLAUDE.md"
_IMPORTS = ("@AGENTS.md", "@./AGENTS.md")


def text(home: Home) -> list[str]:
    """The lines of the block, with the folders of the home."""
    folders = {"plans": home.shown(home.plans), "archive": home.shown(home.archive)}
    return stock.text("agents.md").format_map(folders).splitlines()


def install(home: Home, *, force: bool) -> Planned:
    """Put the block in, or renew it; raises ExecplanError."""
    lines = text(home)
    files = [_file(home, _FILE)]
    other = _file(home, _OTHER)
    if other.data is not None and not _same(home) and (other.block or not _imports(other.data)):
        files.append(other)
    planned = [managed.install(file, lines, lambda data: _put(data, lines), force=force) for file in files]
    return _joined(planned)


def uninstall(home: Home, *, force: bool) -> Planned:
    """Take the block out; raises ExecplanError."""
    files = [_file(home, _FILE)]
    other = _file(home, _OTHER)
    if other.block and not _same(home):
        files.append(other)
    return _joined([managed.uninstall(file, force=force) for file in files])


def _file(home: Home, name: str) -> File:
    path = os.path.join(home.root, name)
    return File(WHAT, path, name, read(home, path), blocks.MARKDOWN)


def _put(data: bytes, lines: list[str]) -> bytes:
    return blocks.put(data, len(data), lines, blocks.MARKDOWN)


def _imports(data: bytes) -> bool:
    """Whether who reads a CLAUDE.md reads AGENTS.md with it."""
    return any([word in data.decode("utf-8", "replace").split() for word in _IMPORTS])


def _same(home: Home) -> bool:
    """Whether the two are one file: a link leads from one to the other."""
    one, other = [os.path.realpath(os.path.join(home.root, name)) for name in (_FILE, _OTHER)]
    return one == other or (os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other))


def _joined(planned: list[Planned]) -> Planned:
    changes = tuple([change for each in planned for change in each.changes])
    return Planned(changes, tuple([warning for each in planned for warning in each.warnings]))
