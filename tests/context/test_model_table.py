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
from execplan.core.errors import ExecplanError
from tests.conftest import ENVIRONMENT

CUSTOM_MODEL = {"name": "ours-1", "maker": "Ours", "window": 32_000, "strength": 2}


def require_model(table: ModelTable, name: str) -> LanguageModel:
    """A model that there is."""
    model = table.find(name)
    assert model is not None
    return model


def test_the_table_is_sound() -> None:
    table = load_models()
    assert table.dated.startswith("2026-")
    assert require_model(table, table.default).name == table.default
    assert set(table.needs) == set(get_args(IntentName))
    names = [name for model in table.models for name in (model.name, *model.aliases)]
    assert len(names) == len(set(names))
    for maker in {model.maker for model in table.models}:
        current = [model for model in table.models if model.maker == maker and not model.legacy]
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
    assert require_model(load_models(), said).name == name


@pytest.mark.parametrize("said", ["claude-opus-5-9", "claude-opus-55", "gpt-6-astra-mini", "", "model"])
def test_a_name_that_is_like_another_is_another(said: str) -> None:
    table = load_models()
    assert table.find(said) is None
    model, warning = table.resolve(said, "--model")
    assert model.name == table.default
    assert warning.startswith(f"--model names an unknown model, {said or '(empty)'}")
    assert f"; using {table.default}, with a window of " in warning
    assert ("similar names: claude-opus-5" in warning) == said.startswith("claude-opus")


def test_a_model_that_is_not_known_gives_way_to_that_of_the_settings() -> None:
    table = load_models([CUSTOM_MODEL])
    assert table.resolve("none", "--model", "ours-1")[0].name == "ours-1"
    assert table.resolve("none", "--model", "none-either")[0].name == table.default
    assert table.resolve("ours-1", "--model") == (require_model(table, "ours-1"), "")


def test_rows_of_the_settings_replace_and_add() -> None:
    table = load_models(
        [CUSTOM_MODEL, {"name": "claude-opus-5-5", "maker": "Anthropic", "window": 5000, "strength": 3}]
    )
    assert require_model(table, "ours-1").window == 32_000
    assert require_model(table, "claude-opus-5-5").window == 5000
    assert len(table.models) == len(load_models().models) + 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"window": 999}, "at least 1,000"),
        ({"strength": 5}, "from 1 to 4"),
        ({"strength": "2"}, "strength"),
        ({"window": True}, "window"),
        ({"name": ""}, "text for name"),
        ({"colour": "red"}, "colour"),
        ({"aliases": [1]}, "aliases"),
    ],
)
def test_a_row_that_says_what_it_cannot(change: dict[str, object], words: str) -> None:
    with pytest.raises(ExecplanError, match=words) as refused:
        load_models([{**CUSTOM_MODEL, **change}])
    assert refused.value.code == "bad-setting"


def test_a_row_without_a_field() -> None:
    with pytest.raises(ExecplanError, match="requires window"):
        load_models([{name: value for name, value in CUSTOM_MODEL.items() if name != "window"}])


def test_the_weakest_that_does_is_recommended() -> None:
    table = load_models()
    target = require_model(table, "claude-opus-5-5")
    recommended = recommend_model(table, target, "code_generation", 8000)
    assert recommended.recommended == "claude-sonnet-5-5"
    assert "code generation" in recommended.reason
    assert recommended.alternatives[0] == "claude-opus-5-5"
    assert recommended.recommended not in recommended.alternatives
    assert recommend_model(table, target, "search", 8000).recommended == "claude-haiku-5-5"
    assert recommend_model(table, require_model(table, "gpt-6-luna"), "debugging", 8000).recommended == "gpt-6.1-sol"
    legacy = recommend_model(table, require_model(table, "claude-opus-5"), "review", 8000)
    assert legacy.recommended == "claude-opus-5-5"


def test_a_window_that_is_too_small_is_passed_over() -> None:
    rows = [CUSTOM_MODEL, {**CUSTOM_MODEL, "name": "ours-2", "window": 64_000, "strength": 3}]
    table = load_models(rows)
    assert recommend_model(table, require_model(table, "ours-1"), "generic", 32_000).recommended == "ours-1"
    assert recommend_model(table, require_model(table, "ours-1"), "generic", 32_001).recommended == "ours-2"
    no_model = recommend_model(table, require_model(table, "ours-1"), "generic", 64_001)
    assert no_model.recommended == "ours-1"
    assert "No model of Ours" in no_model.reason


def test_equal_keys_get_equal_variants() -> None:
    variants = [assign_variant("launch", f"TICKET-{number}") for number in range(1000)]
    assert variants == [assign_variant("launch", f"TICKET-{number}") for number in range(1000)]
    assert all(440 < count < 560 for count in Counter(variants).values())
    assert set(variants) == set(VARIANTS)
    other_variants = [assign_variant("landing", f"TICKET-{number}") for number in range(1000)]
    assert (
        400
        < len([1 for variant, other_variant in zip(variants, other_variants, strict=True) if variant == other_variant])
        < 600
    )
    code = "from execplan.context.decision_builder import assign_variant; print(assign_variant('launch', 'TICKET-7'))"
    env = {**ENVIRONMENT, "PYTHONHASHSEED": "7", "LC_ALL": "C"}
    completed = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    assert completed.stdout.decode().strip() == variants[7]
