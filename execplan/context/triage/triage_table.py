"""The table of triage: cues and file kinds for the five criteria, their weights, and questions to resolve doubts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from execplan.core.named_tuple import NamedTuple

CRITERIA: Final = ("hours", "scope", "risk", "ambiguity", "validation")
"""Criteria of the format, in its order; any of them calls for a plan."""
SMALL: Final = "small"
"""Name of the evidence against all criteria."""
_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "triage.toml")


class Cue(NamedTuple):
    """Meaning of some words in a request; triage.toml documents each field."""

    criterion: str
    strength: float
    why: str
    words: tuple[str, ...]
    lead: bool = False
    thing: bool = False
    detail: bool = False
    halved: bool = False
    act: bool = False
    wording: bool = False


class QuantityRule(NamedTuple):
    """Meaning of numbers in a request; triage.toml documents each field."""

    criterion: str
    why: str
    units: Mapping[str, int]
    minimums: tuple[tuple[int, int], ...]
    maximums: tuple[tuple[int, int], ...]
    after: frozenset[str]
    before: frozenset[str]


class FileKind(NamedTuple):
    """Kind of file and its meaning; without a criterion, it only determines how its files count."""

    name: str
    criterion: str = ""
    strength: int = 0
    why: str = ""
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    counted: bool = True
    is_test: bool = False
    is_prose: bool = False


class SizeRule(NamedTuple):
    """Steps from which a measure of a change counts as evidence, with their strengths."""

    criterion: str
    measure: str
    steps: tuple[tuple[int, int], ...]


class TriageTable(NamedTuple):
    """All data that triage uses."""

    weights: Mapping[str, float]
    cues: tuple[Cue, ...]
    quantities: tuple[QuantityRule, ...]
    kinds: tuple[FileKind, ...]
    sizes: tuple[SizeRule, ...]
    small_change_limits: tuple[tuple[int, int, int], ...]
    """Maximum files, maximum lines, and the strength of the evidence that the change is small."""
    length_rules: Mapping[str, Any]
    english_words: frozenset[str]
    foreign_words: frozenset[str]
    container_folders: frozenset[str]
    ordinary_names: frozenset[str]
    questions: Mapping[str, Mapping[str, str]]
    """Description and question for each criterion and for `language`."""


_LOADED: list[TriageTable] = []


def load_builtin_table() -> TriageTable:
    """Return the built-in table."""
    if not _LOADED:
        import tomllib

        with open(_FILE, "rb") as file:
            _LOADED.append(_parse_table(tomllib.load(file)))
    return _LOADED[0]


def _parse_table(data: dict[str, Any]) -> TriageTable:
    english_words, foreign_words = [frozenset(data["language"][name].split()) for name in ("english", "other")]
    return TriageTable(
        data["weights"],
        tuple([Cue(**{**row, "words": tuple(row["words"])}) for row in data["cue"]]),
        tuple([_parse_quantity(row) for row in data["quantity"]]),
        tuple([_parse_kind(row) for row in data["kind"]]),
        tuple([SizeRule(row["criterion"], row["of"], _parse_steps(row["from"])) for row in data["size"]]),
        tuple([(files, lines, strength) for files, lines, strength in data["few"]["to"]]),
        data["length"],
        english_words,
        foreign_words - english_words,
        frozenset(data["parts"]["containers"]),
        frozenset(data["parts"]["ordinary"]),
        data["question"],
    )


def _parse_quantity(row: dict[str, Any]) -> QuantityRule:
    return QuantityRule(
        row["criterion"],
        row["why"],
        row["units"],
        minimums=_parse_steps(row.get("from", [])),
        maximums=_parse_steps(row.get("up_to", [])),
        after=frozenset(row["after"].split()),
        before=frozenset(row["before"].split()),
    )


def _parse_kind(row: dict[str, Any]) -> FileKind:
    lists = {name: tuple(row.get(name, ())) for name in ("folders", "files", "names")}
    return FileKind(**{**row, **lists})


def _parse_steps(steps: list[list[int]]) -> tuple[tuple[int, int], ...]:
    return tuple([(minimum, strength) for minimum, strength in steps])
