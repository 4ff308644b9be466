"""Match scores of texts and keywords, from an in-memory SQLite full-text search, and the extraction of keywords."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from sqlite3 import Connection
    from typing import Final

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
_CODE_SPAN = re.compile(r"`([^`\n]{1,200})`")
_NAME = re.compile(r"[A-Za-z_]\w{3,}", re.ASCII)
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ENDINGS = (("ies", "y"), ("es", ""), ("s", ""), ("ing", ""), ("ed", ""))
_MAX_CHARS: Final = 200_000
"""Maximum characters of a text that are searched."""
_MIN_IDF: Final = 1e-6
"""Value that SQLite's bm25 uses if the logarithm is not positive."""
_TITLE_WEIGHT: Final = 3.0
"""Weight of a word in a title, relative to 1 for a word in the text."""


def extract_keywords(text: str) -> list[str]:
    """Return the keywords of a text in lower case, without duplicates or stop words, in order of appearance."""
    unique_words = dict.fromkeys(_WORD.findall(separate_unspaced(text).lower()))
    return [word for word in unique_words if word not in _STOP_WORDS and (len(word) > 1 or not word.isascii())]


def separate_unspaced(text: str, separator: str = " ") -> str:
    """Put a separator around each letter of scripts that have no spaces between words."""
    return text if text.isascii() else _UNSPACED_SCRIPTS.sub(rf"{separator}\1{separator}", text)


def extract_symbols(text: str) -> set[str]:
    """Return the names in a text that look like symbols of a program: in code spans, or with capitals or underscores inside."""
    symbols = {name for code in _CODE_SPAN.findall(text) if "/" not in code for name in _NAME.findall(code)}
    return symbols.union([name for name in _NAME.findall(text) if _INNER_CAPITAL.search(name)])


def split_words(text: str) -> list[str]:
    """Return the words of a text or path in lower case, without common endings; names such as `readLine` are split."""
    words = [word.lower() for word in _NAME_PART.findall(text)]
    return [_stem(word) for word in words if len(word) > 1 and word not in _STOP_WORDS]


def _stem(word: str) -> str:
    for ending, replacement in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 3:
            return word.removesuffix(ending) + replacement
    return word


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


class WordHit(NamedTuple):
    """A word that appears in a text in this or another form."""

    word: str
    score: float
    is_distinctive: bool
    """Whether the word is informative; a word in more than four of five texts is not."""


def search_texts(texts: Iterable[tuple[str, str]], weights: Mapping[str, float]) -> list[list[WordHit]]:
    """Return the words found in each text, given with its title, scored by bm25 times their weight, best first.

    Raises ExecplanError if Python's SQLite does not support full-text search.
    """
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(":memory:")) as database:
        try:
            database.execute(
                "create virtual table texts using fts5(title, body, content='', tokenize='porter unicode61 remove_diacritics 2')"
            )
        except sqlite3.OperationalError as error:
            hint = "use a Python whose SQLite has FTS5, for example from python.org, Debian or Homebrew"
            message = f"items can't be compared with the task: {error}"
            raise ExecplanError("no-full-text-search", message, hint=hint) from error
        rows = [(_prepare_text(title), _prepare_text(body)) for title, body in texts]
        database.executemany(
            "insert into texts(rowid, title, body) values (?, ?, ?)",
            [(row_number, *row) for row_number, row in enumerate(rows, start=1)],
        )
        return _find_hits(database, len(rows), weights)


def _find_hits(database: Connection, text_count: int, weights: Mapping[str, float]) -> list[list[WordHit]]:
    """Find the words of each text, and correct their scores.

    SQLite gives no weight to a word in half of the texts, which is wrong if there are few texts.
    """
    from math import log

    hits_by_text: list[list[WordHit]] = [[] for _ in range(text_count)]
    query = f"select rowid, bm25(texts, {_TITLE_WEIGHT}, 1.0) from texts where texts match ? order by rowid"  # noqa: S608 - a number of ours
    for word, weight in weights.items():
        rows = database.execute(query, (f'"{word}"',)).fetchall()
        rarity = (text_count - len(rows) + 0.5) / (len(rows) + 0.5)
        adjusted_weight = weight * log(1 + rarity) / (log(rarity) if rarity > 1 else _MIN_IDF)
        for row, score in rows:
            hits_by_text[row - 1].append(
                WordHit(word, round(-score * adjusted_weight, 6), is_distinctive=len(rows) <= text_count * 4 / 5)
            )
    for text_hits in hits_by_text:
        text_hits.sort(key=lambda hit: (-hit.score, hit.word))
    return hits_by_text


def total_score(hits: Sequence[WordHit]) -> float:
    """Return the total score of the words in a text."""
    return round(sum([hit.score for hit in hits]), 4)


def _prepare_text(text: str) -> str:
    """Prepare a text for SQLite."""
    return separate_unspaced(text[:_MAX_CHARS]).encode("utf-8", "replace").decode().replace("\0", " ")
