"""An answer judged: whether it can stand as a proposal, with all that is wrong with it at once."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.agents.enhancer.looser import works_otherwise
from execplan.agents.enhancer.unveil import pairs, same, unveil
from execplan.execution.attributes import LEVELS
from execplan.execution.documents.document import validate_document
from execplan.execution.documents.filling import describe_step, fill_risk, parse_command_fields
from execplan.execution.documents.rules_parts import FIELDS_BY_TYPE
from execplan.execution.documents.violation import Violation, json_pointer
from execplan.execution.model import ExecutionPlan, Metadata
from execplan.text.hidden import hidden_in, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from execplan.repo.home import Home

_KEPT = ("schema", "version", "plan_id", "revision", "source", "mode", "metadata")
"""What stays as it was sent."""
_OF_STEP = ("inferred", "source")
_SHORTEST = 4
"""Characters of what is taken out of a message: less is no secret, and stands in many words."""
_CHECKS = ("paths", "hidden", "limits")
"""Checks of `evaluate` whose errors no proposal may bring, whatever the policy has switched off."""


class Proposal(NamedTuple):
    """What a program proposes."""

    document: ExecutionPlan | None
    """With all put back that was taken out; None where something is wrong."""
    violations: list[Violation]


def bare(document: ExecutionPlan) -> dict[str, Any]:
    """An execution plan as plain data, without where it comes from and what no step depends on: nobody else needs it."""
    plan = document.model_dump(mode="json", by_alias=True)
    steps = [{**step, "source": None} for step in plan["steps"]]
    return {**plan, "source": None, "metadata": Metadata().model_dump(mode="json"), "steps": steps}


def propose(home: Home, document: ExecutionPlan, sent: dict[str, Any], answer: object, mark: str) -> Proposal:
    """What comes of an answer to what was sent of a document; raises ExecplanError where a disk fails.

    What is wrong is told without what was taken out.
    """
    made = _proposed(home, document, sent, answer, mark)
    taken = [pair for pair in set(pairs(sent, bare(document))) if len(pair[0]) >= _SHORTEST]
    known = sorted(taken, key=lambda pair: (-len(pair[0]), pair))
    return made._replace(violations=[_covered(each, known) for each in made.violations])


def _covered(found: Violation, known: list[tuple[str, str]]) -> Violation:
    told = [str(each) for each in found]
    for own, said in known:
        told = [each.replace(own, said) for each in told]
    return Violation(*told)


def _proposed(home: Home, document: ExecutionPlan, sent: dict[str, Any], answer: object, mark: str) -> Proposal:
    if not isinstance(answer, dict):
        return Proposal(None, [Violation("", "is no execution plan, which is an object")])
    answer = {**{name: sent[name] for name in ("schema", "version", "source", "metadata")}, **answer}
    before = bare(document)
    plan, moved = unveil(deepcopy(answer), sent, before, mark)
    made, violations = _filled(plan, before)
    wrong = list(dict.fromkeys([*_kept(answer, sent), *moved, *_unseen(plan, before), *violations]))
    if made is None or wrong:
        return Proposal(None, wrong)
    whole = document.model_dump(mode="json", by_alias=True)
    lines = {step["id"]: step["source"] for step in whole["steps"]}
    made |= {"source": whole["source"], "metadata": whole["metadata"]}
    made["steps"] = [{**step, "source": lines.get(step["id"])} for step in made["steps"]]
    found, violations = validate_document(made, ExecutionPlan)
    if found is not None:
        violations = _refused(home, document, found)
    return Proposal(None if violations else found, violations)


def _kept(answer: Mapping[str, Any], sent: Mapping[str, Any]) -> Iterator[Violation]:
    """What an answer has changed that it may not."""
    for name in _KEPT:
        if name in answer and not same(answer[name], sent[name]):
            yield Violation(f"/{name}", "stays as it was sent")
    given = answer.get("steps")
    if not isinstance(given, list):
        return  # which the check of its fields tells
    steps = [each if isinstance(each, dict) else {} for each in given]
    before = {step["id"]: step for step in sent["steps"]}
    named = {step.get("id") for step in steps if isinstance(step.get("id"), str)}
    yield from [Violation("/steps", f"step {name} is gone") for name in before if name not in named]
    for at, step in enumerate(steps):
        known = before.get(step["id"]) if isinstance(step.get("id"), str) else None
        if known is not None:
            changed = [name for name in _OF_STEP if name in step and not same(step[name], known[name])]
            yield from [Violation(f"/steps/{at}/{name}", "stays as it was sent") for name in changed]
        elif step.get("source") is not None:
            yield Violation(f"/steps/{at}/source", "a new step comes from no line of the plan")


def _unseen(plan: object, before: object, at: tuple[str | int, ...] = ()) -> Iterator[Violation]:
    """Characters that nobody sees, anywhere in what is new."""
    if same(plan, before):
        return
    if isinstance(plan, str):
        for line in plan.split("\n"):
            for start, end in hidden_in(line.removesuffix("\r")):
                yield Violation(json_pointer(at), f"hides {shown(line[start:end])}")
    elif isinstance(plan, dict):
        for name, each in plan.items():
            yield from _unseen(name, None, (*at, name))
            yield from _unseen(each, before.get(name) if isinstance(before, dict) else None, (*at, name))
    elif isinstance(plan, list):
        for place, each in enumerate(plan):
            known = before[place] if isinstance(before, list) and place < len(before) else None
            yield from _unseen(each, known, (*at, place))


def _filled(plan: dict[str, Any], before: dict[str, Any]) -> tuple[dict[str, Any] | None, list[Violation]]:
    """The plan with what is derived, or what is wrong with it: no step becomes less risky, and what is new is inferred.

    So a person sees each command that a model has written before it may run, whatever the policy approves by itself.
    """
    known = {step["id"]: step for step in before["steps"]}
    given = plan.get("steps")
    steps = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    for step in steps:
        _complete(step, known)
    _raise_whole(plan, steps)
    document, violations = validate_document(plan, ExecutionPlan)
    if document is None:
        return None, violations
    made = document.model_dump(mode="json", by_alias=True)
    for step in made["steps"]:
        own = known.get(step["id"])
        if own is None or not same(own, step):
            step["inferred"] = step["inferred"] or own is None or works_otherwise(own, step)
            fill_risk(step)
    _raise_whole(made, made["steps"])
    return made, []


def _complete(step: dict[str, Any], known: Mapping[str, Any]) -> None:
    """Fill in what a program may leave out, in a step that may be wrong in any way."""
    kind, name = step.get("type"), step.get("id")
    own = known.get(name) if isinstance(name, str) else None
    if isinstance(kind, str) and kind in FIELDS_BY_TYPE and FIELDS_BY_TYPE[kind].tool:
        step.setdefault("tool", FIELDS_BY_TYPE[kind].tool)
    step.setdefault("description", describe_step(step))
    parse_command_fields(step)
    step["inferred"] = own["inferred"] if own is not None else True
    step["source"] = None
    risk = step.setdefault("risk", {"level": "LOW"})
    if own is not None and isinstance(risk, dict) and risk.get("level") in LEVELS:
        if LEVELS.index(risk["level"]) < LEVELS.index(own["risk"]["level"]):
            step["risk"] = own["risk"]


def _raise_whole(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
    """Let the plan have the risk of its most dangerous step."""
    levels = [step["risk"].get("level") for step in steps if isinstance(step.get("risk"), dict)]
    highest = max([each for each in levels if each in LEVELS], key=LEVELS.index, default="")
    if highest and isinstance(plan.get("intent"), dict):
        plan["intent"] = {**plan["intent"], "risk_level": highest}


def _refused(home: Home, old: ExecutionPlan, new: ExecutionPlan) -> list[Violation]:
    """Paths that lead out or are not to be written, what the old document forbids, limits that were kept and are not."""
    from execplan.repo.execution.policy import effective
    from execplan.repo.execution.world import Glance

    world, policy = Glance(home), effective(home)
    known = set(_errors(old, world, policy))
    strict = new.model_copy(update={"constraints": old.constraints})
    return [each for each in _errors(strict, world, policy) if each not in known]


def _errors(document: ExecutionPlan, world: Any, policy: Any) -> Iterator[Violation]:
    from execplan.execution.evaluation.after import ProjectedFiles
    from execplan.execution.evaluation.checks.check import ERROR, CheckContext
    from execplan.execution.evaluation.checks.every import CHECKS
    from execplan.execution.evaluation.scope import find_forbidden_paths
    from execplan.execution.evaluation.trial import run_trials

    case = CheckContext(document, run_trials(ProjectedFiles(world, document), document.steps), policy, world)
    for name in _CHECKS:
        for each in CHECKS[name].run(case):
            if each.level == ERROR:
                where = f"step {each.step.id}: " if each.step is not None else ""
                yield Violation("/steps", f"{where}{each.message}")
    yield from [Violation("/steps", each) for each in find_forbidden_paths(document, world)]
