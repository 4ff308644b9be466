"""Characters that can't be seen or that change the direction in which text is shown, where no script needs them."""

from __future__ import annotations

TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""What changes the direction."""
_MARKS = frozenset("\u061c\u200e\u200f")
"""Of these, those that right-to-left prose needs."""
_FLAG = "\U0001f3f4"


def hidden_in(line: str) -> list[tuple[int, int]]:
    """Where runs of such characters begin and end in a line."""
    runs: list[tuple[int, int]] = []
    right_to_left: bool | None = None
    tagged = False  # within the tags that make a flag of another
    for column, char in enumerate(line):
        if char.isprintable():
            tagged = char == _FLAG
            continue
        if char in _MARKS:
            if right_to_left is None:
                right_to_left = any(["\u0590" <= each <= "\u08ff" and each != "\u061c" for each in line])
            hides = not right_to_left
        elif tagged and "\U000e0020" <= char <= "\U000e007f":
            hides = False
        else:
            hides = _hides(char, line[column - 1] if column else "", line[column + 1 : column + 2])
        if hides and runs and runs[-1][1] == column:
            runs[-1] = runs[-1][0], column + 1
        elif hides:
            runs.append((column, column + 1))
    return runs


def shown(chars: str) -> str:
    """The characters as U+XXXX, one alone with its name."""
    if len(chars) > 1:
        return " ".join([f"U+{ord(char):04X}" for char in chars[:4]]) + (" …" if len(chars) > 4 else "")
    from unicodedata import name

    called = name(chars, "").lower()
    return f"U+{ord(chars):04X}" + (f" ({called})" if called else "")


def _hides(char: str, before: str, after: str) -> bool:
    """Whether a character that is not printable hides something between its neighbours."""
    if char < "\u00a0":
        return char != "\t"
    if char in "\u200c\u200d":
        return not (_joins(before) and _joins(after))
    if char == "\u200b":
        return not (_unspaced(before) or _unspaced(after))
    if char == "\u180e":
        return not "\u1800" <= before <= "\u18af"
    return (
        char in "\u00ad\u2028\u2029\ufeff\U000e0001"
        or "\u202a" <= char <= "\u202e"
        or "\u2060" <= char <= "\u206f"
        or "\ufff9" <= char <= "\ufffb"
        or "\U000e0020" <= char <= "\U000e007f"
    )


def _joins(char: str) -> bool:
    """Whether a character may stand beside a joiner: of an emoji, or of a script that joins its letters."""
    return char >= "\u0590" and not "\u2000" <= char <= "\u206f"


def _unspaced(char: str) -> bool:
    """Whether a letter is of a script without spaces: Thai, Lao, Tibetan, Burmese or Khmer."""
    return "\u0e00" <= char <= "\u109f" or "\u1780" <= char <= "\u17ff"
