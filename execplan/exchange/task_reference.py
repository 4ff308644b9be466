"""The ID and the link by which another program knows a task, at the end of its text: `([PROJ-7](URL))` or `(id: 7)`."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple

_LINK_START = " (["
_ID_START = " (id: "
_ID_CHARS = "-_.#/:+@"


class TaskReference(NamedTuple):
    """A task's text in two parts."""

    text: str
    """Text without the reference."""
    id: str
    """ID in the other program; empty if the text has no reference."""
    link: str
    """Address in the other program; may be empty."""


def split_reference(text: str) -> TaskReference:
    """Split a task's text at its reference; without one, the ID and the link are empty."""
    if text.endswith("))") and (start := text.rfind(_LINK_START)) >= 0:
        name, separator, address = text[start + len(_LINK_START) : -2].partition("](")
        if separator and name and is_reference_id(name) and address and not any([char in "()<> " for char in address]):
            return TaskReference(text[:start].rstrip(), name, address)
    if text.endswith(")") and (start := text.rfind(_ID_START)) >= 0:
        name = text[start + len(_ID_START) : -1]
        if name and is_reference_id(name):
            return TaskReference(text[:start].rstrip(), name, "")
    return TaskReference(text, "", "")


def format_reference(name: str, link: str) -> str:
    """Return a reference with a space before it; empty without an ID."""
    if not name:
        return ""
    return f"{_LINK_START}{name}]({link}))" if link else f"{_ID_START}{name})"


def keep_reference(old_text: str, new_text: str) -> str:
    """Return the new text of a task with the reference of the old one, unless it has its own."""
    old, new = split_reference(old_text), split_reference(new_text)
    return new_text if new.id else new_text + format_reference(old.id, old.link)


def is_reference_id(name: str) -> bool:
    """Return whether a text can be the ID in a reference."""
    return all([char.isalnum() or char in _ID_CHARS for char in name])


def to_reference_id(name: str) -> str:
    """Return a text as the ID in a reference, with a hyphen in place of each character that it can't have."""
    return "".join([char if is_reference_id(char) else "-" for char in name.strip()])
