"""Every secret in a text, for what leaves this machine or is kept: the strongest detector there is here.

`lint` and `evaluate` report only what is certain, with `execplan.text.secrets.find`. What is printed, sent or written down is
searched with this: by the beginnings of tokens, by names, by structures, and within base64; and once more as a terminal shows
the text. Tokens that a narrow window has wrapped are found as well.
"""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Final

from execplan.text import tokens
from execplan.text.assignments import find_assignments
from execplan.text.secret_keys import find_private_keys
from execplan.text.secret_structures import find_structures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

HIDDEN: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)?|[ -/]*[0-~])|[\u00ad\u200b-\u200d\u2060\ufeff]"
)
"""What a terminal does not show: colors, links, and characters without a width."""
_BASE64_RUN: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}")
_MAX_TAIL: Final = 2000
"""Characters at the end of a text that may have been cut off."""
_MAX_BASE64: Final = 1 << 16


def find_secret_spans(text: str) -> list[tuple[int, int]]:
    """Where secrets begin and end, in order; those that overlap are one."""
    return merge_spans([*find_in_plain_text(text), *_find_displayed(text), *_find_truncated(text)])


def merge_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order; those that overlap are one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def find_in_plain_text(text: str, *, include_encoded: bool = True) -> Iterator[tuple[int, int]]:
    """Where they are in a text as it is; they may overlap."""
    for secret in tokens.find_tokens(text, only_certain=False):
        yield secret.start, secret.end
    yield from find_private_keys(text)
    yield from find_assignments(text)
    yield from find_structures(text)
    if include_encoded:
        yield from _find_encoded(text)


def _find_truncated(text: str) -> Iterator[tuple[int, int]]:
    """Where they are if the text was cut off before what closes a structure at its end."""
    tail_start = text.find("\n", max(len(text) - _MAX_TAIL, 0)) + 1 if len(text) > _MAX_TAIL else 0
    tail = text[tail_start:]
    for closer in _possible_closers(tail, tail[tail.rfind("\n") + 1 :]):
        for span_start, span_end in find_structures(tail + closer):
            if span_start < len(tail):
                yield tail_start + span_start, tail_start + min(span_end, len(tail))


def _possible_closers(tail: str, line: str) -> list[str]:
    """What may have followed the end of a text, whose last line is given."""
    quotes = [quote for quote in "\"'`" if line.count(quote) % 2]
    closers = quotes + ([f"{quote})" for quote in (*quotes, "")] if line.count("(") > line.count(")") else [])
    if ">" in line:
        closers += ["/x>" if line.endswith("<") else "x>" if line.endswith("</") else "</x>"]
    if "://" in line or "/" in line[line.rfind(" ") :]:
        closers += ["a.b"] if line.endswith("@") else ["@a.b"]
    if line.lstrip().startswith("|"):
        closers += [" |"]
    return closers + ([f"{closer}\n}}" for closer in (*quotes, "")] if tail.count("{") > tail.count("}") else [])


def _find_displayed(text: str) -> Iterator[tuple[int, int]]:
    """Where they are for a reader on a terminal."""
    if HIDDEN.search(text) is not None:
        yield from find_ignoring(text, HIDDEN, find_in_plain_text)


def find_ignoring(
    text: str, pattern: re.Pattern[str], find: Callable[[str], Iterable[tuple[int, int]]]
) -> Iterator[tuple[int, int]]:
    """What is found in a text without what matches a pattern, at its places in the whole text."""
    from bisect import bisect_right

    pieces, piece_starts, offsets, index, kept_length = [], [0], [0], 0, 0
    for match in pattern.finditer(text):
        pieces.append(text[index : match.start()])
        kept_length += match.start() - index
        index = match.end()
        if piece_starts[-1] == kept_length:
            offsets[-1] = index - kept_length
        else:
            piece_starts.append(kept_length)
            offsets.append(index - kept_length)
    if not index:
        return
    pieces.append(text[index:])
    for start, end in find("".join(pieces)):
        span_start = start + offsets[bisect_right(piece_starts, start) - 1]
        span_last = end - 1 + offsets[bisect_right(piece_starts, end - 1) - 1]
        yield span_start, span_last + 1


def _find_encoded(text: str) -> Iterator[tuple[int, int]]:
    """Base64 of a text in which there is a secret."""
    for match in _BASE64_RUN.finditer(text):
        encoded = match[0].rstrip("=")
        if len(encoded) > _MAX_BASE64 or len(encoded) % 4 == 1:
            continue
        try:
            data = b64decode(encoded.replace("-", "+").replace("_", "/") + "=" * (-len(encoded) % 4), validate=True)
            decoded = data.decode("utf-8")
        except ValueError:
            continue
        if "".join(decoded.split()).isprintable() and any(True for _ in find_in_plain_text(decoded, include_encoded=False)):
            yield match.span()
