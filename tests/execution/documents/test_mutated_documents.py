"""Documents that are wrong in one place, whatever stands there: refused with what is wrong, never by a crash."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any

import pytest

from execplan import ReplanRequest, create_execution_plan, replan_document
from execplan.core.documents.document_io import document_bytes, load_document
from execplan.core.errors import INPUT, POLICY, ExecplanError
from execplan.execution.execution_plan import ExecutionPlan
from execplan.execution.importers.plan_import import import_plan
from execplan.execution.run_record import Record
from tests.execution.importers.test_plan_import import GOVERNANCE
from tests.execution.invalid_plans import good
from tests.execution.plan_documents import command
from tests.execution.run_records import record

VALUES: tuple[Any, ...] = (None, 1.5, "x", [[]], {})
HISTORY = [
    {"revision": 1, "sha256": "0" * 64, "reason": "it failed", "completed_steps": [1], "failed_steps": [2]},
]
REVISED = {**good(), "revision": 2, "metadata": {"history": HISTORY, "context": {}}}
SCRIPTED = {**GOVERNANCE, "operations": [dict(operation) for operation in GOVERNANCE["operations"]]}
SCRIPTED["operations"][1] = {**SCRIPTED["operations"][1], "arguments": {"command": "CI=1 make docs", "env": {"A": "b"}}}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place below the top."""
    names = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for name in names:
        yield (*path, name)
        yield from places(value[name], (*path, name))


def mutants(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The value with one part of it exchanged, taken out, or under another name."""
    for *path, last in places(value):
        for new in (*VALUES, ...):
            mutant = deepcopy(value)
            into = mutant
            for key in path:
                into = into[key]
            if new is ...:
                removed = into.pop(last)
                if isinstance(into, dict):
                    into[f"{last}x"] = removed
            else:
                into[last] = new
            yield mutant


@pytest.mark.parametrize(
    ("value", "reader"),
    [
        (REVISED, partial(load_document, kind=ExecutionPlan, label="x.json")),
        (
            record(history=[{"revision": 2, "at": "2025-12-31T23:01:00Z", "reason": "x", "failed_steps": [1]}]),
            partial(load_document, kind=Record, label="x.json"),
        ),
        (SCRIPTED, partial(import_plan, label="x.json", plan_id="x")),
    ],
    ids=["execution-plan", "run-record", "import"],
)
def test_every_part_of_another_kind(value: dict[str, Any], reader: Callable[[bytes], Any]) -> None:
    reader(json.dumps(value).encode())
    exits = {_exit(mutant, reader) for mutant in mutants(value)}
    assert exits - {POLICY} == {0, INPUT}


def _exit(mutant: dict[str, Any], reader: Callable[[bytes], Any]) -> int:
    """What it comes to, in an exit status."""
    try:
        document_bytes(reader(json.dumps(mutant).encode()))
    except ExecplanError as error:
        return error.exit
    return 0


@pytest.mark.parametrize("value", [object(), {1, 2}, b"x"])
def test_python_values_that_json_does_not_have(value: object) -> None:
    with pytest.raises(ExecplanError, match=r"/metadata/context/deep/0: a Python .*, which JSON doesn't have"):
        create_execution_plan("Do it", ["a.b"], {"deep": [value]})


def test_a_key_that_json_does_not_have() -> None:
    with pytest.raises(ExecplanError, match="a key is not a string"):
        create_execution_plan("Do it", ["a.b"], {"deep": {(1, 2): 3}})


@pytest.mark.parametrize("kind", [["create_file"], {}, 5, None])
def test_new_steps_of_no_type(kind: object) -> None:
    plan = create_execution_plan("Do it", ["a.b"])
    steps = [{"id": "new", "type": kind}]
    request = ReplanRequest(current_plan=plan, reason="x", new_information={"steps": steps})
    with pytest.raises(ExecplanError, match="/new_information/steps/0/type"):
        replan_document(request)


def test_what_is_wrong_is_told_in_words() -> None:
    value = {**good(), "steps": []}
    with pytest.raises(ExecplanError, match="/steps: expected `array` of length >= 1"):
        load_document(json.dumps(value).encode(), ExecutionPlan, "x")
    value = {**good(), "steps": [command(1, tool="a.b.c")]}
    with pytest.raises(ExecplanError, match=r"/steps/0/tool: should be `domain.tool`"):
        load_document(json.dumps(value).encode(), ExecutionPlan, "x")
