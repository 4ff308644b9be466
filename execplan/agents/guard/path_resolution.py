"""Resolution of a call's paths, if they mean the same to every program that follows them."""

from __future__ import annotations

import os

from execplan.core.files.file_access import open_regular
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.invisible_characters import has_hidden

_MAX_PATH_BYTES = 4096
"""Maximum length of a path in bytes on Linux (PATH_MAX)."""
_MAX_FILE_BYTES = 32 << 20
"""Maximum size, in bytes, of a file that is read before it is edited."""


class ResolvedPath(NamedTuple):
    """The target of a path, or the reason why it is not allowed."""

    path: str
    """Path from the repository root, without links; empty if it is not allowed."""
    denial_reason: str = ""
    """Reason why the path may not be written, or empty."""


def resolve_path(text: str, folder: str, root: str, *, no_follow: bool = False) -> ResolvedPath:
    """Resolve a path from a directory; `no_follow`: do not follow a link at its end, as for a deletion."""
    reason = _invalid_path_reason(text)
    if reason:
        return ResolvedPath("", reason)
    absolute = os.path.join(folder, text)
    real_path, normalized_path = [
        _real_path(candidate, no_follow=no_follow) for candidate in (absolute, os.path.normpath(absolute))
    ]
    if is_per_process(absolute):
        return ResolvedPath("", "the path leads through /proc or /dev, which differ for each process")
    if real_path != normalized_path:
        return ResolvedPath("", "the path is ambiguous: it depends on when symbolic links are followed")
    if not real_path.startswith(f"{root.rstrip('/')}/"):
        return ResolvedPath("", "it leads outside the repository")
    return ResolvedPath(os.path.relpath(real_path, root))


def linkless_path(text: str, folder: str, root: str) -> str:
    """Return the path from the root of a file whose path has no links after the root; otherwise an empty string."""
    if _invalid_path_reason(text):
        return ""
    absolute = os.path.join(folder, text)
    normalized_path = os.path.normpath(absolute)
    relative_path = os.path.relpath(os.path.realpath(normalized_path), root)
    root_prefix = normalized_path.removesuffix(f"/{relative_path}")
    is_same = os.path.realpath(absolute) == os.path.realpath(normalized_path) and os.path.realpath(root_prefix) == root
    return relative_path if root_prefix != normalized_path and is_same and not relative_path.startswith("..") else ""


def is_unambiguous(path: str) -> bool:
    """Check whether a path is the same for every process, and whether links are followed before or after `..`."""
    return not is_per_process(path) and os.path.realpath(path) == os.path.realpath(os.path.normpath(path))


def is_per_process(path: str) -> bool:
    """Check whether an absolute path means something else to each process, such as `/proc/self`."""
    return os.path.normpath(f"/{path.lstrip('/')}/").startswith(("/proc/", "/dev/"))


def read_regular_file(path: str, root: str) -> bytes | None:
    """Read a regular file; return None if it does not exist. Raises ValueError if it can't be read."""
    try:
        handle = open_regular(os.path.join(root, path), os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise ValueError(f"{path} can't be read") from None
    try:
        file_status = os.fstat(handle)
        if file_status.st_size > _MAX_FILE_BYTES:
            raise ValueError(f"{path} is not a regular file of at most {_MAX_FILE_BYTES >> 20} MiB")
        with open(handle, "rb", buffering=0, closefd=False) as file:
            return file.readall()
    finally:
        os.close(handle)


def _invalid_path_reason(text: str) -> str:
    """Return why the target of a path is unclear; empty if it is clear."""
    if not text.isprintable() or has_hidden(text) or any(["\ud800" <= char <= "\udfff" for char in text]):
        return "its path contains invisible characters"
    if not text or text != text.strip() or text.startswith("~") or text.rpartition("/")[2] in ("", ".", ".."):
        return "its path is not a plain file path"
    if len(os.fsencode(text)) > _MAX_PATH_BYTES or any([len(os.fsencode(part)) > 255 for part in text.split("/")]):
        return "its path is too long"
    return ""


def _real_path(path: str, *, no_follow: bool) -> str:
    if not no_follow:
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
