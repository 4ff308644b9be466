"""Detection of the tokens of known services by their prefixes; the rules are data, in secret_rules.toml.

This module uses no regular expressions, because `lint` reads plans with it.
"""

from __future__ import annotations

from execplan.named_tuple import NamedTuple
from execplan.secrets.secret_table import TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Secret(NamedTuple):
    """The kind of a secret and its span in a text, in characters."""

    kind: str
    start: int
    end: int


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
_SECRET_NAMES = (
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
"""Last parts of names, without separators, whose random values are certainly secrets."""
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
_CODE_CHARS = frozenset("<>{}()[]$./_*…")
"""Characters that occur in paths, names in code and placeholders."""
_WEAK_PARTS = ("passw", "changeme", "secret")
_MAX_WIDTH = 4096
_FIRST_LENGTH, _MAX_LENGTH = 256, 8192
"""Maximum number of characters of a run to compare, in the first attempt and in total."""
_MIN_TRUNCATED = 12
"""Minimum length after the prefix of a token that was cut off, or whose exact length is unknown."""
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
_SEPARATOR_TABLE = {ord(char): " " for char in "_-.+/=~"}
_RULE_INDEX: dict[str, list[tuple[str, str, str, int, int, bool, bool]]] = {}


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
    """Yield each position where a word has a token's prefix, with its rule; the index uses the first two characters."""
    data = source.encode("ascii", "replace").translate(_TOKEN_CHAR_TABLE)
    rule_index = _rule_index()
    index = data.find(_MIN_RUN)
    while index >= 0:
        run_end = data.find(b" ", index)
        run_end = len(source) if run_end < 0 else run_end
        char_before = source[index - 1] if index else ""
        starts = [index, index + 1] if char_before == "\\" else [index, index + 2] if char_before == "%" else [index]
        part_start = index
        for name_part in source[index:run_end].translate(_SEPARATOR_TABLE).split(" "):
            starts.append(part_start)
            part_start += len(name_part) + 1
        for prefix_start in starts[1:]:
            for service, prefix, char_set, min_length, max_length, is_test, is_vague in rule_index.get(
                source[prefix_start : prefix_start + 2], ()
            ):
                if source.startswith(prefix, prefix_start) and not (is_test and only_certain):
                    yield prefix_start, service, prefix, char_set, min_length, max_length, is_vague
        index = data.find(_MIN_RUN, run_end)


def _rule_index() -> dict[str, list[tuple[str, str, str, int, int, bool, bool]]]:
    """Return the rules by the first two characters of their prefixes, longest prefixes first."""
    if not _RULE_INDEX:
        for service, prefixes, char_set, min_length, max_length, is_test, is_vague in TOKENS:
            for prefix in prefixes:
                _RULE_INDEX.setdefault(prefix[:2], []).append(
                    (service, prefix, char_set, min_length, max_length, is_test, is_vague)
                )
        for rules in _RULE_INDEX.values():
            rules.sort(key=lambda rule: -len(rule[1]))
    return _RULE_INDEX


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
            and is_random(body)
            and (prefix != "eyJ" or body.count(".") in (2, 4))
        )
    required_length = min_length if len(prefix) < _MIN_DISTINCT_PREFIX else min(min_length, _MIN_TRUNCATED)
    return len(body) >= required_length and is_random_like(body)


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


def find_named_values(source: str, runs: Iterable[tuple[int, int]]) -> Iterator[Secret]:
    """Yield random values assigned to names of secrets, at the given runs of letters and digits."""
    previous_end = 0
    for run_start, run_end in runs:
        if run_start < previous_end:
            continue
        token_start, token_end = _token_span(source, run_start, run_end, previous_end)
        secret = _named_value(source, token_start, token_end)
        if secret is not None:
            yield secret
        previous_end = token_end


