"""What the value of an attribute says, as the field of the JSON step has it, or what is wrong with it."""

from __future__ import annotations

from execplan.execution import attributes as of
from execplan.execution.attributes import ALTERNATIVE, ATTRIBUTES_BY_NAME, STEP_OUTCOMES, Attribute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

_LONGEST_ID: Final = 64
_LONGEST: Final = 2000
_LONGEST_PATH: Final = 1024
RANGES = {
    "retry": (0, 10),
    "exit": (0, 255),
    "max-invocations": (1, 1000),
    "timeout": (1, 86_400),
    "backoff": (0, 3_600_000),
    "max-steps": (1, 1000),
    "max-duration": (1, 604_800),
}
"""As the model has them."""
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_MILLISECONDS = {"": 1, "ms": 1, "s": 1000, "m": 60_000}
_STRATEGIES = ("fail_fast", "retry", "skip", "replan", "ask")
_TRIGGERS = ("exit", "timeout", "expectation", "syntax", "test", "limit")
_PATHS = ("exists", "missing")


class WrongValueError(Exception):
    """What is wrong with a value."""


def value(name: str, text: str) -> Any:
    """The JSON value of an attribute of a step; raises WrongValueError."""
    return value_of(ATTRIBUTES_BY_NAME[name], text)


def value_of(attribute: Attribute, text: str) -> Any:
    """The JSON value of an attribute; raises WrongValueError."""
    name = attribute.name
    if not text.strip() and attribute.kind != of.TEXT:
        raise WrongValueError(f"{name} says nothing")
    found = _READERS[attribute.kind](attribute, text)
    if found == []:
        raise WrongValueError(f"{name} says nothing")
    return found


def parts(text: str) -> list[str]:
    """Words between white space or commas; quotes keep what is one together. Raises WrongValueError."""
    return _split(text, " \t,")


def _split(text: str, between: str) -> list[str]:
    from shlex import shlex

    reader = shlex(text, posix=True)
    reader.whitespace, reader.whitespace_split, reader.commenters = between, True, ""
    try:
        return list(reader)
    except ValueError:
        raise WrongValueError("a quote in it is never closed") from None


def is_id(text: str) -> bool:
    """Whether a text can be the id of a step."""
    rest = text.replace("_", "").replace("-", "").replace(".", "")
    return text[:1].isalpha() and text.isascii() and rest.isalnum() and len(text) <= _LONGEST_ID


def _id(attribute: Attribute, text: str) -> str:
    if not is_id(text):
        raise WrongValueError(
            f"{text!r} is no id: a letter, then letters, digits and `_.-`, at most {_LONGEST_ID} of them"
        )
    return text


def _ids(attribute: Attribute, text: str) -> list[str]:
    return [_id(attribute, each) for each in parts(text)]


def _flag(attribute: Attribute, text: str) -> bool:
    if text not in ("true", "false"):
        raise WrongValueError(f"{attribute.name} is true or false, not {text!r}")
    return text == "true"


def _count(attribute: Attribute, text: str) -> int:
    return _within(attribute, text, text, 1)


def _seconds(attribute: Attribute, text: str) -> int:
    return _measured(attribute, text, _SECONDS, "90, 90s, 5m or 1h")


def _milliseconds(attribute: Attribute, text: str) -> int:
    return _measured(attribute, text, _MILLISECONDS, "500ms or 2s")


def _measured(attribute: Attribute, text: str, units: dict[str, int], forms: str) -> int:
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    factor = units.get(text[len(number) :])
    if factor is None:
        raise WrongValueError(f"{attribute.name} is written {forms}, not {text!r}")
    return _within(attribute, text, number, factor)


def _within(attribute: Attribute, text: str, number: str, factor: int) -> int:
    least, most = RANGES[attribute.name]
    if not (number.isascii() and number.isdigit()):
        raise WrongValueError(f"{attribute.name} is a whole number, not {text!r}")
    found = int(number[:9]) * factor
    if len(number) > 9 or not least <= found <= most:
        unit = {of.SECONDS: " seconds", of.MILLISECONDS: " milliseconds"}.get(attribute.kind, "")
        raise WrongValueError(f"{attribute.name} is {least} to {most:,}{unit}, not {text!r}")
    return found


def _words(attribute: Attribute, text: str) -> str:
    if attribute.name == "expect":
        return text
    if not text.strip() or len(text) > _LONGEST:
        raise WrongValueError(f"{attribute.name} has 1 to {_LONGEST:,} characters")
    return text


