"""What a format takes out of a call: fields of the kinds that it knows, and no others, for one that is not known may change all."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_MAX_PATH_CHARS = 4096
"""Characters of the longest path, as Linux has it."""


class NotUnderstoodError(Exception):
    """A call that says what no format knows: it is denied, with these words."""


def ensure_known_fields(arguments: Mapping[str, Any], known_fields: str, tool: str) -> None:
    """Refuse fields beside the known ones, which are named with spaces between."""
    for name in arguments:
        if name not in known_fields.split():
            raise NotUnderstoodError(f"{tool} is given {name!r}, and what that changes is not known here")


def required_object(payload: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object that must be there."""
    value: dict[str, Any] = _required_value(payload, name, dict, "an object")
    return value


def required_text(payload: Mapping[str, Any], name: str) -> str:
    """Text that must be there."""
    value: str = _required_value(payload, name, str, "text")
    return value


def required_path(payload: Mapping[str, Any], name: str) -> str:
    """A path that must be there."""
    value = required_text(payload, name)
    if not value or "\0" in value or len(value) > _MAX_PATH_CHARS:
        raise NotUnderstoodError(f"{name} is no path")
    return value


def optional_paths(payload: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    """The paths that are there."""
    return tuple([required_path(payload, name) for name in names if payload.get(name) is not None])


def optional_text(payload: Mapping[str, Any], name: str) -> str:
    """Text, nothing where there is none."""
    return "" if payload.get(name) is None else required_text(payload, name)


def optional_flag(payload: Mapping[str, Any], name: str) -> bool:
    """True or false, false where nothing is said."""
    return payload.get(name) is not None and _required_value(payload, name, bool, "true or false")


def required_cwd(payload: Mapping[str, Any]) -> str:
    """The folder in which a call is made."""
    cwd = required_path(payload, "cwd")
    if not cwd.startswith("/"):
        raise NotUnderstoodError("cwd is no absolute path")
    return cwd


def _required_value(payload: Mapping[str, Any], name: str, kind: type, expected: str) -> Any:
    value = payload.get(name)
    if not isinstance(value, kind):
        raise NotUnderstoodError(f"{name} is missing" if name not in payload else f"{name} is not {expected}")
    return value
