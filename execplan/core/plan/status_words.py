"""What a status says about a task or a plan, in words or symbols: `In Progress`, `✅ Done`, `未着手`."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.role_table import FIRST_WORDS, STATUS_WORDS

_SYMBOLS = "symbols"
_FIRST_CJK = "\u2e80"
_MAX_WORDS = 3
_EMPHASIS = "*`~\ufe0f"
_PUNCTUATION = " .,;:!?()[]（）—–-"
_NEGATIONS = frozenset(
    "not partially partly mostly except but remaining remains pending awaiting until open unless".split()
)


def status_key(text: str) -> str:
    """Return a status in the form in which it is looked up: without case, emphasis and punctuation around it."""
    plain = "".join([" " if char in "_-" else char for char in text.casefold() if char not in _EMPHASIS])
    return " ".join(plain.split()).strip(_PUNCTUATION)


class Status(NamedTuple):
    """What a status says."""

    mark: str
    """Character of a checkbox that means the same: a space, `x`, `-` if it is dropped, and `~` for anything else."""
    parts: tuple[tuple[str, str], ...]
    """The words and symbols that say it, as written, each with its row in the table."""
    is_exact: bool
    """Whether there is no other text."""


def read_status(text: str) -> Status | None:
    """Return what a text says that begins with a status, or None for any other text."""
    key = status_key(text)
    symbol = key[:1] if STATUS_WORDS.get(key[:1], ("", ""))[1] == _SYMBOLS else ""
    rest = key[len(symbol) :].strip(_PUNCTUATION)
    parts = [(symbol, _SYMBOLS)] if symbol else []
    word = rest if rest in STATUS_WORDS else _first_word(rest)
    if not symbol and not word:
        return None
    mark, language = STATUS_WORDS[word or symbol]
    start = text.casefold().replace("_", " ").replace("-", " ").find(word)
    original = text[start : start + len(word)]
    if word:
        parts.append((original, language))
    if mark == "x" and word != rest and _NEGATIONS.intersection(_words(rest)):
        mark = "~"
    return Status(mark, tuple(parts), word == rest and status_key(original) == word)


def translate(text: str, mark: str) -> str:
    """Return an exact status with the first word of the same row in another state, written in the same case.

    It is empty if the table has no such word.
    """
    status = read_status(text)
    for part, language in status.parts if status is not None else ():
        if not (word := FIRST_WORDS[mark].get(language, "")):
            return ""
        if part.isupper():
            word = word.upper()
        elif part[:1].isupper():
            word = word.capitalize().replace("_", " ")
        text = text.replace(f"{part}\ufe0f", part).replace(part, word, 1)
    return text


def _words(key: str) -> list[str]:
    return [word for word in [word.strip(_PUNCTUATION) for word in key.split()] if word]


def _first_word(key: str) -> str:
    """Return the words of the table with which a text begins; empty if there are none."""
    words = _words(key)
    for count in range(min(_MAX_WORDS, len(words)), 0, -1):
        start = " ".join(words[:count])
        if start in STATUS_WORDS:
            return start
    return max([word for word in STATUS_WORDS if word >= _FIRST_CJK and key.startswith(word)], key=len, default="")
