"""How many people must approve which steps, of which groups: on real clones, and for each form of a rule."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from execplan.core.errors import ExecplanError
from execplan.execution.approval_document import with_signature
from execplan.execution.approvals.approver_rules import find_missing_approvers, merge_terms
from execplan.execution.approver_settings import parse_approval_settings
from execplan.execution.permission import PERSON, find_approver
from execplan.execution.policy import Policy
from tests.execution.approval_documents import document, terms
from tests.execution.approvals.team import NAME, SETTINGS, TWO, Person, Team
from tests.needs import need

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.execution.approval_document import Approval

GROUPS = {"security": ["bo", "cy"], "leads": ["ann"]}


def test_two_people_and_one_of_a_group_approve_in_their_own_clones(tmp_path: Path) -> None:
    need("ssh-keygen")
    team = Team(tmp_path, TWO)
    ann = Person(tmp_path, "ann")
    first = ann.approve()
    need_of_both = (
        "conf: approved by ann@example.org; needs 1 more approver and one of security (bo@example.org, cy@example.org)"
    )
    assert first["missing_approvers"] == [need_of_both]
    error = ann.error("run")
    assert (error["exit"], error["code"], error["candidates"]) == (7, "approvers-missing", [need_of_both])
    shown = ann.run("evaluate").out
    assert f"not enough approvers: {need_of_both}\ncommit and push the approval; then they approve" in shown
    assert shown.endswith(f"\nnext: ask a person to run: execplan approve {NAME}\n"), "she has approved it"
    assert "steps: incomplete" in ann.run("status", NAME).out
    ann.approve()
    assert ann.error("run")["candidates"] == [need_of_both], "the same person counts once"
    bo = team.clone("bo")
    assert "commit and push" not in bo.run("evaluate").out, "he has not"
    assert bo.approve()["missing_approvers"] == []
    assert bo.states() == {"ann@example.org": "approved", "bo@example.org": "approved"}
    result = bo.run("run")
    assert result.exit == 0
    assert "approved by bo@example.org, ann@example.org" in result.out
    assert {state.partition(":")[0] for state in bo.states().values()} == {"used"}
    bo.ok("rollback")
    bo.approve()
    assert bo.error("run")["code"] == "approvers-missing", "the other approval is used"


def test_what_only_one_has_approved_does_not_run(tmp_path: Path) -> None:
    need("ssh-keygen")
    team = Team(tmp_path, SETTINGS + "[[approval.rules]]\napprovers = 2\nlevel = 'HIGH'\n")
    ann = Person(tmp_path, "ann")
    ann.approve()
    bo = team.clone("bo")
    bo.approve("--step", "make")
    assert bo.error("run")["candidates"] == ["conf: approved by ann@example.org; needs 1 more approver"]


def test_the_working_tree_cannot_drop_a_rule_or_join_a_group(tmp_path: Path) -> None:
    need("ssh-keygen")
    Team(tmp_path, TWO)
    ann = Person(tmp_path, "ann")
    for settings in (SETTINGS, TWO.replace('"bo@example.org"', '"ann@example.org"').replace("= 2", "= 1")):
        (ann.path / ".agent/execplan.toml").write_text(settings)
        ann.ok("approve", "--digest", ann.digest())
        error = ann.error("run")
        assert error["code"] == "approvers-missing"
        assert "one of security (bo@example.org, cy@example.org)" in error["candidates"][0]


def test_a_key_with_two_names_counts_once(tmp_path: Path) -> None:
    need("ssh-keygen")
    Team(tmp_path, SETTINGS + "[[approval.rules]]\napprovers = 2\n")
    ann = Person(tmp_path, "ann")
    ann.write(".agent/allowed_signers", f"ann@example.org,bo@example.org {ann.public_key}\n")
    ann.commit_all()
    ann.approve()
    first = ann.approval_file()
    kept = first.read_bytes()
    ann.git("config", "--file", str(ann.home / "gitconfig"), "user.email", "bo@example.org")
    ann.approve()
    assert json.loads(first.read_bytes())["approver"] == "bo@example.org"
    first.with_name(f"{first.name[:64]}-{'0' * 16}.json").write_bytes(kept)
    assert ann.error("run")["code"] == "approvers-missing"


def _approval(person: str, key: str = "", **fields: Any) -> Approval:
    key = key or f"{sum(person.encode()):016x}"
    return with_signature(terms(approver=person, key=key, how="terminal", **fields), "ssh", "signature")


def _policy(*rules: dict[str, Any]) -> Policy:
    table: dict[str, object] = {"signatures": "ssh", "groups": GROUPS, "rules": list(rules)}
    return Policy(**parse_approval_settings(table, "here"))


RUN = {"command": "make", "argv": ["make"]}
WRITE = {"type": "create_file", "tool": "file.create", "content": "x"}


@pytest.mark.parametrize(
    ("rule", "step", "is_for"),
    [
        ({}, RUN, True),
        ({"level": "HIGH"}, RUN, True),
        ({"level": "CRITICAL"}, RUN, False),
        ({"paths": ["src"]}, {**WRITE, "target": "src/app.py"}, True),
        ({"paths": ["src/"]}, {**WRITE, "target": "src/app.py"}, True),
        ({"paths": ["src/app"]}, {**WRITE, "target": "src/app.py"}, False),
        ({"paths": ["src/*.py"]}, {**WRITE, "target": "src/app.py"}, True),
        ({"paths": ["src/*.cfg"]}, {**WRITE, "target": "src/app.py"}, False),
        ({"paths": ["*/secret"]}, {**WRITE, "target": "src/secret/key"}, True),
        ({"paths": ["src/*/deep"]}, {"type": "delete_file", "tool": "file.delete", "target": "src"}, True),
        ({"paths": ["docs"]}, {**RUN, "outputs": ["src"]}, True),
    ],
)
def test_the_steps_that_a_rule_is_for(rule: dict[str, Any], step: dict[str, Any], *, is_for: bool) -> None:
    policy = _policy({**rule, "approvers": 2})
    needs = find_missing_approvers(policy, document(step), [_approval("ann")])
    assert bool(needs) == is_for, needs


@pytest.mark.parametrize(
    ("people", "missing"),
    [
        (["ann"], "s1: approved by ann; needs 1 more approver and one of security (bo, cy)"),
        (["bo"], "s1: approved by bo; needs 1 more approver and one of leads (ann)"),
        (["bo", "cy"], "s1: approved by cy, bo; needs one of leads (ann)"),
        (["dee"], "s1: approved by dee; needs 1 more approver and one of leads (ann) and one of security (bo, cy)"),
        (["ann", "bo"], ""),
        ([], ""),
    ],
)
def test_who_is_missing_when_two_rules_are_for_a_step(people: list[str], missing: str) -> None:
    policy = _policy({"approvers": 2, "required": ["security"]}, {"level": "HIGH", "required": ["leads"]})
    needs = find_missing_approvers(policy, document(RUN), [_approval(person) for person in people])
    assert "; ".join(map(str, needs)) == missing


def test_together_approvals_cover_what_at_least_one_covers() -> None:
    plan = document(RUN, RUN, RUN)
    approvals = [_approval("ann", steps=("s1",)), _approval("bo", steps=("s2",), expires_at="2026-01-01T12:00:00Z")]
    merged = merge_terms(plan, _policy(), approvals)
    assert [find_approver(merged, step.id, "HIGH", inferred=False) for step in plan.steps] == [PERSON, PERSON, ""]
    assert merged.expires == min([approval.terms("").expires for approval in approvals])


def test_what_a_machine_signs_covers_no_step_that_needs_a_person() -> None:
    approval = with_signature(terms(how="policy", steps=("s1",)), "hmac", "0" * 64)
    merged = merge_terms(document(RUN), _policy(), [approval])
    assert find_approver(merged, "s1", "HIGH", inferred=False) == ""
    assert find_approver(merged, "s1", "LOW", inferred=False) == "policy"


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"signatures": "gpg"}, "must be one of"),
        ({"groups": {"security": "bo"}}, "must be a table of lists"),
        ({"groups": {"security": [1]}}, "must be a table of lists"),
        ({"rules": {}}, "must be a list of tables"),
        ({"rules": [{"approvers": 2}]}, "can't tell people apart"),
        ({"signatures": "machine", "rules": [{}]}, "can't tell people apart"),
        ({"signatures": "ssh", "rules": [{"approver": 2}]}, "accepts only approvers"),
        ({"signatures": "ssh", "rules": [{"approvers": 0}]}, "must be a number from 1"),
        ({"signatures": "ssh", "rules": [{"approvers": True}]}, "must be a number from 1"),
        ({"signatures": "ssh", "rules": [{"required": ["nobody"]}]}, "unknown group 'nobody'"),
        ({"signatures": "ssh", "rules": [{"required": "security"}]}, "must be a list of groups"),
        ({"signatures": "ssh", "rules": [{"paths": ["../x"]}]}, "must be a list of paths"),
        ({"signatures": "ssh", "rules": [{"paths": ["/etc"]}]}, "must be a list of paths"),
        ({"signatures": "ssh", "rules": [{"level": "high"}]}, "must be one of"),
        ({"signers": "ssh"}, "accepts only"),
    ],
)
def test_a_wrong_table_is_explained(table: dict[str, Any], problem: str) -> None:
    with pytest.raises(ExecplanError) as caught:
        parse_approval_settings(table, "pyproject.toml")
    assert problem in caught.value.message
    assert caught.value.message.startswith("pyproject.toml: approval")
    assert caught.value.hint
