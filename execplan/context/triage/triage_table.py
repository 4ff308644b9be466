"""The table of triage: what words and files say of the five criteria, what each weighs, and what is asked where it is unclear."""

from __future__ import annotations

import os

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

CRITERIA: Final = ("hours", "scope", "risk", "ambiguity", "validation")
"""Those of the format, in its order: any of them makes a plan due."""
SMALL: Final = "small"
"""What speaks against all of them."""
_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "triage.toml")


class Cue(NamedTuple):
    """What some words say; triage.toml tells what each field is."""

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


class FileKind(NamedTuple):
    """What some files are; of no criterion where it only says how they count."""

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
    """From which number on a measure of a change says how much."""

    criterion: str
    measure: str
    steps: tuple[tuple[int, int], ...]


class TriageTable(NamedTuple):
    """Everything that a triage looks at."""

    weights: Mapping[str, float]
    cues: tuple[Cue, ...]
    kinds: tuple[FileKind, ...]
    sizes: tuple[SizeRule, ...]
    small_change_limits: tuple[tuple[int, int, int], ...]
    """At most so many files, at most so many lines, and how strongly that says that a change is small."""
    length_rules: Mapping[str, Any]
    english_words: frozenset[str]
    foreign_words: frozenset[str]
    container_folders: frozenset[str]
    ordinary_names: frozenset[str]
    questions: Mapping[str, Mapping[str, str]]
    """For each criterion, and for `language`, what is unclear and what is asked."""


_LOADED: list[TriageTable] = []


def load_builtin_table() -> TriageTable:
    """The table that comes with the tool."""
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


def _parse_kind(row: dict[str, Any]) -> FileKind:
    lists = {name: tuple(row.get(name, ())) for name in ("folders", "files", "names")}
    return FileKind(**{**row, **lists})


def _parse_steps(steps: list[list[int]]) -> tuple[tuple[int, int], ...]:
    return tuple([(minimum, strength) for minimum, strength in steps])
