"""An entry of ours among the hooks of a program: put into its JSON, found there, taken out again to the byte.

A mark at the end of the command says by a digest whether somebody has edited the entry, and what stood there before it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from execplan.agents import json_places, jsons
from execplan.record import NamedTuple
from execplan.text.lines import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.agents.jsons import Node


class Hook(NamedTuple):
    """A command of ours: when it is run, and how it is told from all others."""

    event: str
    mark: str
    """How the mark begins, in a command that is not put in yet all of it."""
    call: str
    """What is in the command however it is written: somebody may have put it there by hand."""


GUARD = Hook("PreToolUse", "# execplan:guard", "execplan guard")
SESSION = Hook("SessionStart", "# execplan:session", "execplan prime")
COMPACTION = Hook("PreCompact", "# execplan:compaction", "execplan prime")
_EVERY = (GUARD, SESSION, COMPACTION)
_HOOKS = "hooks"
_MARKED = " ([0-9a-f]{16}) (made [0-9]{1,4}|put [0-3] [0-9]{1,7} [0-9]{1,7})"
"""The digest, and what was there before: no file, and so many folders made for it; or how many of the containers that lead to
the entry were put in with it, and how many characters before and behind it are ours."""
_ALL = ("", "*", ".*")
"""Matchers that everything fits."""
_WHOLE = 3
"""How many containers lead to an entry: the whole, its hooks, those of an event."""


class Entry(NamedTuple):
    """A command of ours as it stands in a text."""

    hook: Hook
    handler: Node
    group: Node
    way: tuple[tuple[Node, int], ...]
    """The containers that lead to it, each with the place in it."""
    bare: dict[str, Any]
    """What it says, its mark cut down to how it begins."""
    note: str
    """What the mark says of what was there before; nothing where it can't be read."""
    edited: bool
    """Whether it says something else than was put in, for some matchers only, or at another event."""

    @property
    def folders(self) -> int | None:
        """How many folders were made for the file; None where it was not made for the entry."""
        kind, numbers = _noted(self.note)
        return numbers[0] if kind == "made" else None


def find(text: str, hook: Hook) -> list[Entry]:
    """The entries that were put in; raises UnreadableError."""
    return [_entry(text, hook, way) for way, command in _commands(text) if hook.mark in command]


def by_hand(text: str, hook: Hook) -> bool:
    """Whether somebody else has written our command there; raises UnreadableError."""
    marks = [each.mark for each in _EVERY]
    return any(
        [
            hook.call in command
            and hook.event == way[1][0].keys[way[1][1]]
            and not any([mark in command for mark in marks])
            for way, command in _commands(text)
        ]
    )


def add(text: str, hook: Hook, bare: dict[str, Any], folders: int | None = None) -> str:
    """The text with the entry; `folders` says how many were made with its file. Raises UnreadableError."""
    place = json_places.spot(text, (_HOOKS, hook.event))
    note = f"put {place.made} {len(place.before)} {len(place.after)}" if folders is None else f"made {folders}"
    return json_places.put(text, place, {_HOOKS: [_marked(hook, bare, note)]})


def renew(text: str, entry: Entry, bare: dict[str, Any]) -> str:
    """The text with another command in an entry."""
    return json_places.swap(text, entry.handler, _marked(entry.hook, bare, entry.note))


def inherit(text: str, notes: Sequence[str]) -> str:
    """The text in which another entry of ours, if there is one, says what those did that were taken out: what they made is its."""
    heirs = [entry for hook in _EVERY for entry in find(text, hook) if not entry.edited]
    if not heirs:
        return text
    heir = heirs[0]
    note = max([heir.note, *notes], key=_made)
    if _made(note) == _made(heir.note):
        return text
    kind, numbers = _noted(note)
    if kind == "put":
        note = f"put {numbers[0]} {' '.join(heir.note.split()[2:])}"
    return json_places.swap(text, heir.handler, _marked(heir.hook, heir.bare, note))


def take(text: str, entry: Entry) -> str:
    """The text without an entry: as it was before, or where it was laid out anew since as little changed as can be."""
    rest = _before(text, entry)
    if rest is not None:
        return rest
    way = entry.way
    if len(way[-1][0].items) > 1:
        return json_places.drop(text, way, len(way))
    return json_places.drop(
        text, way[:_WHOLE], _WHOLE - min(_made(entry.note), _WHOLE)
    )  # a group without a command is none


def _before(text: str, entry: Entry) -> str | None:
    """The text that becomes this one when the entry is put in, None where there is none."""
    if entry.edited or len(entry.way[-1][0].items) != 1:
        return None
    kind, numbers = _noted(entry.note)
    rest = ""
    if kind == "put":
        rest = text[: max(0, entry.group.start - numbers[1])] + text[entry.group.end + numbers[2] :]
    try:
        there = json_places.put(
            rest, json_places.spot(rest, (_HOOKS, entry.hook.event)), jsons.value(text, entry.group)
        )
    except jsons.UnreadableError:
        return None
    return rest if there == text else None


def _noted(note: str) -> tuple[str, list[int]]:
    """What a mark says of what was there before, in its parts."""
    kind, *numbers = note.split() or [""]
    return kind, [int(each) for each in numbers]


def _made(note: str) -> int:
    """How many of the containers that lead to an entry were put in with it; one more where the file was made for it."""
    kind, numbers = _noted(note)
    return _WHOLE + 1 if kind == "made" else numbers[0] if numbers else 0


def _commands(text: str) -> Iterator[tuple[tuple[tuple[Node, int], ...], str]]:
    """The commands of all hooks, with the containers that lead to each."""
    root = jsons.parse(text)
    hooks = root.get(_HOOKS) if root else None
    if root is None or hooks is None or hooks.kind != "{":
        return
    top = (root, root.keys.index(_HOOKS))
    for at, event in enumerate(hooks.items):
        for number, group in enumerate(event.items if event.kind == "[" else ()):
            handlers = group.get(_HOOKS)
            for place, handler in enumerate(handlers.items if handlers and handlers.kind == "[" else ()):
                command = handler.get("command")
                if handlers and command and text[command.start] == '"':
                    way = (top, (hooks, at), (event, number), (group, group.keys.index(_HOOKS)), (handlers, place))
                    yield way, jsons.value(text, command)


def _entry(text: str, hook: Hook, way: tuple[tuple[Node, int], ...]) -> Entry:
    hooks, event = way[1]
    group, handler = way[2][0].items[way[2][1]], way[4][0].items[way[4][1]]
    said = jsons.value(text, handler)
    marked = re.compile(re.escape(hook.mark) + _MARKED)
    found = marked.search(said["command"])
    note = found[2] if found else ""
    bare = {**said, "command": marked.sub(hook.mark, said["command"])}
    whole = found is not None and found[1] == _digest(bare, note) and hooks.keys[event] == hook.event
    return Entry(hook, handler, group, way, bare, note, not (whole and _for_all(text, group)))


def _for_all(text: str, group: Node) -> bool:
    """Whether a group is for every tool, or however a session begins."""
    others = {key: node for key, node in zip(group.keys, group.items, strict=True) if key != _HOOKS}
    return others.keys() <= {"matcher"} and all([jsons.value(text, node) in _ALL for node in others.values()])


def _marked(hook: Hook, bare: dict[str, Any], note: str) -> dict[str, Any]:
    return {**bare, "command": bare["command"].replace(hook.mark, f"{hook.mark} {_digest(bare, note)} {note}")}


def _digest(bare: dict[str, Any], note: str) -> str:
    return digest(json.dumps([bare, note], sort_keys=True).encode())[:16]
