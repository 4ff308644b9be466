"""JSON for those who start in no time: the readers and writers that `json` itself is made of, without what it loads beside them.

`json` costs a process seven milliseconds, nearly all of it for `re`, which only its reader for other Pythons needs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

DEPTH: Final = 64
DIGITS: Final = 19
"""Of an integer: as many as 64 bits take."""
_SPACE: Final = " \t\n\r"


def read(text: str, *, halves: bool = False) -> Any:
    """The value of a text that means one thing only; raises ValueError for any other, RecursionError where it is nested too deep.

    Refused are equal keys, numbers that are none or too large, what follows the end, and halves of surrogate pairs, unless they
    may stand for the bytes of a path that is no UTF-8.
    """
    bare = text.strip(_SPACE)
    try:
        value, end = _reader()(bare, 0)
    except StopIteration:
        raise ValueError("no value stands there") from None
    if end != len(bare):
        raise ValueError("something follows its end")
    _check(value, whole="\\u" in bare and not halves)
    return value


def write(value: object, *, sort: bool = False) -> str:
    """A value in one line, without spaces, as `json.dumps` writes it; raises ValueError for a number that JSON has not."""
    try:
        from _json import encode_basestring, make_encoder
    except ImportError:  # a Python that is not written in C
        from json import dumps

        return dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort, allow_nan=False)
    return "".join(make_encoder(None, _no_json, encode_basestring, None, ":", ",", sort, False, False)(value, 0))


def _no_json(value: object) -> object:
    raise ValueError(f"{type(value).__name__} is nothing that JSON has")


def _reader() -> Callable[[str, int], tuple[Any, int]]:
    try:
        from _json import make_scanner
    except ImportError:
        from json import JSONDecoder

        return JSONDecoder(
            object_pairs_hook=_pairs, parse_int=_whole, parse_float=_float, parse_constant=_constant
        ).scan_once
    found: Callable[[str, int], tuple[Any, int]] = make_scanner(_Context)
    return found


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands there twice")
    return made


def _whole(digits: str) -> int:
    if len(digits) > DIGITS + 1:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


def _float(said: str) -> float:
    value = float(said) if len(said) <= 64 else float("inf")
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number that is too large or too long")
    return value


def _constant(said: str) -> float:
    raise ValueError(f"{said} is no number of JSON")


class _Context:
    """What a reader is told of how to read."""

    strict = True
    object_hook = None
    array_hook = None
    object_pairs_hook = staticmethod(_pairs)
    parse_int = staticmethod(_whole)
    parse_float = staticmethod(_float)
    parse_constant = staticmethod(_constant)
    memo: dict[str, str] = {}  # noqa: RUF012 - the reader looks for it, and nobody writes to it


def _check(value: object, *, whole: bool) -> None:
    """Refuse what is nested too deep, and text with half of a surrogate pair, which only an escape can make."""
    level: list[object] = [value]
    for _ in range(DEPTH + 1):
        if whole:
            for each in level:
                if isinstance(each, str):
                    each.encode()
                elif isinstance(each, dict):
                    "".join(each).encode()
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return
    raise ValueError(f"nested deeper than {DEPTH}")
