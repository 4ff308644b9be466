"""The table of models, what is recommended from it, and variants of experiments."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import get_args

import pytest

from execplan.context.decision import IntentName
from execplan.context.decision_builder import VARIANTS, assign_variant
from execplan.context.model_table import LanguageModel, ModelTable, load_models, recommend_model
from execplan.errors import ExecplanError
from tests.conftest import ENVIRONMENT

OURS = {"name": "ours-1", "maker": "Ours", "window": 32_000, "strength": 2}


def find(known: ModelTable, name: str) -> LanguageModel:
    """A model that there is."""
    model = known.find(name)
    assert model is not None
    return model


def test_the_table_is_sound() -> None:
    known = load_models()
    assert known.dated.startswith("2026-")
    assert find(known, known.default).name == known.default
    assert set(known.needs) == set(get_args(IntentName))
    names = [each for model in known.models for each in (model.name, *model.aliases)]
    assert len(names) == len(set(names))
    for maker in {model.maker for model in known.models}:
        current = [model for model in known.models if model.maker == maker and not model.legacy]
        assert len({model.strength for model in current}) == len(current) > 1


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("Claude-Opus-5-5", "claude-opus-5-5"),
        ("claude-opus-5-20260724", "claude-opus-5"),
        ("claude-opus-5-5[1m]", "claude-opus-5-5"),
        ("gpt-6-astra-2026-09-03", "gpt-6-astra"),
        ("sonnet", "claude-sonnet-5-5"),
    ],
)
def test_names(said: str, name: str) -> None:
    assert find(load_models(), said).name == name


@pytest.mark.parametrize("said", ["claude-opus-5-9", "claude-opus-55", "gpt-6-astra-mini", "", "model"])
def test_a_name_that_is_like_another_is_another(said: str) -> None:
    known = load_models()
    assert known.find(said) is None
    model, warning = known.resolve(said, "--model")
    assert model.name == known.default
    assert warning.startswith(
        f"--model names the model {said or '(empty)'}, which is not known: {known.default} and its window of "
    )
    assert ("similar names: claude-opus-5" in warning) == said.startswith("claude-opus")


def test_a_model_that_is_not_known_gives_way_to_that_of_the_settings() -> None:
    known = load_models([OURS])
    assert known.resolve("none", "--model", "ours-1")[0].name == "ours-1"
    assert known.resolve("none", "--model", "none-either")[0].name == known.default
    assert known.resolve("ours-1", "--model") == (find(known, "ours-1"), "")


def test_rows_of_the_settings_replace_and_add() -> None:
    known = load_models([OURS, {"name": "claude-opus-5-5", "maker": "Anthropic", "window": 5000, "strength": 3}])
    assert find(known, "ours-1").window == 32_000
    assert find(known, "claude-opus-5-5").window == 5000
    assert len(known.models) == len(load_models().models) + 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"window": 999}, "at least 1,000"),
        ({"strength": 5}, "from 1 to 4"),
        ({"strength": "2"}, "strength"),
        ({"window": True}, "window"),
        ({"name": ""}, "words for name"),
        ({"colour": "red"}, "colour"),
        ({"aliases": [1]}, "aliases"),
    ],
)
def test_a_row_that_says_what_it_cannot(change: dict[str, object], words: str) -> None:
    with pytest.raises(ExecplanError, match=words) as refused:
        load_models([{**OURS, **change}])
    assert refused.value.code == "bad-setting"


def test_a_row_without_a_field() -> None:
    with pytest.raises(ExecplanError, match="needs window"):
        load_models([{name: value for name, value in OURS.items() if name != "window"}])


def test_the_weakest_that_does_is_recommended() -> None:
    known = load_models()
    target = find(known, "claude-opus-5-5")
    found = recommend_model(known, target, "code_generation", 8000)
    assert found.recommended == "claude-sonnet-5-5"
    assert "code generation" in found.reason
    assert found.alternatives[0] == "claude-opus-5-5"
    assert found.recommended not in found.alternatives
    assert recommend_model(known, target, "search", 8000).recommended == "claude-haiku-5-5"
    assert recommend_model(known, find(known, "gpt-6-luna"), "debugging", 8000).recommended == "gpt-6.1-sol"
    legacy = recommend_model(known, find(known, "claude-opus-5"), "review", 8000)
    assert legacy.recommended == "claude-opus-5-5"


def test_a_window_that_is_too_small_is_passed_over() -> None:
    rows = [OURS, {**OURS, "name": "ours-2", "window": 64_000, "strength": 3}]
    known = load_models(rows)
    assert recommend_model(known, find(known, "ours-1"), "generic", 32_000).recommended == "ours-1"
    assert recommend_model(known, find(known, "ours-1"), "generic", 32_001).recommended == "ours-2"
    none = recommend_model(known, find(known, "ours-1"), "generic", 64_001)
    assert none.recommended == "ours-1"
    assert "No model of Ours" in none.reason


def test_equal_keys_get_equal_variants() -> None:
    given = [assign_variant("launch", f"TICKET-{number}") for number in range(1000)]
    assert given == [assign_variant("launch", f"TICKET-{number}") for number in range(1000)]
    assert all(440 < count < 560 for count in Counter(given).values())
    assert set(given) == set(VARIANTS)
    other = [assign_variant("landing", f"TICKET-{number}") for number in range(1000)]
    assert 400 < len([1 for one, two in zip(given, other, strict=True) if one == two]) < 600
    code = "from execplan.context.decision_builder import assign_variant; print(assign_variant('launch', 'TICKET-7'))"
    env = {**ENVIRONMENT, "PYTHONHASHSEED": "7", "LC_ALL": "C"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    assert done.stdout.decode().strip() == given[7]
