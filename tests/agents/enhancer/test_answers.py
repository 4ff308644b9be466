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
from execplan.approvals.current_plan import load_current_plan
from execplan.execution.documents.document_io import load, to_bytes
from execplan.execution.execution_plan import ExecutionPlan
from tests.agents.enhancer.asking import Asking
from tests.repo.approving import InProcessRepository

Change = Callable[[dict[str, Any], list[dict[str, Any]]], object]
NEW = {"number": 4, "id": "more", "type": "execute_command", "command": "make check", "risk": {"level": "LOW"}}


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
        made, wrong = build_proposal(
            self.project, self.document, self.sending.masked_plan, self.answer(change), self.sending.masker.mark
        )
        assert made is not None, wrong
        return made

    def refused(self, change: Change) -> list[str]:
        """All that is wrong with it."""
        answer = self.answer(change)
        made, wrong = build_proposal(
            self.project, self.document, self.sending.masked_plan, answer, self.sending.masker.mark
        )
        assert made is None
        return [str(each) for each in wrong]

    def judged(self, data: bytes) -> EnhancementResult:
        """What is said of these bytes."""
        return enhancement._evaluate_answer(self.project, self.ref, self.sending, "model", data)

    def word(self, step: int, name: str) -> str:
        """The word in a field of a step that stands for what was taken out."""
        found = re.search(
            rf"redacted_\w+_{self.sending.masker.mark}", json.dumps(self.sending.masked_plan["steps"][step][name])
        )
        assert found is not None
        return found[0]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A plan of three steps, the second with secrets; nothing here writes to it."""
    with pytest.MonkeyPatch.context() as patch:
        asking = Asking(tmp_path_factory.mktemp("answers") / "repo", patch)
        yield Case(asking)


def test_what_is_as_it_was_comes_back_as_it_was(case: Case) -> None:
    assert to_bytes(case.propose(lambda plan, steps: None)) == to_bytes(case.document)


def test_a_step_that_is_new(case: Case) -> None:
    made = case.propose(lambda plan, steps: steps.append(dict(NEW)))
    step = made.steps[3]
    assert (step.argv, step.tool, step.description) == (("make", "check"), "shell.run", "Run make check")
    assert (step.risk.level, step.inferred, step.source) == ("MEDIUM", True, None)
    assert made.steps[:3] == case.document.steps[:3]


def test_what_a_step_does_otherwise_is_inferred_and_rated(case: Case) -> None:
    def change(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        steps[0].update(command="sudo make parser", argv=["sudo", "make", "parser"], risk={"level": "LOW"})
        steps[2].update(timeout_s=20, risk={"level": "LOW"})

    made = case.propose(change)
    assert (made.steps[0].risk.level, made.steps[0].inferred) == ("CRITICAL", True)
    assert made.intent.risk_level == "CRITICAL"
    assert (made.steps[2].inferred, made.steps[2].timeout_s) == (False, 20)


def test_no_step_becomes_less_risky(case: Case) -> None:
    def change(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        steps[0].update(command="make test", argv=["make", "test"], risk={"level": "LOW"})
        plan["intent"]["risk_level"] = "LOW"

    made = case.propose(change)
    assert made.steps[0].risk.level == case.document.steps[0].risk.level == "HIGH"
    assert made.intent.risk_level == "HIGH"


def _one(where: str, value: Any) -> Change:
    """A change of one field of the whole, or of a step by its place: `1/argv`."""

    def change(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        step, slash, name = where.partition("/")
        (steps[int(step)] if slash else plan)[name if slash else where] = value

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_one("plan_id", "other"), "/plan_id: stays as it was sent"),
        (_one("mode", "agent"), "/mode: stays as it was sent"),
        (_one("revision", 2), "/revision: stays as it was sent"),
        (_one("source", {"path": "x.md", "sha256": "0" * 64}), "/source: stays as it was sent"),
        (_one("metadata", {"context": {"a": 1}}), "/metadata: stays as it was sent"),
        (_one("version", True), "/version: stays as it was sent"),
        (_one("schema", "other"), "/schema: stays as it was sent"),
        (_one("0/inferred", True), "/steps/0/inferred: stays as it was sent"),
        (_one("0/source", {"line_start": 1, "line_end": 2}), "/steps/0/source: stays as it was sent"),
        (_one("0/id", "built"), "/steps: step build is gone"),
        (lambda plan, steps: steps.pop(2), "/steps: step api is gone"),
        (lambda plan, steps: steps.append({**NEW, "id": "api"}), "/steps/3/id: `api` is the id of step 3 too"),
        (_one("steps", "none"), "/steps: input should be a valid"),
        (_one("steps", [1]), "/steps/0: input should be an object"),
        (_one("0/needs", []), "/steps/0/needs: unknown key"),
        (_one("0/description", "Build\u202eit"), "/steps/0/description: hides U+202E (right-to-left override)"),
        (_one("0/env", {"A": "a\u200bb"}), "/steps/0/env/A: hides U+200B (zero width space)"),
        (_one("2/target", "../out.py"), "/steps: step api: target ../out.py leads out with `..`"),
        (_one("2/target", "/etc/passwd"), "/steps: step api: target /etc/passwd is absolute"),
        (_one("2/target", ".git/hooks/pre-commit"), "/steps: step api: target .git/hooks/pre-commit is git's own"),
        (_one("2/target", ".agent/execplan.toml"), "/steps: step api: target .agent/execplan.toml is the settings"),
        (_one("2/outputs", ["/tmp/x"]), "/steps: step api: output /tmp/x is absolute"),
        (
            lambda plan, steps: steps.append({**NEW, "source": {"line_start": 1, "line_end": 2}}),
            "/steps/3/source: a new step comes from no line of the plan",
        ),
        (lambda plan, steps: steps.append({**NEW, "cwd": "../.."}), "/steps: step more: cwd ../.. leads out"),
        (lambda plan, steps: plan["constraints"].update(allow_unplanned=True), ""),
    ],
)
def test_what_it_may_not_change(case: Case, change: Change, why: str) -> None:
    if not why:
        assert case.propose(change).constraints.allow_unplanned
        return
    assert any(each.startswith(why) for each in case.refused(change)), case.refused(change)


def test_all_that_is_wrong_is_told_at_once(case: Case) -> None:
    def change(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        plan.update(mode="agent", colour="blue")
        steps[0].update(timeout_s=-1, exit=999)
        steps[2]["description"] = case.word(1, "env")

    found = [each.partition(":")[0] for each in case.refused(change)]
    assert {"/mode", "/colour", "/steps/0/timeout_s", "/steps/0/exit", "/steps/2/description"} <= set(found)


def test_a_secret_is_moved_nowhere(case: Case) -> None:
    secret, river = case.word(1, "argv"), case.word(1, "env")
    moved = "holds a word that stands for what was taken out, and not at its place"
    frozen = "what was taken out stands in this step: what the step does stays as it was sent"

    def update(at: int, **fields: Any) -> Change:
        return lambda plan, steps: steps[at].update(fields)

    argv = case.sending.masked_plan["steps"][1]["argv"]
    for change, where, why in (
        (update(0, command=f"echo {secret}", argv=["echo", secret]), "/steps/0/command", moved),
        (update(2, content=f"X = '{secret}'\n"), "/steps/2/content", moved),
        (update(0, description=secret), "/steps/0/description", moved),
        (update(0, env={"A": river}), "/steps/0/env/A", moved),
        (update(0, env={secret: "1"}), f"/steps/0/env/{secret}", moved),
        (_one("description", f"x {river}"), "/description", moved),
        (lambda plan, steps: steps.append({**NEW, "task": secret}), "/steps/3", moved),
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
        found = case.refused(change)
        assert f"{where}: {why}" in found, (where, found)
        assert "quiet-river" not in str(found)
        assert "s3cr3t" not in str(found)


def test_a_step_with_a_secret_may_wait_for_others(case: Case) -> None:
    def change(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        steps[1].update(confirm=True, depends_on=["build"], timeout_s=20)

    made = case.propose(change)
    assert made.steps[1].confirm
    assert made.steps[1].argv == case.document.steps[1].argv
    assert made.steps[1].env == {"DEPLOY_KEY": "quiet-river-7"}


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
    made = case.judged(data)
    assert (made.outcome, made.reason) == ("refused", "its answer can't stand")
    assert made.violations
    assert len(made.violations) <= 21


@pytest.mark.parametrize(
    "said",
    ["quiet-river-7", "cXVpZXQtcml2ZXItNw==", "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "s3cr3t-river"],
)
def test_an_answer_that_leaks(case: Case, said: str) -> None:
    for data in (
        json.dumps(case.answer(_one("description", f"as {said}"))),
        json.dumps({said: 1}),
        f"Words: {said}",
        json.dumps({"a": said}).replace("-", "\\u002d").replace("i", "\\u0069"),
    ):
        made = case.judged(data.encode())
        assert (made.outcome, made.reason) == (
            "refused",
            "its answer holds a secret, or what was taken out before it was sent",
        )
        assert not made.violations


def test_what_it_takes_away_is_said(case: Case) -> None:
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
        "constraints.max_steps was 100, is 999",
        "constraints.max_duration_s was 60, is null",
        "constraints.require_sequential is gone",
        "constraints.allow_unplanned is set",
        "constraints.forbidden_paths lacks 'etc'",
        "constraints.forbidden_commands lacks 'rm'",
        "step build lacks 'rm *' in deny",
        "step build allows 'curl *'",
        "step build is no longer confirm",
        "step build is no longer checkpoint",
        "step build is network now",
        "step build is parallel now",
        "step build runs in a shell, sh",
        "step build timeout_s was 300, is 900",
        "step build max_invocations was 1, is 9",
        'step build expect was "fine", is null',
        "step build exit was 0, is 1",
        'step build cwd was ".", is "src"',
        'step build effect was "once", is "idempotent"',
        "step build env.CI is gone",
        "step build env.B is other",
        "step build env.C is new",
        "step build runs under another condition (when)",
        "step build is not checked for syntax",
        "step build validation.test_after is gone",
        "step build is not rolled back",
        "step build on_failure was fail_fast, is skip, or tried otherwise",
        "step build lacks 'Makefile' in inputs",
        "step build lacks 'out' in outputs",
        "step build completes another task",
        "step push lacks 'build' in depends_on",
        "step more, which is new, uses the network",
        "step more, which is new, runs in a shell, sh",
        "step more, which is new, allows 'run *'",
        f"step {last['id']} came behind push, and comes before now",
    )
    assert find_relaxations(old, old) == ()


def test_what_the_plan_forbids_stays_forbidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asking = Asking(tmp_path / "repo", monkeypatch)
    assert asking.type("compile").exit == 0
    stored = asking.stored()
    constraints = {"forbidden_paths": ["etc"], "forbidden_commands": ["curl"]}
    stored["steps"] = [stored["steps"][0]]
    asking.write("own.json", json.dumps({**stored, "constraints": {**stored["constraints"], **constraints}}))
    assert asking.type("compile", "--from", "own.json").exit == 0
    case = Case(asking)

    def change(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        plan["constraints"] |= {"forbidden_paths": [], "forbidden_commands": []}
        steps.append({**NEW, "number": 2, "command": "curl -o x https://ship.example.org"})
        steps.append({**NEW, "number": 3, "id": "file", "type": "create_file", "target": "etc/x", "content": "x\n"})
        steps[-1].pop("command")

    found = case.refused(change)
    assert any("curl" in each and "forbid" in each for each in found), found
    assert any("etc" in each and "forbid" in each for each in found), found


def test_what_runs_before_a_secret_is_said(case: Case) -> None:
    sent = case.sending.masked_plan
    new = case.answer(_one("0/command", "make other"))
    assert "step push has a secret, and runs behind what is proposed: build" in find_relaxations(sent, new)


def test_a_proposal_that_somebody_has_edited(case: Case) -> None:
    answer = case.answer(_one("0/timeout_s", 20))
    data = stored_proposal.serialize_proposal(
        case.document, "model", case.sending.masker.mark, case.sending.masked_plan, answer
    )
    assert stored_proposal.accept_proposal(case.project, case.ref, data, "x").steps[0].timeout_s == 20
    told = json.loads(data)
    word = case.word(1, "env")
    changes: tuple[tuple[Callable[[dict[str, Any]], object], str], ...] = (
        (lambda each: each["answer"]["steps"][0].update(description=word), "bad-document"),
        (lambda each: each["sent"]["steps"][0].update(command="make all"), "bad-document"),
        (lambda each: each["sent"]["steps"].pop(), "bad-document"),
        (lambda each: each.update(more=1), "bad-document"),
        (lambda each: each.update(version=2), "bad-document"),
        (lambda each: each.pop("answer"), "bad-document"),
        (lambda each: each.update(of="0" * 64), "stale-proposal"),
    )
    for change, code in changes:
        other = json.loads(json.dumps(told))
        change(other)
        with pytest.raises(Exception, match="x") as raised:
            stored_proposal.accept_proposal(case.project, case.ref, json.dumps(other).encode(), "x")
        assert getattr(raised.value, "code", "") == code, other
    load(to_bytes(case.document), ExecutionPlan, "the plan is as it was")
