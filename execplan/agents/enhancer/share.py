"""Which texts of an execution plan may leave: those that the user's settings name in `share`, and no other.

What always leaves is its structure: ids, numbers, switches, and values that the format lists.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from execplan.execution.documents.rules_parts import FIELDS_BY_TYPE

if TYPE_CHECKING:
    from collections.abc import Collection

FIELDS: Final = {
    "description": "the plan's description",
    "intent": "the summary and the category of its intent",
    "constraints": "forbidden paths and commands",
    "steps.tool": "the name of an agent's tool",
    "steps.description": "a step's description",
    "steps.task": "the task that it belongs to",
    "steps.action": "what a refactoring does",
    "steps.target": "the path that it writes",
    "steps.command": "its command, as a line and as arguments",
    "steps.content": "what it writes",
    "steps.patch": "what it changes",
    "steps.parameters": "the parameters of an agent's tool",
    "steps.when": "the path of its condition",
    "steps.cwd": "its working directory",
    "steps.env": "its variables",
    "steps.inputs": "the paths that it reads",
    "steps.outputs": "the paths that it writes besides its target",
    "steps.expect": "the output that it expects",
    "steps.validation": "the test after it",
    "steps.risk": "why it has its risk",
    "steps.allow": "the further calls that it allows",
    "steps.deny": "the calls that it denies",
}
"""What can be shared, by the name of the field, and what that is."""
_PLAIN: Final = ("description", "task", "action", "target", "content", "patch", "expect")
_LISTS: Final = ("inputs", "outputs", "allow", "deny")
_SHORTEST: Final = 4
"""Characters of a withheld text from which on it is withheld in the texts of its step that are shared, too."""


def withhold(plan: dict[str, Any], share: Collection[str], word: Callable[[str], str]) -> dict[str, Any]:
    """A plan, as plain data and of the same shape, with a word in place of each text that is not shared."""
    made = dict(plan)
    if "description" not in share:
        made["description"] = _text(plan["description"], word)
    if "intent" not in share:
        intent = plan["intent"]
        made["intent"] = {
            **intent,
            "summary": _text(intent["summary"], word),
            "category": _text(intent["category"], word),
        }
    if "constraints" not in share:
        own = plan["constraints"]
        made["constraints"] = {
            **own,
            "forbidden_paths": _texts(own["forbidden_paths"], word),
            "forbidden_commands": _texts(own["forbidden_commands"], word),
        }
    made["steps"] = [_step(step, share, word) for step in plan["steps"]]
    return made


def _step(step: dict[str, Any], share: Collection[str], word: Callable[[str], str]) -> dict[str, Any]:
    """A step with a word in place of each text that is not shared."""
    closed = [name for name in _HIDE if f"steps.{name}" not in share]
    made = dict(step)
    for name in closed:
        made |= _HIDE[name](step, word)
    hidden = [text.strip() for name in closed for text in _quotable(step, name)]
    return _unquoted(step, made, sorted(set(hidden), key=len, reverse=True), word)


def _command(step: dict[str, Any], word: Callable[[str], str]) -> dict[str, Any]:
    return {"command": _text(step["command"], word), "argv": _texts(step["argv"], word)}


def _tool(step: dict[str, Any], word: Callable[[str], str]) -> dict[str, Any]:
    """That of a type of step is no text of anybody's."""
    return {} if step["tool"] in [each.tool for each in FIELDS_BY_TYPE.values()] else {"tool": _text(step["tool"], word)}


def _cwd(step: dict[str, Any], word: Callable[[str], str]) -> dict[str, Any]:
    return {"cwd": _text(step["cwd"], word)} if step["cwd"] != "." else {}


def _env(step: dict[str, Any], word: Callable[[str], str]) -> dict[str, Any]:
    return {"env": {word(name): _text(value, word) for name, value in step["env"].items()}}


def _parameters(step: dict[str, Any], word: Callable[[str], str]) -> dict[str, Any]:
    given = step["parameters"]
    return {} if given is None else {"parameters": {word(name): _anything(each, word) for name, each in given.items()}}


def _when(step: dict[str, Any], word: Callable[[str], str]) -> dict[str, Any]:
    """What a condition is about is a path, or the id of a step."""
    when = step["when"]
    is_path = when is not None and when["kind"] in ("exists", "missing")
    return {"when": {**when, "of": _text(when["of"], word)}} if is_path else {}


def _validation(step: dict[str, Any], word: Callable[[str], str]) -> dict[str, Any]:
    return {"validation": {**step["validation"], "test_after": _texts(step["validation"]["test_after"], word)}}


def _risk(step: dict[str, Any], word: Callable[[str], str]) -> dict[str, Any]:
    return {"risk": {**step["risk"], "reasons": _texts(step["risk"]["reasons"], word)}}


def _one(name: str, step: dict[str, Any], word: Callable[[str], str]) -> dict[str, Any]:
    return {name: _text(step[name], word)}


def _many(name: str, step: dict[str, Any], word: Callable[[str], str]) -> dict[str, Any]:
    return {name: _texts(step[name], word)}


_HIDE: Final[dict[str, Callable[[dict[str, Any], Callable[[str], str]], dict[str, Any]]]] = {
    "command": _command,
    "tool": _tool,
    "cwd": _cwd,
    "env": _env,
    "parameters": _parameters,
    "when": _when,
    "validation": _validation,
    "risk": _risk,
    **{name: partial(_one, name) for name in _PLAIN},
    **{name: partial(_many, name) for name in _LISTS},
}
"""By its name, how a field of a step is withheld."""


def _quotable(step: dict[str, Any], name: str) -> list[str]:
    """What sentences of a step may quote of a field."""
    if name == "command":
        return [step["command"] or "", " ".join(step["argv"] or ())]
    if name in _LISTS:
        return list(step[name])
    if name == "env":
        return list(step["env"].values())
    return [step[name] or ""] if name in ("target", "content", "patch", "expect") else []


def _unquoted(
    step: dict[str, Any], made: dict[str, Any], hidden: list[str], word: Callable[[str], str]
) -> dict[str, Any]:
    """A step whose shared sentences quote nothing that is withheld of it: a description is often made of a command."""
    for name in ("description", "task", "action"):
        text = made[name]
        if text is not None and text == step[name]:
            for each in hidden:
                if len(each) >= _SHORTEST and each in text:
                    text = text.replace(each, word(each))
            made[name] = text
    return made


def _text(text: str | None, word: Callable[[str], str]) -> str | None:
    return word(text) if text else text


def _texts(texts: list[str] | None, word: Callable[[str], str]) -> list[str] | None:
    return None if texts is None else [word(each) if each else each for each in texts]


def _anything(value: Any, word: Callable[[str], str]) -> Any:
    import json

    return value if value in (None, "", [], {}) else word(json.dumps(value, sort_keys=True))
