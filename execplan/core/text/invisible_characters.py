"""Detection and escaping of invisible characters and direction controls, except where a script needs them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

DIRECTION_CONTROLS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the text direction."""
_DIRECTION_MARKS = frozenset("\u061c\u200e\u200f")
"""Direction controls that right-to-left prose needs."""
_BLACK_FLAG = "\U0001f3f4"
_SELECTORS = frozenset([chr(code) for code in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))])
"""Variation selectors, which choose the form of the character before them, such as an emoji, and do nothing alone."""
_INVISIBLE = _SELECTORS | frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Invisible characters that Python counts as printable."""


def may_have_hidden(text: str) -> bool:
    """Return whether a text may contain hidden characters; a fast check before `find_hidden`."""
    return not text.isprintable() or (not text.isascii() and not _INVISIBLE.isdisjoint(text))


def has_hidden(line: str) -> bool:
    """Return whether a line contains a hidden character."""
    return may_have_hidden(line) and bool(find_hidden(line))


def escape_unprintable(line: str) -> str:
    """Escape the characters of a line that are invisible, control a terminal or can't be encoded.

    All text from other sources is printed through this function. A newline is escaped too, so that a name stays on its
    line.
    """
    if not may_have_hidden(line):
        return line
    text = replace_hidden(line, lambda run: ascii(run)[1:-1])
    return text if text.isprintable() else "".join([_escape_unencodable(char) for char in text])


def _escape_unencodable(char: str) -> str:
    """Escape a character that no text should contain: a control, a lone surrogate, or an unassigned code point."""
    if char.isprintable() or char == "\t":
        return char
    from unicodedata import category

    return ascii(char)[1:-1] if category(char) in ("Cc", "Cn", "Co", "Cs", "Zl", "Zp") else char


def replace_hidden(line: str, escape: Callable[[str], str]) -> str:
    """Replace each run of hidden characters in a line with the result of a function."""
    pieces, copied_end = [], 0
    for start, end in find_hidden(line):
        pieces += [line[copied_end:start], escape(line[start:end])]
        copied_end = end
    return "".join([*pieces, line[copied_end:]])


def escape_unprintable_lines(text: str) -> str:
    """Escape a text of several lines for printing; the line ends stay unchanged."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "\n".join(
        [escape_unprintable(line.removesuffix("\r")) + "\r" * line.endswith("\r") for line in text.split("\n")]
    )


def find_hidden(line: str) -> list[tuple[int, int]]:
    """Return the spans of runs of hidden characters in a line."""
    runs: list[tuple[int, int]] = []
    has_right_to_left: bool | None = None
    in_flag_tags = False  # tags after a black flag select a regional flag
    for column, char in enumerate(line):
        if char in _INVISIBLE:
            is_hidden = _is_hidden_blank(char, line, column)
        elif char.isprintable():
            in_flag_tags = char == _BLACK_FLAG
            continue
        elif char in _DIRECTION_MARKS:
            if has_right_to_left is None:
                has_right_to_left = any(["\u0590" <= other <= "\u08ff" and other != "\u061c" for other in line])
            is_hidden = not has_right_to_left
        elif in_flag_tags and "\U000e0020" <= char <= "\U000e007f":
            is_hidden = False
        else:
            is_hidden = _is_hidden(char, line[column - 1] if column else "", line[column + 1 : column + 2])
        if is_hidden and runs and runs[-1][1] == column:
            runs[-1] = runs[-1][0], column + 1
        elif is_hidden:
            runs.append((column, column + 1))
    return runs


def describe_characters(chars: str) -> str:
    """Describe characters as U+XXXX; a single one with its name."""
    if len(chars) > 1:
        return " ".join([f"U+{ord(char):04X}" for char in chars[:4]]) + (" …" if len(chars) > 4 else "")
    from unicodedata import name

    char_name = name(chars, "").lower()
    return f"U+{ord(chars):04X}" + (f" ({char_name})" if char_name else "")


def _is_hidden(char: str, before: str, after: str) -> bool:
    """Return whether an unprintable character is hidden between its neighbors without a purpose."""
    if char < "\u00a0":
        return char != "\t"
    if char in "\u200c\u200d":
        return not (_may_join(before) and _may_join(after))
    if char == "\u200b":
        return not (_is_unspaced_script(before) or _is_unspaced_script(after))
    if char == "\u180e":
        return not "\u1800" <= before <= "\u18af"
    return (
        char in "\u00ad\u2028\u2029\ufeff\U000e0001"
        or "\u202a" <= char <= "\u202e"
        or "\u2060" <= char <= "\u206f"
        or "\ufff9" <= char <= "\ufffb"
        or "\U000e0020" <= char <= "\U000e007f"
    )


def _is_hidden_blank(char: str, line: str, column: int) -> bool:
    """Return whether a printable character without a glyph is hidden at its position without a purpose."""
    before, after = line[column - 1] if column else "", line[column + 1 : column + 2]
    if char in _SELECTORS:
        is_key = before != "" and before in "0123456789#*" and after == "\u20e3"
        return not (is_key or before in "\u00a9\u00ae" or before >= "\u203c") or before in _INVISIBLE or not before
    if char == "\u2800":
        return not any(["\u2800" < other <= "\u28ff" for other in line])
    if char in "\u115f\u1160":
        return not any(["\u1100" <= other <= "\u11ff" and other not in "\u115f\u1160" for other in (before, after)])
    if char in "\u17b4\u17b5":
        return not any(["\u1780" <= other <= "\u17ff" for other in (before, after)])
    return char != "\u034f" or not _may_join(before)


def _may_join(char: str) -> bool:
    """Return whether a character may be next to a joiner: an emoji, or a letter of a script that joins letters."""
    return char >= "\u0590" and not "\u2000" <= char <= "\u206f"


def _is_unspaced_script(char: str) -> bool:
    """Return whether a letter is from a script without spaces: Thai, Lao, Tibetan, Burmese or Khmer."""
    return "\u0e00" <= char <= "\u109f" or "\u1780" <= char <= "\u17ff"
