"""A text as lines that join back to the same bytes; LF, CRLF and CR end a line, nothing else does."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BOM = "\ufeff"


class Text:
    """Lines without their ends, the end of each (`""` for a last line that has none) and whether a BOM came first."""

    __slots__ = ("bom", "ends", "lines", "tabs")

    def __init__(self, lines: list[str], ends: list[str], *, bom: bool = False, tabs: bool = True) -> None:
        self.lines = lines
        self.ends = ends
        self.bom = bom
        self.tabs = tabs

    @classmethod
    def from_str(cls, source: str) -> Text:
        """Cut decoded text into lines; a leading U+FEFF is taken for the byte order mark that it is."""
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
        """Decode UTF-8 and cut into lines; raises UnicodeDecodeError."""
        return cls.from_str(data.decode("utf-8"))

    def to_str(self) -> str:
        """The text as it was read, byte order mark included."""
        joined = "".join([piece for pair in zip(self.lines, self.ends, strict=True) for piece in pair])
        return BOM + joined if self.bom else joined

    def to_bytes(self) -> bytes:
        """The bytes as they were read."""
        return self.to_str().encode("utf-8")


def is_blank(line: str) -> bool:
    """Whether markdown takes a line for blank: spaces and tabs; other white space, such as VT or NBSP, is text."""
    return not line.strip(" \t")


def digest(data: bytes) -> str:
    """The 64 hex digits of the bytes' SHA-256."""
    return str(sha256_constructor()(data).hexdigest())


_sha256_cache: list[Any] = []


def sha256_constructor() -> Any:
    """What makes SHA-256 digests."""
    if not _sha256_cache:
        _sha256_cache.append(_load_sha256())
    return _sha256_cache[0]


def _load_sha256() -> Any:
    """SHA-256 of Python's own, under the name that the version gives it; hashlib loads OpenSSL, which takes 3 ms."""
    for module in ("_sha2", "_sha256", "hashlib"):
        try:
            return __import__(module).sha256
        except ImportError:
            continue
    raise ImportError("no SHA-256 in this Python")


def _split_mixed_lines(source: str) -> tuple[list[str], list[str]]:
    """Lines and ends of a text whose ends are mixed."""
    lines: list[str] = []
    ends: list[str] = []
    for raw in source.encode("utf-8").splitlines(keepends=True):
        line = raw.rstrip(b"\r\n")
        lines.append(line.decode("utf-8"))
        ends.append(raw[len(line) :].decode("ascii"))
    return lines, ends
