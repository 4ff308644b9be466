"""Token counters: an estimate without dependencies, or an exact count if the extra `tokens` is installed."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Final

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple

ESTIMATE: Final = "estimate"
ENCODING: Final = "o200k_base"
"""Vocabulary of the exact counter, to which the estimate was fitted."""
_BINDINGS_MODULE: Final = "bpe_openai._bindings"

PAIR_WEIGHTS = {
    "a0": 2273,
    "as": 422,
    "an": 1094,
    "a.": 1083,
    "a_": 1184,
    "Aa": 706,
    "A0": 2015,
    "As": 601,
    "A.": 1457,
    "0.": 914,
    "sa": 541,
    "s0": 2187,
    "s.": 1425,
    "s_": 1790,
    "na": 1561,
    "nA": 1825,
    "ns": 1196,
    "n.": 1066,
    ".a": 506,
    ".0": 1513,
    "._": 1358,
    "aaaaa": 93,
    "aaaaaaaa": 120,
    "aaaaaaaaaaaaaaaa": 2434,
    "AAA": 817,
    "0000": 795,
    "..": 58,
}
"""Thousandths of a token for each occurrence of a sequence of character classes.

`a` is a lower-case letter, `A` an upper-case letter, `0` a digit, `s` a space, `n` a line break, `.` any other sign.
Fitted by `scripts/tokens.py --fit` to plans and code.
"""
NON_ASCII_WEIGHTS = {
    0x250: 510,  # Latin
    0x900: 459,  # Greek, Cyrillic, Arabic
    0x2000: 612,  # Indic, Thai
    0x2E80: 908,  # signs
    0xAC00: 895,  # Han, kana
    0xD7B0: 847,  # Hangul
    0x10000: 1224,
    0x110000: 1530,  # pictures
}
"""Thousandths of a token for a non-ASCII character, by the end of its range; signs, Han and Hangul are fitted, too."""


class Counter(NamedTuple):
    """Counter of the tokens in texts."""

    name: str
    exact: bool
    count: Callable[[str], int]
    """Function that returns the number of tokens in a text."""


def make_counter(exact: bool | None = None) -> Counter:
    """Return the exact counter if it is installed, else the estimate; `exact` requests one of them.

    Raises ExecplanError if the exact counter is requested and not installed.
    """
    if exact is False:
        return Counter(ESTIMATE, exact=False, count=estimate_tokens)
    try:
        count = _load_bindings().tokenizer_for_encoding(ENCODING).count
    except ImportError as error:
        if exact:
            message = "tokens can't be counted exactly here: bpe-openai is not installed"
            raise ExecplanError("no-tokenizer", message, hint=features.load(features.EXTRA_HINT)("tokens")) from error
        return Counter(ESTIMATE, exact=False, count=estimate_tokens)
    return Counter(ENCODING, exact=True, count=_tolerate_surrogates(count))


def _load_bindings() -> ModuleType:
    """Load only the compiled part of the package. Raises ImportError if it is missing.

    The package's public interface has no count, rejects texts of a million characters, and unpacks every vocabulary
    that it knows, which takes longer than all counting with one.
    """
    import sys
    from importlib import import_module
    from importlib.machinery import PathFinder
    from importlib.util import find_spec, module_from_spec

    if _BINDINGS_MODULE in sys.modules:
        return import_module(_BINDINGS_MODULE)
    package = find_spec(_BINDINGS_MODULE.partition(".")[0])
    spec = PathFinder.find_spec(_BINDINGS_MODULE, package.submodule_search_locations) if package is not None else None
    if spec is None or spec.loader is None:
        raise ImportError(_BINDINGS_MODULE)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[_BINDINGS_MODULE] = module  # where its package would have put it, if it is imported later
    return module


def _tolerate_surrogates(count: Callable[[str], int]) -> Callable[[str], int]:
    """Wrap a counter so that it accepts texts with unpaired surrogates."""
    return lambda text: count(text.encode("utf-8", "replace").decode())


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens in a text; rather too many than too few."""
    total = sum(
        [
            weight * pattern_count
            for weight, pattern_count in zip(PAIR_WEIGHTS.values(), count_patterns(text), strict=True)
        ]
    )
    if not text.isascii():
        from collections import Counter as Tally

        total += sum(
            [_char_weight(char) * pattern_count for char, pattern_count in Tally(_NON_ASCII.findall(text)).items()]
        )
    return max(-(-total // 1000), -(-len(text) // _MAX_TOKEN_CHARS))


_MAX_TOKEN_CHARS = 64
"""Maximum characters of a token, such as a run of spaces, which gives a lower bound for the tokens of a text."""
_NON_ASCII = re.compile(r"[^\x00-\x7f]")


def count_patterns(text: str) -> list[int]:
    """Count the occurrences of each sequence of `PAIR_WEIGHTS` in a text."""
    classes = text.replace("?", ".").encode("ascii", "replace").translate(_CLASSES) + _END_CLASS
    class_number = int.from_bytes(classes, "little")
    # Each byte combines a class and the next one: counting one byte takes a tenth of the time of counting two.
    pairs = ((class_number << 3) + (class_number >> 8)).to_bytes(len(classes) + 1, "little")
    return [(pairs if len(pattern) == 1 else classes).count(pattern) for pattern in _ENCODED_PATTERNS]


def _char_weight(char: str) -> int:
    """Return the weight of a non-ASCII character."""
    return next(weight for range_end, weight in NON_ASCII_WEIGHTS.items() if ord(char) < range_end)


def _char_class(code: int) -> str:
    """Return the class of a byte; `u` marks a non-ASCII character, which is counted separately."""
    char = chr(code)
    special_classes = {" ": "s", "\t": "s", "\n": "n", "\r": "n", "_": "_", "?": "u"}
    if char in special_classes:
        return special_classes[char]
    if code < 128 and char.isalnum():
        if char.isdigit():
            return "0"
        if char.isupper():
            return "A"
        return "a"
    return "."


_CLASS_ORDER: Final = "aA0sn._u"
_CLASSES = bytes([_CLASS_ORDER.index(_char_class(code)) for code in range(256)])
_END_CLASS = bytes([_CLASS_ORDER.index("u")])


def _encode_pattern(pattern: str) -> bytes:
    """Encode a sequence of `PAIR_WEIGHTS` for counting; a pair of two classes is one byte."""
    codes = [_CLASS_ORDER.index(symbol) for symbol in pattern]
    return bytes([8 * codes[0] + codes[1]] if len(set(codes)) == 2 else codes)


_ENCODED_PATTERNS = [_encode_pattern(pattern) for pattern in PAIR_WEIGHTS]
