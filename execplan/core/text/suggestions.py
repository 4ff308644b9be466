"""Suggestions of known names for an unknown one, with one measure of what is similar."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MIN_SIMILARITY = 0.7
_SHORT_LENGTH = 5
"""Longest name in which more than one typo, or another first letter, makes it another word, such as nope, rope and open."""
_MIN_PART_LENGTH = 3
"""Shortest name that is similar to a longer one because it is its beginning, or one of its words."""
_MAX_SUGGESTIONS = 3


def closest_names(name: str, known_names: Iterable[str], *, limit: int = _MAX_SUGGESTIONS) -> list[str]:
    """Return the known names that are similar to a name, most similar first; none if no name is.

    A known name is similar if it differs by typos: most letters are the same, and a short name has only one typo. It is
    also similar if the name, or its singular, is its beginning or one of its words.
    """
    from difflib import get_close_matches  # it imports re

    if not name:
        return []
    names = list(known_names)
    is_short = len(name) <= _SHORT_LENGTH
    likely_names = [other_name for other_name in names if not is_short or _is_one_typo(name, other_name)]
    typos = get_close_matches(name, likely_names, n=limit, cutoff=_MIN_SIMILARITY)
    parts = sorted([known_name for known_name in names if _is_part(name, known_name)], key=len)
    parts = parts or sorted(
        [known_name for known_name in names if _is_part(name.removesuffix("s"), known_name)], key=len
    )
    return list(dict.fromkeys([*typos, *parts]))[:limit]


def similarity(name: str, known_name: str) -> float:
    """Return how similar a known name is to a name, from 0 to 1."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, known_name, name).ratio()


def did_you_mean(name: str, known_names: Iterable[str]) -> str:
    """Return a question that suggests the most similar known name, or an empty string if no name is similar."""
    similar_names = closest_names(name, known_names, limit=1)
    return f"did you mean {similar_names[0]}?" if similar_names else ""


def _is_one_typo(name: str, known_name: str) -> bool:
    """Return whether one letter is missing, added, swapped with the next or, except for the first, replaced."""
    if len(name) == len(known_name):
        wrong = [index for index in range(len(name)) if name[index] != known_name[index]]
        is_swap = len(wrong) == 2 and wrong[1] == wrong[0] + 1 and sorted(name) == sorted(known_name)
        return (len(wrong) == 1 and wrong[0] > 0) or is_swap or not wrong
    shorter, longer = sorted((name, known_name), key=len)
    return shorter in [longer[:index] + longer[index + 1 :] for index in range(len(longer))]


def _is_part(name: str, known_name: str) -> bool:
    """Return whether a name is the beginning of a known name, or one of its words."""
    if len(name) < _MIN_PART_LENGTH or name not in known_name:
        return False
    words = known_name.replace("-", " ").replace("_", " ").replace(".", " ").split()
    return known_name.startswith(name) or name in words
