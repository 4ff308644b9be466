"""Restoration of masked texts in an answer: each is restored only at its original place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from execplan.agents.enhancer.mask import SECRET, WITHHELD
from execplan.core.text.fast_json import iter_texts
from execplan.core.text.violation import Violation, json_pointer

BEHAVIOR_FIELDS = (
    "type tool target lines action command argv content patch parameters cwd env shell service network inputs outputs expect exit "
    "validation allow"
).split()
"""Fields of a step that define what it does."""
_MASK_PREFIXES = (f"redacted_{SECRET}_", f"redacted_{WITHHELD}_")
_MOVED_MASK = "contains a placeholder for redacted text that is not in its original place"
_FROZEN_STEP = "must stay as it was sent, because the step contains redacted text"


class UnmaskedPlan(NamedTuple):
    """An enhancer's answer with all masked texts restored."""

    plan: dict[str, Any]
    violations: list[Violation]
    """Locations of placeholders that were moved, changed or inserted; nothing is restored there."""


def unmask(answer: dict[str, Any], sent_plan: dict[str, Any], original: dict[str, Any], mark: str) -> UnmaskedPlan:
    """Restore masked texts where the answer contains them as they were sent; steps are matched by their IDs.

    A step that was sent without a secret must keep its behavior: otherwise a model could pass the secret to another
    program.
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
    """Traverses an answer in parallel with the sent plan and the original plan."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.violations: list[Violation] = []

    def unmask(self, answer: Any, masked: Any, original: Any, location: tuple[str | int, ...]) -> Any:
        """Return the answer with the original texts in place of their placeholders."""
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
        """Return a value added by the enhancer; record a violation if it contains a placeholder."""
        if any([self.mark in text for text in iter_texts(answer)]):
            self.violations.append(Violation(json_pointer(location), _MOVED_MASK))
        return answer

    def check_unchanged(
        self, answer: Mapping[str, Any], sent_step: Mapping[str, Any], location: tuple[str | int, ...]
    ) -> None:
        """Record a violation for each field that changes the behavior of a step."""
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
"""Values of fields that an answer omits; None for all other fields."""


def iter_masked_texts(masked: Any, original: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts of which a part was masked, each with its masked form."""
    if isinstance(masked, dict) and isinstance(original, dict):
        yield from iter_masked_texts(list(masked), list(original))
        yield from iter_masked_texts(list(masked.values()), list(original.values()))
    elif isinstance(masked, list) and isinstance(original, list):
        for masked_child, original_child in zip(masked, original, strict=True):
            yield from iter_masked_texts(masked_child, original_child)
    elif isinstance(original, str) and masked != original:
        yield original, str(masked)


def has_secret(step: Mapping[str, Any]) -> bool:
    """Check whether a secret or withheld text was masked in a step."""
    return any([prefix in text for text in iter_texts(dict(step)) for prefix in _MASK_PREFIXES])


def is_same_json(left: object, right: object) -> bool:
    """Check whether two values are the same JSON; unlike in Python, `true` differs from 1."""
    return left is right or json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
