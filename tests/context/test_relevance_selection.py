"""A pack fits its budget whatever is in it, its numbers agree, and what matters is in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from execplan.cli.schema_builder import build_schema
from execplan.context.baseline_selection import select_newest_first
from execplan.context.context_pack import (
    ARTIFACT,
    DIFF,
    FILE,
    FORMATS,
    KEEP,
    MARKDOWN,
    MESSAGE,
    PRUNE,
    SECTION,
    SUMMARIZE,
    TOOL_RESULT,
    TRUNCATE,
    TYPES,
    XML,
    ContextPack,
    PackFormat,
    Unit,
    make_visible,
)
from execplan.context.context_settings import DEFAULT_SHARES, BudgetShares, allocate_budget, smallest_budget
from execplan.context.decision import Decision, ModelChoice, SessionHygiene
from execplan.context.decision_builder import build_decision, percentage
from execplan.context.relevance import score_units
from execplan.context.relevance_selection import RELEVANCE_THRESHOLD
from execplan.context.task_intent import classify_intent
from execplan.context.token_counter import Counter, make_counter
from execplan.core.errors import ExecplanError
from tests.context.units import BudgetedPack, file, make, message, pack

COUNTERS = [make_counter(exact=False), make_counter(exact=True)]
SCHEMA = jsonschema.Draft202012Validator(build_schema("context-decision"))
MODEL = ModelChoice(recommended="large", reason="It was asked for")
HYGIENE = SessionHygiene(
    message_count_estimate=3,
    input_context_utilization_pct=1.5,
    optimized_context_utilization_pct=0.5,
    recommended_action="continue",
    playbook=("Go on",),
)
ODD = [
    "",
    "\0",
    "```\n````\n",
    "]]>",
    "<![CDATA[",
    "\u202e",
    "\ud800",
    "🚀" * 40,
    "\r\n",
    "x" * 4000,
    "def parse(x):\n  return x\n",
]
CONTENT = st.one_of(
    st.text(max_size=200),
    st.sampled_from(ODD),
    st.lists(
        st.sampled_from([*ODD, "The dates are parsed. They have offsets.\n", "error: no date\n", '{"a": [1]}'])
    ).map("".join),
    st.integers(1, 60).map(lambda size: "A line about src/reader.py and more.\n" * size),
)
UNITS = st.lists(
    st.builds(
        Unit,
        id=st.text(min_size=1, max_size=12),
        type=st.sampled_from(TYPES),
        content=CONTENT,
        title=st.text(max_size=20),
        path=st.sampled_from(
            ["", "src/reader.py", "a.json", "b.md", "c.rs", "d.csv", "log.txt", "e.yaml", "f.diff", ".x"]
        ),
        order=st.integers(0, 9),
        pinned=st.sampled_from(["", "", "", "asked for by name"]),
        references=st.sampled_from([(), ("src/reader.py",)]),
        affinity=st.sampled_from([0.0, 0.0, 0.3, 1.0]),
    ),
    max_size=12,
    unique_by=lambda unit: unit.id,
).filter(lambda units: not {"section:purpose", "task:t1"} & {unit.id for unit in units})
SHARED = st.sampled_from([DEFAULT_SHARES, BudgetShares(0, 0), BudgetShares(0.3, 0.3)])


@settings(max_examples=100)
@given(UNITS, st.integers(200, 3000), st.sampled_from(COUNTERS), st.sampled_from(list(FORMATS.values())), SHARED)
@example([], 225, COUNTERS[0], XML, BudgetShares(0.3, 0.3))
@example([], 245, COUNTERS[1], XML, BudgetShares(0.3, 0.3))
def test_any_units_fit_any_budget_or_it_says_which_one_does(
    units: list[Unit], budget: int, by: Counter, form: PackFormat, shares: BudgetShares
) -> None:
    context_pack = pack(*units)
    result = attempt(context_pack, budget, by, form, shares)
    if isinstance(result, ExecplanError):
        assert result.code == "budget-too-small"
        enough = int(result.hint.rpartition(" ")[2])
        assert enough > budget
        assert isinstance(attempt(context_pack, enough - 1, by, form, shares), ExecplanError)
        result = make(context_pack, enough, by, form, shares)
    assert by.count(result.text) <= result.allocation.context
    result.text.encode()
    check(result, by, form, [unit.id for unit in context_pack.units])


def attempt(
    context_pack: ContextPack, budget: int, by: Counter, form: PackFormat, shares: BudgetShares = DEFAULT_SHARES
) -> BudgetedPack | ExecplanError:
    """What comes of a budget, or why nothing does."""
    try:
        return make(context_pack, budget, by, form, shares)
    except ExecplanError as error:
        return error


def check(result: BudgetedPack, by: Counter, form: PackFormat, ids: list[str]) -> None:
    """Everything that holds for the items of a pack."""
    assert [item.unit.id for item in result.items] == ids
    for item in result.items:
        assert 0 <= item.priority <= 100
        assert item.reason
        assert item.original_tokens == by.count(form.render_unit(item.unit, item.unit.content, KEEP))
        if item.action == PRUNE:
            assert not item.unit.pinned
            assert (item.text, item.tokens) == ("", 0)
        else:
            assert item.tokens == by.count(form.render_unit(item.unit, item.text, item.action))
            assert item.text == make_visible(item.text)
        assert (item.action == KEEP) == (item.tokens == item.original_tokens)
        assert item.tokens <= item.original_tokens
        assert item.action in (KEEP, PRUNE) or item.unit.content != item.text
    assert sum([item.tokens for item in result.items]) <= result.allocation.context


def decision_json(result: BudgetedPack) -> dict[str, Any]:
    """The decision on a pack, as JSON."""
    decision = build_decision(
        pack(),
        result.items,
        result.allocation,
        COUNTERS[0],
        printed_tokens=COUNTERS[0].count(result.text),
        created_at="2026-01-01T00:00:00Z",
        intent=classify_intent("Fix it"),
        threshold=RELEVANCE_THRESHOLD,
        target_model="large",
        model=MODEL,
        hygiene=HYGIENE,
    )
    return decision.model_dump()


@settings(max_examples=50)
@given(UNITS, st.integers(400, 3000))
def test_the_numbers_of_a_decision_add_up(units: list[Unit], budget: int) -> None:
    result = attempt(pack(*units), budget, COUNTERS[0], MARKDOWN)
    if isinstance(result, ExecplanError):
        return
    decision = decision_json(result)
    SCHEMA.validate(decision)
    items, savings, counts = decision["optimized_context"], decision["savings_breakdown"], decision["statistics"]
    final = COUNTERS[0].count(result.text)
    frame = final - sum([item["tokens"] for item in items])
    original = frame + sum([item["original_tokens"] for item in items])
    filtered = frame + sum([item.original_tokens for item in result.items if not item.is_filtered])
    assert (savings["baseline_tokens"], savings["after_filter_tokens"], savings["after_pruning_tokens"]) == (
        original,
        filtered,
        final,
    )
    assert original >= filtered >= final
    assert decision["input_summary"]["total_tokens"] == original
    assert (
        sum(decision["input_summary"]["units_by_type"].values())
        == decision["input_summary"]["total_units"]
        == len(items)
    )
    assert sum([counts[f"units_{name}"] for name in ("kept", "summarized", "truncated", "pruned")]) == len(items)
    saved = savings["package_filtering"]["tokens_saved"], savings["pruning_and_summarization"]["tokens_saved"]
    assert sum(saved) == savings["overall"]["tokens_saved"] == counts["tokens_saved"] == original - final
    assert counts["reduction_percentage"] == savings["overall"]["percentage_of_baseline"]
    assert savings["overall"]["percentage_of_baseline"] == round(100 * (original - final) / original, 1)
    assert savings["pruning_and_summarization"]["percentage_of_post_filter"] == round(
        100 * (filtered - final) / filtered, 1
    )
    assert decision["validation"] == {
        "total_tokens": final,
        "within_budget": True,
        "budget_remaining": result.allocation.context - final,
    }
    assert (
        sum(decision["recommendations"]["budget_allocation"].values())
        == decision["constraints"]["token_budget"]
        == budget
    )


def test_a_decision_has_every_field_of_its_form() -> None:
    result = make(pack(file("src/reader.py", "x = 1\n" * 2000)), 2000, COUNTERS[0], MARKDOWN)
    decision = decision_json(result)
    SCHEMA.validate(decision)
    fields = {
        "": "plan_id decision_id created_at version input_summary constraints experiment recommendations optimized_context statistics "
        "savings_breakdown session_hygiene warnings explainability validation",
        "input_summary": "total_units total_tokens units_by_type",
        "constraints": "token_budget target_model intent",
        "experiment": "enabled id variant assignment_key",
        "recommendations": "model budget_allocation",
        "statistics": "tokens_saved reduction_percentage units_kept units_summarized units_truncated units_pruned",
        "savings_breakdown": "baseline_tokens after_filter_tokens after_pruning_tokens package_filtering "
        "pruning_and_summarization overall",
        "session_hygiene": "message_count_estimate input_context_utilization_pct optimized_context_utilization_pct "
        "recommended_action playbook",
        "explainability": "strategy_used intent_confidence pruning_threshold counter",
        "validation": "total_tokens within_budget budget_remaining",
    }
    for name, names in fields.items():
        assert list(decision[name] if name else decision) == names.split()
    assert list(decision["recommendations"]["model"]) == ["recommended", "reason", "alternatives"]
    assert list(decision["recommendations"]["budget_allocation"]) == ["system_prompt", "context", "response_reserve"]
    assert (
        list(decision["optimized_context"][0])
        == "id type action tokens original_tokens priority reason content".split()
    )
    assert decision["explainability"]["counter"] == {"name": "estimate", "exact": False}


def test_a_decision_whose_sums_are_wrong_is_not_made() -> None:
    result = make(pack(), 2000, COUNTERS[0], MARKDOWN)
    decision = decision_json(result)
    assert Decision.model_validate(decision)
    decision["validation"]["budget_remaining"] += 1
    with pytest.raises(ExecplanError, match="the sums are"):
        Decision.model_validate(decision)


def test_percentages_of_nothing() -> None:
    assert percentage(0, 0) == 0.0
    assert percentage(1, 3) == 33.3


def test_the_budget_of_the_example() -> None:
    assert allocate_budget(8000)[:3] == (500, 6500, 1000)


@pytest.mark.parametrize("shares", [BudgetShares(-0.1, 0), BudgetShares(0.5, 0.5), BudgetShares(float("nan"), 0)])
def test_shares_that_leave_nothing_are_refused(shares: BudgetShares) -> None:
    with pytest.raises(ExecplanError, match="leave too little"):
        allocate_budget(1000, shares)


@given(st.integers(200, 5000), st.floats(0, 0.45), st.floats(0, 0.45))
@example(224, 0.3, 0.3)
def test_a_larger_budget_never_leaves_less_to_read(budget: int, system: float, response: float) -> None:
    shares = BudgetShares(system, response)
    smaller, larger = allocate_budget(budget, shares), allocate_budget(budget + 1, shares)
    assert smaller.context <= larger.context
    for allocation, total in ((smaller, budget), (larger, budget + 1)):
        assert sum(allocation[:3]) == total
        assert min(allocation[:3]) >= 0
        assert abs(allocation.system_prompt - total * system) <= 1
        assert abs(allocation.response_reserve - total * response) <= 1


@given(st.integers(1, 5000), SHARED)
def test_the_least_budget_is_the_least(needed: int, shares: BudgetShares) -> None:
    budget = smallest_budget(needed, shares)
    assert allocate_budget(budget, shares).context >= needed
    assert budget == 200 or allocate_budget(budget - 1, shares).context < needed


def test_two_units_with_one_id_are_refused() -> None:
    with pytest.raises(ExecplanError) as caught:
        make(pack(message(1, "a"), message(1, "b")), 2000, COUNTERS[0], MARKDOWN)
    assert caught.value.code == "double-unit"
    assert "'message:1'" in caught.value.message


LONG = "".join([f"def read_{at}(date: str) -> int:\n    return {at}\n\n\n" for at in range(200)])


def test_what_is_named_comes_before_what_only_shares_words() -> None:
    other_files = [file(f"lib/dates_{at}.py", f'"""Dates with offsets."""\n{LONG[:900]}', at) for at in range(20)]
    named_file = file("src/reader.py", f'"""Reads."""\n{LONG[:2000]}')
    result = make(pack(*other_files[:10], named_file, *other_files[10:]), 2000, COUNTERS[0], MARKDOWN)
    items_by_id = {item.unit.id: item for item in result.items}
    assert items_by_id["file:src/reader.py"].action == KEEP
    assert items_by_id["file:src/reader.py"].reason.startswith("The task names it")
    assert {SUMMARIZE, PRUNE} <= {item.action for item in result.items}


def test_a_large_unit_that_is_pinned_leaves_room_for_others() -> None:
    pinned_unit = file("docs/all.md", "Some words about nothing. " * 4000)._replace(pinned="asked for by name")
    result = make(pack(pinned_unit, file("src/reader.py", LONG[:1500])), 4000, COUNTERS[0], MARKDOWN)
    items_by_id = {item.unit.id: item for item in result.items}
    assert items_by_id["file:docs/all.md"].action in (SUMMARIZE, TRUNCATE)
    assert items_by_id["file:src/reader.py"].action == KEEP
    assert items_by_id["section:purpose"].action == items_by_id["task:t1"].action == KEEP


def test_what_is_pinned_is_whole_before_anything_else() -> None:
    pinned_unit = file("docs/all.md", "Some words about nothing. " * 400)._replace(pinned="asked for by name")
    result = make(pack(pinned_unit, file("src/reader.py", LONG)), 3200, COUNTERS[0], MARKDOWN)
    items_by_id = {item.unit.id: item for item in result.items}
    assert items_by_id["file:docs/all.md"].action == KEEP
    assert items_by_id["file:src/reader.py"].action != KEEP


def test_what_lacks_little_is_completed_instead_of_something_less_useful() -> None:
    functions = "".join([f"def parse_dates_{at}(text):\n    return text.dates({at})\n\n\n" for at in range(60)])
    others = [file(f"lib/other_{at}.py", "def other():\n    return 1\n" * 9, at) for at in range(9)]
    for budget in range(1200, 3000, 60):
        result = make(pack(file("src/reader.py", functions), *others), budget, COUNTERS[0], MARKDOWN)
        reader = next(item for item in result.items if item.unit.path == "src/reader.py")
        rest = [item for item in result.items if not item.unit.pinned and item is not reader]
        lacking = reader.original_tokens - reader.tokens
        assert not 0 < lacking < 100 or lacking > sum([item.tokens for item in rest])


def test_the_definitions_of_a_file_share_its_relevance() -> None:
    function = "def parse_dates_{}(text):\n" + "    offset = text.read()\n" * 20 + "\n\n"
    few, many = ["".join([function.format(at) for at in range(count)]) for count in (2, 40)]
    rest = "\n".join([f"{name} = {at}" for at, name in enumerate(["LUNCH", "TABLE", "CHAIR"] * 200)])
    units = [file("a/many.py", many)._replace(affinity=0.5), file("b/few.py", few + rest)._replace(affinity=0.5)]
    result = make(pack(*units), 1600, COUNTERS[0], MARKDOWN)
    by_path = {item.unit.path: item for item in result.items}
    assert by_path["b/few.py"].action == SUMMARIZE
    assert by_path["b/few.py"].text.count("offset = text.read()") == 40
    assert by_path["a/many.py"].text.count("offset = text.read()") < 40 * 20


def test_the_room_is_used() -> None:
    files = [file(f"src/dates_{at}.py", LONG, at) for at in range(8)]
    for budget in (1000, 4000, 16000):
        result = make(pack(*files), budget, COUNTERS[0], MARKDOWN)
        assert COUNTERS[0].count(result.text) > 0.9 * result.allocation.context


def test_what_is_not_relevant_is_left_out_though_there_is_room() -> None:
    talk = [message(at, f"Lunch at {at} o'clock?") for at in range(40)]
    result = make(pack(*talk, message(40, "Which offsets do dates have?")), 20000, COUNTERS[0], MARKDOWN)
    first, last = result.items[2], result.items[-1]
    assert (first.action, first.is_filtered) == (PRUNE, True)
    assert first.reason == "Shares no distinctive word with the task; older than 40 other messages"
    assert last.action == KEEP
    assert last.reason == "Shares the words 'dates' and 'offsets' with the task; the newest of the messages"


SCRIPT = """
import sys; sys.path.insert(0, {root!r})
from execplan.context.context_pack import MARKDOWN
from execplan.context.token_counter import make_counter
from tests.context.units import file, make, message, pack
code = "".join([f"def read_{{at}}(date: str) -> int:\\n    return {{at}}\\n\\n\\n" for at in range(100)])
units = [file(f"src/m{{at}}.py", code[at * 10 : at * 60], at % 7) for at in range(30)]
units += [message(at, f"The reader of {{at}} has dates") for at in range(30)]
made = make(pack(*units), 3000, make_counter(exact=False), MARKDOWN)
print(made.text, [each._replace(unit=each.unit.id) for each in made.items])
"""


def test_the_same_comes_out_under_any_hash_seed() -> None:
    root = str(Path(__file__).parents[2])
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT.format(root=root)],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C", "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
        ).stdout
        for seed, zone in (("0", "UTC"), ("1", "Asia/Tokyo"), ("4242", "UTC"))
    }
    assert len(outputs) == 1
    assert FILE.encode() in outputs.pop()


@pytest.mark.exhaustive
def test_the_baseline_takes_the_conversation_then_changes_then_files_then_the_plan() -> None:
    ages = {MESSAGE: 0, TOOL_RESULT: 0, DIFF: 1, FILE: 2, ARTIFACT: 2, SECTION: 3}
    units = [
        Unit(f"{kind} {at}", kind, "word " * (400 * age + 80 * (3 - at)), order=at)  # the older, the larger
        for kind, age in ages.items()
        for at in range(3)
    ]
    context_pack = pack(*reversed(units))
    scored = score_units(context_pack, classify_intent(context_pack.task))
    kept_units: list[Unit] = []
    for budget in range(300, 30_000, 80):
        items = select_newest_first(context_pack, scored, allocate_budget(budget), COUNTERS[0], MARKDOWN)
        kept_units += [
            item.unit for item in items if item.unit in units and item.action == KEEP and item.unit not in kept_units
        ]
    assert len(kept_units) == len(units)
    came = [(ages[unit.type], -unit.order) for unit in kept_units]
    assert came == sorted(came)
