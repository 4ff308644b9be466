"""Every topic, rule and refusal has a page that fits a screen, and what the pages tell to type can be typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from execplan.cli.commands.explain import TOPIC_SYNONYMS
from execplan.cli.output import help_topics
from execplan.cli.output.help_topics import EXAMPLE_FACTS
from execplan.core.errors import CODES_BY_EXIT, EXIT_MEANINGS
from execplan.core.project.project_settings import Settings
from execplan.core.project.setting_table import load_settings_of
from execplan.execution.attributes import ATTRIBUTES, PLAN_ATTRIBUTES
from execplan.linter.runner import RULES
from tests.commands import check_command
from tests.error_codes import RaisedCode, raised_codes

if TYPE_CHECKING:
    from tests.conftest import Folder

TOPICS = {"format", "tasks", "decisions", "archive", "agents", "hooks", "merge", "templates", "settings", "exit-codes"}
TABLE_LINES = {
    "attributes": 117,
    "context": 48,
    "dialects": 53,
    "enhancer": 43,
    "policy": 60,
    "settings": 80,
    "tasks": 42,
}
"""Maximum length of the topics that contain tables of attributes, settings or forms."""
REFUSALS = help_topics.error_help_by_code()
PAGES = {
    **{name: help_topics.topic_text(name) for name in help_topics.topic_summaries()},
    **{error_help.code: error_help.page for error_help in REFUSALS.values()},
}


def test_the_topics_are_those_of_the_issue_at_least() -> None:
    assert set(help_topics.topic_summaries()) >= TOPICS
    assert not set(help_topics.topic_summaries()) & (set(REFUSALS) | set(RULES))


def test_every_refusal_has_a_page_and_every_page_a_refusal() -> None:
    errors_by_code: dict[str, list[RaisedCode]] = {}
    for error in raised_codes():
        errors_by_code.setdefault(error.code, []).append(error)
    missing = [
        f"{code}: {errors[0].location} (exit {errors[0].exit})"
        for code, errors in errors_by_code.items()
        if code not in REFUSALS
    ]
    assert not missing, f"without a section in templates/explain/errors.md: {missing}"
    assert not set(REFUSALS) - set(errors_by_code), "no refusal has these codes any more"
    assert {code for codes in CODES_BY_EXIT.values() for code in codes.split()} == set(errors_by_code)
    for code, errors in errors_by_code.items():
        for error in errors:
            assert error.exit == REFUSALS[code].exit, error


def test_a_summary_is_a_sentence() -> None:
    sentences = [*help_topics.topic_summaries().values(), *[error_help.sentence for error_help in REFUSALS.values()]]
    assert [sentence for sentence in sentences if not re.search(r"[\w)`'*]\.$", sentence)] == []


def test_refusals_are_found_through_helpers() -> None:
    codes = {error.code for error in raised_codes()}
    assert {"nul-byte", "ambiguous-plan", "ambiguous-task", "usage"} <= codes


def test_pages_of_refusals_stand_in_order() -> None:
    assert list(REFUSALS) == sorted(REFUSALS)


def test_pages_fit_a_screen() -> None:
    lines = {name: page.split("\n") for name, page in PAGES.items()}
    limits = {name: 12 if name in REFUSALS else TABLE_LINES.get(name, 40) for name in PAGES}
    assert [(name, len(lines[name])) for name in PAGES if len(lines[name]) > limits[name]] == []
    widths = {name: max(map(len, lines[name])) for name in PAGES}
    assert [(name, width) for name, width in widths.items() if width > help_topics.PAGE_WIDTH] == []


def test_commands_of_pages_can_be_typed() -> None:
    for page in PAGES.values():
        commands = [line.strip() for line in page.split("\n") if line.startswith("    execplan ")]
        commands += re.findall(r"`(execplan [^`]+)`", page)
        for line in commands:
            for command in re.split(r" {3,}(?=execplan )", line):
                check_command(command.split("   ")[0])


def test_every_page_is_printed_and_listed(plain: Folder) -> None:
    topics, codes = plain.run("explain").out, plain.run("explain", "--codes").out
    assert re.findall(r"^  (\S+) +\S.*\.$", topics, re.MULTILINE) == list(help_topics.topic_summaries())
    assert topics.endswith("\nCodes of lint rules and errors: execplan explain --codes\n")
    rule_codes, error_codes = re.findall(r": execplan explain CODE\n\n((?:  .+\n)+)", codes)
    assert " ".join(rule_codes.split()) == " ".join([f"{code} {RULES[code].summary}" for code in sorted(RULES)])
    assert error_codes.split() == sorted(REFUSALS)
    assert re.findall(r"^\w.*", codes, re.MULTILINE) == [
        "Lint rules: execplan explain CODE",
        "Errors: execplan explain CODE",
    ]
    data = plain.ok("explain")
    assert plain.ok("explain", "--codes") == data
    assert [topic["topic"] for topic in data["topics"]] == list(help_topics.topic_summaries())
    assert {error["code"] for error in data["refusals"]} == set(REFUSALS)
    assert {rule["code"] for rule in data["rules"]} == set(RULES)
    assert all(entry["about"].endswith(".") for entry in data["topics"] + data["refusals"])
    assert max(map(len, [*topics.splitlines(), *codes.splitlines()])) <= help_topics.PAGE_WIDTH
    assert plain.run("explain", "tasks").out == help_topics.topic_text("tasks") + "\n"
    assert plain.run("explain", "busy").out == f"busy (exit 5)\n\n{REFUSALS['busy'].page}\n"


def test_codes_are_not_listed_together_with_a_page(plain: Folder) -> None:
    error = plain.run("explain", "busy", "--codes", "--json").json["error"]
    assert error["code"] == "usage"
    assert error["message"] == "--codes lists all codes, so it can't be combined with TOPIC|CODE"
    assert error["hint"] == "omit one of them"


def _code_lines(text: str) -> list[str]:
    """Return the lines of the examples, without their headings."""
    return [line for line in text.split("\n") if line.startswith("    ")]


@pytest.mark.parametrize("code", RULES)
def test_examples_of_a_rule_are_not_wrapped(plain: Folder, code: str) -> None:
    page, out = RULES[code].help_text, plain.run("explain", code).out
    heading = re.search(r"^(?:Before|Bad).*:$", page, re.MULTILINE)
    assert heading is not None
    kinds = re.findall(r"^(Before|Bad|Good|Fixed)(?: \(.*\))?:$", out, re.MULTILINE)
    assert kinds == re.findall(r"^(Before|Bad|Good|Fixed)(?: \(.*\))?:$", page, re.MULTILINE)
    start = re.compile(r"^(?:Before|Bad)(?: \(.*\))?:$", re.MULTILINE)
    shown = start.split(out, maxsplit=1)
    assert _code_lines(shown[1]) == _code_lines(start.split(page, maxsplit=1)[1])
    prose = shown[0].split("\n\n", 1)[1]
    assert prose.split() == page[: heading.start()].split()
    assert max(map(len, prose.splitlines())) <= help_topics.PAGE_WIDTH


@pytest.mark.parametrize("words", [["exit-codes"], ["exit", "codes"], ["Exit codes"], ["EXIT", "CODES"]])
def test_a_topic_of_several_words(plain: Folder, words: list[str]) -> None:
    page = plain.ok("explain", *words)
    assert page["topic"] == "exit-codes"
    assert all(str(code) in page["page"].split() for code in EXIT_MEANINGS)


@pytest.mark.parametrize(("name", "exit_status"), [("policy", 0), ("drifted", 0), ("config", 3)])
def test_the_help_is_readable_with_settings_that_are_not(plain: Folder, name: str, exit_status: int) -> None:
    plain.write("config/execplan/config.toml", "[policy]\n")
    result = plain.run("explain", name, XDG_CONFIG_HOME=str(plain.path / "config"))
    assert result.exit == exit_status
    assert "config.toml" not in result.err


def test_settings_are_described_where_they_are_defined() -> None:
    page = help_topics.topic_text("settings")
    assert all(f"\n{name} = " in page for name in Settings()._asdict())
    folded = " ".join(page.split())
    assert all(setting.about in folded for setting in load_settings_of("").values())


def test_every_attribute_of_a_step_and_of_a_plan_is_described() -> None:
    page = help_topics.topic_text("attributes")
    folded = " ".join(page.split())
    for attribute in (*ATTRIBUTES, *PLAN_ATTRIBUTES):
        name = "#id" if attribute.name == "id" else attribute.name
        assert f"\n  {name} " in page
        assert f" {name} {' '.join(attribute.about.split())}" in folded
        assert all(f"{choice}" in folded for choice in attribute.choices)
    assert "`execplan explain steps`" in page
    assert "execplan explain attributes" in help_topics.topic_text("steps")


def test_pages_name_no_file_that_only_the_repository_has() -> None:
    file = re.compile(r"(?<![\w./-])(?:docs|tests|scripts|execplan)/[a-z_-]+(?:/[a-z_-]+)*\.(?:md|py|toml)\b")
    assert [(name, match[0]) for name, page in PAGES.items() if (match := file.search(page))] == []


def test_json_of_a_refusal_and_of_a_rule(plain: Folder) -> None:
    assert plain.ok("explain", "no-such-task") == REFUSALS["no-such-task"]._asdict()
    assert list(plain.ok("explain", "ep109")) == ["code", "level", "on", "needs", "fix", "page"]


def test_unknown_names(plain: Folder) -> None:
    error = plain.run("explain", "no-such-tusk", "--json").json["error"]
    assert error["exit"] == 3
    assert error["code"] == "no-such-page"
    assert error["candidates"][0].startswith("no-such-task  ")
    assert "execplan done --help" in plain.run("explain", "done").err
    nothing = plain.run("explain", "qqqqqq")
    assert nothing.exit == 3
    assert "hint: list the topics: execplan explain; list the codes: execplan explain --codes\n" in nothing.err
    assert plain.run("explain", "../PLANS").exit == 3


def test_verbose_shows_the_code_of_an_error(repo: Folder) -> None:
    repo.plan()
    assert repo.run("done", "77", "-v").err.endswith("execplan: exit 3: execplan explain no-such-task\n")
    assert "no-such-task" not in repo.run("done", "77").err


def test_facts_of_an_example_are_words(plain: Folder) -> None:
    page = plain.run("explain", "EP111").out
    assert page.startswith("EP111 (warning, reads files of the repository)\n")
    assert "\nBad (.agent/execplans/parser.md; name = {date}_{slug}):\n    # Build the parser\n" in page
    assert "\nBad (now: 2026-03-09 23:28Z):\n" in plain.run("explain", "EP503").out
    every_fact = {
        name for rule in RULES.values() for name in re.findall(r"(?:\(|, )([a-z-]+)[ ,)]", _headings(rule.help_text))
    }
    assert every_fact - set(EXAMPLE_FACTS) == {"at-home"}


def _headings(page: str) -> str:
    return "\n".join(re.findall(r"^(?:Before|Bad|Good|Fixed) \(.*\):$", page, re.MULTILINE))


@pytest.mark.parametrize(("name", "topic"), TOPIC_SYNONYMS.items())
def test_names_by_which_people_look_for_a_topic(plain: Folder, name: str, topic: str) -> None:
    assert topic in help_topics.topic_summaries()
    assert name not in PAGES
    error = plain.run("explain", name, "--json").json["error"]
    assert [candidate.split()[0] for candidate in error["candidates"]] == [topic]
