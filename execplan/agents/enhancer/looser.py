"""Where a proposed execution plan checks less, forbids less or may do more than the one that there is, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.agents.enhancer.unveil import WORKS, has_secret, same

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Step = Mapping[str, Any]

_LESS = ("depends_on", "deny")
_ON_THEN_OFF = ("confirm", "checkpoint")
_OFF_THEN_ON = ("network", "parallel")
_NO_MORE = ("timeout_s", "max_invocations")
_SAID_OTHERWISE = ("expect", "exit", "cwd", "effect")


def looser(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """A line for each, the whole first, then step by step; of plans as plain data."""
    before = {step["id"]: step for step in old["steps"]}
    told = list(_whole(old["constraints"], new["constraints"]))
    for step in new["steps"]:
        known = before.get(step["id"])
        lines = _new(step) if known is None else _step(known, step)
        told += [f"step {step['id']}{'' if known is not None else ', which is new,'} {line}" for line in lines]
    return (*told, *_earlier(old, new), *_around_secrets(old, new))


def works_otherwise(old: Step, new: Step) -> bool:
    """Whether a step does something else."""
    return not all([same(old[name], new[name]) for name in WORKS])


def _whole(old: Step, new: Step) -> Iterator[str]:
    for name in ("max_steps", "max_duration_s"):
        if old[name] is not None and (new[name] is None or new[name] > old[name]):
            yield f"constraints.{name} was {old[name]}, is {_said(new[name])}"
    if old["require_sequential"] and not new["require_sequential"]:
        yield "constraints.require_sequential is gone"
    if new["allow_unplanned"] and not old["allow_unplanned"]:
        yield "constraints.allow_unplanned is set"
    for name in ("forbidden_paths", "forbidden_commands"):
        yield from [f"constraints.{name} lacks {each!r}" for each in old[name] if each not in new[name]]


def _earlier(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Which steps have their turn before others that came before them: a check may be one of these."""
    place = {step["id"]: at for at, step in enumerate(new["steps"])}
    names = [step["id"] for step in old["steps"] if step["id"] in place]
    for at, name in enumerate(names):
        passed = [other for other in names[:at] if place[other] > place[name]]
        if passed:
            yield f"step {name} came behind {', '.join(passed)}, and comes before now"


def _around_secrets(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """What now runs before a step that has a secret, which another program could be given that way."""
    before = {step["id"]: step for step in old["steps"]}
    others: list[str] = []
    for step in new["steps"]:
        known = before.get(step["id"])
        if known is None or works_otherwise(known, step):
            others.append(step["id"])
        elif others and has_secret(step):
            yield f"step {step['id']} has a secret, and runs behind what is proposed: {', '.join(others)}"


def _new(step: Step) -> Iterator[str]:
    """What a step may do that nobody has asked for."""
    if step["network"]:
        yield "uses the network"
    if step["shell"]:
        yield f"runs in a shell, {step['shell']}"
    yield from [f"allows {each!r}" for each in step["allow"]]


def _step(old: Step, new: Step) -> Iterator[str]:
    if old["type"] != new["type"] or old["tool"] != new["tool"]:
        yield f"was {old['type']} ({old['tool']}), is {new['type']} ({new['tool']})"
    for name in _LESS:
        yield from [f"lacks {each!r} in {name}" for each in old[name] if each not in new[name]]
    yield from [f"allows {each!r}" for each in new["allow"] if each not in old["allow"]]
    yield from [f"is no longer {name}" for name in _ON_THEN_OFF if old[name] and not new[name]]
    yield from [f"is {name} now" for name in _OFF_THEN_ON if new[name] and not old[name]]
    if new["shell"] and new["shell"] != old["shell"]:
        yield f"runs in a shell, {new['shell']}"
    yield from [f"{name} was {old[name]}, is {new[name]}" for name in _NO_MORE if new[name] > old[name]]
    for name in _SAID_OTHERWISE:
        if old[name] not in (None, new[name]):
            yield f"{name} was {_said(old[name])}, is {_said(new[name])}"
    yield from [
        f"env.{name} is {'gone' if name not in new['env'] else 'other'}"
        for name in old["env"]
        if old["env"][name] != new["env"].get(name)
    ]
    yield from [f"env.{name} is new" for name in new["env"] if name not in old["env"]]
    if not same(old["when"], new["when"]):
        yield "runs under another condition (when)"
    yield from _checked_less(old, new)


def _checked_less(old: Step, new: Step) -> Iterator[str]:
    """Of the checks behind a step, and of what becomes of one that fails."""
    before, after = old["validation"], new["validation"]
    if before["syntax_check"] and not after["syntax_check"]:
        yield "is not checked for syntax"
    if before["test_after"] not in (None, after["test_after"]):
        yield f"validation.test_after is {'gone' if after['test_after'] is None else 'other'}"
    if old["rollback"]["enabled"] and not new["rollback"]["enabled"]:
        yield "is not rolled back"
    if not same(old["on_failure"], new["on_failure"]):
        yield f"on_failure was {old['on_failure']['strategy']}, is {new['on_failure']['strategy']}, or tried otherwise"
    for name in ("inputs", "outputs"):
        yield from [f"lacks {each!r} in {name}" for each in old[name] if each not in new[name]]
    if old["task"] != new["task"]:
        yield "completes another task"


def _said(value: object) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
