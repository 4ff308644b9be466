"""The fuzzer's seeds, what it found, and what hypothesis makes up, as ordinary tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.core.plan.test_plan_change import ARBITRARY_TEXTS, plans
from tests.fuzz import merge_target, target
from tests.fuzz.edit_script import CHANGES, MARK, parse

TEST_DIRECTORY = Path(__file__).parent
SEEDS = sorted((TEST_DIRECTORY / "seeds").iterdir())
CASES = {
    "markers-in-a-body": "set and note took conflict markers in, and no edit could be made any more",
    "set-no-utf8": "a body with a byte that is no UTF-8 was a traceback",
    "markers-in-a-new-section": "so did note --create",
    "vt-is-text": "a line with nothing but VT was taken for blank: set made it part of a task, and took more the next time",
    "under-without-section": "add --create made the section and forgot --under and --after",
}
"""What the fuzzer has found, and was mended: the file's stem, and what was wrong."""

STEPS = st.builds(
    lambda name, create, words: f"{'+' * create}{name} {' || '.join(words)}".encode(),
    st.sampled_from(list(CHANGES)),
    st.booleans(),
    st.lists(ARBITRARY_TEXTS | st.sampled_from("123"), max_size=3),
)


SCRIPTS = st.lists(STEPS, max_size=4)


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: str(path.stem))
def test_seed(path: Path) -> None:
    target.examine(path.read_bytes())


def test_every_change_is_in_some_seed() -> None:
    names = {step.name for path in SEEDS for step in parse(path.read_bytes())[1]}
    assert names == set(CHANGES)


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    target.examine((TEST_DIRECTORY / "cases" / f"{name}.md").read_bytes())


def test_every_case_has_its_line() -> None:
    assert sorted(CASES) == sorted([path.stem for path in (TEST_DIRECTORY / "cases").iterdir()])


@given(plans(), SCRIPTS)
@settings(max_examples=200)
def test_whatever_is_done(data: bytes, steps: list[bytes]) -> None:
    target.examine(MARK.join([data, *steps]))


@given(plans(), SCRIPTS, SCRIPTS)
@example(b"# Build\n\n# Title\n\n- [x] (2025-12-30 09:15Z) Stamped\n| a | b |", [], [b"edit 0"])
@settings(max_examples=200)
def test_whatever_two_sides_do(data: bytes, ours: list[bytes], theirs: list[bytes]) -> None:
    target.examine(MARK.join([data, *ours]) + merge_target.SIDES + MARK.join([b"", *theirs]))
