"""File statuses that reveal a change, of plans and of this package, for caches."""

from __future__ import annotations

import os
from time import time_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    FileStat = tuple[int, int, int, int]
    """File status: size, modification and status change times in nanoseconds, inode."""

MTIME_MARGIN_NS = 2_000_000_000
"""Nanoseconds that a file must be older than the run, because the coarsest file systems round times to two seconds."""
_PACKAGE_DIR = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def file_stat(status: os.stat_result) -> FileStat:
    """Return the status fields that reveal a change of a file."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def package_fingerprint() -> str | None:
    """Return a fingerprint of this package's files that differs between versions.

    Returns None if a file was just changed, because it may differ from the one that was loaded.
    """
    count = newest_ns = sizes = mtimes = ctimes = inodes = 0
    directories = [_PACKAGE_DIR]
    try:
        for directory in directories:
            for dir_entry in os.scandir(directory):
                if dir_entry.is_dir():
                    directories += [dir_entry.path] if dir_entry.name != "__pycache__" else []
                    continue
                size, mtime_ns, ctime_ns, inode = file_stat(dir_entry.stat())
                newest_ns = max(newest_ns, mtime_ns, ctime_ns)
                count, sizes, inodes = count + 1, sizes + size, inodes + inode
                mtimes, ctimes = mtimes + mtime_ns, ctimes + ctime_ns
    except OSError:
        return None
    # sums are enough, and a fifth of the time of a list: a changed file has a new time in nanoseconds
    return (
        None
        if newest_ns >= time_ns() - MTIME_MARGIN_NS
        else f"{_PACKAGE_DIR} {count} {sizes} {mtimes} {ctimes} {inodes}"
    )
