"""A proposal is asked for, shown, kept without secrets, and taken by a person: then it is evaluated and approved as ever."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from execplan.cli.schema_builder import build_schema
from execplan.core.documents.document_io import to_json_bytes
from tests.agents.enhancer.enhancer_repository import PLAN, EnhancerRepository

if TYPE_CHECKING:
    from tests.conftest import Result

EDITS = (
    "steps[0]['confirm'] = False; steps[2]['timeout_s'] = 20;"
    "steps.append({'number': 4, 'id': 'more', 'type': 'execute_command', 'command': 'make check', 'risk': {'level': 'LOW'}})"
)
SECRETS = ("quiet-river", "s3cr3t")


def output_without_steps(result: Result) -> str:
    """What was said beside the steps themselves, which are the user's own."""
    return result.err + result.out.partition("\nsent ")[2]


def test_a_proposal(asking: EnhancerRepository) -> None:
    asking.configure_program("edit", EDITS)
    result = asking.type("compile", "--enhance")
    assert result.exit == 0
    assert result.err == ""
    for line in (
        "  step more was added",
        "  step build: confirm was true and is now false",
        "  step api: timeout_s was 300 and is now 20",
        "  ! step build: no longer sets confirm",
        '+      "timeout_s": 20,',
        "wrote .agent/execplans/artifacts/2026-01-01_parser/enhanced.json: it is not used until you accept it",
        "next: execplan compile 2026-01-01_parser --from .agent/execplans/artifacts/2026-01-01_parser/enhanced.json",
    ):
        assert line in output_without_steps(result).splitlines()
    proposal = (asking.artifacts / "enhanced.json").read_text()
    audit_log = (asking.artifacts / "ledger.jsonl").read_text()
    for secret in SECRETS:
        assert not any(
            secret in text
            for text in (
                output_without_steps(result),
                proposal,
                audit_log,
                (asking.folder / "request.json").read_text(),
            )
        )
    before = asking.stored()
    assert [step["id"] for step in before["steps"]] == ["build", "push", "api"]
    assert asking.type("evaluate").exit == 0

    follow = output_without_steps(result).rpartition("next: execplan ")[2].split()
    assert asking.type(*follow).exit == 0
    after = asking.stored()
    assert [step["id"] for step in after["steps"]] == ["build", "push", "api", "more"]
    assert after["steps"][1] == {**before["steps"][1], "source": None}, "what was taken out is as it was"
    assert (after["steps"][0]["confirm"], after["steps"][2]["timeout_s"], after["steps"][3]["inferred"]) == (
        False,
        20,
        True,
    )
    assert after["metadata"]["context"]["imported"]["source"] == before["source"]
    assert asking.data(*follow)["changed"] is False, "once more"
    asking.refused(7, "inferred-steps", "approve", "--digest", asking.digest()[:8])
    asking.approve("--allow-inferred")
    assert asking.approval_state() == "approved"
    assert asking.ask("edit", "steps[3]['timeout_s'] = 20")["ended"] == "proposed", (
        "one that was taken can be made better"
    )


def test_one_of_a_plan_that_has_changed_since(asking: EnhancerRepository) -> None:
    asking.ask("edit", EDITS)
    moved = PLAN.replace("## Concrete", "Words.\n\n## Concrete")
    asking.plan(moved.replace("make parser", "make other"))
    file = str(asking.artifacts / "enhanced.json")
    asking.refused(4, "stale-proposal", "compile", "--from", file)
    asking.plan(moved)
    assert asking.data("compile", "--from", file)["changed"], "that lines have moved is no difference"


def test_a_dry_run_shows_what_would_be_sent_and_sends_nothing(asking: EnhancerRepository) -> None:
    result = asking.type("compile", "--enhance", "--dry-run", "--json")
    enhanced = result.json["data"]["enhanced"]
    assert (result.exit, enhanced["program"], enhanced["ended"]) == (0, None, "not_sent")
    asking.configure_program("edit", EDITS)
    enhanced = asking.data("compile", "--enhance", "--dry-run")["enhanced"]
    assert enhanced["program"].startswith("python")
    request = json.loads(enhanced["request"])
    assert not any(secret in enhanced["request"] for secret in SECRETS)
    assert [step["id"] for step in request["data"]["execution_plan"]["steps"]] == ["build", "push", "api"]
    assert list(asking.folder.iterdir()) == []
    assert not asking.artifacts.exists()
    text = asking.type("compile", "--enhance", "--dry-run").out
    assert "would send " in text
    assert not any(secret in text.partition("would send ")[2] for secret in SECRETS)


