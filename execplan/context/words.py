"""The words of a text that tell what it is about."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff])")
"""Kana, Han and Hangul, which are written without spaces, or with endings that belong to the sentence."""
_STOP = frozenset(
    "a about above after again all also am an and any are as at be because been before being below between both but by "
    "can could did do does doing down during each else etc even every few for from further get had has have having he "
    "her here hers him his how i if in into is it its itself just let may me might more most must my no nor not now of "
    "off on once one only or other our out over own per same shall she should so some such than that the their them "
    "then there these they this those through to too two under until up upon us use used uses using very via was we "
    "were what when where which while who whom whose why will with within without would yet you your "
    "css go html js json jsx md py rb rs sh src toml ts tsx txt yaml yml".split()
)


def words(text: str) -> list[str]:
    """The words of a text, each once, in small letters, as they come first; those that every text has left out."""
    found = dict.fromkeys(_WORD.findall(spaced(text).lower()))
    return [word for word in found if word not in _STOP and (len(word) > 1 or not word.isascii())]


def spaced(text: str) -> str:
    """The text with spaces around each letter of scripts that have none between words."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", text)


def shared(text: str, words: Collection[str]) -> int:
    """How many of some words, given in small letters, stand in a text."""
    if not words:
        return 0
    return len({*_WORD.findall(spaced(text).lower())}.intersection(words))


def holds(text: str, word: str) -> bool:
    """Whether a word stands in a text in small letters, whole."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()) or not word.isascii():
            return True
        at = text.find(word, end)
    return False
