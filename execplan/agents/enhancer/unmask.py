"""What comes back of a plan that was sent without its secrets: each is put where it was, and nowhere else."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.agents.enhancer.mask import SECRET, WITHHELD, iter_texts
from execplan.execution.documents.violation import Violation, json_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BEHAVIOR_FIELDS = (
    "type tool target lines action command argv content patch parameters cwd env shell network inputs outputs expect exit "
    "validation allow"
).split()
"""The fields of a step that say what it does."""
_MASK_PREFIXES = (f"redacted_{SECRET}_", f"redacted_{WITHHELD}_")
_MOVED_MASK = "holds a word that stands for what was taken out, and not at its place"
_FROZEN_STEP = "what was taken out stands in this step: what the step does stays as it was sent"


class UnmaskedPlan(NamedTuple):
    """An answer with all that was taken out put back."""

    plan: dict[str, Any]
    violations: list[Violation]
    """Where a word for something was moved, changed or put in: nothing is put back there."""


def unmask(answer: dict[str, Any], sent_plan: dict[str, Any], original: dict[str, Any], mark: str) -> UnmaskedPlan:
    """Put back what was taken out of the original, where the answer holds it as it was sent, steps told by their ids.

    A step that was sent without a secret does what it did, or a model could let another program have the secret.
    """
    unmasker = _Unmasker(mark)
    other_fields = {name: value for name, value in answer.items() if name != "steps"}
    plan = unmasker.unmask(other_fields, sent_plan, original, ())
    known_steps = {
        step["id"]: (step, original_step)
        for step, original_step in zip(sent_plan["steps"], original["steps"], strict=True)
    }
    answer_steps = answer.get("steps")
    if not isinstance(answer_steps, list):
        return UnmaskedPlan({**plan, **({"steps": answer_steps} if "steps" in answer else {})}, unmasker.violations)
    plan["steps"] = []
    for index, step in enumerate(answer_steps):
        step_pair = known_steps.get(step["id"]) if isinstance(step, dict) and isinstance(step.get("id"), str) else None
        if step_pair is None:
            plan["steps"].append(unmasker.check_new_value(step, ("steps", index)))
            continue
        plan["steps"].append(unmasker.unmask(step, *step_pair, ("steps", index)))
        if has_secret(step_pair[0]):
            unmasker.check_unchanged(step, step_pair[0], ("steps", index))
    return UnmaskedPlan(plan, unmasker.violations)


class _Unmasker:
    """Walks an answer beside what was sent and what that was."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.violations: list[Violation] = []

    def unmask(self, answer: Any, masked: Any, original: Any, location: tuple[str | int, ...]) -> Any:
        """The value of which the answer is what was made of it."""
        if is_same_json(answer, masked):
            return deepcopy(original)
        if isinstance(answer, dict) and isinstance(masked, dict) and isinstance(original, dict):
            names = dict(zip(masked, original, strict=True))
            unmasked = {}
            for name, child in answer.items():
                if name in names:
                    unmasked[names[name]] = self.unmask(child, masked[name], original[names[name]], (*location, name))
                else:
                    unmasked[self.check_new_value(name, (*location, name))] = self.check_new_value(
                        child, (*location, name)
                    )
            return unmasked
        if isinstance(answer, list) and isinstance(masked, list) and isinstance(original, list):
            child_pairs = [*zip(masked, original, strict=True)]
            return [
                self.unmask(child, *child_pairs[index], (*location, index))
                if index < len(child_pairs)
                else self.check_new_value(child, (*location, index))
                for index, child in enumerate(answer)
            ]
        return self.check_new_value(answer, location)

    def check_new_value(self, answer: Any, location: tuple[str | int, ...]) -> Any:
        """A value that is the program's own."""
        if any([self.mark in text for text in iter_texts(answer)]):
            self.violations.append(Violation(json_pointer(location), _MOVED_MASK))
        return answer

    def check_unchanged(
        self, answer: Mapping[str, Any], sent_step: Mapping[str, Any], location: tuple[str | int, ...]
    ) -> None:
        """Refuse a step that does something else than it did."""
        for name in BEHAVIOR_FIELDS:
            if not is_same_json(answer.get(name, _DEFAULTS.get(name)), sent_step[name]):
                self.violations.append(Violation(json_pointer((*location, name)), _FROZEN_STEP))


_DEFAULTS: dict[str, Any] = {
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


def iter_masked_texts(masked: Any, original: Any) -> Iterator[tuple[str, str]]:
    """The texts of which something was taken out, each with what was sent of it."""
    if isinstance(masked, dict) and isinstance(original, dict):
        yield from iter_masked_texts(list(masked), list(original))
        yield from iter_masked_texts(list(masked.values()), list(original.values()))
    elif isinstance(masked, list) and isinstance(original, list):
        for masked_child, original_child in zip(masked, original, strict=True):
            yield from iter_masked_texts(masked_child, original_child)
    elif isinstance(original, str) and masked != original:
        yield original, str(masked)


def has_secret(step: Mapping[str, Any]) -> bool:
    """Whether a secret was taken out of a step, or anything withheld."""
    return any([prefix in text for text in iter_texts(dict(step)) for prefix in _MASK_PREFIXES])


def is_same_json(left: object, right: object) -> bool:
    """Whether two values are the same JSON; to Python true is 1."""
    return left is right or json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