def test_a_dry_run_prints_exactly_what_is_sent_but_for_what_is_drawn(asking: EnhancerRepository) -> None:
    asking.configure_program("echo")
    previews = [asking.data("compile", "--enhance", "--dry-run")["enhanced"]["request"] for _ in range(2)]
    assert asking.type("compile", "--enhance").exit == 0
    requests = [*previews, (asking.folder / "request.json").read_text()]
    marks = [set(re.findall(r"redacted_[a-z]+_\d+_([0-9a-f]{8})", request)) for request in requests]
    assert [len(request_marks) for request_marks in marks] == [1, 1, 1]
    drawn = [request_marks.pop() for request_marks in marks]
    assert len(set(drawn)) == 3
    assert len({request.replace(mark, "MARK") for request, mark in zip(requests, drawn, strict=True)}) == 1


def test_what_is_drawn_stands_nowhere_in_the_plan(asking: EnhancerRepository) -> None:
    marks = iter(["0badc0de", "1f1f1f1f"])
    asking.patch.setattr("secrets.token_hex", lambda size: next(marks))
    asking.plan(PLAN.replace("X = 1", "X = 'redacted_secret_1_0badc0de'"))
    asking.configure_program("echo")
    request = asking.data("compile", "--enhance", "--dry-run")["enhanced"]["request"]
    assert "_1f1f1f1f" in request
    assert "_2_0badc0de" not in request


def test_back_to_what_the_plan_compiles_to(asking: EnhancerRepository) -> None:
    asking.ask("edit", EDITS)
    compiled = asking.stored()
    assert asking.type("compile", "--from", str(asking.artifacts / "enhanced.json")).exit == 0
    assert asking.stored() != compiled
    (asking.artifacts / "execution-plan.json").unlink()
    assert asking.type("compile").exit == 0
    assert asking.stored() == compiled


def test_the_request(asking: EnhancerRepository) -> None:
    asking.ask("echo")
    request = asking.sent_request()
    assert list(request) == ["schema", "version", "instruction", "answer_schema", "data"]
    assert request["answer_schema"] == build_schema("execution-plan")
    assert "never an instruction" in request["instruction"]
    jsonschema.validate(request["data"]["execution_plan"], request["answer_schema"])
    assert to_json_bytes(request) == (asking.folder / "request.json").read_bytes()
    assert str(asking.path) not in json.dumps(request)


@pytest.mark.parametrize("commit", [True, False])
def test_it_is_committed_when_asked(asking: EnhancerRepository, commit: bool) -> None:
    asking.configure_program("edit", EDITS)
    asking.commit()
    data = asking.data("compile", "--enhance", *(["--commit"] if commit else []))
    committed = asking.git("log", "--name-only", "--format=").split()
    for name in ("enhanced.json", "ledger.jsonl", "execution-plan.json"):
        assert (f".agent/execplans/artifacts/2026-01-01_parser/{name}" in committed) == commit
    assert bool(data["enhanced"]["commit"]) == commit


AGENT: dict[str, Any] = {
    "schema": "execplan-execution-plan",
    "version": 1,
    "plan_id": "x",
    "description": "Ask the tools",
    "mode": "agent",
    "intent": {"summary": "Ask", "category": "tools", "risk_level": "HIGH"},
    "metadata": {"context": {"url": "https://bob:quiet-river@db.corp.test"}},
    "steps": [
        {
            "number": 1,
            "id": "ask",
            "type": "use_tool",
            "tool": "search.ask",
            "description": "Ask",
            "parameters": {"query": "password: s3cr3t-river", "api": {"deep": ["quiet-river-7"]}, "path": "src"},
            "risk": {
                "level": "HIGH",
                "reasons": ["calls a tool whose effects are unknown to execplan"],
            },
        }
    ],
}


def test_one_for_an_agent_with_parameters(asking: EnhancerRepository) -> None:
    asking.write("agent.json", json.dumps(AGENT))
    assert asking.type("compile", "--from", "agent.json").exit == 0
    before = asking.stored()
    enhanced = asking.ask("edit", "steps[0]['timeout_s'] = 20")
    assert enhanced["ended"] == "proposed"
    text = json.dumps([enhanced, asking.sent_request(), (asking.artifacts / "enhanced.json").read_text()])
    assert not any(secret in text for secret in SECRETS)
    assert asking.type("compile", "--from", str(asking.artifacts / "enhanced.json")).exit == 0
    assert asking.stored()["steps"][0] == {**before["steps"][0], "timeout_s": 20}
    assert asking.stored()["metadata"]["context"]["url"] == AGENT["metadata"]["context"]["url"]


def test_no_step_writes_a_proposal(asking: EnhancerRepository) -> None:
    target = ".agent/execplans/artifacts/2026-01-01_parser/enhanced.json"
    asking.plan(PLAN.replace("src/made.py", target))
    result = asking.type("evaluate")
    assert result.exit == 1
    assert "execplan's execution evidence" in result.out
