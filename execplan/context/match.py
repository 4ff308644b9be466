"""How well texts fit words, by the full-text search of SQLite, in memory."""

from __future__ import annotations

from execplan.context.words import spaced
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from sqlite3 import Connection
    from typing import Final

_LONGEST: Final = 200_000
"""Characters of a text that are looked at."""
_NO_IDF: Final = 1e-6
"""What SQLite's bm25 takes instead of a logarithm that is not above nothing."""
_TITLE: Final = 3.0
"""How much more a word of a title counts than one of a text."""


class Hit(NamedTuple):
    """A word that stands in a text, in this or another form of it."""

    word: str
    score: float
    tells: bool
    """Whether it tells something: no word of more than four of five texts does."""


def match(texts: Iterable[tuple[str, str]], weights: Mapping[str, float]) -> list[list[Hit]]:
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
        rows = [(_clean(title), _clean(body)) for title, body in texts]
        database.executemany(
            "insert into texts(rowid, title, body) values (?, ?, ?)",
            [(at, *row) for at, row in enumerate(rows, start=1)],
        )
        return _hits(database, len(rows), weights)


def _hits(database: Connection, size: int, weights: Mapping[str, float]) -> list[list[Hit]]:
    """The words of each text; SQLite counts a word that half of the texts hold for nothing, which few texts do not bear."""
    from math import log

    found: list[list[Hit]] = [[] for _ in range(size)]
    query = f"select rowid, bm25(texts, {_TITLE}, 1.0) from texts where texts match ? order by rowid"  # noqa: S608 - a number of ours
    for word, weight in weights.items():
        rows = database.execute(query, (f'"{word}"',)).fetchall()
        rarity = (size - len(rows) + 0.5) / (len(rows) + 0.5)
        better = weight * log(1 + rarity) / (log(rarity) if rarity > 1 else _NO_IDF)
        for row, score in rows:
            found[row - 1].append(Hit(word, round(-score * better, 6), tells=len(rows) <= size * 4 / 5))
    for each in found:
        each.sort(key=lambda hit: (-hit.score, hit.word))
    return found


def total(hits: Sequence[Hit]) -> float:
    """What the words of a text come to."""
    return round(sum([hit.score for hit in hits]), 4)


def _clean(text: str) -> str:
    """What SQLite takes of a text."""
    return spaced(text[:_LONGEST]).encode("utf-8", "replace").decode().replace("\0", " ")
