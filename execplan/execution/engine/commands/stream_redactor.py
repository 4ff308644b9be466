"""Redaction of a program's output as it arrives: complete lines without secrets, even secrets over several lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.secrets.redaction import KEY_BEGIN, KEY_END, KEY_LABEL, REDACTED

if TYPE_CHECKING:
    from execplan.core.secrets.redaction import Redactor

_MAX_LINE_BYTES = 1 << 16
"""Number of bytes after which an incomplete line is no longer awaited."""
_OVERLAP = 1 << 12
"""Bytes at the end of a long line that are checked again with the next data, as a secret may be split there."""
_CONTEXT_LENGTH = 1500
"""Number of previous characters that may identify a secret, such as `kind: Secret` or a name above a value."""
_KEY_BYTES = 1 << 15
"""Number of bytes for which the end of a private key is awaited."""
WINDOW = 1 << 13
"""Number of bytes after a cut that may be the rest of a secret."""


class StreamRedactor:
    """One output stream of a program, redacted line by line."""

    def __init__(self, redaction: Redactor, *, is_truncated: bool = False) -> None:
        """`is_truncated`: the start of the stream was cut off; drop the part that may be the rest of a secret."""
        self._redaction = redaction
        self._buffer = b""
        self._context = ""
        self._is_truncated = is_truncated

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that are complete by now, without newlines; of an overlong line, large parts."""
        self._buffer += data
        if self._is_truncated:
            if len(self._buffer) < WINDOW:
                return []
            self._skip_truncated_start()
        end = self._buffer.rfind(b"\n") + 1
        if len(self._buffer) - end > _MAX_LINE_BYTES:
            return self._consume(end) + self._take_long_line_start()
        begin = _find_open_key(self._buffer[:end])
        return self._consume(end if begin < 0 or end - begin > _KEY_BYTES else begin)

    def flush(self) -> list[str]:
        """Return the remaining lines at the end of the stream."""
        if self._is_truncated:
            self._skip_truncated_start()
        return self._consume(len(self._buffer))

    def _skip_truncated_start(self) -> None:
        """Drop what may be the rest of a secret: the first line, or everything up to the end of a key."""
        self._is_truncated = False
        window = self._buffer[:WINDOW]
        ends = window.find(KEY_END)
        if ends >= 0 and KEY_LABEL in window[ends : ends + 80] and KEY_BEGIN not in window[:ends]:
            self._buffer = self._buffer[window.index(KEY_LABEL, ends) + len(KEY_LABEL) :]
        else:
            line = window.find(b"\n") + 1
            self._buffer = self._buffer[line or WINDOW :]

    def _consume(self, end: int) -> list[str]:
        """Return the redacted lines from the first `end` bytes of the buffer."""
        if not end:
            return []
        chunk, self._buffer = self._buffer[:end], self._buffer[end:]
        begin = _find_open_key(chunk)
        if begin < 0:
            return self._redact_lines(chunk)
        remainder = chunk[begin + _KEY_BYTES :].partition(b"\n")[2]
        return [*self._redact_lines(chunk[:begin]), REDACTED, *self._redact_lines(remainder)]

    def _redact_lines(self, data: bytes) -> list[str]:
        if not data:
            return []
        raw = data.decode("utf-8", "backslashreplace")
        text = self._redaction.redact_text(raw, self._context)
        tail = (self._context + raw)[-_CONTEXT_LENGTH:]
        self._context = tail[tail.find("\n") + 1 :] if len(tail) == _CONTEXT_LENGTH else tail
        return text.removesuffix("\n").split("\n")

    def _take_long_line_start(self) -> list[str]:
        """Return the first part of an overlong line, split outside secrets and between characters."""
        limit = len(self._buffer) - _OVERLAP
        while limit and self._buffer[limit] & 0xC0 == 0x80:
            limit -= 1
        text = self._buffer.decode("utf-8", "surrogateescape")
        split_at = len(self._buffer[:limit].decode("utf-8", "surrogateescape"))
        for start, end in self._redaction.spans(text):
            if start < split_at < end:
                split_at = start or end
        self._buffer = text[split_at:].encode("utf-8", "surrogateescape")
        return self._redact_lines(text[:split_at].encode("utf-8", "surrogateescape"))


def _find_open_key(data: bytes) -> int:
    """Return the offset of a private key without an end; -1 if there is none."""
    begin = data.rfind(KEY_BEGIN)
    if begin < 0 or KEY_LABEL not in data[begin : begin + 80]:
        return -1
    return -1 if data.find(KEY_END, begin) >= 0 else begin
