"""Characters that hide something in what a step runs or touches: a reader would approve something else."""

from __future__ import annotations

from execplan.errors import POLICY, ExecplanError
from execplan.text.hidden import hidden_in, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

_FIELDS = ("target", "command", "argv", "env", "cwd", "inputs", "outputs")


def refuse_unseen(where: str, texts: Iterable[tuple[str, str]]) -> None:
    """Refuse texts that hold such a character, each given with its place; raises ExecplanError, all shown escaped."""
    told = []
    for place, text in texts:
        for line in text.split("\n"):
            runs = hidden_in(line)
            if runs:
                what = ", ".join([shown(line[start:end]) for start, end in runs[:3]])
                told.append(f"{place}: {_escaped(line, runs)} hides {what}")
    if told:
        message = f"{where}: {told[0]}" + (f", and {len(told) - 1} more" if len(told) > 1 else "")
        hint = "write the line anew, without the character"
        candidates = told if len(told) > 1 else ()
        raise ExecplanError("hidden-character", message, exit=POLICY, hint=hint, candidates=candidates)


def texts_of(steps: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """What steps, as plain data, run and touch, each text with its pointer."""
    for at, step in enumerate(steps):
        for name in _FIELDS:
            yield from _texts(f"/steps/{at}/{name}", step.get(name))
        validation = step.get("validation")
        if isinstance(validation, dict):
            yield from _texts(f"/steps/{at}/validation/test_after", validation.get("test_after"))


def _texts(where: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            yield from _texts(f"{where}/{at}", each)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(f"{where}/{name}", each)


def _escaped(line: str, runs: list[tuple[int, int]]) -> str:
    """The line with what hides shown as escapes."""
    parts, done = [], 0
    for start, end in runs:
        parts += [line[done:start], *[f"\\u{ord(char):04x}" for char in line[start:end]]]
        done = end
    return f"`{''.join([*parts, line[done:]])}`"
