"""What the rules are told of a plan of the corpus: where it lay, a fixed day, and a repository of which no file is there."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from execplan.lint.facts import Clock, Tree
from execplan.lint.rule import Given
from execplan.repo import naming

DAY = "2026-11-22"
_MINUTES = 29921760
"""That day, in minutes since 1970."""
_ARCHIVES = frozenset(("archive", "archived", "closed", "complete", "completed", "done", "finished", "superseded"))


def path_of(name: str) -> str:
    """Where a plan lay in its repository; the corpus writes `__` between folders and `_dot_` for a first dot."""
    return "/".join(part.replace("_dot_", ".", 1) for part in name.partition("/")[2].split("__"))


class Place(NamedTuple):
    """What the names of its repository's plans say about a plan."""

    form: str
    """What adoption would guess that its name is formed by."""
    archived: bool
    at_home: bool
    """Whether there is an archive beside it, into which it could be moved."""


def places(names: list[str]) -> dict[str, Place]:
    """What is known of each plan from where all of them lay."""
    ids: dict[str, list[str]] = {}
    archives = set()
    for name in names:
        ids.setdefault(_repository(name), []).append(Path(path_of(name)).stem)
        parts = path_of(name).split("/")
        archives |= {(_repository(name), *parts[:at]) for at, part in enumerate(parts) if part in _ARCHIVES}
    guessed = {repository: naming.guess(each) for repository, each in ids.items()}
    found = {}
    for name in names:
        folder = path_of(name).split("/")[:-1]
        archived = bool(_ARCHIVES & set(folder))
        beside = {(_repository(name), *folder), (_repository(name), *folder[:-1])} & archives
        form = "" if archived else guessed[_repository(name)]
        found[name] = Place(form, archived, bool(beside) and not archived)
    return found


def given(name: str, place: Place) -> Given:
    """What the rules are told of a plan."""
    return Given(
        archived=place.archived,
        at_home=place.at_home,
        path=path_of(name),
        form=place.form,
        clock=Clock(_MINUTES),
        tree=Tree(lambda kind, subject: ""),
    )


def _repository(name: str) -> str:
    return name.partition("/")[0]
