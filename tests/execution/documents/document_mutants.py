"""Documents of each kind with every field in use, changes of each of their places, and what the models answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from hashlib import sha256
from typing import Any, NamedTuple

from execplan.context.decision import Decision
from execplan.core.documents.document_io import document_bytes
from execplan.core.documents.document_model import validate_document
from execplan.execution.approval_document import Approval
from execplan.execution.binding import binding_digest
from execplan.execution.documents.json_answer import Answer
from execplan.execution.execution_plan import ExecutionPlan
from execplan.execution.revision.document_replanning import ReplanRequest
from execplan.execution.run_record import Record
from execplan.execution.world import Program, State
from tests.execution.plan_documents import command, plan, step
from tests.execution.run_records import record

VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "0": 0,
    "-1": -1,
    "2": 2,
    "huge": 10**19,
    "1.0": 1.0,
    "-0.5": -0.5,
    "empty": "",
    "x": "x",
    "x\\n": "x\n",
    "a.b": "a.b",
    "NUL": "a\0",
    "long": "é" * 9000,
    "LOW": "LOW",
    "time": "2025-12-31T23:00:00Z",
    "no date": "2025-02-30T00:00:00Z",
    "digest": "a" * 64,
    "[]": [],
    "[0]": [0],
    "[a]": ["a"],
    "[a, '', a]": ["a", "", "a"],
    "[[]]": [[]],
    "{}": {},
    "{a: 1}": {"a": 1},
    "{'': a}": {"": "a"},
}
REMOVED, RENAMED, ADDED = "removed", "renamed", "added"


class Example(NamedTuple):
    """A valid document."""

    kind: Any
    value: dict[str, Any]


def _plan() -> dict[str, Any]:
    recovery = {"strategy": "alternative:last", "max_retries": 1, "backoff_ms": 5, "triggers": ["exit:2", "test"]}
    history = {"revision": 1, "sha256": "0" * 64, "reason": "it failed", "completed_steps": [1], "failed_steps": [2]}
    return plan(
        command(
            1,
            id="first",
            action="build",
            timeout_s=60,
            on_failure=recovery,
            checkpoint=True,
            effect="idempotent",
            parallel=True,
            cwd="sub",
            env={"CI": "1"},
            network=True,
            inputs=["in.txt"],
            outputs=["out.txt"],
            expect="done",
            exit=1,
            validation={"syntax_check": False, "test_after": ["make", "test"]},
            rollback={"enabled": False},
            task="Build it",
            confirm=True,
            max_invocations=3,
            allow=["make *"],
            deny=["rm *"],
            inferred=True,
            phase="validate",
            source={"line_start": 3, "line_end": 5},
        ),
        command(2, id="script", command="a | b", argv=None, shell="sh", when={"kind": "failed", "of": "first"}),
        step(3, id="lines", type="modify_file", tool="file.modify", lines=[1, 2], depends_on=["first"]),
        step(
            4,
            id="last",
            type="use_tool",
            tool="agent.search",
            target=...,
            content=...,
            parameters={"query": "x", "deep": {"list": [1, 2.5, None, True]}},
            risk={"level": "HIGH", "reasons": ["unknown"]},
        ),
        mode="agent",
        revision=2,
        source={"path": "plan.md", "sha256": "0" * 64},
        constraints={
            "max_steps": 10,
            "max_duration_s": 600,
            "require_sequential": False,
            "allow_unplanned": True,
            "forbidden_paths": ["secrets"],
            "forbidden_commands": ["rm *"],
        },
        metadata={"context": {"by": ["a test"]}, "history": [{**history, "new_information": {"note": "x"}}]},
    )


def _record() -> dict[str, Any]:
    times = {"started": "2025-12-31T23:00:00Z", "ended": "2025-12-31T23:01:00Z", "duration_s": 1.5}
    resources = {"files_created": 1, "lines_added": 2, "cpu_s": 2, "peak_memory_bytes": 5}
    checks = {"pre_checks": "passed", "post_checks": "failed", "tests_run": 1, "tests_passed": 0}
    first = {"number": 1, "id": "a", "status": "completed", "attempts": 1, "max_attempts": 2, **times, "exit": 0}
    second = {"number": 2, "id": "b", "status": "failed", "attempts": 1, "signal": 9, "reason": "killed"}
    replanned = {
        "revision": 2,
        "at": "2025-12-31T23:01:00Z",
        "reason": "x",
        "completed_steps": [1],
        "failed_steps": [2],
    }
    return record(
        approval="1" * 64,
        mode="agent",
        approver="Ann",
        session="s1",
        status="failed",
        steps=[{**first, "resources": resources, "validation": checks}, second],
        completed_steps=[1],
        failed_steps=[2],
        validation=checks,
        history=[replanned],
        context={"by": "a test"},
    )


def _approval() -> dict[str, Any]:
    state: dict[str, Any] = {"kind": "file", "sha256": "a" * 64, "mode": 0o644, "link": "", "size": 12}
    program = {"path": "bin/make", "real": "bin/gmake", "sha256": "b" * 64, "version": "1.0"}
    bound = binding_digest("b" * 64, {"src/app.py": State(**state)}, "c", {"make": Program(**program)})
    return {
        "schema": "execplan-approval",
        "version": 1,
        "id": "d" * 32,
        "plan_id": "2026-01-01_parser",
        "revision": 2,
        "place": "e" * 64,
        "digest": bound,
        "document": "b" * 64,
        "states": {"src/app.py": state},
        "policy": "c",
        "programs": {"make": program},
        "tree": "f" * 64,
        "head": "0" * 40,
        "approver": "Ann",
        "user": "ann",
        "session": "s1",
        "approved_at": "2026-01-01T00:00:00Z",
        "expires_at": "2026-01-02T00:00:00Z",
        "how": "revision",
        "derived_from": {"digest": "1" * 64, "revision": 1, "approvals": ["2" * 32], "how": "terminal", "run": "run-1"},
        "inferred": "flag",
        "max_risk": "HIGH",
        "steps": ["first", "last"],
        "key": "3" * 16,
        "hmac": "4" * 64,
    }


def _answer() -> dict[str, Any]:
    task = {"id": "t1", "text": "Do it"}
    candidate = {
        "id": "p",
        "path": "p.md",
        "title": None,
        "state": "active",
        "counts": {"open": 1},
        "changed": None,
        "next": task,
        "taken": [{**task, "by": "Ann", "until": "soon"}],
    }
    error = {"code": "ambiguous-plan", "exit": 3, "message": "x", "hint": None, "candidates": ["a", candidate]}
    envelope = {"schema": "execplan/1", "kind": "show", "ok": False, "data": None}
    return {**envelope, "error": error, "warnings": ["w"], "next": ["execplan list"]}


def _decision() -> dict[str, Any]:
    unit = {
        "id": "a",
        "type": "file",
        "action": "keep",
        "tokens": 30,
        "original_tokens": 50,
        "priority": 7,
        "reason": "x",
    }
    share = {"tokens_saved": 0, "percentage_of_baseline": 0.0}
    return {
        "plan_id": "p",
        "decision_id": "d",
        "created_at": "2026-01-01T00:00:00Z",
        "version": "1.0",
        "input_summary": {"total_units": 1, "total_tokens": 50, "units_by_type": {"file": 1}},
        "constraints": {"token_budget": 100, "target_model": "large", "intent": "debugging"},
        "experiment": {"enabled": True, "id": "e", "variant": "v", "assignment_key": "k"},
        "recommendations": {
            "model": {"recommended": "m", "reason": "r", "alternatives": ["n"]},
            "budget_allocation": {"system_prompt": 10, "context": 80, "response_reserve": 10},
        },
        "optimized_context": [unit],
        "statistics": {
            "tokens_saved": 20,
            "reduction_percentage": 40.0,
            "units_kept": 1,
            "units_summarized": 0,
            "units_truncated": 0,
            "units_pruned": 0,
        },
        "savings_breakdown": {
            "baseline_tokens": 50,
            "after_filter_tokens": 50,
            "after_pruning_tokens": 30,
            "package_filtering": share,
            "pruning_and_summarization": {**share, "percentage_of_post_filter": 40.0},
            "overall": share,
        },
        "session_hygiene": {
            "message_count_estimate": 0,
            "input_context_utilization_pct": 0,
            "optimized_context_utilization_pct": 0.5,
            "recommended_action": "continue",
            "playbook": [],
        },
        "warnings": [],
        "explainability": {
            "strategy_used": "intent_aware",
            "intent_confidence": 0.5,
            "pruning_threshold": 0,
            "counter": {"name": "estimate", "exact": False},
        },
        "validation": {"total_tokens": 30, "within_budget": True, "budget_remaining": 50},
    }


def _request() -> dict[str, Any]:
    return {
        "current_plan": plan(),
        "execution_state": {"status": "in_progress", "current_step": 1, "steps": {"s1": "completed", "s2": "failed"}},
        "reason": "It failed.",
        "completed_steps": [1],
        "failed_steps": [2],
        "new_information": {"note": ["x"]},
    }


EXAMPLES = {
    "execution-plan": Example(ExecutionPlan, _plan()),
    "run-record": Example(Record, _record()),
    "approval": Example(Approval, _approval()),
    "answer": Example(Answer, _answer()),
    "context-decision": Example(Decision, _decision()),
    "replan-request": Example(ReplanRequest, _request()),
}


def pointers(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield every place of a document, also below its lists; the top is the empty path."""
    yield path
    names = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for name in names:
        yield from pointers(value[name], (*path, name))


