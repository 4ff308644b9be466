"""Check for hidden characters in what a step runs or touches: a reader would approve something else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from execplan.core.errors import ExecplanError
from execplan.core.text.invisible_characters import describe_characters, find_hidden
from execplan.core.text.message_parts import format_excess

_FIELDS = ("target", "from", "replacement", "command", "argv", "env", "cwd", "inputs", "outputs")


def ensure_nothing_hidden(label: str, texts: Iterable[tuple[str, str]]) -> None:
    """Raise ExecplanError if a text contains a hidden character; each text has a location, and is shown escaped."""
    problems = []
    for location, text in texts:
        for line in text.split("\n"):
            if runs := find_hidden(line):
                hidden_text = ", ".join([describe_characters(line[start:end]) for start, end in runs[:3]])
                problems.append(
                    f"{location}: {_escape_hidden(line, runs)} contains invisible characters: {hidden_text}"
                )
    if problems:
        message = f"{label}: {problems[0]}{format_excess(len(problems), 1, ', ')}"
        hint = "rewrite the line without these characters"
        candidates = problems if len(problems) > 1 else ()
        raise ExecplanError("hidden-character", message, hint=hint, candidates=candidates)


def step_texts(steps: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the texts that steps run and touch, each with its JSON pointer; the steps are plain data."""
    for index, step in enumerate(steps):
        for name in _FIELDS:
            yield from _nested_texts(f"/steps/{index}/{name}", step.get(name))
        validation = step.get("validation")
        if isinstance(validation, dict):
            yield from _nested_texts(f"/steps/{index}/validation/test_after", validation.get("test_after"))


def _nested_texts(location: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield location, value
    elif isinstance(value, list | tuple):
        for index, child in enumerate(value):
            yield from _nested_texts(f"{location}/{index}", child)
    elif isinstance(value, dict):
        for name, child in value.items():
            yield from _nested_texts(f"{location}/{name}", child)


def _escape_hidden(line: str, runs: list[tuple[int, int]]) -> str:
    """Return the line as inline code with hidden characters escaped."""
    pieces, position = [], 0
    for start, end in runs:
        pieces += [line[position:start], *[f"\\u{ord(char):04x}" for char in line[start:end]]]
        position = end
    return f"`{''.join([*pieces, line[position:]])}`"
