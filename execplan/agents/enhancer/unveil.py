"""What comes back of a plan that was sent without its secrets: each is put where it was, and nowhere else."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.agents.enhancer.veil import SECRET, WITHHELD, texts
from execplan.execution.documents.violation import Violation, json_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WORKS = (
    "type tool target lines action command argv content patch parameters cwd env shell network inputs outputs expect exit "
    "validation allow"
).split()
"""The fields of a step that say what it does."""
_BEGINS = (f"redacted_{SECRET}_", f"redacted_{WITHHELD}_")
_MOVED = "holds a word that stands for what was taken out, and not at its place"
_FROZEN = "what was taken out stands in this step: what the step does stays as it was sent"


class Unveiled(NamedTuple):
    """An answer with all that was taken out put back."""

    plan: dict[str, Any]
    violations: list[Violation]
    """Where a word for something was moved, changed or put in: nothing is put back there."""


def unveil(answer: dict[str, Any], sent: dict[str, Any], original: dict[str, Any], mark: str) -> Unveiled:
    """Put back what was taken out of the original, where the answer holds it as it was sent, steps told by their ids.

    A step that was sent without a secret does what it did, or a model could let another program have the secret.
    """
    back = _Back(mark)
    rest = {name: each for name, each in answer.items() if name != "steps"}
    plan = back.value(rest, sent, original, ())
    before = {step["id"]: (step, own) for step, own in zip(sent["steps"], original["steps"], strict=True)}
    given = answer.get("steps")
    if not isinstance(given, list):
        return Unveiled({**plan, **({"steps": given} if "steps" in answer else {})}, back.violations)
    plan["steps"] = []
    for at, step in enumerate(given):
        known = before.get(step["id"]) if isinstance(step, dict) and isinstance(step.get("id"), str) else None
        if known is None:
            plan["steps"].append(back.new(step, ("steps", at)))
            continue
        plan["steps"].append(back.value(step, *known, ("steps", at)))
        if has_secret(known[0]):
            back.freeze(step, known[0], ("steps", at))
    return Unveiled(plan, back.violations)


class _Back:
    """Walks an answer beside what was sent and what that was."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.violations: list[Violation] = []

    def value(self, answer: Any, sent: Any, original: Any, at: tuple[str | int, ...]) -> Any:
        """The value of which the answer is what was made of it."""
        if same(answer, sent):
            return deepcopy(original)
        if isinstance(answer, dict) and isinstance(sent, dict) and isinstance(original, dict):
            names = dict(zip(sent, original, strict=True))
            made = {}
            for name, each in answer.items():
                if name in names:
                    made[names[name]] = self.value(each, sent[name], original[names[name]], (*at, name))
                else:
                    made[self.new(name, (*at, name))] = self.new(each, (*at, name))
            return made
        if isinstance(answer, list) and isinstance(sent, list) and isinstance(original, list):
            pairs = [*zip(sent, original, strict=True)]
            return [
                self.value(each, *pairs[place], (*at, place)) if place < len(pairs) else self.new(each, (*at, place))
                for place, each in enumerate(answer)
            ]
        return self.new(answer, at)

    def new(self, answer: Any, at: tuple[str | int, ...]) -> Any:
        """A value that is the program's own."""
        if any([self.mark in text for text in texts(answer)]):
            self.violations.append(Violation(json_pointer(at), _MOVED))
        return answer

    def freeze(self, answer: Mapping[str, Any], sent: Mapping[str, Any], at: tuple[str | int, ...]) -> None:
        """Refuse a step that does something else than it did."""
        for name in WORKS:
            if not same(answer.get(name, _ABSENT.get(name)), sent[name]):
                self.violations.append(Violation(json_pointer((*at, name)), _FROZEN))


_ABSENT: dict[str, Any] = {
    "cwd": ".",
    "env": {},
    "network": False,
    "inputs": [],
    "outputs": [],
    "exit": 0,
    "validation": {"syntax_check": True, "test_after": None},
    "allow": [],
}
"""What a field is where an answer leaves it out; None for all else."""


def pairs(sent: Any, original: Any) -> Iterator[tuple[str, str]]:
    """The texts of which something was taken out, each with what was sent of it."""
    if isinstance(sent, dict) and isinstance(original, dict):
        yield from pairs(list(sent), list(original))
        yield from pairs(list(sent.values()), list(original.values()))
    elif isinstance(sent, list) and isinstance(original, list):
        for one, other in zip(sent, original, strict=True):
            yield from pairs(one, other)
    elif isinstance(original, str) and sent != original:
        yield original, str(sent)


def has_secret(step: Mapping[str, Any]) -> bool:
    """Whether a secret was taken out of a step, or anything withheld."""
    return any([begin in text for text in texts(dict(step)) for begin in _BEGINS])


def same(one: object, other: object) -> bool:
    """Whether two values are the same JSON; to Python true is 1."""
    return one is other or json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
