"""The files of a repository, and which of them a text names."""

from __future__ import annotations

import os
import re

from execplan.text.relative import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from execplan.repo.home import Project

_PATH = re.compile(r"[\w.@+~-]+(?:/[\w.@+~\[\]$-]+)*")
_CODE = re.compile(r"`([^`\n]{1,300})`")
_LINK = re.compile(r"\]\(<?([^)\s>]{1,300})")
_OTHERS = frozenset(("node_modules", "__pycache__", "venv", "target", "dist", "build"))
_MOST = 50_000
"""Files that are looked at where no git tells them."""


class Listing:
    """The files of a repository that git does not ignore, by their paths from its root."""

    def __init__(self, paths: Collection[str], *, root: str = "", folders: Sequence[str] = ()) -> None:
        """Know the paths; `folders` are those that a text may count from, besides the root."""
        self.paths = frozenset(paths)
        self._root = root.rstrip("/") + "/"
        self._folders = [each.strip("/") for each in folders if each.strip("/")]
        self._found: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def find(self, path: str) -> str:
        """The file that a path names: counted from the root, from one of the folders, or the only one that ends so."""
        path = path.removeprefix(self._root)
        if path not in self._found:
            known = path.rpartition("/")[2] in self._by_name
            self._found[path] = self._find(path) if known else ""
        return self._found[path]

    def _find(self, path: str) -> str:
        for folder in ("", *self._folders):
            full = joined(folder, path)
            if full and full in self.paths:
                return full
        end = f"/{joined('', path) or path}"
        ends = [each for each in self._by_name[path.rpartition("/")[2]] if each.endswith(end)]
        return ends[0] if len(ends) == 1 else ""

    def below(self, folder: str) -> list[str]:
        """The files below a folder, in order; all of them for the root."""
        return sorted([path for path in self.paths if not folder or path.startswith(f"{folder}/")])

    def named(self, text: str) -> tuple[str, ...]:
        """The files that a text names, each once, as they come first."""
        found = [self.find(each) for each in dict.fromkeys(_mentions(text))]
        return tuple(dict.fromkeys([path for path in found if path]))


def mentions(text: str) -> list[str]:
    """What in a text may be a path with a folder in it, each once."""
    return list(dict.fromkeys([each for each in _mentions(text) if "/" in each]))


def _mentions(text: str) -> Iterator[str]:
    """What in a text may be a path: a code span, where a link leads, a word with a slash or a dot in it."""
    from execplan.lint.scope import extract_path
    from execplan.lint.targets import relative_path

    if "`" in text:
        for code in _CODE.findall(text):
            yield extract_path(code.strip())
    if "](" in text:
        for target in _LINK.findall(text):
            yield relative_path(target)
    for word in _PATH.findall(text):
        bare = word.strip(".") if word.endswith(".") else word
        if "/" in bare or "." in bare[1:-1]:
            yield bare


def listing(home: Project, *folders: str) -> Listing:
    """The files that git knows or would add; without git, those that a walk finds. Raises ExecplanError."""
    if home.git is None:
        return walked(home, *folders)
    from execplan.repo import ask

    return Listing(ask.unignored_files(home), root=home.root, folders=folders)


def walked(home: Project, *folders: str) -> Listing:
    """The files that a walk finds, without hidden ones and directories of dependencies and builds."""
    paths: list[str] = []
    for folder, below, names in os.walk(home.root):
        below[:] = sorted([name for name in below if not name.startswith(".") and name not in _OTHERS])
        where = folder[len(home.root) :].lstrip("/")
        paths += [os.path.join(where, name) for name in names]
        if len(paths) > _MOST:
            break
    return Listing(paths[:_MOST], root=home.root, folders=folders)
