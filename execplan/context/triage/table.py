"""The table of triage: what words and files say of the five criteria, what each weighs, and what is asked where it is unclear."""

from __future__ import annotations

import os

from execplan.record import NamedTuple

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


class Kind(NamedTuple):
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


class Size(NamedTuple):
    """From which number on a measure of a change says how much."""

    criterion: str
    of: str
    steps: tuple[tuple[int, int], ...]


class Table(NamedTuple):
    """Everything that a triage looks at."""

    weights: Mapping[str, float]
    cues: tuple[Cue, ...]
    kinds: tuple[Kind, ...]
    sizes: tuple[Size, ...]
    few: tuple[tuple[int, int, int], ...]
    """At most so many files, at most so many lines, and how strongly that says that a change is small."""
    length: Mapping[str, Any]
    english: frozenset[str]
    other: frozenset[str]
    containers: frozenset[str]
    ordinary: frozenset[str]
    questions: Mapping[str, Mapping[str, str]]
    """For each criterion, and for `language`, what is unclear and what is asked."""


_READ: list[Table] = []


def builtin() -> Table:
    """The table that comes with the tool."""
    if not _READ:
        import tomllib

        with open(_FILE, "rb") as file:
            _READ.append(_table(tomllib.load(file)))
    return _READ[0]


def _table(data: dict[str, Any]) -> Table:
    english, other = [frozenset(data["language"][name].split()) for name in ("english", "other")]
    return Table(
        data["weights"],
        tuple([Cue(**{**each, "words": tuple(each["words"])}) for each in data["cue"]]),
        tuple([_kind(each) for each in data["kind"]]),
        tuple([Size(each["criterion"], each["of"], _pairs(each["from"])) for each in data["size"]]),
        tuple([(files, lines, strength) for files, lines, strength in data["few"]["to"]]),
        data["length"],
        english,
        other - english,
        frozenset(data["parts"]["containers"]),
        frozenset(data["parts"]["ordinary"]),
        data["question"],
    )


def _kind(row: dict[str, Any]) -> Kind:
    lists = {name: tuple(row.get(name, ())) for name in ("folders", "files", "names")}
    return Kind(**{**row, **lists})


def _pairs(steps: list[list[int]]) -> tuple[tuple[int, int], ...]:
    return tuple([(least, strength) for least, strength in steps])
