"""Walk of a directory tree of any depth; `os.walk` of Python 3.11 calls itself for each level."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def walk_tree(top: str, onerror: Callable[[OSError], None] | None = None) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each directory with the names of its subdirectories and of its other entries, like `os.walk`.

    Links are not followed. Remove a name from the list of subdirectories to skip it.
    """
    directories = [top]
    while directories:
        directory = directories.pop()
        subdirectories: list[str] = []
        names: list[str] = []
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    (subdirectories if _is_directory(entry) else names).append(entry.name)
        except OSError as error:
            if onerror is not None:
                onerror(error)
            continue
        yield directory, subdirectories, names
        paths = [os.path.join(directory, name) for name in reversed(subdirectories)]
        directories += [path for path in paths if not os.path.islink(path)]


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
