"""A whole folder as it is: every file, link and folder with its mode and bytes."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def tree(top: Path) -> dict[str, tuple[str, str, bytes]]:
    """Every path below a folder but for our own locks: kind, mode, content or where a link leads."""
    contents: dict[str, tuple[str, str, bytes]] = {}
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if not (name == "execplan" and ".git" in folder)]
        for name in folders + files:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            content = b""
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(path).encode()
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    content = file.read()
            contents[os.path.relpath(path, top)] = (stat.filemode(status.st_mode)[0], oct(status.st_mode), content)
    return contents
