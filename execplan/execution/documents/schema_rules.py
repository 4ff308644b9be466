"""The rules between the fields of documents that JSON Schema can express."""

from __future__ import annotations

from typing import Final

from execplan.core.documents.json_schema import Json
from execplan.execution.attributes import LEVELS, STEP_TYPES
from execplan.execution.documents.step_rules import ABSENT_VALUES, own_tool_pattern

_EMPTY: Final[dict[type, Json]] = {dict: {"maxProperties": 0}, tuple: {"maxItems": 0}}
"""What an empty value of a type is in JSON Schema."""


def _add_plan_rules(schema: Json) -> None:
    """Add the rules of an execution plan to its schema."""
    step = schema["$defs"]["Step"]
    step["allOf"] = [_if({"type": {"const": kind}}, _step_type_schema(kind)) for kind in STEP_TYPES]
    argv_and_shell = {"argv": {"type": "array"}, "shell": {"type": "string"}}
    step["not"] = {"properties": argv_and_shell, "required": list(argv_and_shell)}
    step["properties"]["depends_on"]["uniqueItems"] = True
    outcome_condition = {"kind": {"enum": ["succeeded", "failed", "skipped"]}}
    schema["$defs"]["When"]["allOf"] = [_if(outcome_condition, {"properties": {"of": step["properties"]["id"]}})]
    retry = {"properties": {"max_retries": {"minimum": 1}}, "required": ["max_retries"]}
    schema["$defs"]["OnFailure"]["allOf"] = [_if({"strategy": {"const": "retry"}}, retry)]
    schema["properties"]["plan_id"]["not"] = {"enum": [".", ".."]}
    schema["allOf"] = [
        _unless({"mode": {"const": "agent"}}, _step_items(_if({"type": {"const": "use_tool"}}, _external_tool()))),
        _unless({"source": {"type": "object"}}, _step_properties({"source": {"type": "null"}})),
        _unless({"revision": {"not": {"const": 1}}}, _in_object("metadata", {"history": {"maxItems": 0}})),
        _unless(
            _in_object("constraints", {"max_steps": {}}, required=True), {"properties": {"steps": {"maxItems": 100}}}
        ),
        _if(
            _required_object("constraints", {"require_sequential": {"const": True}}),
            _step_properties({"parallel": {"const": False}}),
        ),
        *[
            _if(_required_object("intent", {"risk_level": {"const": level}}), _steps_of_level(level))
            for level in LEVELS
        ],
    ]


def _step_type_schema(kind: str) -> Json:
    """Return the schema of a step type: its required fields, and the fields that it can't have."""
    step_fields = STEP_TYPES[kind]
    properties: Json = {"tool": {"const": step_fields.tool}} if step_fields.tool else {}
    for name, absent in ABSENT_VALUES.items():
        if name in step_fields.required:
            properties[name] = {"type": "object" if name == "replacement" else "string"}
        elif name not in step_fields.optional:
            properties[name] = _EMPTY.get(type(absent)) or {"enum": list(dict.fromkeys((absent, None)))}
    if kind.endswith("_file"):
        properties["target"]["not"] = {"pattern": "/$|^[.]$"}
    schema: Json = {"properties": properties, "required": list(step_fields.required)}
    if kind == "modify_file":
        patch = {"patch": {"type": "string"}, "content": {"type": "null"}, "lines": {"type": "null"}}
        lines = {"patch": {"type": "null"}, "content": {"type": "string"}, "lines": {"type": "array"}}
        schema["oneOf"] = [
            {"properties": patch, "required": ["patch"]},
            {"properties": lines, "required": ["content", "lines"]},
        ]
    return schema


def _steps_of_level(level: str) -> Json:
    """Return a schema for a list of steps whose highest risk is the given level."""
    levels = list(LEVELS[: LEVELS.index(level) + 1])
    items = {"properties": {"risk": {"properties": {"level": {"enum": levels}}}}}
    highest = {"properties": {"risk": {"properties": {"level": {"const": level}}}}}
    return {"properties": {"steps": {"items": items, "contains": highest}}}


def _external_tool() -> Json:
    """Return a schema for a tool that is not built in."""
    return {"properties": {"tool": {"not": {"pattern": own_tool_pattern()}}}}


def _step_items(schema: Json) -> Json:
    return {"properties": {"steps": {"items": schema}}}


def _step_properties(properties: Json) -> Json:
    return {"properties": {"steps": {"items": {"properties": properties}}}}


def _in_object(name: str, properties: Json, *, required: bool = False) -> Json:
    object_schema: Json = {"properties": properties}
    if required:
        object_schema["required"] = list(properties)
    if required:
        return {"properties": {name: object_schema}, "required": [name]}
    return {"properties": {name: object_schema}}


def _required_object(name: str, properties: Json) -> Json:
    return {name: {"properties": properties, "required": list(properties)}}


def _if(properties: Json, then: Json) -> Json:
    return {"if": {"properties": properties, "required": list(properties)}, "then": then}


def _unless(properties: Json, otherwise: Json) -> Json:
    """Return a schema that applies `otherwise` unless the properties match; absent properties do not match."""
    if "properties" in properties:
        return {"if": properties, "else": otherwise}
    return {"if": {"properties": properties, "required": list(properties)}, "else": otherwise}


def _add_record_rules(schema: Json) -> None:
    """Add the rules of a run record to its schema."""
    finished = {"status": {"enum": ["completed", "failed", "rolled_back"]}}
    has_end = {"properties": {"ended": {"type": "string"}}, "required": ["ended"]}
    success_status = {"status": {"enum": ["completed", "skipped", "recovered"]}}
    successful_steps = {"properties": {"steps": {"items": {"properties": success_status, "required": ["status"]}}}}
    schema["allOf"] = [
        {**_if(finished, has_end), "else": {"properties": {"ended": {"type": "null"}}}},
        _if({"status": {"const": "completed"}}, successful_steps),
    ]
    has_attempts = {"properties": {"attempts": {"minimum": 1}}, "required": ["attempts"]}
    schema["$defs"]["StepRecord"]["allOf"] = [_if({"status": {"const": "completed"}}, has_attempts)]


def _add_answer_rules(schema: Json) -> None:
    """Add the rules of an answer to its schema."""
    has_error = {"error": {"type": "object"}}
    schema["allOf"] = [
        {
            **_if(has_error, {"properties": {"ok": {"const": False}}}),
            "else": {"properties": {"data": {"type": "object"}}},
        },
        _if(
            {"error": {"type": "object", "properties": {"exit": {"not": {"const": 1}}}}},
            {"properties": {"data": {"type": "null"}}},
        ),
    ]


RULES: Final = {"execution-plan": _add_plan_rules, "run-record": _add_record_rules, "answer": _add_answer_rules}
