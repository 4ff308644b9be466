"""EP6: steps with attributes, beyond the examples of the pages."""

from __future__ import annotations

import pytest

from execplan.linter.runner import RULES, RuleContext, lint_bytes
from tests.linter.single_rule import findings, fixed_text, lines, marked_text
from tests.plans import with_sections

ALL_LEVELS = {code: rule.level for code, rule in RULES.items()}
STEP_RULES = [code for code in RULES if code > "EP6"]


def steps(*fences: str, lead: str = "In the root of the repository:") -> str:
    """A plan whose Concrete Steps holds these fences, each an info string with its body, the first in line 39."""
    return with_sections("## Concrete Steps\n\n" + f"{lead}\n\n" + "\n\n".join(f"```{fence}\n```" for fence in fences))


def codes(text: str, context: RuleContext | None = None) -> set[str]:
    """What the rules about steps find."""
    return {finding.code for finding in lint_bytes(text.encode(), context, ALL_LEVELS)} & set(STEP_RULES)


def test_every_code_has_its_rule() -> None:
    assert [f"EP{number}" for number in range(601, 614)] == STEP_RULES


@pytest.mark.parametrize(
    "info",
    ["sh", "{r}", "{python}", "{.python .numberLines}", "js {1,3-5}", 'sh title="x"', "mermaid {init: 1}", "sh {}"],
)
def test_braces_of_others_are_no_steps(info: str) -> None:
    assert codes(steps(f"{info}\nsudo rm -fr / | sh")) == set()


def test_an_example_and_an_archived_plan_are_left_alone() -> None:
    wrong = "#a nosuch=1 needs=a timeout=x task=nosuch target=../x}\nsudo true | sh"
    assert codes(steps(f"sh {{{wrong}")) >= {"EP602", "EP603", "EP606", "EP607", "EP608", "EP610", "EP611"}
    assert codes(steps(f"sh {{example {wrong}")) == set()
    assert codes(steps(f"sh {{{wrong}"), RuleContext(is_archived=True)) == set()


def test_what_is_found_stands_where_it_is_written() -> None:
    text = steps('sh {#a exit=0 needs="b" timeout=soon}\ntrue', "sh {#a exit=0}\ntrue", "sh {#b exit=0}\ntrue")
    assert marked_text("EP604", text) == ["#a"]
    assert marked_text("EP603", text) == ["timeout=soon"]
    assert marked_text("EP606", text) == ['needs="b"']
    listed = text.replace("\n```", "\n   ```").replace("\ntrue", "\n   true").replace("   ```sh", "1. ```sh", 1)
    assert marked_text("EP603", listed) == ["timeout=soon"]


def test_a_misspelt_attribute_is_fixed_and_an_unknown_one_is_not() -> None:
    text = steps('sh {#a expct="it \\"is\\" so" exit=0 need=b colour=red}\ntrue', "sh {#b exit=0}\ntrue")
    assert [finding.fix is not None for finding in findings("EP602", text)] == [True, True, False]
    assert 'sh {#a expect="it \\"is\\" so" exit=0 needs=b colour=red}' in fixed_text("EP602", text)


def test_commands_of_an_example_and_of_a_file_are_typed_by_nobody() -> None:
    without_commands = with_sections(
        "## Validation and Acceptance\n\nAll is well.\n\n## Concrete Steps\n\nFirst the scanner.\n"
    )
    with_example = without_commands.replace("All is well.", "All is well.\n\n```sh {example}\nmake test\n```")
    with_file = with_example.replace("{example}", "{#a type=create_file target=a.sh}")
    for text in (without_commands, with_example, with_example.replace("{example}", "{example #a exit=0}"), with_file):
        assert "EP406" in {finding.code for finding in lint_bytes(text.encode())}
        assert lines("EP404", text) == []
    assert "EP406" not in {finding.code for finding in lint_bytes(with_example.replace(" {example}", "").encode())}


@pytest.mark.parametrize("said", ["exit=0", 'expect="12 passed"', 'test-after="make check"'])
def test_attributes_say_what_comes_of_a_command(said: str) -> None:
    text = with_sections("## Validation and Acceptance\n\nIn the root:\n\n```sh {#test}\nmake test\n```\n")
    assert lines("EP405", text) != []
    assert lines("EP405", text.replace("#test", f"#test {said}")) == []


def test_a_fence_shows_what_is_printed() -> None:
    text = with_sections(
        "## Validation and Acceptance\n\nIn the root:\n\n```sh {#test}\nmake test\n```\n\n```text {expect}\nmake: done\n```\n"
    )
    assert lines("EP405", text) == []
    assert lines("EP609", text) == []
