"""What the rules are told of a plan of the corpus: where it lay, a fixed day, and a repository of which no file is there."""

from __future__ import annotations

from pathlib import Path

from execplan.lint.facts import Clock, Tree
from execplan.lint.rule import Given
from execplan.repo import naming

DAY = "2026-11-22"
_MINUTES = 29921760
"""That day, in minutes since 1970."""
_ARCHIVES = frozenset(("archive", "archived", "completed", "done", "superseded"))


def path_of(name: str) -> str:
    """Where a plan lay in its repository; the corpus writes `__` between folders and `_dot_` for a first dot."""
    return "/".join(part.replace("_dot_", ".", 1) for part in name.partition("/")[2].split("__"))


def forms(names: list[str]) -> dict[str, str]:
    """The form of each plan's name: what adoption would guess from the names of its repository."""
    ids: dict[str, list[str]] = {}
    for name in names:
        ids.setdefault(name.partition("/")[0], []).append(Path(path_of(name)).stem)
    guessed = {repository: naming.guess(each) for repository, each in ids.items()}
    return {name: guessed[name.partition("/")[0]] for name in names}


def given(name: str, form: str) -> Given:
    """What the rules are told of a plan."""
    path = path_of(name)
    archived = bool(_ARCHIVES & set(path.split("/")))
    tree = Tree(lambda kind, subject: "")
    form = "" if archived else form
    return Given(archived=archived, at_home=not archived, path=path, form=form, clock=Clock(_MINUTES), tree=tree)
