"""Paths of one machine: what of a text only its author's own folders hold."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_HOME_PREFIXES = ("/Users/", "/home/")
_MOUNT, _ROOT = "/mnt/", "/root/"
_DRIVE = ":\\"
_PATH_TERMINATORS = frozenset(" \t\n`\"'()[]<>{}|,;*")
_PLACEHOLDER_NAMES = frozenset(
    "app circleci coder codespace dev developer example gitpod jovyan linuxbrew me my-user myname name node runner shared "
    "some-user someone u ubuntu user username vagrant vscode you your-name your-user yourname youruser".split()
)
"""Names of nobody: placeholders, and users that images of containers have."""
_SYSTEM_DIRECTORIES = ("program files", "windows", "programdata", "temp", "tmp", "path", "msys", "tools", "vcpkg")
_PATH_CHARACTERS = frozenset("/._-~$}>*+@%:")


def find_user_directories(source: str) -> Iterator[tuple[int, int]]:
    """Where paths of one machine stand, to the end of the folder that only it has."""
    for start in _HOME_PREFIXES:
        at = source.find(start)
        while at >= 0:
            end = _name_end(source, at + len(start), "/")
            name = source[at + len(start) : end]
            if _is_user_name(name) and _starts_path(source, at) and (start == "/Users/" or source[end : end + 1] == "/"):
                yield at, end
            at = source.find(start, at + len(start))
    at = source.find(_ROOT)
    while at >= 0:
        end = _name_end(source, at + len(_ROOT), "/")
        if source[at + len(_ROOT) : end][:1].isalnum() and _starts_path(source, at):
            yield at, end
        at = source.find(_ROOT, at + len(_ROOT))
    yield from _wsl_directories(source)
    yield from _windows_directories(source)


def _windows_directories(source: str) -> Iterator[tuple[int, int]]:
    """Where the folders of one machine with Windows stand."""
    at = source.find(_DRIVE) if "\\" in source else -1  # one character is found ten times as fast
    while at >= 0:
        end = _name_end(source, at + 2, "\\")
        name = source[at + 2 : end].lower()
        if at and source[at - 1].isalpha() and source[at - 1].isupper() and (at < 2 or not source[at - 2].isalnum()):
            if name == "users":
                user = _name_end(source, end + 1, "\\") if source[end : end + 1] == "\\" else end
                if user > end + 1 and _is_user_name(source[end + 1 : user]):
                    yield at - 1, user
            elif not name.startswith(_SYSTEM_DIRECTORIES) and _is_folder(source[at - 1], name, source[end : end + 1]):
                yield at - 1, end
        at = source.find(_DRIVE, at + 2)


def _is_folder(drive: str, name: str, next_char: str) -> bool:
    """Whether a folder's name stands behind a drive: before others, or alone where it is no escape of a new line."""
    if next_char == "\\":
        return len(name) > 1
    is_plain_name = name.replace("-", "").replace("_", "").isalnum()
    return drive in "CDEFGH" and len(name) > 2 and is_plain_name and name[0] not in "nrt" and name != "program"


def _wsl_directories(source: str) -> Iterator[tuple[int, int]]:
    """Where the folders of users of Windows stand as Linux sees them: `/mnt/c/Users/ann`."""
    at = source.find(_MOUNT)
    while at >= 0:
        users = at + len(_MOUNT) + 1
        if source[users : users + 7] == "/Users/" and source[users - 1].isalpha() and _starts_path(source, at):
            end = _name_end(source, users + 7, "/")
            if _is_user_name(source[users + 7 : end]):
                yield at, end
        at = source.find(_MOUNT, at + len(_MOUNT))


def _name_end(source: str, at: int, mark: str) -> int:
    """Where the name ends that begins at a place."""
    begin = at
    while at < len(source) and at - begin < 80 and source[at] != mark and source[at] not in _PATH_TERMINATORS:
        at += 1
    return at


def _is_user_name(name: str) -> bool:
    """Whether a folder's name is that of a user, and no placeholder."""
    bare = name.rstrip(".:")
    return bare.lower() not in _PLACEHOLDER_NAMES and bare[:1].isalnum() and bare.isascii() and "…" not in bare


def _starts_path(source: str, at: int) -> bool:
    """Whether a path begins at a place, and no address or longer path goes on there."""
    if not at:
        return True
    previous_char = source[at - 1]
    return not previous_char.isalnum() and (previous_char not in _PATH_CHARACTERS or source.startswith("file://", max(at - 7, 0)))
