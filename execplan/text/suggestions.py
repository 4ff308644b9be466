"""Suggestions of known names for an unknown one, with one measure of what is similar."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MIN_SIMILARITY = 0.6
_MAX_SUGGESTIONS = 3


def closest_names(name: str, known_names: Iterable[str], *, limit: int = _MAX_SUGGESTIONS) -> list[str]:
    """Return the known names that are similar to a name, most similar first; none if no name is."""
    from difflib import get_close_matches  # it imports re

    return get_close_matches(name, list(known_names), n=limit, cutoff=_MIN_SIMILARITY)


def similarity(name: str, known_name: str) -> float:
    """Return how similar a known name is to a name, from 0 to 1."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, known_name, name).ratio()


def did_you_mean(name: str, known_names: Iterable[str]) -> str:
    """Return a question that suggests the most similar known name, or an empty string if no name is similar."""
    similar_names = closest_names(name, known_names, limit=1)
    return f"did you mean {similar_names[0]}?" if similar_names else ""
