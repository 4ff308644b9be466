"""Tokens of known services, found by how they begin; the rules are data, in secret_rules.toml.

Nothing here needs a regular expression, because `lint` reads plans with it.
"""

from __future__ import annotations

from execplan.record import NamedTuple
from execplan.text.secret_table import TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Secret(NamedTuple):
    """Where a secret is in a text, in characters, and what it is."""

    kind: str
    start: int
    end: int


_LOWER, _CAPITALS, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
_HEX = "0123456789abcdef"
_ALNUM = _LOWER + _CAPITALS + _DIGITS
CHARS = {
    "digits": _DIGITS,
    "hex": _HEX,
    "HEX": _HEX.upper(),
    "hexes": _HEX + "ABCDEF",
    "lower": _LOWER + _DIGITS,
    "upper": _CAPITALS + _DIGITS,
    "alnum": _ALNUM,
    "word": _ALNUM + "_-",
    "dotted": _ALNUM + "_-.",
    "base64": _ALNUM + "+/=",
    "any": _ALNUM + "_-.+/=%",
}
_NAMES = (
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "bearer",
)
"""The ends of names, without separators, whose random values are certainly secrets."""
_EXAMPLES = (
    "example",
    "xxxx",
    "****",
    "0000",
    "1234567",
    "abcdefg",
    "aaaa",
    "your",
    "placeholder",
    "redacted",
    "dummy",
    "fake",
)
"""What an example of a token contains."""
_CODE = frozenset("<>{}()[]$./_*…")
"""What a path, a name in code or a placeholder contains."""
_HOLLOW = ("passw", "changeme", "secret")
_WIDEST = 4096
_FIRST, _MOST = 256, 8192
"""Characters of a row that are compared at first, and at most."""
_CUT = 12
"""Characters after the beginning of a token that was cut off, or whose exact length is not known."""
_LINE_ENDS = ("", "\n", "\r", "\\", '"', "'", "`")
_WRAPPED, _LINES = 8, 12
"""Characters of a token on its first line, and lines that it goes on in."""
_LOOSE, _FIRST_WORD = 3, 6
"""Characters of a beginning, and of the first word after it, whose token may have other characters than the rule says."""
_SEPARATORS = frozenset("_-")
_DISTINCT = 5
"""Characters of a beginning that is unlike any word."""


_ROW = b"a" * 12
_JOINED = bytes([97 if (chr(code).isalnum() and code < 128) or chr(code) in "_-.+/=~" else 32 for code in range(256)])
"""What makes rows of the characters of tokens."""
_SPLIT = {ord(char): " " for char in "_-.+/=~"}
_INDEX: dict[str, list[tuple[str, str, str, int, int, bool, bool]]] = {}


def tokens(source: str, *, certain: bool = True) -> Iterator[Secret]:
    """Tokens of known services; with `certain`, no test keys and none of an unexpected length."""
    seen: dict[str, int] = {}
    for at, service, begin, chars, least, most, vague in _begun(source, certain=certain):
        start = at + len(begin)
        if start < seen.get(begin, 0):
            continue  # in a long row that made no token
        size = _run(source, start, CHARS[chars])
        if size > _FIRST:
            seen[begin] = start + size
        row = source[start : start + size].rstrip(".%")
        end = start + len(row)
        wrapped = 0 if certain else _wrapped(source, end, row, CHARS[chars], least)
        if not certain and not vague and not wrapped and len(begin) >= _LOOSE and begin[-1] in "_-":
            row, looked = _loose(source, start, row)
            end = start + len(row)
            if looked > _FIRST:
                seen[begin] = start + looked
        if wrapped or is_token(begin, row, least, most, certain=certain or vague):
            yield Secret(service, at, wrapped or end)


def _loose(source: str, start: int, row: str) -> tuple[str, int]:
    """The row after a beginning with all that may go on in it, unless its first word is one of a name.

    Also returns how many characters were looked at.
    """
    if not _SEPARATORS.isdisjoint(source[start : start + _FIRST_WORD]):
        return row, 0
    size = _run(source, start, CHARS["word"])
    more = source[start : start + size]
    first = min([at for at in (more.find("_"), more.find("-")) if at >= 0], default=size)
    if size > len(row) and is_drawn(more[:first] + "1") and any([char.isdigit() for char in more]):
        row = more
    return row, size


