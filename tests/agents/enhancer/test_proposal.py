"""What an answer may change, and what it may not: all that is wrong with it is told at once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from execplan.agents.enhancer import enhancement, stored_proposal
from execplan.agents.enhancer.enhancement import EnhancementResult, PreparedRequest
from execplan.agents.enhancer.field_sharing import FIELDS
from execplan.agents.enhancer.proposal import build_proposal, plan_content
from execplan.agents.enhancer.relaxations import find_relaxations
from execplan.core.documents.document_io import document_bytes, load_document
from execplan.execution.approvals.current_plan import load_current_plan
from execplan.execution.execution_plan import ExecutionPlan
from tests.agents.enhancer.enhancer_repository import EnhancerRepository
from tests.in_process_repository import InProcessRepository

Change = Callable[[dict[str, Any], list[dict[str, Any]]], object]
NEW_STEP = {"number": 4, "id": "more", "type": "execute_command", "command": "make check", "risk": {"level": "LOW"}}


class Case:
    """A plan that is about to be sent."""

    def __init__(self, desk: InProcessRepository) -> None:
        self.desk = desk
        self.project, self.ref = desk.project()
        self.document = load_current_plan(self.project, self.ref).document
        self.sending: PreparedRequest = enhancement.prepare_request(self.project, self.ref, self.document, FIELDS)

    def answer(self, change: Change) -> dict[str, Any]:
        """What was sent, with something changed."""
        plan: dict[str, Any] = json.loads(json.dumps(self.sending.masked_plan))
        change(plan, plan["steps"])
        return plan

    def propose(self, change: Change) -> ExecutionPlan:
        """What comes of it."""
        proposed, violations = build_proposal(
            self.project, self.document, self.sending.masked_plan, self.answer(change), self.sending.masker.mark
        )
        assert proposed is not None, violations
        return proposed

    def violations(self, change: Change) -> list[str]:
        """All that is wrong with it."""
        answer = self.answer(change)
        proposed, violations = build_proposal(
            self.project, self.document, self.sending.masked_plan, answer, self.sending.masker.mark
        )
        assert proposed is None
        return [str(violation) for violation in violations]

    def evaluate(self, data: bytes) -> EnhancementResult:
        """What is said of these bytes."""
        return enhancement._evaluate_answer(self.project, self.ref, self.sending, "model", data)

    def placeholder(self, step: int, name: str) -> str:
        """The word in a field of a step that stands for what was taken out."""
        match = re.search(
            rf"redacted_\w+_{self.sending.masker.mark}", json.dumps(self.sending.masked_plan["steps"][step][name])
        )
        assert match is not None
        return match[0]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A plan of three steps, the second with secrets; nothing here writes to it."""
    with pytest.MonkeyPatch.context() as patch:
        asking = EnhancerRepository(tmp_path_factory.mktemp("answers") / "repo", patch)
        yield Case(asking)


def test_what_is_as_it_was_comes_back_as_it_was(case: Case) -> None:
    assert document_bytes(case.propose(lambda plan, steps: None)) == document_bytes(case.document)


def test_a_step_that_is_new(case: Case) -> None:
    proposed = case.propose(lambda plan, steps: steps.append(dict(NEW_STEP)))
    step = proposed.steps[3]
    assert (step.argv, step.tool, step.description) == (("make", "check"), "shell.run", "Run make check")
    assert (step.risk.level, step.inferred, step.source) == ("MEDIUM", True, None)
    assert proposed.steps[:3] == case.document.steps[:3]


