"""Blocks of lines managed by execplan in files: adding, finding and exactly removing them, and detecting edits."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from execplan.agents.integrations.integration_changes import (
    ALREADY_INSTALLED,
    EDITED_BY_HAND,
    ChangeSet,
    IntegrationChange,
    count_missing_directories,
)
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.text_lines import digest

_CREATED_NOTE = "made"


class ManagedFile(NamedTuple):
    """A file that may contain a managed block."""

    integration: str
    """Name of the integration that manages the block."""
    path: str
    display_path: str
    """Path as shown in messages."""
    data: bytes | None
    style: CommentStyle
    header: bytes = b""
    """Content above the block in a file that is created for it."""
    executable: bool = False

    @property
    def block(self) -> ManagedBlock | None:
        """Block in the file, or None. Raises ExecplanError if it is damaged."""
        return find_block(self.data or b"", self.style, self.display_path)


def plan_install(
    file: ManagedFile, lines: Sequence[str], insert_lines: Callable[[bytes], bytes], *, force: bool
) -> ChangeSet:
    """Plan to add the lines as a new block, or in place of those of the existing block. Raises ExecplanError.

    `insert_lines` adds them to an existing file without a block.
    """
    block = file.block
    if file.data is None:
        created_directories = count_missing_directories(os.path.realpath(file.path))
        note = f"{_CREATED_NOTE} {created_directories}" if created_directories else _CREATED_NOTE
        return _change_set(file, insert_block(file.header, len(file.header), lines, file.style, note=note))
    if block is None:
        return _change_set(file, insert_lines(file.data))
    if block.is_edited and not force:
        warning = (
            f"{file.display_path}: the execplan block was edited by hand and is kept; "
            f"to update it: execplan install {file.integration} --force"
        )
        return ChangeSet((_unchanged(file, EDITED_BY_HAND),), (warning,))
    if block.lines == tuple(lines) and not block.is_edited:
        return ChangeSet((_unchanged(file, ALREADY_INSTALLED),))
    return _change_set(file, replace_block_lines(file.data, block, lines, file.style))


def plan_uninstall(
    file: ManagedFile, remove_lines: Callable[[bytes, ManagedBlock], bytes] | None = None, *, force: bool
) -> ChangeSet:
    """Plan to remove the block, and the file if it was created for it. Raises ExecplanError."""
    block = file.block
    if file.data is None or block is None:
        return ChangeSet((_unchanged(file, "not installed"),))
    if block.is_edited and not force:
        raise ExecplanError(
            "edited-block",
            f"{file.display_path}: the execplan block was edited by hand; nothing was written",
            hint=f"move what you want to keep out of it, then: execplan uninstall {file.integration} --force",
        )
    remaining = remove_lines(file.data, block) if remove_lines else remove_block(file.data, block, file.style)
    if is_file_created(block) and remaining == file.header:
        created_directories = block.note.removeprefix(_CREATED_NOTE).strip()
        return _change_set(file, None, int(created_directories) if created_directories.isdigit() else 0)
    return _change_set(file, remaining)


def is_file_created(block: ManagedBlock | None) -> bool:
    """Check whether the file was created for the block."""
    return block is not None and block.note.split(" ")[0] == _CREATED_NOTE


def _change_set(file: ManagedFile, new: bytes | None, created_directories: int = 0) -> ChangeSet:
    change = IntegrationChange(
        file.integration, file.path, file.data, new, executable=file.executable, created_directories=created_directories
    )
    return ChangeSet((change,))


def _unchanged(file: ManagedFile, reason: str) -> IntegrationChange:
    return IntegrationChange(file.integration, file.path, file.data, file.data, reason)


_BOM = b"\xef\xbb\xbf"
_LINE_ENDS = (b"\r\n", b"\n", b"\r")


class CommentStyle(NamedTuple):
    """The comment syntax of a file, and whether a blank line precedes the block."""

    prefix: str
    suffix: str
    has_blank_line_above: bool = False

    def begin_marker(self, details: str = "") -> bytes:
        """Return the line above the block; without details, only its beginning."""
        return f"{self.prefix}execplan:begin {details}{self.suffix if details else ''}".encode()

    @property
    def end_marker(self) -> bytes:
        """Line below the block."""
        return f"{self.prefix}execplan:end{self.suffix}".encode()


MARKDOWN = CommentStyle("<!-- ", " -->", has_blank_line_above=True)
SHELL = CommentStyle("# ", "")
"""Comment style of shell scripts, YAML, and all other files whose comments start with a hash."""


class ManagedBlock(NamedTuple):
    """A managed block as found in a file."""

    start: int
    """Offset of the start of its first line, in bytes."""
    end: int
    """Offset of the end of its last line, before the line end."""
    indent: str
    note: str
    """Note after the digest in the line above the block."""
    lines: tuple[str, ...]
    """Lines of the block, without the indentation."""
    is_edited: bool
    """Whether the note or the lines differ from the installed ones."""


def find_block(data: bytes, style: CommentStyle, path: str) -> ManagedBlock | None:
    """Find the block in a file, or return None. Raises ExecplanError if its markers are damaged."""
    begin: tuple[int, int, bytes] | None = None
    block: ManagedBlock | None = None
    inside: list[bytes] = []
    offset = len(_BOM) if data.startswith(_BOM) else 0
    for number, line in enumerate(data[offset:].splitlines(keepends=True), 1):
        stripped = line.strip()
        if stripped.startswith(style.begin_marker()):
            if begin or block:
                raise _damaged_block_error(path, number, "a second execplan block begins here")
            begin, inside = (number, offset, line), []
        elif stripped == style.end_marker:
            if begin is None:
                raise _damaged_block_error(path, number, "an execplan block ends here without a beginning")
            block, begin = _parse_block(begin[1], offset + len(line.rstrip(b"\r\n")), begin[2], inside, style), None
        elif begin:
            inside.append(line.rstrip(b"\r\n"))
        offset += len(line)
    if begin:
        raise _damaged_block_error(path, begin[0], "the execplan block that begins here has no end")
    return block


def _parse_block(start: int, end: int, begin_line: bytes, inside: list[bytes], style: CommentStyle) -> ManagedBlock:
    marker, indent = begin_line.strip(), begin_line[: len(begin_line) - len(begin_line.lstrip(b" "))].decode()
    header = marker[len(style.begin_marker()) :].decode("utf-8", "surrogateescape").removesuffix(style.suffix)
    recorded_digest, _, note = header.partition(" ")
    lines = tuple([line.decode("utf-8", "surrogateescape").removeprefix(indent) for line in inside])
    return ManagedBlock(start, end, indent, note, lines, recorded_digest != _digest(note, lines))


def insert_block(
    data: bytes, offset: int, lines: Sequence[str], style: CommentStyle, *, note: str = "", indent: str = ""
) -> bytes:
    """Insert the block at the start of a line or at the end of the file; a missing final newline stays missing."""
    head, tail = data[:offset], data[offset:]
    line_end = _line_end(data)
    if line_end == b"\r" and tail.startswith(b"\n"):
        line_end = b"\n"  # together, the two would become one CRLF
    block = _render_block(lines, style, note, line_end, indent)
    blank = line_end if style.has_blank_line_above and head else b""
    if head.endswith(_LINE_ENDS) or not head:
        return head + blank + block + line_end + tail
    return head + line_end + blank + block + tail


def replace_block_lines(data: bytes, block: ManagedBlock, lines: Sequence[str], style: CommentStyle) -> bytes:
    """Replace the lines of the block in a file."""
    return (
        data[: block.start] + _render_block(lines, style, block.note, _line_end(data), block.indent) + data[block.end :]
    )


def replace_line_with_block(
    data: bytes, start: int, end: int, lines: Sequence[str], style: CommentStyle, note: str
) -> bytes:
    """Replace a line of a file with the block; its line end stays."""
    return data[:start] + _render_block(lines, style, note, _line_end(data)) + data[end:]


def remove_block(data: bytes, block: ManagedBlock, style: CommentStyle) -> bytes:
    """Remove the block from a file, as if it had never been added."""
    head, tail = data[: block.start], data[block.end :]
    if tail.startswith(_LINE_ENDS):
        trimmed_head = _strip_line_end(head)
        head = trimmed_head if style.has_blank_line_above and trimmed_head.endswith(_LINE_ENDS) else head
        return head + tail[2 if tail.startswith(b"\r\n") else 1 :]
    head = _strip_line_end(head)
    return (_strip_line_end(head) if style.has_blank_line_above else head) + tail


def restore_line(data: bytes, block: ManagedBlock, line: str) -> bytes:
    """Replace the block with a line, the reverse of `replace_line_with_block`."""
    return data[: block.start] + line.encode("utf-8", "surrogateescape") + data[block.end :]


def _render_block(lines: Sequence[str], style: CommentStyle, note: str, line_end: bytes, indent: str = "") -> bytes:
    begin_line = style.begin_marker(f"{_digest(note, lines)} {note}".rstrip())
    marked_lines = [begin_line, *[line.encode("utf-8", "surrogateescape") for line in lines], style.end_marker]
    return line_end.join([indent.encode() + line if line else line for line in marked_lines])


def _digest(note: str, lines: Sequence[str]) -> str:
    return digest("\n".join([note, *lines]).encode("utf-8", "surrogateescape"))[:16]


def _line_end(data: bytes) -> bytes:
    """Return the line end of the last line that has one."""
    lines = data.splitlines(keepends=True)
    ended = [line for line in lines[-2:] if line.endswith(_LINE_ENDS)]
    return ended[-1][len(ended[-1].rstrip(b"\r\n")) :] if ended else b"\n"


def _strip_line_end(data: bytes) -> bytes:
    """Remove a final line end."""
    return data[: -2 if data.endswith(b"\r\n") else -1] if data.endswith(_LINE_ENDS) else data


def _damaged_block_error(path: str, line: int, problem: str) -> ExecplanError:
    return ExecplanError(
        "damaged-block",
        f"{path}:{line}: {problem}",
        hint="repair the lines with execplan:begin and execplan:end: one of each, in this order, or none",
        line=line,
    )
