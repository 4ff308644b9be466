"""Where a path of a call leads to, if that is the same for whoever follows it."""

from __future__ import annotations

import os

from execplan.record import NamedTuple
from execplan.text.disk import open_regular
from execplan.text.hidden import hides

_LONGEST = 4096
"""Bytes of a path that Linux takes (PATH_MAX)."""
_LARGEST = 32 << 20
"""Bytes of a file that is looked at before it is edited."""


class Way(NamedTuple):
    """Where a path leads to."""

    path: str
    """From the root of the repository, through no link; nothing where it is refused."""
    refused: str = ""
    """Why nothing may be written there, or nothing."""


def way(text: str, folder: str, root: str, *, itself: bool = False) -> Way:
    """Follow a path from a folder; `itself`: what is there is meant, not what it links to, as when it is deleted."""
    why = _odd(text)
    if why:
        return Way("", why)
    absolute = os.path.join(folder, text)
    found, plain = [_real(each, itself=itself) for each in (absolute, os.path.normpath(absolute))]
    if passes(absolute):
        return Way("", "the path leads through /proc or /dev, where each process finds something else")
    if found != plain:
        return Way("", "the path means one thing where links are followed, and another where they are not")
    if not found.startswith(f"{root.rstrip('/')}/"):
        return Way("", "it leads out of the repository")
    return Way(os.path.relpath(found, root))


def direct(text: str, folder: str, root: str) -> str:
    """The path from the root of a file that is named without any link on the way, from the root on; else nothing."""
    if _odd(text):
        return ""
    absolute = os.path.join(folder, text)
    plain = os.path.normpath(absolute)
    shown = os.path.relpath(os.path.realpath(plain), root)
    above = plain.removesuffix(f"/{shown}")
    is_same = os.path.realpath(absolute) == os.path.realpath(plain) and os.path.realpath(above) == root
    return shown if above != plain and is_same and not shown.startswith("..") else ""


def is_one(path: str) -> bool:
    """Whether a path is the same for every process, and whether links are followed before or behind `..`."""
    return not passes(path) and os.path.realpath(path) == os.path.realpath(os.path.normpath(path))


def passes(path: str) -> bool:
    """Whether an absolute path leads to where each process finds something else, as by `/proc/self`."""
    return os.path.normpath(f"/{path.lstrip('/')}/").startswith(("/proc/", "/dev/"))


def read(path: str, root: str) -> bytes | None:
    """The bytes of a file, None where there is nothing; raises ValueError for what is no file that can be read."""
    try:
        handle = open_regular(os.path.join(root, path), os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise ValueError(f"{path} can't be read") from None
    try:
        found = os.fstat(handle)
        if found.st_size > _LARGEST:
            raise ValueError(f"{path} is no regular file of at most {_LARGEST >> 20} MiB")
        with open(handle, "rb", buffering=0, closefd=False) as file:
            return file.readall()
    finally:
        os.close(handle)


def _odd(text: str) -> str:
    """Why nobody can say where a path leads to, or nothing."""
    if not text.isprintable() or hides(text) or any(["\ud800" <= char <= "\udfff" for char in text]):
        return "its path has characters that can't be seen"
    if not text or text != text.strip() or text.startswith("~") or text.rpartition("/")[2] in ("", ".", ".."):
        return "its path is not the plain name of a file"
    if len(os.fsencode(text)) > _LONGEST or any([len(os.fsencode(part)) > 255 for part in text.split("/")]):
        return "its path is longer than any file's"
    return ""


def _real(path: str, *, itself: bool) -> str:
    if not itself:
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
