"""What the rules are told of a plan of the corpus: where it lay, a fixed day, and a repository of which no file is there."""

from __future__ import annotations

from execplan.lint.facts import Clock, Tree
from execplan.lint.rule import Given
from execplan.repo.adoption.layouts import recognise

DAY = "2026-11-22"
_MINUTES = 29921760
"""That day, in minutes since 1970."""
_ARCHIVES = frozenset(("archive", "archived", "completed", "done", "superseded"))


def path_of(name: str) -> str:
    """Where a plan lay in its repository; the corpus writes `__` between folders and `_dot_` for a first dot."""
    return "/".join(part.replace("_dot_", ".", 1) for part in name.partition("/")[2].split("__"))


def forms(names: list[str]) -> dict[str, str]:
    """The form of each plan's name: what adoption would guess from the names in its folder; none outside of such folders."""
    repositories: dict[str, dict[str, str]] = {}
    for name in names:
        repositories.setdefault(name.partition("/")[0], {})[path_of(name)] = name
    guessed = dict.fromkeys(names, "")
    for plans in repositories.values():
        found = recognise(list(plans), plans.__contains__)
        for layout in (*found.chosen, *found.others):
            guessed |= {plans[path]: layout.settings.name for path in layout.plans}
    return guessed


def given(name: str, form: str) -> Given:
    """What the rules are told of a plan."""
    path = path_of(name)
    archived = bool(_ARCHIVES & set(path.split("/")))
    tree = Tree(lambda kind, subject: "")
    form = "" if archived else form
    return Given(
        archived=archived, at_home=not archived, path=path, form=form, clock=Clock(_MINUTES), tree=tree
    )
