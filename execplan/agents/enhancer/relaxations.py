"""Relaxations in a proposed execution plan: fewer checks, fewer restrictions or more permissions, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from execplan.agents.enhancer.unmask import BEHAVIOR_FIELDS, has_secret, is_same_json
from execplan.core.text.message_parts import shorten

Step = Mapping[str, Any]

_RESTRICTION_LISTS = ("depends_on", "deny")
_MUST_STAY_ON = ("confirm", "checkpoint")
_MUST_STAY_OFF = ("network", "parallel")
_LIMITS = ("timeout_s", "max_invocations")
_COMPARED_FIELDS = ("expect", "exit", "cwd", "effect")


def find_relaxations(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """List the relaxations between two plans as plain data, one per line: constraints first, then step by step."""
    old_steps = {step["id"]: step for step in old["steps"]}
    relaxations = list(_constraint_relaxations(old["constraints"], new["constraints"]))
    for step in new["steps"]:
        old_step = old_steps.get(step["id"])
        lines = _new_step_permissions(step) if old_step is None else _step_relaxations(old_step, step)
        relaxations += [f"step {step['id']}{'' if old_step is not None else ' (new)'}: {line}" for line in lines]
    return (*relaxations, *_reordered_steps(old, new), *_changed_steps_before_secrets(old, new))


def has_different_behavior(old: Step, new: Step) -> bool:
    """Check whether a step does something different."""
    return not all([is_same_json(old[name], new[name]) for name in BEHAVIOR_FIELDS])


def _constraint_relaxations(old: Step, new: Step) -> Iterator[str]:
    for name in ("max_steps", "max_duration_s"):
        if old[name] is not None and (new[name] is None or new[name] > old[name]):
            yield f"constraints.{name} was {old[name]} and is now {_format_value(new[name])}"
    if old["require_sequential"] and not new["require_sequential"]:
        yield "constraints.require_sequential is no longer set"
    if new["allow_unplanned"] and not old["allow_unplanned"]:
        yield "constraints.allow_unplanned is now set"
    for name in ("forbidden_paths", "forbidden_commands"):
        yield from [
            f"constraints.{name} no longer contains {pattern!r}" for pattern in old[name] if pattern not in new[name]
        ]


def _reordered_steps(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Report steps that now run before steps that they used to follow: these may include a check."""
    new_positions = {step["id"]: index for index, step in enumerate(new["steps"])}
    names = [step["id"] for step in old["steps"] if step["id"] in new_positions]
    for index, name in enumerate(names):
        later_now = [other for other in names[:index] if new_positions[other] > new_positions[name]]
        if later_now:
            yield f"step {name} now runs before {', '.join(later_now)} instead of after"


def _changed_steps_before_secrets(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Report steps with a secret that now run after proposed steps, which could pass the secret to another program."""
    old_steps = {step["id"]: step for step in old["steps"]}
    changed_ids: list[str] = []
    for step in new["steps"]:
        old_step = old_steps.get(step["id"])
        if old_step is None or has_different_behavior(old_step, step):
            changed_ids.append(step["id"])
        elif changed_ids and has_secret(step):
            yield f"step {step['id']} has a secret and runs after proposed steps: {', '.join(changed_ids)}"


def _new_step_permissions(step: Step) -> Iterator[str]:
    """List the permissions of a new step that no person has requested."""
    if step["network"]:
        yield "uses the network"
    if step["shell"]:
        yield f"runs in a shell: {step['shell']}"
    if step["service"]:
        yield "runs as a service until the run ends"
    yield from [f"allows {pattern!r}" for pattern in step["allow"]]


def _step_relaxations(old: Step, new: Step) -> Iterator[str]:
    if old["type"] != new["type"] or old["tool"] != new["tool"]:
        yield f"was {old['type']} ({old['tool']}) and is now {new['type']} ({new['tool']})"
    for name in _RESTRICTION_LISTS:
        yield from [f"no longer has {entry!r} in {name}" for entry in old[name] if entry not in new[name]]
    yield from [f"allows {pattern!r}" for pattern in new["allow"] if pattern not in old["allow"]]
    yield from [f"no longer sets {name}" for name in _MUST_STAY_ON if old[name] and not new[name]]
    yield from [f"now sets {name}" for name in _MUST_STAY_OFF if new[name] and not old[name]]
    if new["shell"] and new["shell"] != old["shell"]:
        yield f"runs in a shell: {new['shell']}"
    if new["service"] != old["service"]:
        yield f"service was {_format_value(old['service'])} and is now {_format_value(new['service'])}"
    yield from [f"{name} was {old[name]} and is now {new[name]}" for name in _LIMITS if new[name] > old[name]]
    for name in _COMPARED_FIELDS:
        if old[name] not in (None, new[name]):
            yield f"{name} was {_format_value(old[name])} and is now {_format_value(new[name])}"
    yield from [
        f"env.{name} was {'removed' if name not in new['env'] else 'changed'}"
        for name in old["env"]
        if old["env"][name] != new["env"].get(name)
    ]
    yield from [f"env.{name} was added" for name in new["env"] if name not in old["env"]]
    if not is_same_json(old["when"], new["when"]):
        yield "the condition (when) was changed"
    yield from _check_relaxations(old, new)


def _check_relaxations(old: Step, new: Step) -> Iterator[str]:
    """Report relaxed checks after a step, and changes to the handling of its failure."""
    old_validation, new_validation = old["validation"], new["validation"]
    if old_validation["syntax_check"] and not new_validation["syntax_check"]:
        yield "no longer checks the syntax"
    if old_validation["test_after"] not in (None, new_validation["test_after"]):
        yield f"validation.test_after was {'removed' if new_validation['test_after'] is None else 'changed'}"
    if old["rollback"]["enabled"] and not new["rollback"]["enabled"]:
        yield "is no longer rolled back"
    if not is_same_json(old["on_failure"], new["on_failure"]):
        yield f"on_failure was changed (strategy: {old['on_failure']['strategy']}, now {new['on_failure']['strategy']})"
    for name in ("inputs", "outputs"):
        yield from [f"no longer has {path!r} in {name}" for path in old[name] if path not in new[name]]
    if old["task"] != new["task"]:
        yield "completes a different task"


def _format_value(value: object) -> str:
    import json

    return shorten(json.dumps(value, ensure_ascii=False), 60)
