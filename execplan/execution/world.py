"""Read-only view of the machine for evaluating an execution plan; no method changes anything."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final, Protocol
else:
    Protocol = object  # loading typing takes longer than a guard may take in total

ABSENT: Final = "absent"
FILE: Final = "file"
FOLDER: Final = "folder"
LINK: Final = "link"
OTHER: Final = "other"
OUTSIDE: Final = "outside"


class State(NamedTuple):
    """What is at a path."""

    kind: str
    """Kind of the entry. `other` is a device, a pipe or a socket.

    `outside` means that the path leads from the root only through a link or `..`.
    """
    sha256: str = ""
    """SHA-256 of a file's bytes; empty if they can't be read or are too many to bind."""
    mode: int = 0
    """Permission bits of a file or a directory."""
    link: str = ""
    """Target of a link; for a path that leads through a link, the target of that link."""
    size: int = 0


class Program(NamedTuple):
    """The program that a name resolves to, or a file with code that a program reads.

    Both paths count from the root in the repository, and are absolute elsewhere.
    """

    path: str = ""
    """Path as found, or an empty string if there is none."""
    real: str = ""
    """Path with all links resolved."""
    sha256: str = ""
    """SHA-256 of the bytes, for programs in the repository and for the module of a tool."""
    version: str = ""
    """For a tool, its distribution and the distribution's version."""

    @property
    def is_in_repository(self) -> bool:
        """Whether the program is found in the repository, or a link leads into it."""
        return any([path and not path.startswith("/") for path in (self.path, self.real)])


class World(Protocol):
    """The repository and the machine; paths count from the repository root, with `/` between directories."""

    def state(self, path: str) -> State:
        """Return the state of a path without following links."""

    def read(self, path: str) -> bytes:
        """Return the bytes of a file. Raises ExecplanError if there is no such file, or if it is too large to show."""

    def find_files(self, patterns: Sequence[str]) -> list[str]:
        """Return the files and links that match a pattern, without those that git ignores and those of plans, in order."""

    def writable(self, path: str) -> bool:
        """Return whether a file may be written, created or removed at a path."""

    def protected(self, path: str) -> str:
        """Return a description of the Git or ExecPlan data at a normalized path, or an empty string."""

    def program(self, name: str, cwd: str, path: str = "", first: str = "") -> Program:
        """Resolve the first word of a command on `path`, or on our own PATH, after the directory `first`."""

    def code_file(self, path: str) -> Program:
        """Return the file at a path, with its links resolved; without a digest if it is elsewhere or too large."""

    def interpreter(self, real: str) -> str:
        """Return the name of the program in a script's first line, or an empty string if the file is not a script."""

    def tool(self, name: str) -> Program:
        """Return the module of an installed tool from its metadata; nothing is imported."""

    def calls(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[str]]:
        """Return the problems of each tool call, given by name and parameters; tool modules are imported elsewhere."""

    def free_bytes(self) -> int:
        """Return the free bytes on the repository's disk, or -1 if unknown."""

    def memory_bytes(self) -> int:
        """Return the available memory in bytes, or -1 if unknown."""

    def total_memory_bytes(self) -> int:
        """Return the memory of the machine in bytes, or -1 if unknown."""

    def syntax(self, language: str, content: bytes) -> str | None:
        """Return the syntax error reported by an installed program of the language, or an empty string.

        None means that no such program is installed.
        """


def normalize_path(path: str) -> str | None:
    """Return a path from the root in normal form, or None if it leads elsewhere: absolute, or with `..`."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts or "\0" in path:
        return None
    return "/".join(parts) or "."
