"""A block of lines of ours in somebody's file: put in, found, taken out to the byte; edits inside it are noticed."""

from __future__ import annotations

from execplan.errors import INPUT, ExecplanError
from execplan.record import NamedTuple
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_BOM = b"\xef\xbb\xbf"
_ENDS = (b"\r\n", b"\n", b"\r")


class Style(NamedTuple):
    """How a file writes comments, and whether a blank line stands above the block."""

    before: str
    after: str
    blank: bool = False

    def begin(self, rest: str = "") -> bytes:
        """The line above the block, or what it begins with."""
        return f"{self.before}execplan:begin {rest}{self.after if rest else ''}".encode()

    @property
    def end(self) -> bytes:
        """The line below the block."""
        return f"{self.before}execplan:end{self.after}".encode()


MARKDOWN = Style("<!-- ", " -->", blank=True)
SHELL = Style("# ", "")
"""Also YAML's, and that of any file whose comments begin with a hash."""


class Block(NamedTuple):
    """A block as it stands in a file."""

    start: int
    """Where its first line begins, in bytes."""
    end: int
    """Where its last line ends, before the line end."""
    indent: str
    note: str
    """What the line above it says behind the digest."""
    lines: tuple[str, ...]
    """What stands between, without the indent."""
    edited: bool
    """Whether note or lines are others than were put in."""


def find(data: bytes, style: Style, path: str) -> Block | None:
    """The block of a file, or None; raises ExecplanError when its markers are damaged."""
    begin: tuple[int, int, bytes] | None = None
    found: Block | None = None
    inside: list[bytes] = []
    at = len(_BOM) if data.startswith(_BOM) else 0
    for number, line in enumerate(data[at:].splitlines(keepends=True), 1):
        words = line.strip()
        if words.startswith(style.begin()):
            if begin or found:
                raise _damaged(path, number, "a second block of execplan begins here")
            begin, inside = (number, at, line), []
        elif words == style.end:
            if begin is None:
                raise _damaged(path, number, "a block of execplan ends here that has not begun")
            found, begin = _block(begin[1], at + len(line.rstrip(b"\r\n")), begin[2], inside, style), None
        elif begin:
            inside.append(line.rstrip(b"\r\n"))
        at += len(line)
    if begin:
        raise _damaged(path, begin[0], "the block of execplan that begins here has no end")
    return found


def _block(start: int, end: int, first: bytes, inside: list[bytes], style: Style) -> Block:
    head, indent = first.strip(), first[: len(first) - len(first.lstrip(b" "))].decode()
    about = head[len(style.begin()) :].decode("utf-8", "surrogateescape").removesuffix(style.after)
    said, _, note = about.partition(" ")
    lines = tuple([line.decode("utf-8", "surrogateescape").removeprefix(indent) for line in inside])
    return Block(start, end, indent, note, lines, said != _digest(note, lines))


def put(data: bytes, at: int, lines: Sequence[str], style: Style, *, note: str = "", indent: str = "") -> bytes:
    """The file with the block where a line begins, or at its end; a missing final newline stays missing."""
    head, tail = data[:at], data[at:]
    end = _line_end(data)
    if end == b"\r" and tail.startswith(b"\n"):
        end = b"\n"  # side by side the two would be one CRLF
    block = _written(lines, style, note, end, indent)
    blank = end if style.blank and head else b""
    if head.endswith(_ENDS) or not head:
        return head + blank + block + end + tail
    return head + end + blank + block + tail


def swap(data: bytes, block: Block, lines: Sequence[str], style: Style) -> bytes:
    """The file with other lines in its block."""
    return data[: block.start] + _written(lines, style, block.note, _line_end(data), block.indent) + data[block.end :]


def put_instead(data: bytes, start: int, end: int, lines: Sequence[str], style: Style, note: str) -> bytes:
    """The file with the block in place of a line, its line end apart."""
    return data[:start] + _written(lines, style, note, _line_end(data)) + data[end:]


def take(data: bytes, block: Block, style: Style) -> bytes:
    """The file as it would be if the block had never been put in."""
    head, tail = data[: block.start], data[block.end :]
    if tail.startswith(_ENDS):
        above = _unended(head)
        head = above if style.blank and above.endswith(_ENDS) else head
        return head + tail[2 if tail.startswith(b"\r\n") else 1 :]
    head = _unended(head)
    return (_unended(head) if style.blank else head) + tail


def take_back(data: bytes, block: Block, line: str) -> bytes:
    """The file with a line in place of its block, as `put_instead` found it."""
    return data[: block.start] + line.encode("utf-8", "surrogateescape") + data[block.end :]


def _written(lines: Sequence[str], style: Style, note: str, end: bytes, indent: str = "") -> bytes:
    begin = style.begin(f"{_digest(note, lines)} {note}".rstrip())
    bare = [begin, *[line.encode("utf-8", "surrogateescape") for line in lines], style.end]
    return end.join([indent.encode() + line if line else line for line in bare])


def _digest(note: str, lines: Sequence[str]) -> str:
    return digest("\n".join([note, *lines]).encode("utf-8", "surrogateescape"))[:16]


def _line_end(data: bytes) -> bytes:
    """How the last line ends that has an end."""
    lines = data.splitlines(keepends=True)
    ended = [line for line in lines[-2:] if line.endswith(_ENDS)]
    return ended[-1][len(ended[-1].rstrip(b"\r\n")) :] if ended else b"\n"


def _unended(data: bytes) -> bytes:
    """The bytes without the line end that they end with."""
    return data[: -2 if data.endswith(b"\r\n") else -1] if data.endswith(_ENDS) else data


def _damaged(path: str, line: int, what: str) -> ExecplanError:
    return ExecplanError(
        "damaged-block",
        f"{path}:{line}: {what}",
        exit=INPUT,
        hint="mend the lines that say execplan:begin and execplan:end: one of each, in this order, or none",
        line=line,
    )
