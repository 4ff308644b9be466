"""What a program prints, as it comes: cut into whole lines from which secrets are taken, also those over many lines."""

from __future__ import annotations

from execplan.secrets.redaction import KEY_BEGIN, KEY_END, KEY_LABEL, REDACTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.secrets.redaction import Redactor

_MAX_LINE_BYTES = 1 << 16
"""Bytes of a line that are waited for."""
_OVERLAP = 1 << 12
"""Bytes at the end of such a line that are looked at again with what comes next: a secret may be cut there."""
_CONTEXT_LENGTH = 1500
"""Characters before a line that may tell what is in it, such as `kind: Secret` or the name of a value on the next line."""
_KEY_BYTES = 1 << 15
"""Bytes for which the end of a private key is waited for."""
WINDOW = 1 << 13
"""Bytes at the beginning of what was cut out of the middle that may be the rest of a secret."""


class StreamRedactor:
    """One stream of a program."""

    def __init__(self, redaction: Redactor, *, is_truncated: bool = False) -> None:
        """Begin; `is_truncated`: what comes first was cut off from what was before it, and some of it is dropped."""
        self._redaction = redaction
        self._buffer = b""
        self._context = ""
        self._is_truncated = is_truncated

    def feed(self, data: bytes) -> list[str]:
        """The lines that are whole by now, without their ends; of a line without end, large pieces."""
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
        """What is left at the end."""
        if self._is_truncated:
            self._skip_truncated_start()
        return self._consume(len(self._buffer))

    def _skip_truncated_start(self) -> None:
        """Drop what may be the rest of a secret: the first line, and all before the end of a key."""
        self._is_truncated = False
        window = self._buffer[:WINDOW]
        ends = window.find(KEY_END)
        if ends >= 0 and KEY_LABEL in window[ends : ends + 80] and KEY_BEGIN not in window[:ends]:
            self._buffer = self._buffer[window.index(KEY_LABEL, ends) + len(KEY_LABEL) :]
        else:
            line = window.find(b"\n") + 1
            self._buffer = self._buffer[line or WINDOW :]

    def _consume(self, end: int) -> list[str]:
        """Lines out of the first bytes."""
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
        """The first part of a line that is too long, cut where no secret is and between two characters."""
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
    """Where a private key begins that has no end yet; -1 for none."""
    begin = data.rfind(KEY_BEGIN)
    if begin < 0 or KEY_LABEL not in data[begin : begin + 80]:
        return -1
    return -1 if data.find(KEY_END, begin) >= 0 else begin
