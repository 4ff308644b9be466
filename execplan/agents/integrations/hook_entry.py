"""Entries of execplan among the hooks in a program's JSON file: adding, finding, and removing them byte for byte.

A mark at the end of the command, or in a field beside it, has a digest, which shows whether someone edited the entry,
and records the previous state of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from execplan.agents.integrations import json_edits
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.strict_json import JsonNode
from execplan.core.text.text_lines import digest


class Hook(NamedTuple):
    """A hook command of execplan: the event that runs it, and the texts that identify it."""

    event: str
    mark: str
    """Beginning of the mark; in a command that is not yet installed, the complete mark."""
    command_text: str
    """Text in the command, however it is written: someone may have added it by hand."""
    is_first: bool = False
    """Whether its group is the first of its event.

    Codex trusts a hook at its position: another group before it would move it, and Codex would ignore it silently.
    """
    matcher: str = ""
    """The tool that the event must be about; empty if the hook is for all."""


GUARD = Hook("PreToolUse", "# execplan:guard", "execplan guard", is_first=True)
BEFORE_TOOL = GUARD._replace(event="BeforeTool")
"""The hook of the guard in Gemini CLI."""
SESSION = Hook("SessionStart", "# execplan:session", "execplan prime")
COMPACTION = Hook("PreCompact", "# execplan:compaction", "execplan prime")
STOP = Hook("Stop", "# execplan:stop", "execplan next --hook")
AFTER_CALL = Hook("PostToolUse", "# execplan:made", "execplan guard")
PLAN_MODE = Hook("PermissionRequest", "# execplan:capture", "execplan new --from - --hook", matcher="ExitPlanMode")
PLAN_PROPOSAL = Hook("Stop", "# execplan:proposal", "execplan new --from - --hook")
PLAN_ANSWER = Hook("AfterTool", "# execplan:answer", "execplan new --from - --hook", matcher="exit_plan_mode")
MARK_FIELD = "execplan"
"""Field of an entry that has the changing part of the mark, in programs that trust a hook by the digest of its command.

Such an entry can be installed again without a change of what is trusted. An entry that is not installed has an empty one.
"""
_ALL_HOOKS = (GUARD, BEFORE_TOOL, AFTER_CALL, SESSION, COMPACTION, STOP, PLAN_MODE, PLAN_PROPOSAL, PLAN_ANSWER)
_HOOKS = "hooks"
_MARK_PATTERN = "([0-9a-f]{16}) (made [0-9]{1,4}|put [0-3] [0-9]{1,7} [0-9]{1,7})"
"""Pattern for the digest and the previous state of the file.

The state is either that there was no file, with the number of directories created for it; or the number of containers
created around the entry, with the numbers of characters before and after it that belong to execplan.
"""
_MATCH_ALL = ("", "*", ".*")
"""Matchers that match everything."""
_CONTAINER_DEPTH = 3
"""Number of containers around an entry's group: the root, its hooks, those of an event."""


class HookEntry(NamedTuple):
    """A hook command of execplan as found in a text."""

    hook: Hook
    handler: JsonNode
    group: JsonNode
    ancestors: tuple[tuple[JsonNode, int], ...]
    """Containers around the entry, each with the index in it."""
    bare_handler: dict[str, Any]
    """Content of the entry, with its mark reduced to the beginning."""
    note: str
    """Previous state of the file as recorded in the mark; empty if it can't be read."""
    is_edited: bool
    """Whether the entry differs from the installed one, applies to some matchers only, or is at another event."""

    @property
    def is_in_place(self) -> bool:
        """Whether its group is where a new installation would add it."""
        return not self.hook.is_first or self.ancestors[2][1] == 0

    @property
    def created_directories(self) -> int | None:
        """Number of directories created for the file; None if the file was not created for the entry."""
        kind, numbers = _parse_note(self.note)
        return numbers[0] if kind == "made" else None


def find_entries(text: str, hook: Hook) -> list[HookEntry]:
    """Find the installed entries of a hook. Raises InvalidJsonError."""
    return [_parse_entry(text, hook, ancestors) for ancestors, command in _iter_commands(text) if hook.mark in command]


def is_installed_by_hand(text: str, hook: Hook) -> bool:
    """Check whether someone else added the hook's command by hand. Raises InvalidJsonError."""
    marks = [known_hook.mark for known_hook in _ALL_HOOKS]
    return any(
        [
            hook.command_text in command
            and hook.event == ancestors[1][0].keys[ancestors[1][1]]
            and not any([mark in command for mark in marks])
            for ancestors, command in _iter_commands(text)
        ]
    )


def add_entry(text: str, hook: Hook, bare_handler: dict[str, Any], created_directories: int | None = None) -> str:
    """Add an entry to a text. Raises InvalidJsonError.

    `created_directories` is the number of directories created with its file; None if the file was not created for it.
    """
    insertion = json_edits.find_insertion_point(text, (_HOOKS, hook.event), at_start=hook.is_first)
    if created_directories is None:
        note = f"put {insertion.created_containers} {len(insertion.prefix)} {len(insertion.suffix)}"
    else:
        note = f"made {created_directories}"
    matcher = {"matcher": hook.matcher} if hook.matcher else {}
    return json_edits.insert_value(text, insertion, {**matcher, _HOOKS: [_mark_handler(hook, bare_handler, note)]})


def update_entry(text: str, entry: HookEntry, bare_handler: dict[str, Any]) -> str:
    """Replace the command of an entry in a text."""
    return json_edits.replace_value(text, entry.handler, _mark_handler(entry.hook, bare_handler, entry.note))


