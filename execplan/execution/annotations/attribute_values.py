"""Parsers from the text of an attribute's value to the JSON value of the step's field."""

from __future__ import annotations

from execplan.core import features
from execplan.execution import attributes, rare_features
from execplan.execution.attributes import (
    ALTERNATIVE,
    ATTRIBUTES_BY_NAME,
    STEP_OUTCOMES,
    STRATEGIES,
    TRIGGERS,
    Attribute,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

_MAX_ID_LENGTH: Final = 64
_MAX_TEXT_LENGTH: Final = 2000
_MAX_PATH_LENGTH: Final = 1024
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_MILLISECONDS = {"": 1, "ms": 1, "s": 1000, "m": 60_000}
_PATH_CONDITIONS = ("exists", "missing")


class AttributeValueError(Exception):
    """An attribute value is invalid; the message says why."""


def parse_step_attribute(name: str, text: str) -> Any:
    """Return the JSON value of a step attribute. Raises AttributeValueError if the text is invalid."""
    return parse_attribute(ATTRIBUTES_BY_NAME[name], text)


def parse_attribute(attribute: Attribute, text: str) -> Any:
    """Return the JSON value of an attribute. Raises AttributeValueError if the text is invalid."""
    name = attribute.name
    if not text.strip() and attribute.kind != attributes.TEXT:
        raise AttributeValueError(f"{name} is empty")
    parsed_value = _PARSERS[attribute.kind](attribute, text)
    if parsed_value == []:
        raise AttributeValueError(f"{name} is empty")
    return parsed_value


def split_list(text: str) -> list[str]:
    """Split a text at white space and commas outside quotes. Raises AttributeValueError if a quote is not closed."""
    return _split_quoted(text, " \t,")


def _split_quoted(text: str, separators: str) -> list[str]:
    """Split a text at separators outside quotes, of which a space is one."""
    if not set(text) & set("'\"\\"):
        for separator in separators:
            text = text.replace(separator, " ")
        return [word for word in text.split(" ") if word]
    from shlex import shlex

    lexer = shlex(text, posix=True)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = separators, True, ""
    try:
        return list(lexer)
    except ValueError:
        raise AttributeValueError("it contains an unclosed quote") from None


def is_step_id(text: str) -> bool:
    """Return whether a text is a valid step ID."""
    letters = text.replace("_", "").replace("-", "").replace(".", "")
    return text[:1].isalpha() and text.isascii() and letters.isalnum() and len(text) <= _MAX_ID_LENGTH


def _parse_id(attribute: Attribute, text: str) -> str:
    if not is_step_id(text):
        raise AttributeValueError(
            f"{text!r} is not an ID: a letter, then letters, digits and `_.-`, at most {_MAX_ID_LENGTH} of them"
        )
    return text


def _parse_ids(attribute: Attribute, text: str) -> list[str]:
    return [_parse_id(attribute, step_id) for step_id in split_list(text)]


def _parse_flag(attribute: Attribute, text: str) -> bool:
    if text not in ("true", "false"):
        raise AttributeValueError(f"{attribute.name} must be true or false, not {text!r}")
    return text == "true"


def _parse_count(attribute: Attribute, text: str) -> int:
    return _parse_in_range(attribute, text, text, 1)


def _parse_seconds(attribute: Attribute, text: str) -> int:
    return _parse_quantity(attribute, text, _SECONDS, "90, 90s, 5m or 1h")


def _parse_milliseconds(attribute: Attribute, text: str) -> int:
    return _parse_quantity(attribute, text, _MILLISECONDS, "500ms or 2s")


def _parse_quantity(attribute: Attribute, text: str, units: dict[str, int], forms: str) -> int:
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    factor = units.get(text[len(number) :])
    if factor is None:
        raise AttributeValueError(f"{attribute.name} must be written as {forms}, not {text!r}")
    return _parse_in_range(attribute, text, number, factor)


def _parse_in_range(attribute: Attribute, text: str, number: str, factor: int) -> int:
    assert attribute.limits is not None, attribute
    minimum, maximum = attribute.limits
    if not (number.isascii() and number.isdigit()):
        raise AttributeValueError(f"{attribute.name} must be a whole number, not {text!r}")
    amount = int(number[:9]) * factor
    if len(number) > 9 or not minimum <= amount <= maximum:
        unit = {attributes.SECONDS: " seconds", attributes.MILLISECONDS: " milliseconds"}.get(attribute.kind, "")
        raise AttributeValueError(f"{attribute.name} must be from {minimum} to {maximum:,}{unit}, not {text!r}")
    return amount


def _parse_text(attribute: Attribute, text: str) -> str:
    if attribute.name == "expect":
        return text
    if not text.strip() or len(text) > _MAX_TEXT_LENGTH:
        raise AttributeValueError(f"{attribute.name} must have 1 to {_MAX_TEXT_LENGTH:,} characters")
    return text


def _parse_path(attribute: Attribute, text: str) -> str:
    if not text or len(text) > _MAX_PATH_LENGTH or any([char < " " or char == "\x7f" for char in text]):
        raise AttributeValueError(f"{attribute.name} must be a path without control characters")
    return text


def _parse_paths(attribute: Attribute, text: str) -> list[str]:
    return [_parse_path(attribute, path) for path in split_list(text)]


def _parse_list(attribute: Attribute, text: str) -> list[str]:
    if attribute.name == "triggers":
        return [_parse_trigger(trigger) for trigger in split_list(text)]
    return [_parse_pattern(attribute, pattern.strip()) for pattern in text.split(",")]


def _parse_pattern(attribute: Attribute, text: str) -> str:
    from execplan.execution.shell.call_patterns import pattern_problem

    if why := pattern_problem(_parse_text(attribute, text)):
        raise AttributeValueError(f"{attribute.name} can't be {text!r}: {why}")
    return text


def _parse_trigger(text: str) -> str:
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
    if text not in TRIGGERS:
        raise AttributeValueError(
            f"{text!r} is not a trigger: use {', '.join(TRIGGERS)} or exit:N, with N from 1 to 255"
        )
    return text


def _parse_command_argv(attribute: Attribute, text: str) -> list[str]:
    from execplan.execution.shell.command_line import parse_command

    command_line = parse_command(text)
    if command_line.problem or command_line.argv is None or command_line.assignments:
        why = command_line.problem or command_line.shell_reason or "it sets a variable"
        message = f"{attribute.name} runs without a shell, but this needs one: {why}"
        raise AttributeValueError(f"{message}; write it as a step below this one, with the attribute shell")
    return list(command_line.argv)


def _parse_pairs(attribute: Attribute, text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for pair in _split_quoted(text, " \t"):
        name, equals, variable_value = pair.partition("=")
        if not equals or not name.isascii() or not name.isidentifier():
            raise AttributeValueError(f"{attribute.name} must be written as NAME=value, not {pair!r}")
        if name in pairs:
            raise AttributeValueError(f"{attribute.name} sets {name} twice")
        pairs[name] = variable_value
    return pairs


def _parse_line_range(attribute: Attribute, text: str) -> list[int]:
    first, dash, last = text.partition("-")
    numbers = [first, last if dash else first]
    if not all([number.isascii() and number.isdigit() and len(number) < 10 for number in numbers]):
        raise AttributeValueError(f"{attribute.name} must be written as 50-55, not {text!r}")
    start, end = int(numbers[0]), int(numbers[1])
    if not 1 <= start <= end:
        raise AttributeValueError(
            f"{attribute.name} counts from 1, and its last line can't be before the first: not {text!r}"
        )
    return [start, end]


def _parse_choice(attribute: Attribute, text: str) -> str:
    chosen = text.upper() if attribute.name == "risk" else text
    if attribute.name == "shell" and text == "true":
        return attribute.choices[0]
    if chosen not in attribute.choices:
        from execplan.core.text.suggestions import did_you_mean

        hint = did_you_mean(chosen, attribute.choices) or f"one of {', '.join(attribute.choices)}"
        raise AttributeValueError(f"{attribute.name} can't be {text!r}: {hint}")
    return chosen


def _parse_when(attribute: Attribute, text: str) -> dict[str, str]:
    kind, colon, path = text.partition(":")
    if colon and kind in _PATH_CONDITIONS and path:
        return {"kind": kind, "of": _parse_path(attribute, path)}
    step, dot, outcome = text.rpartition(".")
    if not dot or outcome not in STEP_OUTCOMES or not is_step_id(step):
        forms = [f"ID.{condition}" for condition in STEP_OUTCOMES] + [
            f"{condition}:PATH" for condition in _PATH_CONDITIONS
        ]
        raise AttributeValueError(f"{attribute.name} must be {', '.join(forms[:-1])} or {forms[-1]}, not {text!r}")
    return {"kind": outcome, "of": step}


def _parse_ready(attribute: Attribute, text: str) -> str:
    problem = features.load(rare_features.READINESS_PROBLEM)(text)
    if problem or "\n" in text or len(text) > _MAX_TEXT_LENGTH:
        raise AttributeValueError(f"{attribute.name} {problem or 'is one line'}, not {text!r}")
    return text


def _parse_strategy(attribute: Attribute, text: str) -> str:
    if text in STRATEGIES or (text.startswith(ALTERNATIVE) and is_step_id(text.removeprefix(ALTERNATIVE))):
        return text
    raise AttributeValueError(f"{attribute.name} must be {', '.join(STRATEGIES)} or {ALTERNATIVE}ID, not {text!r}")


_PARSERS: dict[str, Callable[[Attribute, str], Any]] = {
    attributes.ID: _parse_id,
    attributes.IDS: _parse_ids,
    attributes.FLAG: _parse_flag,
    attributes.COUNT: _parse_count,
    attributes.SECONDS: _parse_seconds,
    attributes.MILLISECONDS: _parse_milliseconds,
    attributes.PATH: _parse_path,
    attributes.PATHS: _parse_paths,
    attributes.LIST: _parse_list,
    attributes.TEXT: _parse_text,
    attributes.COMMAND: _parse_command_argv,
    attributes.PAIRS: _parse_pairs,
    attributes.LINES: _parse_line_range,
    attributes.CHOICE: _parse_choice,
    attributes.WHEN: _parse_when,
    attributes.STRATEGY: _parse_strategy,
    attributes.READY: _parse_ready,
}
