"""A pack uses at least nine tenths of its budget, where there is enough to read."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from execplan.context.context_pack import (
    ARTIFACT,
    DIFF,
    FILE,
    FORMATS,
    MARKDOWN,
    MESSAGE,
    TOOL_RESULT,
    XML,
    ContextPack,
    PackFormat,
    Unit,
)
from execplan.context.gathering.plan_units import split_plan
from execplan.context.token_counter import Counter, make_counter
from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from tests.conftest import find_corpus
from tests.context.units import BudgetedPack, make, pack

COUNTERS = [make_counter(exact=False), make_counter(exact=True)]
ROOT = Path(__file__).parents[2]
CORPUS = find_corpus()
WORDS = "the dates are parsed offsets reader report nobody knows why error: no date } ``` ]]> 42 時間 🚀".split()


def _words(dice: random.Random, max_words: int) -> str:
    return " ".join(dice.choices(WORDS, k=dice.randint(1, max_words)))


def _log(dice: random.Random, size: int) -> str:
    return "".join([f"12:00:{at % 60:02} worker {dice.randint(1, 9)}: {_words(dice, 9)}\n" for at in range(size)])


def _prose(dice: random.Random, size: int) -> str:
    return "".join(
        [f"{_words(dice, 20).capitalize()}.{dice.choice([' ', ' ', chr(10), chr(10) * 2])}" for _ in range(size)]
    )


def _code(dice: random.Random, size: int) -> str:
    return "\n\n".join(
        [f"def read_{at}(date):\n    value = date + {at}\n    return value\n" for at in range(size // 3)]
    )


def _value(dice: random.Random, depth: int) -> object:
    if depth and dice.random() < 0.6:
        members = [_value(dice, depth - 1) for _ in range(dice.randint(0, 8))]
        return members if dice.random() < 0.5 else {f"k{at}": member for at, member in enumerate(members)}
    return dice.choice([None, True, dice.random(), dice.randint(0, 10**9), _words(dice, 30)])


def _json(dice: random.Random, size: int) -> str:
    value = [_value(dice, 4) for _ in range(size // 8)]
    return json.dumps(value, indent=dice.choice([None, 2]), ensure_ascii=dice.random() < 0.5)


def _odd(dice: random.Random, size: int) -> str:
    return dice.choice(["word ", "x", "\n", "A line. ", "\t\n a", "```\n", "]]>", "\u202e"]) * size


MAKERS = {
    "build.log": _log,
    "notes.md": _prose,
    "data.json": _json,
    "src/reader.py": _code,
    "lib.rs": _code,
    "odd.txt": _odd,
    "": _prose,
}


class Recipe(NamedTuple):
    """A unit that is made in the test, so that a failure can be printed."""

    path: str
    type: str
    size: int
    seed: int
    title: str
    order: int
    pinned: str

    def unit(self, number: int) -> Unit:
        """The unit, with an id of its own."""
        content = MAKERS[self.path](random.Random(self.seed), self.size)
        return Unit(f"unit:{number}", self.type, content, self.title, self.path, order=self.order, pinned=self.pinned)


SHORTEST = 60
"""Tokens that a unit takes at least, by its head and a first line: a rest that is smaller stays free."""

RECIPES = st.lists(
    st.builds(
        Recipe,
        path=st.sampled_from(sorted(MAKERS)),
        type=st.sampled_from([FILE, ARTIFACT, DIFF, MESSAGE, TOOL_RESULT]),
        size=st.integers(1, 2000),
        seed=st.integers(0, 10**6),
        title=st.text(max_size=20),
        order=st.integers(0, 9),
        pinned=st.sampled_from(["", "", "asked for by name"]),
    ),
    min_size=1,
    max_size=8,
)


def used_and_available(result: BudgetedPack, by: Counter) -> tuple[int, int]:
    """The tokens of the pack, and of all that could be in it, if these are not more than there is room for."""
    available = sum([item.original_tokens for item in result.items if not item.is_filtered])
    return by.count(result.text), min(available, result.allocation.context)


@settings(max_examples=60, deadline=None)
@given(RECIPES, st.integers(1000, 40_000), st.sampled_from(COUNTERS), st.sampled_from(list(FORMATS.values())))
@example([Recipe("", DIFF, 200, 73, "", 0, "")], 4055, COUNTERS[1], XML)  # XML escapes `]]>`, which takes more tokens
@example([Recipe("", DIFF, 200, 73, "", 0, "asked for by name")], 4055, COUNTERS[1], XML)
def test_any_units_and_any_budget(recipes: list[Recipe], budget: int, by: Counter, form: PackFormat) -> None:
    try:
        result = make(pack(*[recipe.unit(number) for number, recipe in enumerate(recipes)]), budget, by, form)
    except ExecplanError as error:
        if error.code == "budget-too-small" and any([recipe.pinned for recipe in recipes]):
            return  # only what is never left out can be too much
        raise
    tokens, available = used_and_available(result, by)
    assert 0.9 * available - SHORTEST <= tokens <= result.allocation.context


@pytest.mark.parametrize("budget", [1000, 4000, 16_000, 64_000])
@pytest.mark.parametrize("ending", [".py", ".md", ".toml", ".json", "*"])
def test_files_of_this_repository(budget: int, ending: str) -> None:
    paths = sorted(
        [
            path
            for top in ("execplan/context", "docs", "templates/guides")
            for path in (ROOT / top).rglob("*")
            if path.is_file() and path.suffix != ".png"
        ]
    )
    paths = [path for path in paths if ending in ("*", path.suffix) and "__pycache__" not in path.parts][:60]
    files = [
        Unit(f"file:{path}", FILE, path.read_text(), "", str(path.relative_to(ROOT)), order=at)
        for at, path in enumerate(paths)
    ]
    result = make(pack(*files), budget, COUNTERS[0], MARKDOWN)
    tokens, available = used_and_available(result, COUNTERS[0])
    assert 0.9 * available <= tokens <= result.allocation.context


@pytest.mark.skipif(CORPUS is None, reason="no corpus: it is in ../shared/corpus or where EXECPLAN_CORPUS says")
@pytest.mark.parametrize("budget", [1000, 8000])
def test_real_plans(budget: int) -> None:
    assert CORPUS is not None
    for path in sorted(CORPUS.rglob("*.md"))[::12]:
        split = split_plan(reader.read(path.read_bytes()), lambda text: ())
        result = make(
            ContextPack("plan", "Plan", split.task, split.purpose, split.units), budget, COUNTERS[0], MARKDOWN
        )
        tokens, available = used_and_available(result, COUNTERS[0])
        assert 0.9 * available <= tokens <= result.allocation.context, path