def _path(attribute: Attribute, text: str) -> str:
    if not text or len(text) > _LONGEST_PATH or any([char < " " or char == "\x7f" for char in text]):
        raise WrongValueError(f"{attribute.name} is a path, without control characters")
    return text


def _paths(attribute: Attribute, text: str) -> list[str]:
    return [_path(attribute, each) for each in parts(text)]


def _list(attribute: Attribute, text: str) -> list[str]:
    if attribute.name == "triggers":
        return [_trigger(each) for each in parts(text)]
    return [_pattern(attribute, each.strip()) for each in text.split(",")]


def _pattern(attribute: Attribute, text: str) -> str:
    from execplan.execution.command.pattern import problem

    if why := problem(_words(attribute, text)):
        raise WrongValueError(f"{attribute.name} can't be {text!r}: {why}")
    return text


def _trigger(text: str) -> str:
    kind, colon, status = text.partition(":")
    if (
        kind == "exit"
        and colon
        and status.isascii()
        and status.isdigit()
        and status[0] != "0"
        and int(status[:4]) < 256
    ):
        return text
    if text not in _TRIGGERS:
        raise WrongValueError(f"{text!r} is no trigger: {', '.join(_TRIGGERS)} or exit:N, with N from 1 to 255")
    return text


def _command(attribute: Attribute, text: str) -> list[str]:
    from execplan.execution.command.parse import parse

    read = parse(text)
    if read.problem or read.argv is None or read.assigned:
        why = read.problem or read.needs or "a variable is set in front of it"
        raise WrongValueError(f"{attribute.name} runs without a shell, and this needs one: {why}")
    return list(read.argv)


def _pairs(attribute: Attribute, text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for each in _split(text, " \t"):
        name, equal, what = each.partition("=")
        if not equal or not name.isascii() or not name.isidentifier():
            raise WrongValueError(f"{attribute.name} is written NAME=value, not {each!r}")
        if name in pairs:
            raise WrongValueError(f"{attribute.name} gives {name} twice")
        pairs[name] = what
    return pairs


def _lines(attribute: Attribute, text: str) -> list[int]:
    first, dash, last = text.partition("-")
    numbers = [first, last if dash else first]
    if not all([each.isascii() and each.isdigit() and len(each) < 10 for each in numbers]):
        raise WrongValueError(f"{attribute.name} is written 50-55, not {text!r}")
    start, end = int(numbers[0]), int(numbers[1])
    if not 1 <= start <= end:
        raise WrongValueError(f"{attribute.name} counts from 1, the last not before the first: not {text!r}")
    return [start, end]


def _choice(attribute: Attribute, text: str) -> str:
    chosen = text.upper() if attribute.name == "risk" else text
    if attribute.name == "shell" and text == "true":
        return attribute.choices[0]
    if chosen not in attribute.choices:
        from difflib import get_close_matches

        near = get_close_matches(chosen, attribute.choices, n=1, cutoff=0.6)
        hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(attribute.choices)}"
        raise WrongValueError(f"{attribute.name} can't be {text!r}: {hint}")
    return chosen


def _when(attribute: Attribute, text: str) -> dict[str, str]:
    kind, colon, path = text.partition(":")
    if colon and kind in _PATHS and path:
        return {"kind": kind, "of": _path(attribute, path)}
    step, dot, ended = text.rpartition(".")
    if not dot or ended not in STEP_OUTCOMES or not is_id(step):
        forms = [f"ID.{each}" for each in STEP_OUTCOMES] + [f"{each}:PATH" for each in _PATHS]
        raise WrongValueError(f"{attribute.name} is {', '.join(forms[:-1])} or {forms[-1]}, not {text!r}")
    return {"kind": ended, "of": step}


def _strategy(attribute: Attribute, text: str) -> str:
    if text in _STRATEGIES or (text.startswith(ALTERNATIVE) and is_id(text.removeprefix(ALTERNATIVE))):
        return text
    raise WrongValueError(f"{attribute.name} is {', '.join(_STRATEGIES)} or {ALTERNATIVE}ID, not {text!r}")


_READERS: dict[str, Callable[[Attribute, str], Any]] = {
    of.ID: _id,
    of.IDS: _ids,
    of.FLAG: _flag,
    of.COUNT: _count,
    of.SECONDS: _seconds,
    of.MILLISECONDS: _milliseconds,
    of.PATH: _path,
    of.PATHS: _paths,
    of.LIST: _list,
    of.TEXT: _words,
    of.COMMAND: _command,
    of.PAIRS: _pairs,
    of.LINES: _lines,
    of.CHOICE: _choice,
    of.WHEN: _when,
    of.STRATEGY: _strategy,
}
