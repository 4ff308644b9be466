"""What a program prints, as it comes: cut into whole lines from which secrets are taken, also those over many lines."""

from __future__ import annotations

from execplan.text.redaction import KEY, KEY_BEGINS, KEY_ENDS, REDACTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.text.redaction import Redaction

_LONGEST = 1 << 16
"""Bytes of a line that are waited for."""
_OVERLAP = 1 << 12
"""Bytes at the end of such a line that are looked at again with what comes next: a secret may be cut there."""
_BEFORE = 1500
"""Characters before a line that may tell what is in it, such as `kind: Secret` or the name of a value on the next line."""
_KEY_BYTES = 1 << 15
"""Bytes for which the end of a private key is waited for."""
WINDOW = 1 << 13
"""Bytes at the beginning of what was cut out of the middle that may be the rest of a secret."""


class Flow:
    """One stream of a program."""

    def __init__(self, redaction: Redaction, *, cut: bool = False) -> None:
        """Begin; `cut`: what comes first was cut off from what was before it, and some of it is dropped."""
        self._redaction = redaction
        self._left = b""
        self._before = ""
        self._cut = cut

    def feed(self, data: bytes) -> list[str]:
        """The lines that are whole by now, without their ends; of a line without end, large pieces."""
        self._left += data
        if self._cut:
            if len(self._left) < WINDOW:
                return []
            self._begin()
        end = self._left.rfind(b"\n") + 1
        if len(self._left) - end > _LONGEST:
            return self._take(end) + self._piece()
        begin = _open_key(self._left[:end])
        return self._take(end if begin < 0 or end - begin > _KEY_BYTES else begin)

    def rest(self) -> list[str]:
        """What is left at the end."""
        if self._cut:
            self._begin()
        return self._take(len(self._left))

    def _begin(self) -> None:
        """Drop what may be the rest of a secret: the first line, and all before the end of a key."""
        self._cut = False
        window = self._left[:WINDOW]
        ends = window.find(KEY_ENDS)
        if ends >= 0 and KEY in window[ends : ends + 80] and KEY_BEGINS not in window[:ends]:
            self._left = self._left[window.index(KEY, ends) + len(KEY) :]
        else:
            line = window.find(b"\n") + 1
            self._left = self._left[line or WINDOW :]

    def _take(self, end: int) -> list[str]:
        """Lines out of the first bytes."""
        if not end:
            return []
        taken, self._left = self._left[:end], self._left[end:]
        begin = _open_key(taken)
        if begin < 0:
            return self._lines(taken)
        behind = taken[begin + _KEY_BYTES :].partition(b"\n")[2]
        return [*self._lines(taken[:begin]), REDACTED, *self._lines(behind)]

    def _lines(self, data: bytes) -> list[str]:
        if not data:
            return []
        raw = data.decode("utf-8", "backslashreplace")
        text = self._redaction.text(raw, self._before)
        last = (self._before + raw)[-_BEFORE:]
        self._before = last[last.find("\n") + 1 :] if len(last) == _BEFORE else last
        return text.removesuffix("\n").split("\n")

    def _piece(self) -> list[str]:
        """The first part of a line that is too long, cut where no secret is and between two characters."""
        cut = len(self._left) - _OVERLAP
        while cut and self._left[cut] & 0xC0 == 0x80:
            cut -= 1
        whole = self._left.decode("utf-8", "surrogateescape")
        at = len(self._left[:cut].decode("utf-8", "surrogateescape"))
        for start, end in self._redaction.spans(whole):
            if start < at < end:
                at = start or end
        self._left = whole[at:].encode("utf-8", "surrogateescape")
        return self._lines(whole[:at].encode("utf-8", "surrogateescape"))


def _open_key(data: bytes) -> int:
    """Where a private key begins that has no end yet; -1 for none."""
    begin = data.rfind(KEY_BEGINS)
    if begin < 0 or KEY not in data[begin : begin + 80]:
        return -1
    return -1 if data.find(KEY_ENDS, begin) >= 0 else begin
