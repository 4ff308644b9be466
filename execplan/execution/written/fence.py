"""The info string of a fence: its language, and behind it attributes in the style of Pandoc, `sh {#build needs=fetch}`."""

from __future__ import annotations

from execplan.execution.attributes import ATTRIBUTES_BY_NAME, EXAMPLE, EXECUTION, EXPECT
from execplan.record import NamedTuple

_KNOWN = ATTRIBUTES_BY_NAME.keys() - {"id"}
_QUOTES = "\"'"
_MOST = 100
"""Words between braces that anybody has written."""


class Given(NamedTuple):
    """One attribute as it is written; columns count from 0 within the info string and ends are exclusive."""

    name: str
    value: str
    """Quotes taken off; a bare word has `true`."""
    start: int
    end: int
    bare: bool = False


class Flaw(NamedTuple):
    """What can't be read, and where."""

    start: int
    end: int
    message: str


class Info(NamedTuple):
    """What an info string with attributes says."""

    language: str
    id: Given | None
    mark: str
    """`example`, `expect`, `execution`, or nothing."""
    given: tuple[Given, ...]
    """The attributes, known or not, in their order; without the id and the marks."""
    flaws: tuple[Flaw, ...]

    def get(self, name: str) -> Given | None:
        """The attribute of that name."""
        return next((each for each in self.given if each.name == name), None)


def attributes_of(info: str) -> Info | None:
    """The attributes of an info string, or None where it has none that are ours: other tools write braces there too.

    Ours hold an `#id`, a mark, or an attribute that we know and nothing foreign before it.
    """
    at = info.find("{")
    language = (info[:at].split() or [""])[0] if at >= 0 else ""
    while at >= 0:
        words, flaws, end = _group(info, at)
        if _is_ours(words):
            return _info(info, language, words, flaws, end)
        at = info.find("{", max(end, at + 1))
    return None


def _is_ours(words: list[Given]) -> bool:
    if any([each.name == "#" or _mark(each) for each in words]):
        return True
    foreign = not words or (words[0].bare and words[0].name not in _KNOWN)
    return not foreign and any([each.name in _KNOWN for each in words])


def _mark(word: Given) -> str:
    """The mark that a word is: a bare one, or a class."""
    if word.name == EXAMPLE:
        return EXAMPLE
    if word.name in (EXPECT, EXECUTION) and word.bare:
        return word.name
    return word.value if word.name == "." and word.value in (EXAMPLE, EXPECT, EXECUTION) else ""


def _info(info: str, language: str, words: list[Given], flaws: list[Flaw], end: int) -> Info:
    name: Given | None = None
    mark = ""
    given: list[Given] = []
    for word in words:
        if word.name == "#":
            if name is not None:
                flaws.append(Flaw(word.start, word.end, f"a second id, beside #{name.value}"))
            name = name or word
        elif _mark(word):
            mark = EXAMPLE if EXAMPLE in (mark, _mark(word)) else mark or _mark(word)
        elif _is_name(word.name):
            if any([each.name == word.name for each in given]):
                flaws.append(Flaw(word.start, word.end, f"{word.name} is given twice"))
            given.append(word)
        elif word.name == "." and not language:
            language = word.value
    rest = info[end:].strip()
    if rest and not flaws:
        start = info.index(rest, end)
        flaws.append(Flaw(start, start + len(rest), f"nothing stands behind the closing brace, not {rest!r}"))
    return Info(language, name, mark, tuple(given), tuple(flaws))


def _group(info: str, at: int) -> tuple[list[Given], list[Flaw], int]:
    """The words between a brace and the one that closes it, what can't be read, and where that ends."""
    words: list[Given] = []
    flaws: list[Flaw] = []
    end = at + 1
    while True:
        while info[end : end + 1].isspace():
            end += 1
        if end >= len(info):
            if not flaws or flaws[-1].end < end:
                flaws.append(Flaw(at, len(info), "the brace is never closed"))
            return words, flaws, end
        if len(words) == _MOST:
            flaws.append(Flaw(at, len(info), f"more than {_MOST} words between the braces"))
            return words, flaws, len(info)
        if info[end] == "}":
            return words, flaws, end + 1
        word, end, wrong = _word(info, end)
        if wrong:
            flaws.append(Flaw(word.start, end, wrong))
        if word.name:
            words.append(word)


def _word(info: str, start: int) -> tuple[Given, int, str]:
    """The word that begins at a column, where it ends, and what is wrong with it."""
    if info[start] in "#.":
        end = _until(info, start + 1, "}")
        value = info[start + 1 : end]
        return Given(info[start], value, start, end), end, "" if value else f"{info[start]} with no name behind it"
    equal = _until(info, start, "}=")
    name = info[start:equal]
    if info[equal : equal + 1] != "=":
        wrong = "" if _is_name(name) else f"{name!r} is no attribute: write name=value"
        return Given(name, "true", start, equal, True), equal, wrong
    if info[equal + 1 : equal + 2] and info[equal + 1] in _QUOTES:
        value, end, wrong = _quoted(info, equal + 1)
    else:
        end = _until(info, equal + 1, "}")
        value, wrong = info[equal + 1 : end], ""
    if not _is_name(name):
        wrong = f"{info[start:end]!r} is no attribute: write name=value"
    return Given(name, value, start, end), end, wrong


def _until(info: str, at: int, stops: str) -> int:
    """Where white space or one of some characters comes next."""
    while at < len(info) and not info[at].isspace() and info[at] not in stops:
        at += 1
    return at


def _quoted(info: str, at: int) -> tuple[str, int, str]:
    """The value that begins with a quote, in which a backslash keeps a quote or a backslash from being one."""
    quote = info[at]
    chars: list[str] = []
    end = at + 1
    while end < len(info) and info[end] != quote:
        if info[end] == "\\" and info[end + 1 : end + 2] in (quote, "\\"):
            end += 1
        chars.append(info[end])
        end += 1
    if end >= len(info):
        return "".join(chars), len(info), "the quote is never closed"
    end += 1
    behind = _until(info, end, "}")
    wrong = f"{info[end:behind]!r} directly behind a closing quote" if behind > end else ""
    return "".join(chars), behind, wrong


def _is_name(name: str) -> bool:
    return name[:1].isalpha() and name.replace("-", "").replace("_", "").isalnum()
