"""Only what the user's settings name leaves: a canary in every other field stays here, whatever it looks like, and comes back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from execplan.agents.enhancer.enhancement_request import build_request
from execplan.agents.enhancer.field_sharing import FIELDS
from execplan.agents.enhancer.mask import PlanMasker
from execplan.agents.enhancer.unmask import unmask
from execplan.agents.user_program.personal_data import PersonalData
from tests.agents.enhancer.test_mask import MARK, full_plan, planted, sent_of

if TYPE_CHECKING:
    from tests.agents.enhancer.enhancer_repository import EnhancerRepository

STRUCTURE = frozenset("id depends_on plan_id on_failure schema".split())
"""Fields of names that the answer has to repeat; they leave, without secrets."""
OF_FIELD = {"command": ("argv", "command"), "target": ("target", "lines")}


def canaries() -> tuple[dict[str, Any], dict[str, set[str]]]:
    """A plan with a word of its own in each text, and these words by the field that they are in."""
    canary_words: dict[str, set[str]] = {}
    number = iter(range(10_000))

    def plant(value: Any, field: str) -> Any:
        def make() -> str:
            canary = f"meadow{'abcdefghij'[digit := next(number) % 10]}lark{digit}x{next(number)}q"
            canary_words.setdefault(field, set()).add(canary)
            return canary

        return planted(value, make, field.rpartition(".")[2])

    plan = sent_of(full_plan())
    top_level = {
        name: value if name in STRUCTURE else plant(value, name) for name, value in plan.items() if name != "steps"
    }
    steps = [
        {name: value if name in STRUCTURE else plant(value, f"steps.{name}") for name, value in step.items()}
        for step in plan["steps"]
    ]
    tool = {**steps[0], "type": "use_tool", "id": "other"}
    return {**top_level, "steps": [steps[0], tool]}, canary_words


def mask_and_serialize(plan: dict[str, Any], *share: str) -> tuple[dict[str, Any], str]:
    """What leaves, as data and as it is sent."""
    masked = PlanMasker(MARK, PersonalData((), ()), lambda paths: set(), share).mask_plan(plan)
    return masked, build_request(masked).decode()


def test_of_nothing_shared_only_the_structure_leaves() -> None:
    plan, canary_words = canaries()
    masked, text = mask_and_serialize(plan)
    leaked = {field: [word for word in field_words if word in text] for field, field_words in canary_words.items()}
    assert sum(len(field_words) for field_words in canary_words.values()) > 30
    assert {field: field_words for field, field_words in leaked.items() if field_words} == {}
    back = unmask(json.loads(json.dumps(masked)), masked, plan, MARK)
    assert (back.plan, back.violations) == (plan, [])


@pytest.mark.parametrize("field", FIELDS)
def test_what_is_shared_leaves_and_nothing_else(field: str) -> None:
    plan, canary_words = canaries()
    step = plan["steps"][0] if field.startswith("steps.") else plan
    masked, text = mask_and_serialize(plan, field)
    name = field.rpartition(".")[2]
    leaves = {
        field_name for field_name, field_words in canary_words.items() if any([word in text for word in field_words])
    }
    expected = {f"{field.rpartition('.')[0]}.{alias}".lstrip(".") for alias in OF_FIELD.get(name, (name,))}
    assert leaves <= expected
    if field not in ("steps.parameters", "steps.env"):  # whose names and values are looked at one by one
        assert leaves, step[name]
    back = unmask(json.loads(json.dumps(masked)), masked, plan, MARK)
    assert (back.plan, back.violations) == (plan, [])


def test_every_text_of_the_model_is_a_field_that_is_named() -> None:
    """A new field of the format with a text in it fails here until it is named."""
    canary_words = canaries()[1]
    assert set(canary_words) <= {*FIELDS, "steps.argv", "steps.lines"}


def test_a_shared_description_quotes_no_withheld_command() -> None:
    step = {
        **full_plan()["steps"][0],
        "description": "Run make the meadow",
        "command": "make the meadow",
        "task": "Before src/a.py",
    }
    masked, text = mask_and_serialize(sent_of({**full_plan(), "steps": [step]}), "steps.description", "steps.task")
    assert masked["steps"][0]["description"].startswith("Run redacted_withheld_")
    assert "meadow" not in text


def test_the_settings_name_what_is_shared(asking: EnhancerRepository) -> None:
    asking.configure_program("echo", extra_settings='share = ["steps.command"]\n')
    enhanced = asking.data("compile", "--enhance", "--dry-run")["enhanced"]
    assert enhanced["sent"]["shared"] == ["steps.command"]
    step = json.loads(enhanced["request"])["data"]["execution_plan"]["steps"][0]
    assert step["command"] == "make parser"
    assert step["description"].startswith("redacted_withheld_")
    assert step["inputs"][0].startswith("redacted_withheld_")


def test_without_a_setting_nothing_but_the_structure(asking: EnhancerRepository) -> None:
    asking.settings('[enhancer]\ncommand = "true"\n')
    result = asking.type("compile", "--enhance", "--dry-run", "--json")
    assert result.json["data"]["enhanced"]["sent"]["shared"] == []
    assert any("enhancer.share names no field" in warning for warning in result.json["warnings"])
    for text in ("make parser", "Build the parser", "X = 1", "ship.example.org", "Makefile"):
        assert text not in result.json["data"]["enhanced"]["request"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('["steps.comand"]', "did you mean steps.command?"),
        ('"all"', "share must be a list"),
        ("[1]", "share must be a list"),
    ],
)
def test_a_field_that_there_is_not(asking: EnhancerRepository, value: str, words: str) -> None:
    asking.settings(f'[enhancer]\ncommand = "true"\nshare = {value}\n')
    error = asking.refused(3, "bad-setting", "compile", "--enhance")
    assert words in error["message"] + error["hint"]


def test_explain_lists_every_field(asking: EnhancerRepository) -> None:
    page = asking.type("explain", "enhancer").out
    assert [field for field in FIELDS if field not in page] == []
