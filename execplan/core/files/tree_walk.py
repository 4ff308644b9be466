"""Walk, removal and copy of a directory tree of any depth; those of Python 3.11 call themselves for each level."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def walk_tree(
    top: str, onerror: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
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


def remove_tree(top: str, onerror: Callable[[OSError], object] | None = None) -> None:
    """Remove a directory and what is in it; links are removed, not followed.

    With `onerror`, which is called with each error, what can't be removed is left. Otherwise the first error is raised.
    """
    directories: list[str] = []
    for directory, subdirectories, names in walk_tree(top, onerror or _raise):
        directories.append(directory)
        links = [name for name in subdirectories if os.path.islink(os.path.join(directory, name))]
        subdirectories[:] = [name for name in subdirectories if name not in links]
        for name in names + links:
            _call(os.unlink, os.path.join(directory, name), onerror)
    for directory in reversed(directories):
        _call(os.rmdir, directory, onerror)


def copy_tree(source: str, target: str, copy_file: Callable[[str, str], object] | None = None) -> None:
    """Copy a directory with its permissions and times to a path that does not exist, with its parents; links stay links.

    `copy_file` copies one file; by default, with its permissions and times. Raises OSError.
    """
    import shutil

    copy_file = copy_file or (lambda old, new: shutil.copy2(old, new, follow_symlinks=False))
    directories: list[tuple[str, str]] = []
    for directory, subdirectories, names in walk_tree(source, _raise):
        copy = target + directory[len(source) :]
        directories.append((directory, copy))
        os.makedirs(copy)
        for name in names + [name for name in subdirectories if os.path.islink(os.path.join(directory, name))]:
            path = os.path.join(directory, name)
            if os.path.islink(path):
                shutil.copy2(path, os.path.join(copy, name), follow_symlinks=False)
            else:
                copy_file(path, os.path.join(copy, name))
    for directory, copy in reversed(directories):
        shutil.copystat(directory, copy)


def _call(remove: Callable[[str], None], path: str, onerror: Callable[[OSError], object] | None) -> None:
    try:
        remove(path)
    except OSError as error:
        (onerror or _raise)(error)


def _raise(error: OSError) -> None:
    raise error


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
