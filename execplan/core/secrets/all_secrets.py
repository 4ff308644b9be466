"""Detection of all secrets in a text that leaves this machine or is stored: the most thorough detector in this package.

`lint` and `evaluate` report only certain secrets, with `execplan.core.secrets.certain_secrets.find_secrets`. Text that is
printed, sent or written is searched with this module: by the prefixes of tokens, by names, by patterns, and within
base64, and once more in the form that a terminal displays. Tokens that a narrow window has wrapped are also found.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from execplan.core.secrets import service_tokens
from execplan.core.secrets.credential_patterns import all_needles, all_patterns
from execplan.core.secrets.secret_assignments import find_assignments
from execplan.core.secrets.secret_names import compile_pattern, is_placeholder

_CLUSTER_KIND: Final = r"(?mi)(?:^|[ \t>+{,-])\"?kind\"?:[ \t]*[\"']?Secret(?:List)?[\"']?[ \t]*(?:,|\}|$)"
_DATA_BLOCK: Final = r"(?m)^(?P<indent>[ \t>+-]*)\"?(?:data|stringData)\"?:[ \t]*\{?[ \t]*\n(?P<body>(?:(?P=indent)[ \t]+[^\n]*(?:\n|$)){1,400})"
_DATA_ENTRY: Final = r"(?m)^[ \t>+-]*\"?[\w.-]{1,200}\"?:[ \t]*[\"']?(?P<s>[^\s\"',|>][^\s\"',]{2,20000})"
_JSON_DATA: Final = r"\"(?:data|stringData)\"[ \t]*:\s{0,80}\{(?P<body>[^{}]{1,20000})\}"
_JSON_ENTRY: Final = r"\"[\w.-]{1,200}\"\s{0,80}:\s{0,80}\"(?P<s>[^\s\"]{3,20000})\""
_LOWER_ASCII: Final = {code: code + 32 for code in range(65, 91)}
_MAX_AFTER_NEEDLE: Final = 300
"""Number of characters after a needle that a credential may extend to."""
_MAX_DOCUMENT: Final = 20_000
"""Number of characters around `kind: Secret` in which to search for its data."""


def find_credentials(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets in the text that a credential pattern matches; they may overlap."""
    lowered = text.lower()
    lowered = lowered if len(lowered) == len(text) else text.translate(_LOWER_ASCII)
    present_needles = {needle for needle in all_needles() if needle in lowered}
    for needles, pattern, is_secret_match in all_patterns() if present_needles else ():  # short texts have none
        if present_needles.isdisjoint(needles):
            continue
        regex = compile_pattern(pattern)
        groups = [group for group in ("s", "d", "q", "b") if group in regex.groupindex]
        for region_start, region_end in find_needle_regions(lowered, needles):
            for match in regex.finditer(text, region_start, region_end):
                value_group = next((group for group in groups if match[group] is not None), "")
                if value_group and is_secret_match(match, match[value_group]):
                    yield match.span(value_group)
    if "secret" in lowered and "kind" in lowered:
        yield from _find_kubernetes_secrets(text)


def find_needle_regions(lowered: str, needles: Sequence[str]) -> list[tuple[int, int]]:
    """Return the regions around needles, merged and in order, or the whole text if there are no needles.

    A region contains whole lines: the needle's, the one before it, and at least `_MAX_AFTER_NEEDLE` characters after.
    """
    if not needles:
        return [(0, len(lowered))]
    regions: list[tuple[int, int]] = []
    for needle in needles:
        index = lowered.find(needle)
        while index >= 0:
            begin = lowered.rfind("\n", 0, max(lowered.rfind("\n", 0, index), 0)) + 1
            end = lowered.find("\n", index + _MAX_AFTER_NEEDLE)
            end = end if end >= 0 else len(lowered)
            regions.append((begin, end))
            index = lowered.find(needle, end)
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(regions):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, end))
    return merged