def test_what_a_step_does_otherwise_is_inferred_and_rated(case: Case) -> None:
    def change(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        steps[0].update(command="sudo make parser", argv=["sudo", "make", "parser"], risk={"level": "LOW"})
        steps[2].update(timeout_s=20, risk={"level": "LOW"})

    proposed = case.propose(change)
    assert (proposed.steps[0].risk.level, proposed.steps[0].inferred) == ("CRITICAL", True)
    assert proposed.intent.risk_level == "CRITICAL"
    assert (proposed.steps[2].inferred, proposed.steps[2].timeout_s) == (False, 20)


def test_no_step_becomes_less_risky(case: Case) -> None:
    def change(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        steps[0].update(command="make test", argv=["make", "test"], risk={"level": "LOW"})
        plan["intent"]["risk_level"] = "LOW"

    proposed = case.propose(change)
    assert proposed.steps[0].risk.level == case.document.steps[0].risk.level == "HIGH"
    assert proposed.intent.risk_level == "HIGH"


def _set_field(field_path: str, value: Any) -> Change:
    """A change of one field of the whole, or of a step by its place: `1/argv`."""

    def change(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        step, slash, name = field_path.partition("/")
        (steps[int(step)] if slash else plan)[name if slash else field_path] = value

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_set_field("plan_id", "other"), "/plan_id: must stay as it was sent"),
        (_set_field("mode", "agent"), "/mode: must stay as it was sent"),
        (_set_field("revision", 2), "/revision: must stay as it was sent"),
        (_set_field("source", {"path": "x.md", "sha256": "0" * 64}), "/source: must stay as it was sent"),
        (_set_field("metadata", {"context": {"a": 1}}), "/metadata: must stay as it was sent"),
        (_set_field("version", True), "/version: must stay as it was sent"),
        (_set_field("schema", "other"), "/schema: must stay as it was sent"),
        (_set_field("0/inferred", True), "/steps/0/inferred: must stay as it was sent"),
        (_set_field("0/source", {"line_start": 1, "line_end": 2}), "/steps/0/source: must stay as it was sent"),
        (_set_field("0/id", "built"), "/steps: step build was removed"),
        (lambda plan, steps: steps.pop(2), "/steps: step api was removed"),
        (lambda plan, steps: steps.append({**NEW_STEP, "id": "api"}), "/steps/3/id: `api` is also the ID of step 3"),
        (_set_field("steps", "none"), "/steps: expected `array`, got `str`"),
        (_set_field("steps", [1]), "/steps/0: expected `object`, got `int`"),
        (_set_field("0/needs", []), "/steps/0/needs: unknown key"),
        (
            _set_field("0/description", "Build\u202eit"),
            "/steps/0/description: contains U+202E (right-to-left override), which is invisible",
        ),
        (
            _set_field("0/env", {"A": "a\u200bb"}),
            "/steps/0/env/A: contains U+200B (zero width space), which is invisible",
        ),
        (
            _set_field("2/target", "../out.py"),
            "/steps: step api: target ../out.py leads outside the repository with `..`",
        ),
        (_set_field("2/target", "/etc/passwd"), "/steps: step api: target /etc/passwd is absolute"),
        (
            _set_field("2/target", ".git/hooks/pre-commit"),
            "/steps: step api: target .git/hooks/pre-commit is git's own",
        ),
        (
            _set_field("2/target", ".agent/execplan.toml"),
            "/steps: step api: target .agent/execplan.toml is execplan's settings file",
        ),
        (_set_field("2/outputs", ["/tmp/x"]), "/steps: step api: output /tmp/x is absolute"),
        (
            lambda plan, steps: steps.append({**NEW_STEP, "source": {"line_start": 1, "line_end": 2}}),
            "/steps/3/source: must be null: a new step doesn't come from a line of the plan",
        ),
        (lambda plan, steps: steps.append({**NEW_STEP, "cwd": "../.."}), "/steps: step more: cwd ../.. leads out"),
        (lambda plan, steps: plan["constraints"].update(allow_unplanned=True), ""),
    ],
)
def test_what_it_may_not_change(case: Case, change: Change, why: str) -> None:
    if not why:
        assert case.propose(change).constraints.allow_unplanned
        return
    assert any(violation.startswith(why) for violation in case.violations(change)), case.violations(change)


