"""A file with contents by name: they are appended, the last one with a name counts, and none is there twice.

A header line has the SHA-256 of a content, its size and its name; the content and a newline follow. Instead of a size,
`-` means that the content is there already. What a killed writer or a power failure has left incomplete at the end is
ignored, and overwritten by the next writer. A content that does not have its digest is refused.
"""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.text_lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Final

_MAX_HEADER: Final = 1 << 12
_MODE: Final = 0o600
_REMOVED: Final = "-"
"""Instead of a digest: there is no such content any more."""


class _Place(NamedTuple):
    """Where a content is."""

    sha256: str
    offset: int
    size: int


class _Index(NamedTuple):
    """What is in the file."""

    by_name: dict[str, _Place]
    by_digest: dict[str, _Place]
    end: int
    """The size without what is incomplete at the end."""


_NOTHING: Final = _Place(_REMOVED, 0, 0)


def keep(path: str, contents: Mapping[str, bytes | None]) -> None:
    """Keep contents by name; None means that there is no such content any more.

    The file is synced, unless the thread does that later. The caller is the only writer. Raises ExecplanError and leaves
    the file unchanged.
    """

    def encode(handle: int, index: _Index) -> bytes:
        return b"".join([_encode(handle, index, name, content) for name, content in contents.items()])

    _append(path, encode)


def keep_again(path: str, name: str, kept_name: str) -> bool:
    """Keep the content with a name under another one, too; return False if there is none. Raises ExecplanError."""
    places: list[_Place] = []

    def encode(handle: int, index: _Index) -> bytes:
        place = index.by_name.get(kept_name, _NOTHING)
        if place == _NOTHING:
            return b""
        places.append(place)
        return b"" if index.by_name.get(name) == place else _encode_header(name, place.sha256)

    _append(path, encode)
    return bool(places)


def read(path: str, name: str) -> bytes | None:
    """Return the last content with a name; None if there is none. Raises ExecplanError if it was altered."""
    try:
        handle = file_access.open_regular(path, os.O_RDONLY | file_access.NO_FOLLOW)
        try:
            place = _read_index(handle).by_name.get(name, _NOTHING)
            content = _read_content(handle, place)
        finally:
            os.close(handle)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise file_access.file_error(error, path, "read") from None
    if place == _NOTHING:
        return None
    if digest(content) != place.sha256:
        message = f"{name} in {path} was altered: another program has changed it"
        raise ExecplanError("backup-altered", message, hint="restore it from a copy of the disk")
    return content


def list_names(path: str) -> list[str]:
    """List the names of all contents, including those that are there no more. Raises ExecplanError."""
    try:
        handle = file_access.open_regular(path, os.O_RDONLY | file_access.NO_FOLLOW)
        try:
            return list(_read_index(handle).by_name)
        finally:
            os.close(handle)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise file_access.file_error(error, path, "read") from None


def _append(path: str, encode: Callable[[int, _Index], bytes]) -> None:
    """Append what a function returns to the complete contents, and sync it. Raises ExecplanError."""
    try:
        handle = file_access.open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | file_access.NO_FOLLOW, _MODE)
        try:
            index = _read_index(handle)
            data = encode(handle, index)
            if not data:
                return
            os.ftruncate(handle, index.end)
            try:
                file_access.write_all(handle, data)
                file_access.sync(handle)
            except OSError:
                os.ftruncate(handle, index.end)
                raise
        finally:
            os.close(handle)
        if not index.end:
            file_access.sync_path(os.path.dirname(path), together=True)
    except OSError as error:
        raise file_access.file_error(error, path, "write") from None


def _encode(handle: int, index: _Index, name: str, content: bytes | None) -> bytes:
    """Return what is to be appended to keep a content; nothing if it is the last one with its name."""
    sha256 = digest(content) if content is not None else _REMOVED
    place = index.by_digest.get(sha256)
    if place is None or _read_content(handle, place) != (content or b""):
        return b"%s%s\n" % (_encode_header(name, sha256, f"{len(content or b'')}"), content)
    return b"" if index.by_name.get(name, _NOTHING) == place else _encode_header(name, sha256)


def _encode_header(name: str, sha256: str, size: str = "-") -> bytes:
    return os.fsencode(f"{sha256} {size} {name}\n")


def _read_index(handle: int) -> _Index:
    """Read the headers of all complete contents. Raises OSError."""
    by_name: dict[str, _Place] = {}
    by_digest = {_REMOVED: _NOTHING}
    end, file_size = 0, os.fstat(handle).st_size
    while end < file_size:
        header, newline, _ = file_access.read_at(handle, _MAX_HEADER, end).partition(b"\n")
        sha256, size, name = [os.fsdecode(part) for part in (*header.split(b" ", 2), b"", b"", b"")[:3]]
        begin = end + len(header) + 1
        if not newline or not name or not (size.isdigit() or (size == "-" and sha256 in by_digest)):
            break
        if size.isdigit():
            if begin + int(size) >= file_size:
                break
            by_digest[sha256] = _Place(sha256, begin, int(size))
            begin += int(size) + 1
        by_name[name], end = by_digest[sha256], begin
    return _Index(by_name, by_digest, end)


def _read_content(handle: int, place: _Place) -> bytes:
    """Read the content at a place. Raises OSError."""
    chunks, offset, rest = [], place.offset, place.size
    while rest and (chunk := file_access.read_at(handle, rest, offset)):
        chunks.append(chunk)
        offset, rest = offset + len(chunk), rest - len(chunk)
    return b"".join(chunks)
