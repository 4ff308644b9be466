"""Extraction of keywords, the words that show what a text is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_WORD = re.compile(r"[^\W_]+")
_UNSPACED_SCRIPTS = re.compile("([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff])")
"""Kana, Han and Hangul: scripts without spaces between words, or with grammatical endings attached to words."""
_STOP_WORDS = frozenset(
    "a about above after again all also am an and any are as at be because been before being below between both but by "
    "can could did do does doing down during each else etc even every few for from further get had has have having he "
    "her here hers him his how i if in into is it its itself just let may me might more most must my no nor not now of "
    "off on once one only or other our out over own per same shall she should so some such than that the their them "
    "then there these they this those through to too two under until up upon us use used uses using very via was we "
    "were what when where which while who whom whose why will with within without would yet you your "
    "css go html js json jsx md py rb rs sh src toml ts tsx txt yaml yml".split()
)


def extract_keywords(text: str) -> list[str]:
    """Return the keywords of a text in lower case, without duplicates or stop words, in order of appearance."""
    unique_words = dict.fromkeys(_WORD.findall(separate_unspaced(text).lower()))
    return [word for word in unique_words if word not in _STOP_WORDS and (len(word) > 1 or not word.isascii())]


def separate_unspaced(text: str, separator: str = " ") -> str:
    """Put a separator around each letter of scripts that have no spaces between words."""
    return text if text.isascii() else _UNSPACED_SCRIPTS.sub(rf"{separator}\1{separator}", text)


def count_shared_words(text: str, keywords: Collection[str]) -> int:
    """Count how many of the keywords, given in lower case, appear in a text."""
    if not keywords:
        return 0
    return len({*_WORD.findall(separate_unspaced(text).lower())}.intersection(keywords))


def contains_word(text: str, word: str) -> bool:
    """Return whether a lower-case text contains a word as a complete word."""
    index = text.find(word)
    while index >= 0:
        end = index + len(word)
        if not (text[index - 1 : index].isalnum() or text[end : end + 1].isalnum()) or not word.isascii():
            return True
        index = text.find(word, end)
    return False
