"""Fast-loading JSON reader and writer, made of the C parts of `json` without the modules that it imports.

It also has the rules for numbers and nesting, which `strict_json` applies with positions. Importing `json` takes seven milliseconds, nearly all of it for `re`, which only its pure-Python reader needs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Final

MAX_DEPTH: Final = 64
MAX_DIGITS: Final = 19
"""Maximum number of digits of an integer, enough for 64 bits."""
_MAX_NUMBER_LENGTH: Final = 64
_MAX_QUOTED: Final = 60
"""Maximum characters of a key that a message quotes."""
_WHITESPACE: Final = " \t\n\r"


def read(text: str, *, allow_surrogates: bool = False) -> Any:
    """Parse an unambiguous JSON text; raises ValueError if it is not one, RecursionError for extreme nesting.

    Errors include duplicate keys, non-finite and too large numbers, text after the end, too deep nesting, and lone
    surrogates, unless `allow_surrogates` permits them for the bytes of a path that is not UTF-8.
    """
    stripped = text.strip(_WHITESPACE)
    try:
        value, end = _make_scanner()(stripped, 0)
    except StopIteration:
        raise ValueError("it has no value") from None
    except SystemError:  # invalid JSON: the module of the error to raise is not loaded
        raise ValueError("it is incomplete or not JSON") from None
    if end != len(stripped):
        raise ValueError("it has text after its end")
    reject_surrogates = "\\u" in stripped and not allow_surrogates
    if reject_surrogates or stripped.count("[") + stripped.count("{") > MAX_DEPTH:
        _check_value(value, reject_surrogates=reject_surrogates)
    return value


def loads(data: str | bytes, *, parse_int: Callable[[str], object] | None = None) -> Any:
    """Parse JSON with the errors of the standard reader; raises ValueError, also for duplicate keys and NaN."""
    import json

    return json.loads(data, object_pairs_hook=_build_object, parse_constant=_reject_constant, parse_int=parse_int)


def write(value: object, *, has_spaces: bool = False) -> str:
    """Write a value in one line like `json.dumps`, with or without spaces; raises ValueError for unsupported values."""
    colon, comma = (": ", ", ") if has_spaces else (":", ",")
    try:
        from _json import encode_basestring, make_encoder
    except ImportError:  # a Python without the C modules
        from json import dumps

        return dumps(value, ensure_ascii=False, separators=(comma, colon), allow_nan=False)
    return "".join(
        make_encoder(None, _reject_value, encode_basestring, None, colon, comma, False, False, False)(value, 0)
    )


def _reject_value(value: object) -> object:
    raise ValueError(f"{type(value).__name__} is not a JSON type")


def _make_scanner() -> Any:
    """Return a function that parses the value at an index of a text, and returns it with its end."""
    try:
        from _json import make_scanner
    except ImportError:
        from json import JSONDecoder

        parser_options: dict[str, Any] = {
            "parse_int": parse_integer,
            "parse_float": parse_float,
            "parse_constant": _reject_constant,
        }
        decoder: Any = JSONDecoder(object_pairs_hook=_build_object, **parser_options)
        return decoder.scan_once
    context: Any = _ScannerContext
    return make_scanner(context)


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    json_object = dict(pairs)
    if len(json_object) < len(pairs):
        names = [name for name, _ in pairs]
        duplicate = next(name for name in json_object if names.count(name) > 1)
        raise ValueError(f"the key {duplicate[:_MAX_QUOTED]!r} occurs twice")
    return json_object


def parse_integer(text: str) -> int:
    """Convert an integer of JSON; raises ValueError if it has too many digits."""
    digits = len(text) - text.startswith("-")
    if digits > MAX_DIGITS:
        raise ValueError(f"an integer of {digits} digits; the maximum is {MAX_DIGITS}")
    return int(text)


def parse_float(text: str) -> float:
    """Convert a number of JSON with a fraction or an exponent; raises ValueError if it is too large or too long."""
    value = float(text) if len(text) <= _MAX_NUMBER_LENGTH else float("inf")
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number that is too large or too long")
    return value


def _reject_constant(text: str) -> float:
    raise ValueError(f"{text} is not a JSON number")


class _ScannerContext:
    """The parser options in the form that the C scanner expects."""

    strict = True
    object_hook = None
    array_hook = None
    object_pairs_hook = staticmethod(_build_object)
    parse_int = staticmethod(parse_integer)
    parse_float = staticmethod(parse_float)
    parse_constant = staticmethod(_reject_constant)
    memo: dict[str, str] = {}  # noqa: RUF012 - the reader looks for it, and nobody writes to it


def _check_value(value: object, *, reject_surrogates: bool) -> None:
    """Raise a ValueError for too deep nesting, or for a lone surrogate, which only an escape can produce."""
    level: list[object] = [value]
    for depth in range(MAX_DEPTH + 1):
        if reject_surrogates:
            for node in level:
                if isinstance(node, str):
                    node.encode()
                elif isinstance(node, dict):
                    "".join(node).encode()
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
            if reject_surrogates or depth == MAX_DEPTH or isinstance(child, dict | list)
        ]
        if not level:
            return
    raise ValueError(f"nested more than {MAX_DEPTH} levels deep")


def iter_texts(value: object) -> Iterator[str]:
    """Yield all strings in a JSON value, including the names of its objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, child in value.items():
            yield name
            yield from iter_texts(child)
    elif isinstance(value, (list, tuple)):
        for child in value:
            yield from iter_texts(child)
