"""What rules ask of the files around a plan, answered; a listing is made once in a run, when it is first needed."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.lint.facts import ENDS, EVIDENCE, HAS, RepositoryTree
from execplan.repo import shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project

MOST = 50_000
"""Files that are looked at where no git tells them; of a larger folder nothing is said to be missing."""

_OTHERS = frozenset(("node_modules", "__pycache__", "venv", "target", "dist", "build"))
"""Folders of files that nobody wrote by hand."""


class Trees:
    """The repositories and homes of one run; `staged` takes the next commit for what is there, beside the disk."""

    def __init__(self, *, staged: bool = False) -> None:
        self._staged = staged
        self._files: dict[str, _Files] = {}
        self._ids: dict[str, dict[str, list[str]]] = {}

    def of(self, home: Project) -> RepositoryTree:
        """What a plan of this home may ask."""
        return RepositoryTree(lambda kind, subject: self._answer(home, kind, subject))

    def _answer(self, home: Project, kind: str, subject: str) -> object:
        if kind == HAS:
            return self._has(home, subject)
        if kind == ENDS:
            return self._listed(home).ends(subject.strip("/"))
        if kind == EVIDENCE:
            from execplan.repo.moving.evidence import recorded_digest

            return recorded_digest(home, os.path.join(home.root, subject))
        return self._same_id(home, os.path.join(home.root, subject))

    def _has(self, home: Project, path: str) -> bool:
        parts = os.path.normpath(path).split("/")
        if not path or path.startswith("/") or parts[0] == ".." or ".git" in path.split("/"):
            return False
        full = os.path.join(home.root, *parts)
        if os.path.lexists(full):
            folder = os.path.realpath(os.path.dirname(full))
            return parts == ["."] or f"{folder}/".startswith(home.root.rstrip("/") + "/")
        return self._staged and self._listed(home).holds("/".join(parts))

    def _listed(self, home: Project) -> _Files:
        if home.root not in self._files:
            self._files[home.root] = _listed(home)
        return self._files[home.root]

    def _same_id(self, home: Project, path: str) -> str:
        """The path of another plan of the home with the id of the plan in a file, which must lie in the home as well."""
        if home.base not in self._ids:
            self._ids[home.base] = _doubles(home, self._plans(home))
        doubles = self._ids[home.base]
        same = doubles.get(shelf.normalize_id(home.split_plan_path(path)[1]), []) if doubles else []
        if not same:
            return ""
        own = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        others = [place for place in same if place != own]
        return home.display_path(others[0]) if others and len(others) < len(same) else ""

    def _plans(self, home: Project) -> list[tuple[str, list[str]]]:
        """The folders of the home's plans, archived ones too, each with the names of their files."""
        if not self._staged:
            return shelf.plan_files(home) + shelf.plan_files(home, archive=True)
        import re

        from execplan.repo.pattern import plan_paths_regex

        found = re.compile(plan_paths_regex(home._replace(settings=home.settings._replace(homes=()))))
        places = [os.path.split(path) for path in self._listed(home).paths if found.search(path)]
        return [(os.path.join(home.root, folder), [name]) for folder, name in places]


def _doubles(home: Project, plans: list[tuple[str, list[str]]]) -> dict[str, list[str]]:
    """The ids that several plans have, as they are compared, each with the places of these."""
    if home.is_flat:  # an id is its file's name: what differs in lower case is not looked at one by one
        names = [name for _, files in plans for name in files]
        if len({name.lower() for name in names}) == len(names) and all([name.isascii() for name in names]):
            return {}
    found: dict[str, list[str]] = {}
    for folder, files in plans:
        for name in files:
            place = os.path.join(folder, name)
            found.setdefault(shelf.normalize_id(home.split_plan_path(place)[1]), []).append(place)
    return {name: places for name, places in found.items() if len(places) > 1}


class _Files:
    """The files of a repository by their paths from its root."""

    def __init__(self, paths: list[str], *, whole: bool = True) -> None:
        self.paths = paths
        self._whole = whole
        self._folders: set[str] = set()
        self._by_name: dict[str, list[str]] = {}
        for path in paths:
            folder, _, name = path.rpartition("/")
            self._by_name.setdefault(name, []).append(folder)
            while folder and folder not in self._folders:
                self._folders.add(folder)
                folder, _, name = folder.rpartition("/")
                self._by_name.setdefault(name, []).append(folder)

    def holds(self, path: str) -> bool:
        """Whether there is a file or a folder of this path."""
        folder, _, name = path.rpartition("/")
        return path in self._folders or folder in self._by_name.get(name, ())

    def ends(self, path: str) -> bool:
        """Whether the path of a file or a folder ends with these parts."""
        folder, _, name = path.rpartition("/")
        places = self._by_name.get(name, ())
        if not folder:
            return bool(places) or not self._whole
        return any([f"/{place}".endswith(f"/{folder}") for place in places]) or not self._whole


def _listed(home: Project) -> _Files:
    """The tracked files; where git tells none those that a walk finds."""
    if home.git is not None:
        from execplan.repo import ask

        try:
            return _Files(ask.tracked_files(home))
        except ExecplanError:
            pass  # a lint needs no git: what it would have said is looked for on the disk
    paths: list[str] = []
    for folder, folders, files in os.walk(home.root):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _OTHERS]
        below = folder[len(home.root) :].lstrip("/")
        paths += [os.path.join(below, name) for name in files]
        if len(paths) > MOST:
            return _Files(paths, whole=False)
    return _Files(paths)