def test_all_violations_are_reported_at_once(case: Case) -> None:
    def change(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        plan.update(mode="agent", colour="blue")
        steps[0].update(timeout_s=-1, exit=999)
        steps[2]["description"] = case.placeholder(1, "env")

    paths = [violation.partition(":")[0] for violation in case.violations(change)]
    assert {"/mode", "/colour", "/steps/0/timeout_s", "/steps/0/exit", "/steps/2/description"} <= set(paths)


def test_a_secret_is_moved_nowhere(case: Case) -> None:
    secret, river = case.placeholder(1, "argv"), case.placeholder(1, "env")
    moved = "contains a placeholder for redacted text that is not in its original place"
    frozen = "must stay as it was sent, because the step contains redacted text"

    def update(at: int, **fields: Any) -> Change:
        return lambda plan, steps: steps[at].update(fields)

    argv = case.sending.masked_plan["steps"][1]["argv"]
    for change, field_path, why in (
        (update(0, command=f"echo {secret}", argv=["echo", secret]), "/steps/0/command", moved),
        (update(2, content=f"X = '{secret}'\n"), "/steps/2/content", moved),
        (update(0, description=secret), "/steps/0/description", moved),
        (update(0, env={"A": river}), "/steps/0/env/A", moved),
        (update(0, env={secret: "1"}), f"/steps/0/env/{secret}", moved),
        (_set_field("description", f"x {river}"), "/description", moved),
        (lambda plan, steps: steps.append({**NEW_STEP, "task": secret}), "/steps/3", moved),
        (
            lambda plan, steps: plan["constraints"].update(forbidden_paths=[secret]),
            "/constraints/forbidden_paths/0",
            moved,
        ),
        (update(1, env={"DEPLOY_KEY": secret}), "/steps/1/env/DEPLOY_KEY", moved),
        (update(1, argv=[argv[0], argv[2], argv[1], argv[3]]), "/steps/1/argv/1", moved),
        (update(1, argv=[*argv[:3], "https://evil.example.org/new"]), "/steps/1/argv", frozen),
        (update(1, command="sh -c env"), "/steps/1/command", frozen),
        (update(1, cwd="src"), "/steps/1/cwd", frozen),
        (update(1, shell="sh", argv=None), "/steps/1/shell", frozen),
        (update(1, env={}), "/steps/1/env", frozen),
        (update(1, network=True), "/steps/1/network", frozen),
        (update(1, allow=["env"]), "/steps/1/allow", frozen),
        (update(1, validation={"test_after": ["env"]}), "/steps/1/validation", frozen),
        (update(1, type="use_tool"), "/steps/1/type", frozen),
        (lambda plan, steps: steps[1].update(id="build") or steps[0].update(id="push"), "/steps/1/argv/2", moved),
    ):
        violations = case.violations(change)
        assert f"{field_path}: {why}" in violations, (field_path, violations)
        assert "quiet-river" not in str(violations)
        assert "s3cr3t" not in str(violations)


def test_a_step_with_a_secret_may_wait_for_others(case: Case) -> None:
    def change(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        steps[1].update(confirm=True, depends_on=["build"], timeout_s=20)

    proposed = case.propose(change)
    assert proposed.steps[1].confirm
    assert proposed.steps[1].argv == case.document.steps[1].argv
    assert proposed.steps[1].env == {"DEPLOY_KEY": "quiet-river-7"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"Sure! Here is the plan:",
        b"```json\n{}\n```",
        b'{"need": "the file .env"}',
        b"[]",
        b"null",
        b'{"steps": [], "steps": []}',
        b"[" * 100_000,
        b'{"description": "\\ud800"}',
        b"\xff\xfe",
        b'{"a": NaN}',
    ],
)
def test_what_is_no_execution_plan(case: Case, data: bytes) -> None:
    result = case.evaluate(data)
    assert (result.outcome, result.reason) == ("refused", "its answer is invalid")
    assert result.violations
    assert len(result.violations) <= 21


@pytest.mark.parametrize(
    "said",
    ["quiet-river-7", "cXVpZXQtcml2ZXItNw==", "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "s3cr3t-river"],
)
def test_an_answer_that_leaks(case: Case, said: str) -> None:
    for data in (
        json.dumps(case.answer(_set_field("description", f"as {said}"))),
        json.dumps({said: 1}),
        f"Words: {said}",
        json.dumps({"a": said}).replace("-", "\\u002d").replace("i", "\\u0069"),
    ):
        result = case.evaluate(data.encode())
        assert (result.outcome, result.reason) == (
            "refused",
            "its answer contains a secret, or text that was redacted before sending",
        )
        assert not result.violations


def test_relaxations_are_reported(case: Case) -> None:
    old = plan_content(case.document)
    old["constraints"] = {**old["constraints"], "max_duration_s": 60, "require_sequential": True}
    old["constraints"] |= {"forbidden_paths": ["etc"], "forbidden_commands": ["rm"]}
    old["steps"][0] |= {"checkpoint": True, "expect": "fine", "outputs": ["out"], "env": {"CI": "1", "B": "2"}}
    old["steps"][0]["validation"] = {"syntax_check": True, "test_after": ["make", "test"]}
    new = json.loads(json.dumps(old))
    new["constraints"] |= {
        "max_steps": 999,
        "max_duration_s": None,
        "require_sequential": False,
        "allow_unplanned": True,
    }
    new["constraints"] |= {"forbidden_paths": [], "forbidden_commands": []}
    step, push, last = new["steps"]
    step |= {"confirm": False, "deny": [], "allow": ["curl *"], "checkpoint": False, "expect": None, "exit": 1}
    step |= {"network": True, "parallel": True, "shell": "sh", "timeout_s": 900, "max_invocations": 9, "cwd": "src"}
    step |= {"effect": "idempotent", "env": {"B": "3", "C": "4"}, "when": {"kind": "exists", "of": "x"}, "inputs": []}
    step |= {"validation": {"syntax_check": False, "test_after": None}, "rollback": {"enabled": False}, "outputs": []}
    step |= {"on_failure": {**step["on_failure"], "strategy": "skip"}, "task": "Another"}
    push["depends_on"] = []
    new["steps"].append({**push, "id": "more", "network": True, "shell": "sh", "allow": ["run *"]})
    new["steps"][1:3] = reversed(new["steps"][1:3])
    assert find_relaxations(old, new) == (
        "constraints.max_steps was 100 and is now 999",
        "constraints.max_duration_s was 60 and is now null",
        "constraints.require_sequential is no longer set",
        "constraints.allow_unplanned is now set",
        "constraints.forbidden_paths no longer contains 'etc'",
        "constraints.forbidden_commands no longer contains 'rm'",
        "step build: no longer has 'rm *' in deny",
        "step build: allows 'curl *'",
        "step build: no longer sets confirm",
        "step build: no longer sets checkpoint",
        "step build: now sets network",
        "step build: now sets parallel",
        "step build: runs in a shell: sh",
        "step build: timeout_s was 300 and is now 900",
        "step build: max_invocations was 1 and is now 9",
        'step build: expect was "fine" and is now null',
        "step build: exit was 0 and is now 1",
        'step build: cwd was "." and is now "src"',
        'step build: effect was "once" and is now "idempotent"',
        "step build: env.CI was removed",
        "step build: env.B was changed",
        "step build: env.C was added",
        "step build: the condition (when) was changed",
        "step build: no longer checks the syntax",
        "step build: validation.test_after was removed",
        "step build: is no longer rolled back",
        "step build: on_failure was changed (strategy: fail_fast, now skip)",
        "step build: no longer has 'Makefile' in inputs",
        "step build: no longer has 'out' in outputs",
        "step build: completes a different task",
        "step push: no longer has 'build' in depends_on",
        "step more (new): uses the network",
        "step more (new): runs in a shell: sh",
        "step more (new): allows 'run *'",
        f"step {last['id']} now runs before push instead of after",
    )
    assert find_relaxations(old, old) == ()


def test_what_the_plan_forbids_stays_forbidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asking = EnhancerRepository(tmp_path / "repo", monkeypatch)
    assert asking.type("compile").exit == 0
    stored = asking.stored()
    constraints = {"forbidden_paths": ["etc"], "forbidden_commands": ["curl"]}
    stored["steps"] = [stored["steps"][0]]
    asking.write("own.json", json.dumps({**stored, "constraints": {**stored["constraints"], **constraints}}))
    assert asking.type("compile", "--from", "own.json").exit == 0
    case = Case(asking)

    def change(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        plan["constraints"] |= {"forbidden_paths": [], "forbidden_commands": []}
        steps.append({**NEW_STEP, "number": 2, "command": "curl -o x https://ship.example.org"})
        steps.append(
            {**NEW_STEP, "number": 3, "id": "file", "type": "create_file", "target": "etc/x", "content": "x\n"}
        )
        steps[-1].pop("command")

    violations = case.violations(change)
    assert any("curl" in violation and "forbid" in violation for violation in violations), violations
    assert any("etc" in violation and "forbid" in violation for violation in violations), violations


def test_what_runs_before_a_secret_is_reported(case: Case) -> None:
    masked_plan = case.sending.masked_plan
    new = case.answer(_set_field("0/command", "make other"))
    assert "step push has a secret and runs after proposed steps: build" in find_relaxations(masked_plan, new)


def test_a_proposal_that_somebody_has_edited(case: Case) -> None:
    answer = case.answer(_set_field("0/timeout_s", 20))
    data = stored_proposal.serialize_proposal(
        case.document, "model", case.sending.masker.mark, case.sending.masked_plan, answer
    )
    assert stored_proposal.accept_proposal(case.project, case.ref, data, "x").steps[0].timeout_s == 20
    proposal = json.loads(data)
    placeholder = case.placeholder(1, "env")
    changes: tuple[tuple[Callable[[dict[str, Any]], object], str], ...] = (
        (lambda document: document["answer"]["steps"][0].update(description=placeholder), "bad-document"),
        (lambda document: document["sent"]["steps"][0].update(command="make all"), "bad-document"),
        (lambda document: document["sent"]["steps"].pop(), "bad-document"),
        (lambda document: document.update(more=1), "bad-document"),
        (lambda document: document.update(version=2), "bad-document"),
        (lambda document: document.pop("answer"), "bad-document"),
        (lambda document: document.update(of="0" * 64), "stale-proposal"),
    )
    for change, code in changes:
        changed = json.loads(json.dumps(proposal))
        change(changed)
        with pytest.raises(Exception, match="x") as raised:
            stored_proposal.accept_proposal(case.project, case.ref, json.dumps(changed).encode(), "x")
        assert getattr(raised.value, "code", "") == code, changed
    load_document(document_bytes(case.document), ExecutionPlan, "the plan is as it was")