def _begun(source: str, *, certain: bool) -> Iterator[tuple[int, str, str, str, int, int, bool]]:
    """Where a word may begin a token, with its rule; the index is by the first two characters."""
    data = source.encode("ascii", "replace").translate(_JOINED)
    index = _index()
    at = data.find(_ROW)
    while at >= 0:
        stop = data.find(b" ", at)
        stop = len(source) if stop < 0 else stop
        before = source[at - 1] if at else ""
        places = [at, at + 1] if before == "\\" else [at, at + 2] if before == "%" else [at]
        part = at
        for word in source[at:stop].translate(_SPLIT).split(" "):
            places.append(part)
            part += len(word) + 1
        for place in places[1:]:
            for service, begin, chars, least, most, test, vague in index.get(source[place : place + 2], ()):
                if source.startswith(begin, place) and not (test and certain):
                    yield place, service, begin, chars, least, most, vague
        at = data.find(_ROW, stop)


def _index() -> dict[str, list[tuple[str, str, str, int, int, bool, bool]]]:
    """Every rule by the first two characters of its beginnings, the longest beginnings first."""
    if not _INDEX:
        for service, begins, chars, least, most, test, vague in TOKENS:
            for begin in begins:
                _INDEX.setdefault(begin[:2], []).append((service, begin, chars, least, most, test, vague))
        for rules in _INDEX.values():
            rules.sort(key=lambda rule: -len(rule[1]))
    return _INDEX


def _wrapped(source: str, end: int, row: str, chars: str, least: int) -> int:
    """Where a token ends that goes on in the next lines; 0 for one that does not."""
    last = 0
    for _ in range(_LINES):
        if len(row) < _WRAPPED or source[end : end + 1] not in ("\n", "\\", "\r"):
            break
        if not source[end : end + 3].lstrip("\\\r").startswith("\n"):
            break
        begin = source.find("\n", end) + 1
        indent = source[begin : begin + 40]
        begin += len(indent) - len(indent.lstrip(" \t>|│"))
        size = _run(source, begin, chars)
        more, end = source[begin : begin + size], begin + size
        if len(row) >= least and not (_goes_on(more) and source[end : end + 1] in _LINE_ENDS):
            break
        row += more
        last = end if len(row) >= least and is_random(row) else last
    return last


def _goes_on(row: str) -> bool:
    """Whether a row at the beginning of a line is the rest of a token, and no word."""
    return any([char.isdigit() for char in row]) or (
        row != row.lower() and row[1:] != row[1:].lower() and row != row.upper()
    )


def is_token(begin: str, row: str, least: int, most: int, *, certain: bool) -> bool:
    """Whether a row of characters after a beginning makes a token."""
    if certain:
        return (
            least <= len(row) <= (most or len(row)) and is_random(row) and (begin != "eyJ" or row.count(".") in (2, 4))
        )
    enough = least if len(begin) < _DISTINCT else min(least, _CUT)
    return len(row) >= enough and is_drawn(row)


