"""Where a path of a call leads to, if that is the same for whoever follows it."""

from __future__ import annotations

import os

from execplan.files.file_access import open_regular
from execplan.named_tuple import NamedTuple
from execplan.text.invisible_characters import has_hidden

_MAX_PATH_BYTES = 4096
"""Bytes of a path that Linux takes (PATH_MAX)."""
_MAX_FILE_BYTES = 32 << 20
"""Bytes of a file that is looked at before it is edited."""


class ResolvedPath(NamedTuple):
    """Where a path leads to."""

    path: str
    """From the root of the repository, through no link; nothing where it is refused."""
    denial_reason: str = ""
    """Why nothing may be written there, or nothing."""


def resolve_path(text: str, folder: str, root: str, *, no_follow: bool = False) -> ResolvedPath:
    """Follow a path from a folder; `no_follow`: what is there is meant, not what it links to, as when it is deleted."""
    reason = _invalid_path_reason(text)
    if reason:
        return ResolvedPath("", reason)
    absolute = os.path.join(folder, text)
    real_path, normalized_path = [
        _real_path(candidate, no_follow=no_follow) for candidate in (absolute, os.path.normpath(absolute))
    ]
    if is_per_process(absolute):
        return ResolvedPath("", "the path leads through /proc or /dev, where each process finds something else")
    if real_path != normalized_path:
        return ResolvedPath("", "the path means one thing where links are followed, and another where they are not")
    if not real_path.startswith(f"{root.rstrip('/')}/"):
        return ResolvedPath("", "it leads out of the repository")
    return ResolvedPath(os.path.relpath(real_path, root))


def linkless_path(text: str, folder: str, root: str) -> str:
    """The path from the root of a file that is named without any link on the way, from the root on; else nothing."""
    if _invalid_path_reason(text):
        return ""
    absolute = os.path.join(folder, text)
    normalized_path = os.path.normpath(absolute)
    relative_path = os.path.relpath(os.path.realpath(normalized_path), root)
    root_prefix = normalized_path.removesuffix(f"/{relative_path}")
    is_same = os.path.realpath(absolute) == os.path.realpath(normalized_path) and os.path.realpath(root_prefix) == root
    return relative_path if root_prefix != normalized_path and is_same and not relative_path.startswith("..") else ""


def is_unambiguous(path: str) -> bool:
    """Whether a path is the same for every process, and whether links are followed before or behind `..`."""
    return not is_per_process(path) and os.path.realpath(path) == os.path.realpath(os.path.normpath(path))


def is_per_process(path: str) -> bool:
    """Whether an absolute path leads to where each process finds something else, as by `/proc/self`."""
    return os.path.normpath(f"/{path.lstrip('/')}/").startswith(("/proc/", "/dev/"))


def read_regular_file(path: str, root: str) -> bytes | None:
    """The bytes of a file, None where there is nothing; raises ValueError for what is no file that can be read."""
    try:
        handle = open_regular(os.path.join(root, path), os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise ValueError(f"{path} can't be read") from None
    try:
        file_status = os.fstat(handle)
        if file_status.st_size > _MAX_FILE_BYTES:
            raise ValueError(f"{path} is no regular file of at most {_MAX_FILE_BYTES >> 20} MiB")
        with open(handle, "rb", buffering=0, closefd=False) as file:
            return file.readall()
    finally:
        os.close(handle)


def _invalid_path_reason(text: str) -> str:
    """Why nobody can say where a path leads to, or nothing."""
    if not text.isprintable() or has_hidden(text) or any(["\ud800" <= char <= "\udfff" for char in text]):
        return "its path has characters that can't be seen"
    if not text or text != text.strip() or text.startswith("~") or text.rpartition("/")[2] in ("", ".", ".."):
        return "its path is not the plain name of a file"
    if len(os.fsencode(text)) > _MAX_PATH_BYTES or any([len(os.fsencode(part)) > 255 for part in text.split("/")]):
        return "its path is longer than any file's"
    return ""


def _real_path(path: str, *, no_follow: bool) -> str:
    if not no_follow:
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
