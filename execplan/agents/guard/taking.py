"""What a format takes out of a call: fields of the kinds that it knows, and no others, for one that is not known may change all."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_PATH = 4096
"""Characters of the longest path, as Linux has it."""


class NotUnderstoodError(Exception):
    """A call that says what no format knows: it is denied, with these words."""


def only(given: Mapping[str, Any], known: str, tool: str) -> None:
    """Refuse fields beside the known ones, which are named with spaces between."""
    for name in given:
        if name not in known.split():
            raise NotUnderstoodError(f"{tool} is given {name!r}, and what that changes is not known here")


def table(said: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object that must be there."""
    return _taken(said, name, dict, "an object")


def text(said: Mapping[str, Any], name: str) -> str:
    """Text that must be there."""
    return _taken(said, name, str, "text")


def path(said: Mapping[str, Any], name: str) -> str:
    """A path that must be there."""
    found = text(said, name)
    if not found or "\0" in found or len(found) > _PATH:
        raise NotUnderstoodError(f"{name} is no path")
    return found


def paths(said: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    """The paths that are there."""
    return tuple([path(said, name) for name in names if said.get(name) is not None])


def maybe(said: Mapping[str, Any], name: str) -> str:
    """Text, nothing where there is none."""
    return "" if said.get(name) is None else text(said, name)


def flag(said: Mapping[str, Any], name: str) -> bool:
    """True or false, false where nothing is said."""
    return said.get(name) is not None and _taken(said, name, bool, "true or false")


def folder(said: Mapping[str, Any]) -> str:
    """The folder in which a call is made."""
    found = path(said, "cwd")
    if not found.startswith("/"):
        raise NotUnderstoodError("cwd is no absolute path")
    return found


def _taken(said: Mapping[str, Any], name: str, kind: type, what: str) -> Any:
    found = said.get(name)
    if not isinstance(found, kind):
        raise NotUnderstoodError(f"{name} is missing" if name not in said else f"{name} is not {what}")
    return found