def is_drawn(row: str) -> bool:
    """Whether a row may have been drawn by a machine: letters and digits of several kinds, and no placeholder."""
    folded = row.lower()
    varied = len(set(row)) >= min(5, len(row) // 2)
    mixed = any([char.isdigit() for char in row]) or (row != folded and row != row.upper() and len(row) >= 2 * _CUT)
    return varied and mixed and not any([word in folded for word in ("xxxx", "example", "your", "placeholder", "****")])


def _run(source: str, start: int, chars: str) -> int:
    """How many characters of a set follow each other from a place."""
    for most in (_FIRST, _MOST):
        row = source[start : start + most]
        size = len(row) - len(row.lstrip(chars))
        if size < most:
            break
    return size


def named(source: str, rows: Iterable[tuple[int, int]]) -> Iterator[Secret]:
    """Random values that are given to the name of a secret, around rows of letters and digits."""
    done = 0
    for at, end in rows:
        if at < done:
            continue
        start, stop = _token(source, at, end, done)
        secret = _given(source, start, stop)
        if secret is not None:
            yield secret
        done = stop


def _token(source: str, start: int, end: int, least: int) -> tuple[int, int]:
    """Where the token begins and ends that contains these letters and digits."""
    at = start
    while start > least and at - start < _WIDEST and (source[start - 1].isalnum() or source[start - 1] in "_-."):
        start -= 1
    while end < len(source) and end - at < _WIDEST and (source[end].isalnum() or source[end] in "_-."):
        end += 1
    while source[end - 1] in "-.":
        end -= 1
    return start, end


def _given(source: str, start: int, end: int) -> Secret | None:
    """The value between two places when it is given to the name of a secret."""
    value = source[start:end]
    if "." in value or "_" in value or not is_random(value):
        return None
    lead = source[max(start - 40, 0) : start].rsplit("\n", maxsplit=1)[-1]
    name = lead.rstrip(" \"'`:=")
    joint = lead[len(name) :]
    bare = name.lower().replace("_", "").replace("-", "")
    if not bare.endswith(_NAMES) or not (":" in joint or "=" in joint or (bare.endswith("bearer") and joint == " ")):
        return None
    kinds = any([char.islower() for char in value]) + any([char.isupper() for char in value])
    is_hex = len(value) >= 32 and not value.lower().strip(_HEX)
    if (kinds == 2 and sum([char.isdigit() for char in value]) >= 2) or is_hex:
        return Secret("secret", start, end)
    return None


def is_random(value: str) -> bool:
    """Whether a value was drawn by a machine, as far as can be told: letters and digits of many kinds, and no example."""
    folded = value.lower()
    if any([word in folded for word in _EXAMPLES]):
        return False
    digits = any([char.isdigit() for char in value])
    return digits and len(set(value)) >= min(10, len(value) // 2) and any([char.isalpha() for char in value])


def is_strong(value: str, least: int) -> bool:
    """Whether a value is so long, of capitals, small letters and digits, and no word of code or of an example."""
    if len(value) < least or not value.isascii() or not is_random(value) or not _CODE.isdisjoint(value):
        return False
    mixed = any([char.islower() for char in value]) and any([char.isupper() for char in value])
    digits = sum([char.isdigit() for char in value])
    return mixed and digits > 1 and not any([word in value.lower() for word in _HOLLOW])


def keys(source: str, key: str) -> Iterator[Secret]:
    """Private keys: the line that opens one, with what follows it."""
    at = source.find(key)
    while at >= 0:
        after = at + len(key)
        start = source.rfind("-----BEGIN", max(at - 40, 0), at)
        body = source[after : after + 400].replace("\\n", " ").split()
        if start >= 0 and any([len(word) >= 40 and is_random(word) for word in body]):
            end = source.find("-----END", after)
            stop = source.find("-----", end + 8) if end >= 0 else -1
            yield Secret("private key", start, stop + 5 if stop >= 0 else after)
        at = source.find(key, after)


LOCAL = ("localhost", "127.", "0.0.0.0", "host.docker", "example.")  # noqa: S104 - a host that is named, not bound


def urls(source: str) -> Iterator[Secret]:
    """Passwords in addresses of services elsewhere: `scheme://name:password@host.of.it`."""
    at = source.find("://")
    while at >= 0:
        begin = at + 3
        sign = source.find("@", begin, begin + 200)
        said = source[begin:sign] if sign >= 0 else ""
        name, colon, password = said.partition(":")
        if colon and name.isascii() and not any([char in " \n/<>{}$()[]`\"'*" for char in said]):
            host = source[sign + 1 : sign + 80].split("/", maxsplit=1)[0].split()
            away = bool(host) and password != name and not any([local in host[0] for local in LOCAL])
            far = away and "." in host[0]
            if (away and is_strong(password, 12)) or (far and len(password) >= 8 and is_random(password)):
                yield Secret("password", begin + len(name) + 1, sign)
        at = source.find("://", begin)