def _find_kubernetes_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield the values of a Kubernetes Secret, whatever their names."""
    document_end = -1
    for kind_line in compile_pattern(_CLUSTER_KIND).finditer(text):
        if kind_line.start() < document_end:
            continue
        document_start = max(
            text.rfind("\n---", max(kind_line.start() - _MAX_DOCUMENT, 0), kind_line.start()),
            kind_line.start() - _MAX_DOCUMENT,
            0,
        )
        separator = text.find("\n---", kind_line.end(), kind_line.end() + _MAX_DOCUMENT)
        document_end = separator if separator >= 0 else min(kind_line.end() + _MAX_DOCUMENT, len(text))
        for block, entry in ((_DATA_BLOCK, _DATA_ENTRY), (_JSON_DATA, _JSON_ENTRY)):
            entry_matches = [
                entry_match
                for data_match in compile_pattern(block).finditer(text, document_start, document_end)
                for entry_match in compile_pattern(entry).finditer(text, *data_match.span("body"))
            ]
            for entry_match in entry_matches:
                if not is_placeholder(entry_match["s"]) and not entry_match["s"].startswith(("$", "{{", "<")):
                    yield entry_match.span("s")


_LINE_JOIN: Final = r"(?:\\r|\\n|[ \t\r\n>|│#*+\"',\\])"
_BODY_LINE: Final = r"(?:[A-Za-z0-9+/]{16,}={0,2}|=[A-Za-z0-9+/]{4}(?![A-Za-z0-9+/])|[A-Za-z-]{4,20}: [^\n]{0,100}|[A-Za-z0-9+/]{2,}={1,2})"
_KEY_BEGIN: Final = r"-----BEGIN[ A-Z0-9_-]{0,60}PRIVATE KEY(?: BLOCK)?-----"
_KEY_BODY: Final = rf"(?:{_LINE_JOIN}{{1,16}}+{_BODY_LINE}){{0,400}}+(?:{_LINE_JOIN}{{0,16}}+[A-Za-z0-9+/]{{1,80}}={{0,2}}(?={_LINE_JOIN}{{1,16}}-----END))?"
_KEY_END: Final = rf"{_LINE_JOIN}{{0,16}}+-----END[ A-Z0-9_-]{{0,60}}PRIVATE KEY(?: BLOCK)?-----"
_KEY_WITHOUT_BEGIN: Final = (
    rf"(?:{_BODY_LINE}{_LINE_JOIN}{{1,16}}+){{1,400}}-----END[ A-Z0-9_-]{{0,60}}PRIVATE KEY(?: BLOCK)?-----"
)
_KEY_STARTS: Final = r"MII[\w+/]{3}IBA(?:AK|DAN)|MHcCAQEEI|MHQCAQEEI|MIGkAgEBBD|MIG[HI]AgEAMB[AM]|MC4CAQAwBQYDK2V[wx]BCIEI|b3BlbnNzaC1rZXktdjE"
"""Starts of the base64 of private keys: RSA, EC, PKCS #8, Ed25519 (RFC 5208, 5915, 8017, 8410), and those of OpenSSH."""
_KEY_WITHOUT_HEADER: Final = (
    rf"(?<![\w+/])(?:{_KEY_STARTS})[A-Za-z0-9+/]{{8,}}={{0,2}}(?:{_LINE_JOIN}{{1,16}}{_BODY_LINE}){{0,400}}"
)
_WINDOW: Final = 8192
_MIN_BODY: Final = 20


def find_private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of private keys, including their opening and closing lines if they have them."""
    for key_match in compile_pattern(_KEY_WITHOUT_HEADER).finditer(text):
        yield key_match.span()
    if "PRIVATE KEY" not in text:
        return
    previous_end = 0
    for begin in compile_pattern(_KEY_BEGIN).finditer(text):
        if begin.start() < previous_end:
            continue
        body = compile_pattern(_KEY_BODY).match(text, begin.end())
        end = body.end() if body is not None else begin.end()
        closing_line = compile_pattern(_KEY_END).match(text, end)
        if end - begin.end() >= _MIN_BODY:
            previous_end = closing_line.end() if closing_line is not None else end
            yield begin.start(), previous_end
    yield from _find_truncated_keys(text)


def _find_truncated_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of keys without their beginning, which was cut off."""
    index, previous_end = text.find("-----END"), 0
    while index >= 0:
        line, start = text[index : index + 100], max(index - _WINDOW, previous_end)
        previous_end = index
        if "PRIVATE KEY" in line and "-----BEGIN" not in text[start:index]:
            key_match = compile_pattern(_KEY_WITHOUT_BEGIN).search(text, start, min(index + 100, len(text)))
            if key_match is not None:
                yield key_match.span()
        index = text.find("-----END", index + 8)


