"""A text as lines that join back to the same bytes, and edits of lines, the only way in which a text is changed.

Only LF, CRLF and CR end a line.
"""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_NO_TITLES: Mapping[str, str] = {}
BOM = "\ufeff"


class Text:
    """The lines of a text, their ends (`""` for a last line without one), and whether it has a byte order mark."""

    __slots__ = ("bom", "ends", "lines", "tabs", "titles")

    def __init__(self, lines: list[str], ends: list[str], *, bom: bool = False, tabs: bool = True) -> None:
        self.titles: Mapping[str, str] = _NO_TITLES
        """What titles of sections mean in the repository that the text is from, for its reader; edits keep it."""
        self.lines = lines
        self.ends = ends
        self.bom = bom
        self.tabs = tabs

    @classmethod
    def from_str(cls, source: str) -> Text:
        """Split decoded text into lines; a leading U+FEFF is a byte order mark."""
        bom = source.startswith(BOM)
        if bom:
            source = source[1:]
        tabs = "\t" in source
        carriage_returns = source.count("\r")
        if carriage_returns == 0:
            end = "\n"
        elif carriage_returns == source.count("\r\n") == source.count("\n"):
            end = "\r\n"
        else:
            lines, ends = _split_mixed_lines(source)
            return cls(lines, ends, bom=bom, tabs=tabs)
        lines = source.split(end)
        ends = [end] * len(lines)
        if lines[-1]:
            ends[-1] = ""
        else:
            lines.pop()
            ends.pop()
        return cls(lines, ends, bom=bom, tabs=tabs)

    @classmethod
    def from_bytes(cls, data: bytes) -> Text:
        """Decode UTF-8 and split it into lines; raises UnicodeDecodeError."""
        return cls.from_str(data.decode("utf-8"))

    def to_str(self) -> str:
        """Join the lines to the original text, including the byte order mark."""
        joined = "".join([piece for pair in zip(self.lines, self.ends, strict=True) for piece in pair])
        return BOM + joined if self.bom else joined

    def to_bytes(self) -> bytes:
        """Join the lines to the original bytes."""
        return self.to_str().encode("utf-8")


def is_blank(line: str) -> bool:
    """Return whether a line is blank in markdown: only spaces and tabs; other white space, like VT or NBSP, is text."""
    return not line.strip(" \t")


def digest(data: bytes) -> str:
    """Return the SHA-256 digest of some bytes as 64 hexadecimal digits."""
    return str(sha256_constructor()(data).hexdigest())


_sha256_cache: list[Any] = []


def sha256_constructor() -> Any:
    """Return the cached constructor for SHA-256 digests."""
    if not _sha256_cache:
        _sha256_cache.append(_load_sha256())
    return _sha256_cache[0]


def _load_sha256() -> Any:
    """Load Python's own SHA-256, whose module name depends on the version; hashlib loads OpenSSL, which takes 3 ms."""
    for module in ("_sha2", "_sha256", "hashlib"):
        try:
            return __import__(module).sha256
        except ImportError:
            continue
    raise ImportError("no SHA-256 in this Python")


def _split_mixed_lines(source: str) -> tuple[list[str], list[str]]:
    """Split a text with mixed line ends into lines and their ends."""
    lines: list[str] = []
    ends: list[str] = []
    for raw in source.encode("utf-8").splitlines(keepends=True):
        line = raw.rstrip(b"\r\n")
        lines.append(line.decode("utf-8"))
        ends.append(raw[len(line) :].decode("ascii"))
    return lines, ends


class Edit(NamedTuple):
    """A replacement of the lines from `start` to before `end`; an insertion if the two are equal."""

    start: int
    end: int
    lines: tuple[str, ...]
    ends: tuple[str, ...] | None = None
    """Line end of each new line; None to copy those of the surrounding lines."""


def apply_edits(text: Text, edits: Sequence[Edit]) -> Text:
    """Apply edits to a text; raises ValueError if two overlap.

    A new line gets the end of the line that it replaces, or of its neighbor; a missing final newline stays missing.
    """
    lines: list[str] = []
    ends: list[str] = []
    copied_end = 0
    for edit in sorted(edits, key=lambda edit: edit[:3]):
        if edit.start < copied_end or edit.end < edit.start or edit.end > len(text.lines):
            raise ValueError(f"edits overlap or are outside the text: {edit}")
        lines += text.lines[copied_end : edit.start]
        ends += text.ends[copied_end : edit.start]
        neighbor_end = _nearest_line_end(text, edit.start)
        old_ends = [end or neighbor_end for end in text.ends[edit.start : edit.end]][: len(edit.lines)]
        lines += edit.lines
        ends += old_ends + [neighbor_end] * (len(edit.lines) - len(old_ends)) if edit.ends is None else edit.ends
        copied_end = edit.end
    lines += text.lines[copied_end:]
    ends += text.ends[copied_end:]
    last_edit = max(edits, key=lambda edit: edit.end, default=None)
    new_ends = last_edit.ends if last_edit is not None and last_edit.end == len(text.lines) else None
    has_final_end = bool(new_ends[-1]) if new_ends else not text.ends or bool(text.ends[-1])
    for index in range(len(ends) - 1):
        if not ends[index]:
            ends[index] = _nearest_line_end(text, len(text.lines))
    if ends:
        ends[-1] = (ends[-1] or _nearest_line_end(text, len(text.lines))) if has_final_end else ""
    for index in range(1, len(ends)):
        if ends[index] == "\n" and not lines[index] and ends[index - 1] == "\r":
            ends[index] = "\r"  # CR and LF would join to one CRLF, and the empty line would be lost
    edited_text = Text(lines, ends, bom=text.bom)
    edited_text.titles = text.titles
    return edited_text


def _nearest_line_end(text: Text, index: int) -> str:
    """Return the end of the line above, or of the nearest line that has one."""
    for end in (*reversed(text.ends[max(index - 2, 0) : index]), *text.ends[index : index + 1]):
        if end:
            return end
    return "\n"
