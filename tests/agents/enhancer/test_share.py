"""Only what the user's settings name leaves: a canary in every other field stays here, whatever it looks like, and comes back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from execplan.agents.enhancer.enhancer_call import build_request
from execplan.agents.enhancer.field_sharing import FIELDS
from execplan.agents.enhancer.mask import PlanMasker
from execplan.agents.enhancer.sensitive_text import PersonalData
from execplan.agents.enhancer.unmask import unmask
from tests.agents.enhancer.test_veil import MARK, planted, sent_of, whole

if TYPE_CHECKING:
    from tests.agents.enhancer.asking import Asking

STRUCTURE = frozenset("id depends_on plan_id on_failure schema".split())
"""Fields of names that the answer has to repeat; they leave, without secrets."""
OF_FIELD = {"command": ("argv", "command"), "target": ("target", "lines")}


def canaries() -> tuple[dict[str, Any], dict[str, set[str]]]:
    """A plan with a word of its own in each text, and these words by the field that they are in."""
    words: dict[str, set[str]] = {}
    number = iter(range(10_000))

    def plant(value: Any, field: str) -> Any:
        def make() -> str:
            word = f"meadow{'abcdefghij'[next_ := next(number) % 10]}lark{next_}x{next(number)}q"
            words.setdefault(field, set()).add(word)
            return word

        return planted(value, make, field.rpartition(".")[2])

    plan = sent_of(whole())
    made = {name: each if name in STRUCTURE else plant(each, name) for name, each in plan.items() if name != "steps"}
    steps = [
        {name: each if name in STRUCTURE else plant(each, f"steps.{name}") for name, each in step.items()}
        for step in plan["steps"]
    ]
    tool = {**steps[0], "type": "use_tool", "id": "other"}
    return {**made, "steps": [steps[0], tool]}, words


def sent(plan: dict[str, Any], *share: str) -> tuple[dict[str, Any], str]:
    """What leaves, as data and as it is sent."""
    made = PlanMasker(MARK, PersonalData((), ()), lambda paths: set(), share).mask_plan(plan)
    return made, build_request(made).decode()


def test_of_nothing_shared_only_the_structure_leaves() -> None:
    plan, words = canaries()
    made, text = sent(plan)
    kept = {field: [word for word in own if word in text] for field, own in words.items()}
    assert sum(len(own) for own in words.values()) > 30
    assert {field: own for field, own in kept.items() if own} == {}
    back = unmask(json.loads(json.dumps(made)), made, plan, MARK)
    assert (back.plan, back.violations) == (plan, [])


@pytest.mark.parametrize("field", FIELDS)
def test_what_is_shared_leaves_and_nothing_else(field: str) -> None:
    plan, words = canaries()
    step = plan["steps"][0] if field.startswith("steps.") else plan
    made, text = sent(plan, field)
    name = field.rpartition(".")[2]
    leaves = {each for each, own in words.items() if any([word in text for word in own])}
    own = {f"{field.rpartition('.')[0]}.{each}".lstrip(".") for each in OF_FIELD.get(name, (name,))}
    assert leaves <= own
    if field not in ("steps.parameters", "steps.env"):  # whose names and values are looked at one by one
        assert leaves, step[name]
    back = unmask(json.loads(json.dumps(made)), made, plan, MARK)
    assert (back.plan, back.violations) == (plan, [])


def test_every_text_of_the_model_is_a_field_that_is_named() -> None:
    """A new field of the format with a text in it fails here until it is named."""
    words = canaries()[1]
    assert set(words) <= {*FIELDS, "steps.argv", "steps.lines"}


def test_a_shared_description_quotes_no_withheld_command() -> None:
    step = {
        **whole()["steps"][0],
        "description": "Run make the meadow",
        "command": "make the meadow",
        "task": "Before src/a.py",
    }
    made, text = sent(sent_of({**whole(), "steps": [step]}), "steps.description", "steps.task")
    assert made["steps"][0]["description"].startswith("Run redacted_withheld_")
    assert "meadow" not in text


def test_the_settings_name_what_is_shared(asking: Asking) -> None:
    asking.name("echo", more='share = ["steps.command"]\n')
    told = asking.data("compile", "--enhance", "--dry-run")["enhanced"]
    assert told["sent"]["shared"] == ["steps.command"]
    step = json.loads(told["request"])["data"]["execution_plan"]["steps"][0]
    assert step["command"] == "make parser"
    assert step["description"].startswith("redacted_withheld_")
    assert step["inputs"][0].startswith("redacted_withheld_")


def test_without_a_setting_nothing_but_the_structure(asking: Asking) -> None:
    asking.settings('[enhancer]\ncommand = "true"\n')
    result = asking.type("compile", "--enhance", "--dry-run", "--json")
    assert result.json["data"]["enhanced"]["sent"]["shared"] == []
    assert any("enhancer.share names no field" in each for each in result.json["warnings"])
    for words in ("make parser", "Build the parser", "X = 1", "ship.example.org", "Makefile"):
        assert words not in result.json["data"]["enhanced"]["request"]


@pytest.mark.parametrize(
    ("value", "words"),
    [('["steps.comand"]', "did you mean steps.command?"), ('"all"', "share is a list"), ("[1]", "share is a list")],
)
def test_a_field_that_there_is_not(asking: Asking, value: str, words: str) -> None:
    asking.settings(f'[enhancer]\ncommand = "true"\nshare = {value}\n')
    error = asking.refused(3, "bad-setting", "compile", "--enhance")
    assert words in error["message"] + error["hint"]


def test_explain_lists_every_field(asking: Asking) -> None:
    page = asking.type("explain", "enhancer").out
    assert [field for field in FIELDS if field not in page] == []