def _token_span(source: str, start: int, end: int, lower_limit: int) -> tuple[int, int]:
    """Return the span of the token that contains a run of letters and digits."""
    run_start = start
    while (
        start > lower_limit
        and run_start - start < _MAX_WIDTH
        and (source[start - 1].isalnum() or source[start - 1] in "_-.")
    ):
        start -= 1
    while end < len(source) and end - run_start < _MAX_WIDTH and (source[end].isalnum() or source[end] in "_-."):
        end += 1
    while source[end - 1] in "-.":
        end -= 1
    return start, end


def _named_value(source: str, start: int, end: int) -> Secret | None:
    """Return the value at a span if it is random and assigned to the name of a secret, or None."""
    value = source[start:end]
    if "." in value or "_" in value or not is_random(value):
        return None
    prefix = source[max(start - 40, 0) : start].rsplit("\n", maxsplit=1)[-1]
    name = prefix.rstrip(" \"'`:=")
    operator = prefix[len(name) :]
    bare_name = name.lower().replace("_", "").replace("-", "")
    if not bare_name.endswith(_SECRET_NAMES) or not (
        ":" in operator or "=" in operator or (bare_name.endswith("bearer") and operator == " ")
    ):
        return None
    case_count = any([char.islower() for char in value]) + any([char.isupper() for char in value])
    is_hex = len(value) >= 32 and not value.lower().strip(_HEX)
    if (case_count == 2 and sum([char.isdigit() for char in value]) >= 2) or is_hex:
        return Secret("secret", start, end)
    return None


def is_random(value: str) -> bool:
    """Return whether a value looks randomly generated: many different letters and digits, and no example."""
    lowered = value.lower()
    if any([example in lowered for example in _EXAMPLES]):
        return False
    has_digit = any([char.isdigit() for char in value])
    return has_digit and len(set(value)) >= min(10, len(value) // 2) and any([char.isalpha() for char in value])


def is_strong(value: str, min_length: int) -> bool:
    """Return whether a value is long enough, has uppercase, lowercase and digits, and is not code or an example."""
    if len(value) < min_length or not value.isascii() or not is_random(value) or not _CODE_CHARS.isdisjoint(value):
        return False
    is_mixed = any([char.islower() for char in value]) and any([char.isupper() for char in value])
    digit_count = sum([char.isdigit() for char in value])
    return is_mixed and digit_count > 1 and not any([weak_part in value.lower() for weak_part in _WEAK_PARTS])


def find_certain_keys(source: str, label: str) -> Iterator[Secret]:
    """Yield private keys, from the opening line to the closing one."""
    index = source.find(label)
    while index >= 0:
        label_end = index + len(label)
        start = source.rfind("-----BEGIN", max(index - 40, 0), index)
        body = source[label_end : label_end + 400].replace("\\n", " ").split()
        if start >= 0 and any([len(word) >= 40 and is_random(word) for word in body]):
            end = source.find("-----END", label_end)
            closing_end = source.find("-----", end + 8) if end >= 0 else -1
            yield Secret("private key", start, closing_end + 5 if closing_end >= 0 else label_end)
        index = source.find(label, label_end)


LOCAL_HOSTS = ("localhost", "127.", "0.0.0.0", "host.docker", "example.")  # noqa: S104 - a host that is named, not bound


def find_url_passwords(source: str) -> Iterator[Secret]:
    """Yield passwords in URLs of remote services: `scheme://name:password@host.of.it`."""
    index = source.find("://")
    while index >= 0:
        login_start = index + 3
        at_sign = source.find("@", login_start, login_start + 200)
        login = source[login_start:at_sign] if at_sign >= 0 else ""
        name, colon, password = login.partition(":")
        if colon and name.isascii() and not any([char in " \n/<>{}$()[]`\"'*" for char in login]):
            host = source[at_sign + 1 : at_sign + 80].split("/", maxsplit=1)[0].split()
            is_remote = bool(host) and password != name and not any([local in host[0] for local in LOCAL_HOSTS])
            is_public_host = is_remote and "." in host[0]
            if (is_remote and is_strong(password, 12)) or (
                is_public_host and len(password) >= 8 and is_random(password)
            ):
                yield Secret("password", login_start + len(name) + 1, at_sign)
        index = source.find("://", login_start)
