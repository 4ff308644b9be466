"""The schemas agree with the models: what we write is valid, and what the models refuse they refuse, where they can."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.cli.error_handler import json_document as printed
from execplan.cli.schema_builder import KINDS, build_schema, find_model, schema_bytes
from execplan.core.documents.document_io import document_bytes, load_document
from execplan.core.documents.document_model import validate_document
from execplan.core.documents.json_schema import DIALECT
from execplan.core.errors import ExecplanError
from execplan.execution.documents.json_answer import Answer
from execplan.execution.execution_plan import ExecutionPlan
from execplan.execution.run_record import Record
from tests.conftest import Folder
from tests.execution.invalid_plans import BAD, BadPlan, change, good
from tests.execution.plan_documents import loaded
from tests.execution.run_records import record

SCHEMAS = {name: jsonschema.Draft202012Validator(build_schema(name)) for name in KINDS}
PLAN = SCHEMAS["execution-plan"]


@pytest.mark.parametrize("name", KINDS)
def test_it_is_a_schema_and_closed(name: str) -> None:
    schema = build_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == DIALECT
    assert schema["description"]
    objects = [
        subschema
        for subschema in _subschemas(schema)
        if subschema.get("type") == "object" and "properties" in subschema and "if" not in subschema
    ]
    assert all(subschema["additionalProperties"] is False for subschema in objects if "description" in subschema)
    assert schema["additionalProperties"] is False


def _subschemas(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value, *[subschema for child in value.values() for subschema in _subschemas(child)]]
    return [subschema for child in value for subschema in _subschemas(child)] if isinstance(value, list) else []


@pytest.mark.parametrize("name", KINDS)
def test_the_published_copy_is_what_is_printed(name: str) -> None:
    path = Path(__file__).parents[2] / "docs" / "reference" / "schemas" / f"{name}.json"
    assert path.read_bytes() == schema_bytes(name)
    assert json.loads(schema_bytes(name)) == build_schema(name)


def test_what_we_write_is_valid() -> None:
    for value in (good(), loaded(good()).model_dump()):
        PLAN.validate(value)
    PLAN.validate(json.loads(document_bytes(loaded(good()))))
    SCHEMAS["run-record"].validate(
        json.loads(document_bytes(load_document(json.dumps(record()).encode(), Record, "r")))
    )


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_bad_plans_are_refused_by_the_model_and_by_the_schema(bad: BadPlan) -> None:
    _, violations = validate_document(bad.document, ExecutionPlan)
    messages = [f"{violation.pointer} {violation.message}" for violation in violations]
    assert any(message.startswith(bad.expected_violation) for message in messages), messages
    assert PLAN.is_valid(bad.document) == bad.beyond_schema


def test_each_is_wrong_in_one_way() -> None:
    assert validate_document(good(), ExecutionPlan)[1] == []
    names = [bad.name for bad in BAD]
    assert len(set(names)) == len(names) > 100


def test_what_json_schema_cannot_say_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "execution-plan-documents.md").read_text(
        encoding="utf-8"
    )
    section = page.partition("### What no JSON Schema can express")[2].partition("\n#")[0]
    documented = re.findall(r"^- (.*?)[;.]$", section, re.MULTILINE)
    assert sorted(documented) == sorted(bad.name for bad in BAD if bad.beyond_schema)


VALUES = st.sampled_from(
    [None, True, 0, 1, -1, 3.5, "", "a b", "make", "x/", [], ["make"], {}, {"a": 1}, "LOW", "HIGH"]
)


def _pointers(value: Any, prefix: str = "") -> list[str]:
    if isinstance(value, dict):
        pointers = [pointer for name, child in value.items() for pointer in _pointers(child, f"{prefix}/{name}")]
        return [*([prefix] if prefix else []), *pointers]
    if isinstance(value, list):
        return [prefix, *[pointer for at, child in enumerate(value) for pointer in _pointers(child, f"{prefix}/{at}")]]
    return [prefix]


FULL = loaded(good()).model_dump()


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from(_pointers(FULL)), VALUES), min_size=1, max_size=2))
def test_what_the_schema_refuses_no_model_takes(changes: list[tuple[str, Any]]) -> None:
    value = json.loads(json.dumps(FULL))
    for pointer, new in changes:
        try:
            change(value, pointer, new)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            continue
    if not PLAN.is_valid(value):
        assert validate_document(value, ExecutionPlan)[0] is None


def test_one_field_at_a_time() -> None:
    """Every kind of field is set to every kind of value: the schema refuses nothing that the model takes."""
    values: tuple[Any, ...] = (None, True, 1, "a b", [], {})
    kinds = {re.sub(r"/\d+", "/#", pointer): pointer for pointer in _pointers(FULL)}
    for pointer in kinds.values():
        for new in values:
            value = json.loads(json.dumps(FULL))
            change(value, pointer, new)
            if validate_document(value, ExecutionPlan)[0] is not None:
                assert PLAN.is_valid(value), (pointer, new)


@pytest.mark.parametrize(
    ("changes", "beyond"),
    [
        ({"/status": "done"}, False),
        ({"/status": "in_progress"}, False),
        ({"/ended": None}, False),
        ({"/steps/0/status": "failed"}, False),
        ({"/steps/0/attempts": 0}, False),
        ({"/steps/0/attempts": 3}, True),
        ({"/steps/0/attempts": -1}, False),
        ({"/steps/1/number": 5}, True),
        ({"/steps": []}, False),
        ({"/completed_steps": []}, True),
        ({"/completed_steps": [1, 2], "/failed_steps": [2]}, True),
        ({"/started": "2999-01-01T00:00:00Z"}, True),
        ({"/started": "2025-02-30T00:00:00Z"}, True),
        ({"/started": "yesterday"}, False),
        ({"/steps/0/ended": "2999-01-01T00:00:00Z"}, True),
        ({"/duration_s": -1}, False),
        ({"/user": ""}, False),
        ({"/document": "x"}, False),
        ({"/resources/cpu_s": True}, False),
        ({"/resources/lines": 1}, False),
    ],
)
def test_bad_records(changes: dict[str, Any], beyond: bool) -> None:
    value = record()
    for pointer, new in changes.items():
        change(value, pointer, new)
    assert validate_document(value, Record)[0] is None
    assert SCHEMAS["run-record"].is_valid(value) == beyond


def test_answers_of_verbs(repo: Folder) -> None:
    repo.plan()
    for arguments in (["list"], ["schema", "answer"], ["done", "77"], ["lint"], ["show", "nothing"]):
        value = json.loads(repo.run(*arguments, "--json").out)
        SCHEMAS["answer"].validate(value)
        assert validate_document(value, Answer)[1] == []


@pytest.mark.parametrize("changes", [{"/ok": True}, {"/data": {}}, {"/kind": 3}, {"/error/exit": 0}, {"/more": 1}])
def test_bad_answers(changes: dict[str, Any]) -> None:
    error = {"code": "no-such-plan", "exit": 3, "message": "x", "hint": None, "candidates": []}
    value = json.loads(printed("show", None, error=error))
    SCHEMAS["answer"].validate(value)
    for pointer, new in changes.items():
        change(value, pointer, new)
    assert not SCHEMAS["answer"].is_valid(value)
    assert validate_document(value, Answer)[0] is None


def test_the_verb(plain: Folder) -> None:
    for name in KINDS:
        assert plain.run("schema", name).out.encode() == schema_bytes(name)
    assert [schema["name"] for schema in plain.ok("schema")["schemas"]] == list(KINDS)
    assert plain.ok("schema", "record") == {"name": "run-record", "schema": build_schema("run-record")}
    refused = plain.run("schema", "aproval")
    assert refused.exit == 3
    assert "did you mean approval?" in refused.err
    assert list(plain.path.iterdir()) == []


def test_every_document_names_its_schema() -> None:
    for name in KINDS:
        model = find_model(name)
        assert model.document_name in (name, "")
    with pytest.raises(ExecplanError) as caught:
        load_document(b"{}", Record, "x")
    assert caught.value.hint == "see its schema: execplan schema run-record"
