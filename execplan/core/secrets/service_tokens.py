"""Detection of the tokens of known services by their prefixes; the rules are data, in secret_rules.toml.

This module uses no regular expressions, because `lint` reads plans with it.
"""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.secrets.secret_table import TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_MIN_VISIBLE_PASSWORD = 20
"""Minimum length of a password of which some characters may be shown."""
_VISIBLE_LENGTH = 4
"""Number of characters of a secret to show, so that the user can identify it."""


class Secret(NamedTuple):
    """The kind of a secret and its span in a text, in characters."""

    kind: str
    start: int
    end: int

    @property
    def visible_length(self) -> int:
        """How many characters of it may be shown: none of a short one that belongs to no known service."""
        is_short = self.kind in ("password", "secret") and self.end - self.start < _MIN_VISIBLE_PASSWORD
        return 0 if is_short else _VISIBLE_LENGTH


_LOWER, _CAPITALS, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
_HEX = "0123456789abcdef"
_ALNUM = _LOWER + _CAPITALS + _DIGITS
CHARACTER_SETS = {
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
"""Text that occurs in example tokens."""
_FIRST_LENGTH, _MAX_LENGTH = 256, 8192
"""Maximum number of characters of a run to compare, in the first attempt and in total."""
_MIN_TRUNCATED = 12
"""Minimum length after the prefix of a token that was cut off, or whose exact length is unknown."""
_MIN_RANDOM_LETTERS = 20
"""Minimum length of a token that has no digit."""
_LINE_ENDS = ("", "\n", "\r", "\\", '"', "'", "`")
_MIN_WRAPPED, _MAX_LINES = 8, 12
"""Minimum number of token characters on the first line, and maximum number of continuation lines."""
_MIN_LOOSE_PREFIX, _FIRST_WORD = 3, 6
"""Minimum prefix length, and length of the first word after it, for tokens with characters outside the rule."""
_SEPARATORS = frozenset("_-")
_MIN_DISTINCT_PREFIX = 5
"""Minimum length of a prefix that is unlike any word."""


_MIN_RUN = b"a" * 12
_TOKEN_CHAR_TABLE = bytes(
    [97 if (chr(code).isalnum() and code < 128) or chr(code) in "_-.+/=~" else 32 for code in range(256)]
)
"""Byte translation that turns token characters into runs."""
_DIGIT_TABLE = bytes([49 if 48 <= code <= 57 else 32 for code in range(256)])
"""Byte translation that turns each digit into a 1."""
_SEPARATOR_TABLE = {ord(char): " " for char in "_-.+/=~"}


def find_tokens(source: str, *, only_certain: bool = True) -> Iterator[Secret]:
    """Yield the tokens of known services; `only_certain` excludes test keys and tokens of unexpected length."""
    searched_ends: dict[str, int] = {}
    for index, service, prefix, char_set, min_length, max_length, is_vague in _find_prefixes(
        source, only_certain=only_certain
    ):
        start = index + len(prefix)
        if start < searched_ends.get(prefix, 0):
            continue  # inside a long run that was not a token
        size = _run_length(source, start, CHARACTER_SETS[char_set])
        if size > _FIRST_LENGTH:
            searched_ends[prefix] = start + size
        body = source[start : start + size].rstrip(".%")
        end = start + len(body)
        wrapped_end = 0 if only_certain else _wrapped_end(source, end, body, CHARACTER_SETS[char_set], min_length)
        if (
            not only_certain
            and not is_vague
            and not wrapped_end
            and len(prefix) >= _MIN_LOOSE_PREFIX
            and prefix[-1] in "_-"
        ):
            body, searched_length = _extend_loosely(source, start, body)
            end = start + len(body)
            if searched_length > _FIRST_LENGTH:
                searched_ends[prefix] = start + searched_length
        if wrapped_end or is_token(prefix, body, min_length, max_length, only_certain=only_certain or is_vague):
            yield Secret(service, index, wrapped_end or end)


def _extend_loosely(source: str, start: int, body: str) -> tuple[str, int]:
    """Extend the run after a prefix to all characters of a token, unless its first word looks like part of a name.

    Also return the number of characters searched.
    """
    if not _SEPARATORS.isdisjoint(source[start : start + _FIRST_WORD]):
        return body, 0
    size = _run_length(source, start, CHARACTER_SETS["word"])
    longer_body = source[start : start + size]
    first_length = min([at for at in (longer_body.find("_"), longer_body.find("-")) if at >= 0], default=size)
    if (
        size > len(body)
        and is_random_like(longer_body[:first_length] + "1")
        and any([char.isdigit() for char in longer_body])
    ):
        body = longer_body
    return body, size


def _find_prefixes(source: str, *, only_certain: bool) -> Iterator[tuple[int, str, str, str, int, int, bool]]:
    """Yield each position where a word has a token's prefix, with its rule."""
    encoded = source.encode("ascii", "replace")
    data, digits = encoded.translate(_TOKEN_CHAR_TABLE), encoded.translate(_DIGIT_TABLE)
    index = data.find(_MIN_RUN)
    while index >= 0:
        run_end = data.find(b" ", index)
        run_end = len(source) if run_end < 0 else run_end
        # a certain token has a digit or capitals; its characters are those of a run, and `%`
        if (
            only_certain
            and digits.find(b"1", index, run_end) < 0
            and source[run_end : run_end + 1] != "%"
            and source[index:run_end].islower()
        ):
            index = data.find(_MIN_RUN, run_end)
            continue
        char_before = source[index - 1] if index else ""
        if char_before == "\\":
            starts = [index, index + 1]
        elif char_before == "%":
            starts = [index, index + 2]
        else:
            starts = [index]
        part_start = index
        for name_part in source[index:run_end].translate(_SEPARATOR_TABLE).split(" "):
            starts.append(part_start)
            part_start += len(name_part) + 1
        for prefix_start in starts[1:]:
            for service, prefix, char_set, min_length, max_length, is_test, is_vague in TOKENS.get(
                source[prefix_start : prefix_start + 2], ()
            ):
                if source.startswith(prefix, prefix_start) and not (is_test and only_certain):
                    yield prefix_start, service, prefix, char_set, min_length, max_length, is_vague
        index = data.find(_MIN_RUN, run_end)


def _wrapped_end(source: str, end: int, body: str, char_set: str, min_length: int) -> int:
    """Return the end of a token that continues on the next lines, or 0 if it does not."""
    token_end = 0
    for _ in range(_MAX_LINES):
        if len(body) < _MIN_WRAPPED or source[end : end + 1] not in ("\n", "\\", "\r"):
            break
        if not source[end : end + 3].lstrip("\\\r").startswith("\n"):
            break
        line_start = source.find("\n", end) + 1
        indent = source[line_start : line_start + 40]
        line_start += len(indent) - len(indent.lstrip(" \t>|│"))
        size = _run_length(source, line_start, char_set)
        line_body, end = source[line_start : line_start + size], line_start + size
        if len(body) >= min_length and not (_is_continuation(line_body) and source[end : end + 1] in _LINE_ENDS):
            break
        body += line_body
        token_end = end if len(body) >= min_length and is_random(body) else token_end
    return token_end


def _is_continuation(text: str) -> bool:
    """Return whether text at the start of a line continues a token and is not a word."""
    return any([char.isdigit() for char in text]) or (
        text != text.lower() and text[1:] != text[1:].lower() and text != text.upper()
    )


def is_token(prefix: str, body: str, min_length: int, max_length: int, *, only_certain: bool) -> bool:
    """Return whether a prefix and the characters after it form a token."""
    if only_certain:
        return (
            min_length <= len(body) <= (max_length or len(body))
            and (is_random(body) or (prefix[-1] in "_-" and _is_random_letters(body)))
            and (prefix != "eyJ" or body.count(".") in (2, 4))
        )
    required_length = min_length if len(prefix) < _MIN_DISTINCT_PREFIX else min(min_length, _MIN_TRUNCATED)
    return len(body) >= required_length and is_random_like(body)


def _is_random_letters(text: str) -> bool:
    """Return whether a long text of letters has as many capitals as random letters have, and a name has not."""
    if len(text) < _MIN_RANDOM_LETTERS or not text.isalpha():
        return False
    capitals = sum([char.isupper() for char in text])
    return 3 <= 10 * capitals / len(text) <= 7 and not any([example in text.lower() for example in _EXAMPLES])


def is_random_like(text: str) -> bool:
    """Return whether a text may be random: varied letters and digits, and no placeholder."""
    lowered = text.lower()
    is_varied = len(set(text)) >= min(5, len(text) // 2)
    is_mixed = any([char.isdigit() for char in text]) or (
        text != lowered and text != text.upper() and len(text) >= 2 * _MIN_TRUNCATED
    )
    return (
        is_varied
        and is_mixed
        and not any([placeholder in lowered for placeholder in ("xxxx", "example", "your", "placeholder", "****")])
    )


def _run_length(source: str, start: int, char_set: str) -> int:
    """Return how many consecutive characters from a position belong to a set."""
    for limit in (_FIRST_LENGTH, _MAX_LENGTH):
        chunk = source[start : start + limit]
        size = len(chunk) - len(chunk.lstrip(char_set))
        if size < limit:
            break
    return size


def is_random(value: str) -> bool:
    """Return whether a value looks randomly generated: many different letters and digits, and no example."""
    lowered = value.lower()
    if any([example in lowered for example in _EXAMPLES]):
        return False
    has_digit = any([char.isdigit() for char in value])
    return has_digit and len(set(value)) >= min(10, len(value) // 2) and any([char.isalpha() for char in value])
