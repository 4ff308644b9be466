"""Assignments to keys of the metadata, as `set --meta key=value` takes them."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.metadata_values import LINK_KEYS, LIST_KEYS, TEXT_KEYS, normalize_key
from execplan.core.plan.plan_change import require_text
from execplan.core.timestamps import read_timestamp

KEYS = (*TEXT_KEYS, *LIST_KEYS, *[f"links.{key}" for key in LINK_KEYS])
"""The keys that a plan's front matter can be given; others are changed where they are."""
_DATE_KEYS = ("created", "updated")


class Assignment(NamedTuple):
    """A new value for a key of the metadata."""

    key: tuple[str, ...]
    """Name of the key; for one of the map `links`, that and its name."""
    values: tuple[str, ...]
    """The values; empty to remove the key."""
    is_list: bool

    @property
    def name(self) -> str:
        """The key as a user names it, such as `links.pr`."""
        return ".".join(self.key)

    @property
    def value(self) -> str | tuple[str, ...]:
        """The value for the front matter: a text, or the texts of a list."""
        return self.values if self.is_list or len(self.values) > 1 else "".join(self.values)


def parse_assignment(source: str) -> Assignment:
    """Parse `key=value`, where a list is `a,b`, and nothing removes the key; raises ExecplanError."""
    name, equals, value = source.partition("=")
    name = name.strip()
    if not equals or not name:
        raise ExecplanError(
            "usage",
            f"--meta requires key=value, not {source!r}",
            hint="execplan set --meta owner=ana; to remove a key: --meta owner=",
        )
    text = require_text(value, f"the value of {name}") if value.strip() else ""
    group, dot, link = name.partition(".")
    bare = normalize_key(link if dot else name)
    if bare in LINK_KEYS and (not dot or group == "links"):
        key: tuple[str, ...] = ("links", bare)
    elif dot:
        raise unknown_key_error(name)
    else:
        key = (bare if bare in TEXT_KEYS + LIST_KEYS else name,)
    if bare in _DATE_KEYS and text and read_timestamp(text) is None:
        raise ExecplanError("bad-metadata", f"{name} requires a date, not {text!r}", hint=f"--meta {name}=2026-01-31")
    is_list = key[0] in LIST_KEYS
    separator = "," if is_list or "://" not in text else ", "  # as `links` is read
    parts = [part.strip() for part in text.split(separator)] if is_list or len(key) > 1 else [text]
    return Assignment(key, tuple(dict.fromkeys([part for part in parts if part])), is_list)


def unknown_key_error(name: str) -> ExecplanError:
    """Return the error for a key that no plan has."""
    from execplan.core.text.suggestions import did_you_mean

    return ExecplanError(
        "bad-metadata",
        f"unknown metadata key {name!r}",
        hint=did_you_mean(name, KEYS) or f"the keys are {', '.join(KEYS)}",
        candidates=list(KEYS),
    )