def transfer_note(text: str, notes: Sequence[str]) -> str:
    """Transfer the notes of removed entries to another entry of execplan, if there is one.

    That entry then accounts for what the removed ones created.
    """
    remaining_entries = [entry for hook in _ALL_HOOKS for entry in find_entries(text, hook) if not entry.is_edited]
    if not remaining_entries:
        return text
    successor = remaining_entries[0]
    note = max([successor.note, *notes], key=_count_created_containers)
    if _count_created_containers(note) == _count_created_containers(successor.note):
        return text
    kind, numbers = _parse_note(note)
    if kind == "put":
        note = f"put {numbers[0]} {' '.join(successor.note.split()[2:])}"
    return json_edits.replace_value(
        text, successor.handler, _mark_handler(successor.hook, successor.bare_handler, note)
    )


def remove_entry(text: str, entry: HookEntry) -> str:
    """Remove an entry from a text.

    The result is the text before the installation; if the text was reformatted since, it changes as little as possible.
    """
    previous_text = _text_before_install(text, entry)
    if previous_text is not None:
        return previous_text
    ancestors = entry.ancestors
    if len(ancestors[-1][0].items) > 1:
        return json_edits.remove_item(text, ancestors, len(ancestors))
    return json_edits.remove_item(
        text,
        ancestors[:_CONTAINER_DEPTH],
        _CONTAINER_DEPTH - min(_count_created_containers(entry.note), _CONTAINER_DEPTH),
    )  # a group without a command has no effect


def _text_before_install(text: str, entry: HookEntry) -> str | None:
    """Return the text that becomes this one when the entry is added; None if there is none."""
    if entry.is_edited or len(entry.ancestors[-1][0].items) != 1:
        return None
    kind, numbers = _parse_note(entry.note)
    previous_text = ""
    if kind == "put":
        previous_text = text[: max(0, entry.group.start - numbers[1])] + text[entry.group.end + numbers[2] :]
    try:
        reinstalled_text = json_edits.insert_value(
            previous_text,
            json_edits.find_insertion_point(previous_text, (_HOOKS, entry.hook.event), at_start=entry.hook.is_first),
            json_edits.node_value(text, entry.group),
        )
    except json_edits.InvalidJsonError:
        return None
    return previous_text if reinstalled_text == text else None


def _parse_note(note: str) -> tuple[str, list[int]]:
    """Split a mark's note on the previous state into its kind and numbers."""
    kind, *numbers = note.split() or [""]
    return kind, [int(number) for number in numbers]


def _count_created_containers(note: str) -> int:
    """Return the number of containers created around an entry, plus one if the file was created for it."""
    kind, numbers = _parse_note(note)
    if kind == "made":
        return _CONTAINER_DEPTH + 1
    if numbers:
        return numbers[0]
    return 0


def _iter_commands(text: str) -> Iterator[tuple[tuple[tuple[JsonNode, int], ...], str]]:
    """Yield the commands of all hooks, each with the containers around it."""
    root = json_edits.parse_json(text)
    hooks = root.get(_HOOKS) if root else None
    if root is None or hooks is None or hooks.kind != "{":
        return
    top = (root, root.keys.index(_HOOKS))
    for event_index, event in enumerate(hooks.items):
        for group_index, group in enumerate(event.items if event.kind == "[" else ()):
            handlers = group.get(_HOOKS)
            for handler_index, handler in enumerate(handlers.items if handlers and handlers.kind == "[" else ()):
                command = handler.get("command")
                if handlers and command and text[command.start] == '"':
                    ancestors = (
                        top,
                        (hooks, event_index),
                        (event, group_index),
                        (group, group.keys.index(_HOOKS)),
                        (handlers, handler_index),
                    )
                    yield ancestors, json_edits.node_value(text, command)


def _parse_entry(text: str, hook: Hook, ancestors: tuple[tuple[JsonNode, int], ...]) -> HookEntry:
    hooks, event_index = ancestors[1]
    group, handler = ancestors[2][0].items[ancestors[2][1]], ancestors[4][0].items[ancestors[4][1]]
    handler_value = json_edits.node_value(text, handler)
    field, prefix = (MARK_FIELD, "") if MARK_FIELD in handler_value else ("command", f"{hook.mark} ")
    pattern = re.compile(re.escape(prefix) + _MARK_PATTERN)
    match = pattern.search(str(handler_value[field]))
    note = match[2] if match else ""
    bare_handler = {**handler_value, field: pattern.sub(prefix.rstrip(), str(handler_value[field]))}
    is_intact = match is not None and match[1] == _digest(bare_handler, note) and hooks.keys[event_index] == hook.event
    return HookEntry(
        hook, handler, group, ancestors, bare_handler, note, not (is_intact and _has_matcher(text, group, hook.matcher))
    )


def _has_matcher(text: str, group: JsonNode, matcher: str) -> bool:
    """Check whether a group applies to a hook's tool; without one, to every tool and every kind of session start."""
    other_fields = {key: node for key, node in zip(group.keys, group.items, strict=True) if key != _HOOKS}
    if matcher:
        return list(other_fields) == ["matcher"] and json_edits.node_value(text, other_fields["matcher"]) == matcher
    return other_fields.keys() <= {"matcher"} and all(
        [json_edits.node_value(text, node) in _MATCH_ALL for node in other_fields.values()]
    )


def _mark_handler(hook: Hook, bare_handler: dict[str, Any], note: str) -> dict[str, Any]:
    mark = f"{_digest(bare_handler, note)} {note}"
    if MARK_FIELD in bare_handler:
        return {**bare_handler, MARK_FIELD: mark}
    return {**bare_handler, "command": bare_handler["command"].replace(hook.mark, f"{hook.mark} {mark}")}


def _digest(bare_handler: dict[str, Any], note: str) -> str:
    return digest(json.dumps([bare_handler, note], sort_keys=True).encode())[:16]
