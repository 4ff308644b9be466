"""Bad inputs 53 to 55, and 9 in JSON: documents of execution plans, as the command reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from execplan.core.documents.document_io import load_document
from execplan.core.errors import ExecplanError
from execplan.execution.execution_plan import ExecutionPlan
from tests.bad_inputs.assertions import checked_output
from tests.conftest import Folder
from tests.execution.invalid_plans import BAD, BadPlan
from tests.execution.plan_documents import command, plan, step

pytestmark = pytest.mark.exhaustive

_DEEP = 70
JSON = (
    ("a key twice", '"version": 1', '"version": 1, "version": 1', "/version: duplicate key"),
    ("NaN", '"revision": 1', '"revision": NaN', "/revision: NaN is not a JSON number"),
    ("too deep", '"revision": 1', f'"metadata": {"[" * _DEEP}1{"]" * _DEEP}', ": nested more than 64 levels deep"),
    ("5000 digits", '"revision": 1', f'"revision": {"9" * 5000}', "/revision: an integer of 5000 digits"),
    ("a lone surrogate", "Build the parser", "\\ud800", "/description: half of a surrogate pair"),
    ("trailing data", None, "{}", "the document: unexpected text after the end of the document"),
    ("an unknown key", '"revision": 1', '"revision": 1, "owner": "ann"', "/owner: unknown key"),
    ("true as integer", '"revision": 1', '"revision": true', "/revision: expected `int`, got `bool`"),
)
"""What is put in place of what, or behind the end; and what is told."""


def expect_error(folder: Folder, data: str, *, exit: int = 3) -> dict[str, Any]:
    """Expect `compile --from` to refuse it and to leave everything as it is; the error."""
    before = sorted(str(path) for path in folder.path.rglob("*") if ".git" not in path.parts)
    result = folder.run("compile", "--from", "-", "--json", stdin=data.encode())
    checked_output(result)
    assert result.exit == exit, result
    assert sorted(str(path) for path in folder.path.rglob("*") if ".git" not in path.parts) == before
    assert result.json["data"] is None
    error: dict[str, Any] = result.json["error"]
    assert error["hint"]
    return error


@pytest.mark.parametrize(("name", "old", "new", "told"), JSON, ids=[case[0] for case in JSON])
def test_53_json_that_readers_differ_on(repo: Folder, name: str, old: str | None, new: str, told: str) -> None:
    """Each is refused with its JSON pointer, and where it can be with line and column."""
    repo.plan()
    good = json.dumps({**plan(), "revision": 1})
    error = expect_error(repo, good.replace(old, new) if old else good + new)
    assert error["code"] == "bad-document"
    assert told in error["message"]
    assert "standard input" in error["message"] or "-" in error["message"].split(":")[0]


def test_53_all_at_once_and_for_people(repo: Folder) -> None:
    """Every violation stands on a line of its own."""
    repo.plan()
    data = json.dumps({**plan(mode="robot"), "revision": 1}).replace('"revision": 1', '"revision": NaN')
    result = repo.run("compile", "--from", "-", stdin=data.encode())
    checked_output(result)
    assert result.exit == 3
    assert "\n  /revision: NaN is not a JSON number" in result.err
    assert "\n  /mode: should be 'engine' or 'agent'\n" in result.err
    assert "hint: see its schema: execplan schema execution-plan" in result.err


def _named_cases(*names: str) -> list[BadPlan]:
    cases = [bad for bad in BAD if bad.name in names]
    assert len(cases) == len(names)
    return cases


WRONG = _named_cases(
    "a later version",
    "an unknown mode",
    "an unknown strategy",
    "no steps",
    "a step that needs itself",
    "a step that needs an unknown step",
    "a step that needs a later step",
    "a cycle of needs",
    "many retries",
)


def test_54_each_is_refused_and_all_are_reported_at_once(repo: Folder) -> None:
    """Wrong version, mode and strategy, ids twice, dependencies of each kind (the circle shown), limits out of range."""
    repo.plan()
    for bad in WRONG:
        with pytest.raises(ExecplanError) as caught:
            load_document(json.dumps(bad.document).encode(), ExecutionPlan, "plan.json")
        assert caught.value.exit == 3
        assert bad.expected_violation.replace(" ", ": ", 1).rstrip(": ") in "\n".join(
            [caught.value.message, *caught.value.candidates]
        )
    steps = (step(1, depends_on=["s1", "s9", "s3"]), step(2, depends_on=["s3"]), step(3, depends_on=["s2"]), step(3))
    limits = {"max_steps": 0, "max_duration_s": -1}
    error = expect_error(repo, json.dumps(plan(*steps, version=2, mode="x", constraints=limits)))
    candidates = "\n".join(error["candidates"])
    for violation in (
        "/version: ",
        "/mode: ",
        "/constraints/max_steps: ",
        "/constraints/max_duration_s: ",
        "/steps/0/depends_on/0: `s1` needs itself",
        "/steps/0/depends_on/1: unknown step `s9`",
        "/steps/0/depends_on/2: `s3` comes later",
        "/steps/1/depends_on: contains a cycle: s2 → s3 → s2",
        "/steps/3/id: `s3` is also the ID of step 3",
        "/steps/3/number: is 3, not 4",
    ):
        assert violation in candidates, (violation, candidates)


def test_55_two_at_once_on_one_path_and_a_folder_deleted(repo: Folder) -> None:
    """Both are refused before anything is evaluated."""
    repo.plan()
    both = plan(step(1, target="a", parallel=True), command(2, outputs=["./a"], parallel=True))
    assert "/steps/1/parallel: a is shared with step 1" in expect_error(repo, json.dumps(both))["message"]
    drop = step(1, type="delete_file", tool="file.delete", target="src/", content=...)
    assert "/steps/0/target: is a directory" in expect_error(repo, json.dumps(plan(drop)))["message"]


def test_9_hidden_characters_in_a_document(repo: Folder) -> None:
    """They are refused by policy, and shown escaped."""
    repo.plan()
    hides = command(1, command="make all\u202e", argv=["make", "all\u202e"])
    error = expect_error(repo, json.dumps(plan(hides)), exit=7)
    assert error["code"] == "hidden-character"
    assert "all\\u202e` contains invisible characters: U+202E (right-to-left override)" in error["message"]
    assert "\u202e" not in json.dumps(error, ensure_ascii=False)
