"""Characters that can't be seen or that change the direction in which text is shown, where no script needs them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""What changes the direction."""
_MARKS = frozenset("\u061c\u200e\u200f")
"""Of these, those that right-to-left prose needs."""
_FLAG = "\U0001f3f4"
_SELECTORS = frozenset([chr(code) for code in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))])
"""What chooses the form of the character before it, such as that of an emoji, and is nothing without one."""
_BLANKS = _SELECTORS | frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""What Python takes for printable, and nobody sees."""


def may_hide(text: str) -> bool:
    """Whether a text can hold such characters; a quick look before `hidden_in`."""
    return not text.isprintable() or (not text.isascii() and not _BLANKS.isdisjoint(text))


def hides(line: str) -> bool:
    """Whether a line holds such a character."""
    return may_hide(line) and bool(hidden_in(line))


def visible(line: str) -> str:
    """A line that can be printed anywhere: what can't be seen, acts on a terminal or can't be encoded is escaped.

    All text of others that is printed comes through here. A newline is escaped too, so that a name stays on its line.
    """
    if not may_hide(line):
        return line
    text = escaped(line, lambda run: ascii(run)[1:-1])
    return text if text.isprintable() else "".join([_encodable(char) for char in text])


def _encodable(char: str) -> str:
    """A character, escaped if no text should hold it: a control, half of a pair, or one that Unicode has not assigned."""
    if char.isprintable() or char == "\t":
        return char
    from unicodedata import category

    return ascii(char)[1:-1] if category(char) in ("Cc", "Cn", "Co", "Cs", "Zl", "Zp") else char


def escaped(line: str, escape: Callable[[str], str]) -> str:
    """A line in which each run of such characters is replaced by what is made of it."""
    parts, done = [], 0
    for start, end in hidden_in(line):
        parts += [line[done:start], escape(line[start:end])]
        done = end
    return "".join([*parts, line[done:]])


def visible_lines(text: str) -> str:
    """A text of several lines that can be printed anywhere; their ends stay as they are."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "\n".join([visible(line.removesuffix("\r")) + "\r" * line.endswith("\r") for line in text.split("\n")])


def hidden_in(line: str) -> list[tuple[int, int]]:
    """Where runs of such characters begin and end in a line."""
    runs: list[tuple[int, int]] = []
    right_to_left: bool | None = None
    tagged = False  # within the tags that make a flag of another
    for column, char in enumerate(line):
        if char in _BLANKS:
            hides = _is_blank(char, line, column)
        elif char.isprintable():
            tagged = char == _FLAG
            continue
        elif char in _MARKS:
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


def _is_blank(char: str, line: str, column: int) -> bool:
    """Whether a character without a picture of its own hides something where it is."""
    before, after = line[column - 1] if column else "", line[column + 1 : column + 2]
    if char in _SELECTORS:
        is_key = before != "" and before in "0123456789#*" and after == "\u20e3"
        return not (is_key or before in "\u00a9\u00ae" or before >= "\u203c") or before in _BLANKS or not before
    if char == "\u2800":
        return not any(["\u2800" < each <= "\u28ff" for each in line])
    if char in "\u115f\u1160":
        return not any(["\u1100" <= each <= "\u11ff" and each not in "\u115f\u1160" for each in (before, after)])
    if char in "\u17b4\u17b5":
        return not any(["\u1780" <= each <= "\u17ff" for each in (before, after)])
    return char != "\u034f" or not _joins(before)


def _joins(char: str) -> bool:
    """Whether a character may stand beside a joiner: of an emoji, or of a script that joins its letters."""
    return char >= "\u0590" and not "\u2000" <= char <= "\u206f"


def _unspaced(char: str) -> bool:
    """Whether a letter is of a script without spaces: Thai, Lao, Tibetan, Burmese or Khmer."""
    return "\u0e00" <= char <= "\u109f" or "\u1780" <= char <= "\u17ff"