HIDDEN: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)?|[ -/]*[0-~])|[\u00ad\u200b-\u200d\u2060\ufeff]"
)
"""Pattern of text that a terminal does not display: colors, links, and zero-width characters."""
_HUNK: Final = re.compile(r"^@@ -\d", re.MULTILINE)
_DIFF_SIGN: Final = re.compile(r"^[+ -]", re.MULTILINE)
"""Sign before each line of a diff, which would hide that a secret is at the start of a line."""
_BASE64_RUN: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}")
_MAX_TAIL: Final = 2000
"""Number of characters at the end of a text to check for a truncated credential."""
_MAX_BASE64: Final = 1 << 16


def find_secret_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of all secrets in order, with overlapping ones merged."""
    return merge_spans([*find_in_plain_text(text), *_find_displayed(text), *_find_truncated(text)])


def merge_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort spans and merge those that overlap."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def find_in_plain_text(text: str, *, include_encoded: bool = True) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets in a text as it is; they may overlap."""
    for secret in service_tokens.find_tokens(text, only_certain=False):
        yield secret.start, secret.end
    yield from find_private_keys(text)
    yield from find_assignments(text)
    yield from find_credentials(text)
    if include_encoded:
        yield from _find_encoded(text)


def _find_truncated(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets at the end of a text that was cut off before a quote or bracket was closed."""
    tail_start = text.find("\n", max(len(text) - _MAX_TAIL, 0)) + 1 if len(text) > _MAX_TAIL else 0
    tail = text[tail_start:]
    for closer in _possible_closers(tail, tail[tail.rfind("\n") + 1 :]):
        for span_start, span_end in find_credentials(tail + closer):
            if span_start < len(tail):
                yield tail_start + span_start, tail_start + min(span_end, len(tail))


def _possible_closers(tail: str, line: str) -> list[str]:
    """Return possible endings of a truncated text, given its last line."""
    quotes = [quote for quote in "\"'`" if line.count(quote) % 2]
    closers = quotes + ([f"{quote})" for quote in (*quotes, "")] if line.count("(") > line.count(")") else [])
    if ">" in line:
        if line.endswith("<"):
            closers.append("/x>")
        else:
            closers.append("x>" if line.endswith("</") else "</x>")
    if "://" in line or "/" in line[line.rfind(" ") :]:
        closers += ["a.b"] if line.endswith("@") else ["@a.b"]
    if line.lstrip().startswith("|"):
        closers += [" |"]
    return closers + ([f"{closer}\n}}" for closer in (*quotes, "")] if tail.count("{") > tail.count("}") else [])


def _find_displayed(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets that a terminal displays without interruption, and those in the lines of a diff."""
    if HIDDEN.search(text) is not None:
        yield from find_ignoring(text, HIDDEN, find_in_plain_text)
    if _HUNK.search(text) is not None:
        yield from find_ignoring(text, _DIFF_SIGN, find_in_plain_text)


def find_ignoring(
    text: str, pattern: re.Pattern[str], find: Callable[[str], Iterable[tuple[int, int]]]
) -> Iterator[tuple[int, int]]:
    """Search a text without the parts that match a pattern, and yield the spans in the full text."""
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
    """Yield the spans of base64 text that contains a secret."""
    for match in _BASE64_RUN.finditer(text):
        encoded = match[0].rstrip("=")
        if len(encoded) > _MAX_BASE64 or len(encoded) % 4 == 1:
            continue
        try:
            data = b64decode(encoded.replace("-", "+").replace("_", "/") + "=" * (-len(encoded) % 4), validate=True)
            decoded = data.decode("utf-8")
        except ValueError:
            continue
        if "".join(decoded.split()).isprintable() and any(
            True for _ in find_in_plain_text(decoded, include_encoded=False)
        ):
            yield match.span()
