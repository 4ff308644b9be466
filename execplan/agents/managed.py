"""A file that holds a block of ours: the change that puts it in or renews it, and the one that takes it out."""

from __future__ import annotations

import os

from execplan.agents import block as blocks
from execplan.agents.change import Change, ChangeSet, count_missing_directories
from execplan.errors import CHECK_FAILED, ExecplanError
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.agents.block import Block, CommentStyle

_CREATED_NOTE = "made"


class ManagedFile(NamedTuple):
    """A file that may hold a block."""

    integration: str
    """The integration."""
    path: str
    display_path: str
    """The path as messages name it."""
    data: bytes | None
    style: CommentStyle
    header: bytes = b""
    """What stands above the block in a file that is made for it."""
    executable: bool = False

    @property
    def block(self) -> Block | None:
        """The block in the file; raises ExecplanError when it is damaged."""
        return blocks.find_block(self.data or b"", self.style, self.display_path)


def plan_install(file: ManagedFile, lines: Sequence[str], insert_lines: Callable[[bytes], bytes], *, force: bool) -> ChangeSet:
    """Put the lines into the file, anew or in place of what its block holds; raises ExecplanError.

    `insert_lines` puts them into a file that is there and holds no block.
    """
    block = file.block
    if file.data is None:
        created_directories = count_missing_directories(os.path.realpath(file.path))
        note = f"{_CREATED_NOTE} {created_directories}" if created_directories else _CREATED_NOTE
        return _change_set(file, blocks.insert_block(file.header, len(file.header), lines, file.style, note=note))
    if block is None:
        return _change_set(file, insert_lines(file.data))
    if block.is_edited and not force:
        warning = (
            f"{file.display_path}: the block of execplan was edited by hand and stays as it is; "
            f"for the text of today: execplan install {file.integration} --force"
        )
        return ChangeSet((_unchanged(file, "edited by hand"),), (warning,))
    if block.lines == tuple(lines) and not block.is_edited:
        return ChangeSet((_unchanged(file, "there already"),))
    return _change_set(file, blocks.replace_block_lines(file.data, block, lines, file.style))


def plan_uninstall(file: ManagedFile, remove_lines: Callable[[bytes, Block], bytes] | None = None, *, force: bool) -> ChangeSet:
    """Take the block out, and remove the file if it was made for it; raises ExecplanError."""
    block = file.block
    if file.data is None or block is None:
        return ChangeSet((_unchanged(file, "not installed"),))
    if block.is_edited and not force:
        raise ExecplanError(
            "edited-block",
            f"{file.display_path}: the block of execplan was edited by hand; nothing was written",
            exit=CHECK_FAILED,
            hint=f"move out of it what is to stay, then: execplan uninstall {file.integration} --force",
        )
    remaining = remove_lines(file.data, block) if remove_lines else blocks.remove_block(file.data, block, file.style)
    if is_file_created(block) and remaining == file.header:
        created_directories = block.note.removeprefix(_CREATED_NOTE).strip()
        return _change_set(file, None, int(created_directories) if created_directories.isdigit() else 0)
    return _change_set(file, remaining)


def is_file_created(block: Block | None) -> bool:
    """Whether the file of a block was made for it."""
    return block is not None and block.note.split(" ")[0] == _CREATED_NOTE


def _change_set(file: ManagedFile, new: bytes | None, created_directories: int = 0) -> ChangeSet:
    change = Change(file.integration, file.path, file.data, new, executable=file.executable, created_directories=created_directories)
    return ChangeSet((change,))


def _unchanged(file: ManagedFile, reason: str) -> Change:
    return Change(file.integration, file.path, file.data, file.data, reason)
