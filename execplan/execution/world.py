"""What the judges of an execution plan may know of the machine: they look, and nothing that they do changes it."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final, Protocol
else:
    Protocol = object  # typing takes longer to load than a guard may take in all

ABSENT: Final = "absent"
FILE: Final = "file"
FOLDER: Final = "folder"
LINK: Final = "link"
OTHER: Final = "other"
OUTSIDE: Final = "outside"


class State(NamedTuple):
    """What is at a path."""

    kind: str
    """`other` is a device, a pipe or a socket; `outside`: no way leads there from the root but through a link or `..`."""
    sha256: str = ""
    """Of a file's bytes; empty where they can't be read, or are more than anybody would bind."""
    mode: int = 0
    """The permission bits of a file or a folder."""
    link: str = ""
    """What a link says; of a path that leads through a link, that link."""
    size: int = 0


class Program(NamedTuple):
    """What a name leads to; in the repository both paths are from its root, elsewhere they are absolute."""

    path: str = ""
    """As it is found; nothing where there is none."""
    real: str = ""
    """Without links."""
    sha256: str = ""
    """Of its bytes, where they are in the repository, and of the module of a tool."""
    version: str = ""
    """Of a tool: its distribution and that one's version."""

    @property
    def is_in_repository(self) -> bool:
        """Whether it is found in the repository, or a link leads into it."""
        return any([path and not path.startswith("/") for path in (self.path, self.real)])


class World(Protocol):
    """The repository and the machine; paths count from the repository's root, with `/` between folders."""

    def state(self, path: str) -> State:
        """What is there; no link is followed."""

    def read(self, path: str) -> bytes:
        """The bytes of a file; raises ExecplanError where there is none, or it is too large to be shown."""

    def writable(self, path: str) -> bool:
        """Whether a file may be written, made or removed there."""

    def protected(self, path: str) -> str:
        """What of git's or the tool's own a path in its plain form is, in words; nothing for any other."""

    def program(self, name: str, cwd: str, path: str = "", first: str = "") -> Program:
        """Where a command that begins with this word finds its program: along this PATH, or ours, behind a first directory."""

    def interpreter(self, real: str) -> str:
        """The name of the program that runs a script, as its first line says; nothing for what is no script."""

    def tool(self, name: str) -> Program:
        """The module of an installed tool, by its metadata; nothing is imported."""

    def calls(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[str]]:
        """What is wrong with each call of a tool, by its name and its parameters; its module is imported elsewhere."""

    def free_bytes(self) -> int:
        """What the disk of the repository has left; -1 where that is not known."""

    def memory_bytes(self) -> int:
        """What memory can be had; -1 where that is not known."""

    def syntax(self, language: str, content: bytes) -> str | None:
        """What an installed program of the language says is wrong with a text, or nothing; None: there is none."""


def normalize_path(path: str) -> str | None:
    """A path from the root in its one form, None for one that leads elsewhere: absolute, or with `..`."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts or "\0" in path:
        return None
    return "/".join(parts) or "."
