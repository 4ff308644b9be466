"""IDs of inferred steps: short, from the program and what it works on, and the same after unrelated edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from execplan.execution.compile import find_plan_steps
from execplan.execution.inference.step_ids import StepIdAllocator
from tests.execution.inference.test_annotation_edits import plan_of

NAMES = {
    "make test": "make-test",
    "cargo test -p foo --all": "cargo-test-foo",
    "sed -i 's/return 1/return 2/' src/f.py": "edit-src-f-py",
    "perl -pi -e 's/a/b/' x.txt": "edit-x-txt",
    "sed -n '1,40p' docs/a.md": "sed-docs-a-md",
    "rg -n 'foo|bar' src": "rg-src",
    "grep -c 'return 2' src/g.py": "grep-src-g-py",
    "npm run test:websocket": "npm-test-websocket",
    "uv run pytest -q tests/execution/test_inferred.py": "pytest-test-inferred-py",
    "PYTHONPATH=src python3 -m unittest": "unittest",
    "python -m pip install -e .": "pip-install",
    "python3 app.py": "run-app",
    "python -c 'print(1)'": "python",
    "./scripts/check.sh": "run-check",
    "timeout 5 make x": "make-x",
    "echo hello > out.txt": "write-out-txt",
    "mkdir -p out && cp a b": "mkdir-out",
    "git commit -m 'All of it'": "git-commit",
    "42 a": "step-42-a",
    "é": "step",
}


@pytest.mark.parametrize("command", NAMES)
def test_names(command: str) -> None:
    assert StepIdAllocator().allocate(command) == NAMES[command]


def test_no_name_is_given_twice_and_more_words_come_before_numbers() -> None:
    names = StepIdAllocator(["make-test"])
    assert [names.allocate("make test") for _ in range(2)] == ["make-test-2", "make-test-3"]
    assert [names.allocate(f"docker compose run a {word}") for word in "bb"] == [
        "docker-compose-run",
        "docker-compose-run-a-b",
    ]


@given(some.text(max_size=40))
def test_any_command_has_a_name(command: str) -> None:
    name = StepIdAllocator().allocate(command)
    assert name[0].isalpha()
    assert name.isascii()
    assert len(name) <= 40
    assert name.replace("-", "").isalnum()


def test_ids_stay_where_other_steps_come_and_go() -> None:
    old = find_plan_steps(plan_of("    make a\n    make test\n\nThen:\n\n    cargo test")).drafts
    new = find_plan_steps(
        plan_of("    make a\n    make lint\n    make test\n\nThen:\n\n    ls src\n    cargo test")
    ).drafts
    assert [draft.id for draft in old] == ["make-a", "make-test", "cargo-test"]
    assert [draft.id for draft in new] == ["make-a", "make-lint", "make-test", "ls-src", "cargo-test"]
    assert [draft.needs for draft in new] == [(), ("make-a",), ("make-lint",), (), ("ls-src",)]


def test_ids_of_fences_are_not_taken() -> None:
    drafts = find_plan_steps(
        plan_of("    make test\n\n```sh {#make-test}\nmake lint\nmake docs\n```\n\n```sh {exit=1}\nmake x\n```")
    ).drafts
    assert [draft.id for draft in drafts] == ["make-test-2", "make-test.1", "make-test.2", "step-4"]
