"""A file that holds a block of ours: the change that puts it in or renews it, and the one that takes it out."""

from __future__ import annotations

import os

from execplan.agents import block as blocks
from execplan.agents.change import Change, Planned, missing_folders
from execplan.errors import NO, ExecplanError
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.agents.block import Block, Style

_MADE = "made"


class File(NamedTuple):
    """A file that may hold a block."""

    what: str
    """The integration."""
    path: str
    shown: str
    """The path as messages name it."""
    data: bytes | None
    style: Style
    head: bytes = b""
    """What stands above the block in a file that is made for it."""
    executable: bool = False

    @property
    def block(self) -> Block | None:
        """The block in the file; raises ExecplanError when it is damaged."""
        return blocks.find(self.data or b"", self.style, self.shown)


def install(file: File, lines: Sequence[str], put: Callable[[bytes], bytes], *, force: bool) -> Planned:
    """Put the lines into the file, anew or in place of what its block holds; raises ExecplanError.

    `put` puts them into a file that is there and holds no block.
    """
    block = file.block
    if file.data is None:
        folders = missing_folders(os.path.realpath(file.path))
        note = f"{_MADE} {folders}" if folders else _MADE
        return _planned(file, blocks.put(file.head, len(file.head), lines, file.style, note=note))
    if block is None:
        return _planned(file, put(file.data))
    if block.edited and not force:
        warning = (
            f"{file.shown}: the block of execplan was edited by hand and stays as it is; "
            f"for the text of today: execplan install {file.what} --force"
        )
        return Planned((_kept(file, "edited by hand"),), (warning,))
    if block.lines == tuple(lines) and not block.edited:
        return Planned((_kept(file, "there already"),))
    return _planned(file, blocks.swap(file.data, block, lines, file.style))


def uninstall(file: File, take: Callable[[bytes, Block], bytes] | None = None, *, force: bool) -> Planned:
    """Take the block out, and remove the file if it was made for it; raises ExecplanError."""
    block = file.block
    if file.data is None or block is None:
        return Planned((_kept(file, "not installed"),))
    if block.edited and not force:
        raise ExecplanError(
            "edited-block",
            f"{file.shown}: the block of execplan was edited by hand; nothing was written",
            exit=NO,
            hint=f"move out of it what is to stay, then: execplan uninstall {file.what} --force",
        )
    rest = take(file.data, block) if take else blocks.take(file.data, block, file.style)
    if is_made(block) and rest == file.head:
        folders = block.note.removeprefix(_MADE).strip()
        return _planned(file, None, int(folders) if folders.isdigit() else 0)
    return _planned(file, rest)


def is_made(block: Block | None) -> bool:
    """Whether the file of a block was made for it."""
    return block is not None and block.note.split(" ")[0] == _MADE


def _planned(file: File, new: bytes | None, folders: int = 0) -> Planned:
    change = Change(file.what, file.path, file.data, new, executable=file.executable, folders=folders)
    return Planned((change,))


def _kept(file: File, why: str) -> Change:
    return Change(file.what, file.path, file.data, file.data, why)