def mutants(value: dict[str, Any], path: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the document with each change of one place, by the name of the change."""
    if not path:
        yield from VALUES.items()
        yield ADDED, {**value, "stepz": 1}
        return
    for name, new in VALUES.items():
        mutant, parent = _copy(value, path)
        parent[path[-1]] = deepcopy(new)
        yield name, mutant
    mutant, parent = _copy(value, path)
    del parent[path[-1]]
    yield REMOVED, mutant
    mutant, parent = _copy(value, path)
    if isinstance(parent, dict):
        parent[f"{path[-1]}s"] = parent.pop(path[-1])
        yield RENAMED, mutant
    mutant, parent = _copy(value, path)
    if isinstance(parent[path[-1]], dict):
        parent[path[-1]]["nmae"] = 1
        yield ADDED, mutant
    elif isinstance(parent[path[-1]], list):
        parent[path[-1]] += [parent[path[-1]][0], None] if parent[path[-1]] else [None]
        yield ADDED, mutant


def _copy(value: dict[str, Any], path: tuple[Any, ...]) -> tuple[Any, Any]:
    mutant = deepcopy(value)
    parent: Any = mutant
    for name in path[:-1]:
        parent = parent[name]
    return mutant, parent


def selected_mutants() -> Iterator[tuple[str, str, Example, Any]]:
    """Yield mutants, each with the name of its document, of its change, and its example: at each place a fifth of all."""
    for document_name, example in EXAMPLES.items():
        for number, path in enumerate(pointers(example.value)):
            for at, (change, mutant) in enumerate(mutants(example.value, path)):
                if (number + at) % 5 == 0:
                    yield document_name, f"{'/'.join(map(str, path))}: {change}", example, mutant


_LATER_FIELDS = re.compile(
    rb',?\s*"(?:worker|from|replacement)":\s*null|,?\s*"overwrite":\s*false|,?\s*"files":\s*\[\]'
)
"""Fields, without a value here, that the models have got since the outcomes were recorded."""


def outcome(kind: Any, value: Any) -> list[str]:
    """Return the violations of plain data; of a valid document, a digest of its bytes."""
    document, violations = validate_document(value, kind)
    if document is None:
        return [f"{violation.pointer} {violation.message}" for violation in violations]
    return [sha256(_LATER_FIELDS.sub(b"", document_bytes(document))).hexdigest()[:8]]
