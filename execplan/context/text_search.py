"""How well texts fit words, by the full-text search of SQLite, in memory."""

from __future__ import annotations

from execplan.context.keywords import separate_unspaced
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from sqlite3 import Connection
    from typing import Final

_MAX_CHARS: Final = 200_000
"""Characters of a text that are looked at."""
_MIN_IDF: Final = 1e-6
"""What SQLite's bm25 takes instead of a logarithm that is not above nothing."""
_TITLE_WEIGHT: Final = 3.0
"""How much more a word of a title counts than one of a text."""


class WordHit(NamedTuple):
    """A word that stands in a text, in this or another form of it."""

    word: str
    score: float
    is_distinctive: bool
    """Whether it tells something: no word of more than four of five texts does."""


def search_texts(texts: Iterable[tuple[str, str]], weights: Mapping[str, float]) -> list[list[WordHit]]:
    """For each text, given with its title, the words that are in it, each with its bm25 times its weight, best first.

    Raises ExecplanError where this Python's SQLite can't search texts.
    """
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(":memory:")) as database:
        try:
            database.execute(
                "create virtual table texts using fts5(title, body, content='', tokenize='porter unicode61 remove_diacritics 2')"
            )
        except sqlite3.OperationalError as error:
            hint = "use a Python whose SQLite has FTS5, as those of python.org, Debian and Homebrew do"
            message = f"units can't be compared with the task: {error}"
            raise ExecplanError("no-full-text-search", message, exit=ENVIRONMENT, hint=hint) from error
        rows = [(_prepare_text(title), _prepare_text(body)) for title, body in texts]
        database.executemany(
            "insert into texts(rowid, title, body) values (?, ?, ?)",
            [(row_number, *row) for row_number, row in enumerate(rows, start=1)],
        )
        return _find_hits(database, len(rows), weights)


def _find_hits(database: Connection, text_count: int, weights: Mapping[str, float]) -> list[list[WordHit]]:
    """The words of each text; SQLite counts a word that half of the texts hold for nothing, which few texts do not bear."""
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
    """What the words of a text come to."""
    return round(sum([hit.score for hit in hits]), 4)


def _prepare_text(text: str) -> str:
    """What SQLite takes of a text."""
    return separate_unspaced(text[:_MAX_CHARS]).encode("utf-8", "replace").decode().replace("\0", " ")
