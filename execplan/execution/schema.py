"""The documents of execution, and what JSON Schema can say of the rules between their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from execplan.document import Kind
from execplan.execution.attributes import LEVELS
from execplan.execution.documents.rules_parts import ABSENT, TYPES, own_tools

if TYPE_CHECKING:
    from execplan.document import Json

KINDS = {
    "execution-plan": Kind("execution.model", "ExecutionPlan", "What a plan compiles to."),
    "run-record": Kind("execution.record", "Record", "What became of a run and of each of its steps."),
    "approval": Kind("execution.approval", "Approval", "Who said yes to which steps, until when; sealed."),
    "answer": Kind("execution.documents.answer", "Answer", "What every verb prints with --json."),
}
"""By the name that `execplan schema` knows."""


def _plan(made: Json) -> None:
    """What the rules of an execution plan come to."""
    step = made["$defs"]["Step"]
    step["allOf"] = [_if({"type": {"const": kind}}, _of_type(kind)) for kind in TYPES]
    both = {"argv": {"type": "array"}, "shell": {"type": "string"}}
    step["not"] = {"properties": both, "required": list(both)}
    step["properties"]["depends_on"]["uniqueItems"] = True
    ended = {"kind": {"enum": ["succeeded", "failed", "skipped"]}}
    made["$defs"]["When"]["allOf"] = [_if(ended, {"properties": {"of": step["properties"]["id"]}})]
    retry = {"properties": {"max_retries": {"minimum": 1}}, "required": ["max_retries"]}
    made["$defs"]["OnFailure"]["allOf"] = [_if({"strategy": {"const": "retry"}}, retry)]
    made["properties"]["plan_id"]["not"] = {"enum": [".", ".."]}
    made["allOf"] = [
        _unless({"mode": {"const": "agent"}}, _each_step(_if({"type": {"const": "use_tool"}}, _installed()))),
        _unless({"source": {"type": "object"}}, _steps({"source": {"type": "null"}})),
        _unless({"revision": {"not": {"const": 1}}}, _within("metadata", {"history": {"maxItems": 0}})),
        _unless(_within("constraints", {"max_steps": {}}, needed=True), {"properties": {"steps": {"maxItems": 100}}}),
        _if(_nested("constraints", {"require_sequential": {"const": True}}), _steps({"parallel": {"const": False}})),
        *[_if(_nested("intent", {"risk_level": {"const": level}}), _levels(level)) for level in LEVELS],
    ]


def _of_type(kind: str) -> Json:
    """What a step of a type must have, and what it has no use for."""
    made = TYPES[kind]
    properties: Json = {"tool": {"const": made.tool}} if made.tool else {}
    for name, absent in ABSENT.items():
        if name in made.must:
            properties[name] = {"type": "string"}
        elif name not in made.may:
            properties[name] = {"maxProperties": 0} if absent == {} else {"enum": list(dict.fromkeys((absent, None)))}
    if kind.endswith("_file"):
        properties["target"]["not"] = {"pattern": "/$|^[.]$"}
    found: Json = {"properties": properties, "required": list(made.must)}
    if kind == "modify_file":
        patch = {"patch": {"type": "string"}, "content": {"type": "null"}, "lines": {"type": "null"}}
        lines = {"patch": {"type": "null"}, "content": {"type": "string"}, "lines": {"type": "array"}}
        found["oneOf"] = [
            {"properties": patch, "required": ["patch"]},
            {"properties": lines, "required": ["content", "lines"]},
        ]
    return found


def _levels(level: str) -> Json:
    """Steps of which the highest has a level."""
    allowed = list(LEVELS[: LEVELS.index(level) + 1])
    items = {"properties": {"risk": {"properties": {"level": {"enum": allowed}}}}}
    highest = {"properties": {"risk": {"properties": {"level": {"const": level}}}}}
    return {"properties": {"steps": {"items": items, "contains": highest}}}


def _installed() -> Json:
    """A tool that is none of ours."""
    return {"properties": {"tool": {"not": {"pattern": own_tools()}}}}


def _each_step(schema: Json) -> Json:
    return {"properties": {"steps": {"items": schema}}}


def _steps(properties: Json) -> Json:
    return {"properties": {"steps": {"items": {"properties": properties}}}}


def _within(name: str, properties: Json, *, needed: bool = False) -> Json:
    inside: Json = {"properties": properties}
    if needed:
        inside["required"] = list(properties)
    return {"properties": {name: inside}, "required": [name]} if needed else {"properties": {name: inside}}


def _nested(name: str, properties: Json) -> Json:
    return {name: {"properties": properties, "required": list(properties)}}


def _if(properties: Json, then: Json) -> Json:
    return {"if": {"properties": properties, "required": list(properties)}, "then": then}


def _unless(properties: Json, other: Json) -> Json:
    """What holds unless fields are so; where they are absent, it does."""
    if "properties" in properties:
        return {"if": properties, "else": other}
    return {"if": {"properties": properties, "required": list(properties)}, "else": other}


def _record(made: Json) -> None:
    """What the rules of a run's record come to."""
    over = {"status": {"enum": ["completed", "failed", "rolled_back"]}}
    ended = {"properties": {"ended": {"type": "string"}}, "required": ["ended"]}
    good = {"status": {"enum": ["completed", "skipped", "recovered"]}}
    well = {"properties": {"steps": {"items": {"properties": good, "required": ["status"]}}}}
    made["allOf"] = [
        {**_if(over, ended), "else": {"properties": {"ended": {"type": "null"}}}},
        _if({"status": {"const": "completed"}}, well),
    ]
    tried = {"properties": {"attempts": {"minimum": 1}}, "required": ["attempts"]}
    made["$defs"]["StepRecord"]["allOf"] = [_if({"status": {"const": "completed"}}, tried)]


def _answer(made: Json) -> None:
    """What the rules of an answer come to."""
    failed = {"error": {"type": "object"}}
    made["allOf"] = [
        {
            **_if(failed, {"properties": {"ok": {"const": False}}}),
            "else": {"properties": {"data": {"type": "object"}}},
        },
        _if(
            {"error": {"type": "object", "properties": {"exit": {"not": {"const": 1}}}}},
            {"properties": {"data": {"type": "null"}}},
        ),
    ]


RULES: Final = {"execution-plan": _plan, "run-record": _record, "answer": _answer}
