"""Whatever names and texts of a repository hold, nothing that is printed acts on a terminal or hides something."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest

from execplan.cli.output import terminal_text
from execplan.core.text.invisible_characters import escape_unprintable, escape_unprintable_lines, find_hidden
from tests.conftest import Folder, Result
from tests.plans import CLEAN, STEPS

pytestmark = pytest.mark.exhaustive

BAD = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J \u202eturned\u202c \u200bnone \x08\x7f"
NAME = f"2026-01-01_a\nINJECTED {BAD}"
SECOND_NAME = f"2026-01-02_b\nINJECTED {BAD}"
HOSTILE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")


def hostile_plan(title: str) -> str:
    """A plan with such text everywhere."""
    text = STEPS.replace("# Build the parser", f"# {title} {BAD}")
    for sentence in (
        "Build the parser.",
        "Read line by line.",
        "The last line is dropped.",
        "Lines can be read.",
        "A task",
    ):
        text = text.replace(sentence, f"{sentence[:-1]} {BAD}")
    return text


@pytest.fixture
def hostile(repo: Folder) -> Folder:
    """Two plans with such names and texts, and files around them."""
    repo.plan(hostile_plan("Build the parser"), NAME)
    repo.plan(hostile_plan("Write the tests"), SECOND_NAME)
    repo.write(f".agent/execplans/c\nINJECTED {BAD}.md.orig", "x")
    repo.write(f"src/d\nINJECTED {BAD}.py", "x = 1\n")
    repo.write(f".agent/templates/e\nINJECTED {BAD}.md", f"# {{{{ title }}}}\n{{#- {BAD} #}}\n")
    return repo


def check_output(result: Result) -> None:
    """Expect that nothing hostile was printed, and that no name makes a line of its own."""
    for text in (result.out, result.err):
        assert not HOSTILE.search(text), (HOSTILE.search(text), text)
        assert not any([line.lstrip(" +->").startswith("INJECTED") for line in text.split("\n")]), text


CALLS = (
    ["list"], ["list", "--all"], ["status"], ["status", NAME], ["next"], ["next", NAME], ["show"], ["show", NAME], ["show", "INJECTED"],
    ["show", NAME, "--section", "Progress"], ["show", NAME, "--steps"], ["show", "nothing"], ["lint"], ["lint", NAME], ["doctor"],
    ["doctor", "-v"], ["doctor", "--fix", "--dry-run"], ["new", "--list-templates"], ["new", f"A title {BAD}", "--dry-run"],
    ["done", "2", "-p", NAME, "--dry-run"], ["done", "2", "-p", NAME], ["undo", NAME], ["add", "Words", "-p", NAME],
    ["reword", "2", "Other words", "-p", NAME, "--dry-run"], ["set", "Plan of Work", "Hi.", "-p", NAME, "--dry-run"],
    ["prime", NAME], ["prime"], ["prime", "--hook", "claude"], ["checkpoint", NAME], ["context", NAME, "--estimate"],
    ["summarize", NAME], ["summarize", NAME, "--as", "itinerary"], ["compile", NAME], ["evaluate", NAME], ["evaluate", NAME, "--format", "markdown"],
    ["approve", NAME, "--list"], ["approve", NAME, "--dry-run"], ["runs", NAME], ["audit", NAME], ["handoff", NAME], ["stats"],
    ["next", NAME, "--claim", "me"], ["next"], ["status"], ["attach", "README.md", "-p", NAME, "--dry-run"],
    ["commit", NAME, "--dry-run"], ["commit", NAME], ["rename", NAME, "Other title", "--dry-run"],
    ["archive", NAME, "--force", "--reason", "Over.", "--dry-run"], ["archive", NAME, "--force", "--reason", "Over."], ["list", "--all"],
    ["restore", NAME], ["triage", f"Change {BAD}"], ["init", "--check"], ["install", "agents", "--dry-run"], ["explain", "INJECTED\n\x1b[31m"],
    ["lint", "--statistics"], ["lint", "--format", "concise"], ["lint", "--format", "github"],
)  # fmt: skip


def test_no_output_acts_on_a_terminal(hostile: Folder) -> None:
    for call in CALLS:
        result = hostile.run(*call)
        assert result.exit != 70, (call, result)
        check_output(result)


@pytest.mark.parametrize("form", ["json", "sarif", "junit", "gitlab"])
def test_documents_hold_the_same_text_as_escapes(hostile: Folder, form: str) -> None:
    if form == "json":
        result = hostile.run("show", NAME, "--json")
        assert BAD in json.loads(result.out)["data"]["title"]
        assert json.loads(result.out)["data"]["id"] == NAME
    else:
        result = hostile.run("lint", "--format", form)
    assert not HOSTILE.search(result.out.replace("\n", "")), form


def test_colours_of_ours_stay_and_those_of_others_do_not() -> None:
    text = f"{terminal_text.color('31')}error{terminal_text.color('0')} \x1b[31mtheirs\x1b[0m\n\x1b[1;31m"
    assert terminal_text.printable_text(text) == "\x1b[31merror\x1b[0m \\x1b[31mtheirs\\x1b[0m\n\\x1b[1;31m"
    rich = terminal_text.mark_colors("\x1b[1mhead\x1b[0m")
    assert terminal_text.printable_text(rich) == "\x1b[1mhead\x1b[0m"


def test_what_another_program_reads_is_raw_unless_on_a_terminal(plain: Folder) -> None:
    plan_file = plain.write("ours.md", CLEAN.replace("Read lines.", "Read \x1b[31mlines."))
    result = plain.run("merge", str(plan_file), str(plan_file), str(plan_file))
    assert "\x1b[31mlines." in result.out


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf /\ufe0f", "a\ufe0fb", "\ufe0f", "x\u3164y", "\u3164", "a\u2800b", "\u115fa", "a\u1160", "\uffa0", "a\u034fb", "a\u17b4",
        "a\U000e0101", "1\ufe0f", "\ufe0f\ufe0f", "\u2764\ufe0f\ufe0f",
    ],
)  # fmt: skip
def test_blanks_that_python_takes_for_printable_are_hidden(text: str) -> None:
    assert text.isprintable()
    runs = find_hidden(text)
    assert runs
    assert not set("\ufe0f\u3164\u2800\u115f\u1160\uffa0\u034f\u17b4") & set(
        escape_unprintable(text).replace("\u2764\ufe0f", "")
    )


@pytest.mark.parametrize(
    "text",
    [
        "I \u2764\ufe0f it", "1\ufe0f\u20e3 first", "#\ufe0f\u20e3", "\u00a9\ufe0f", "\u2139\ufe0f", "\u2194\ufe0e", "\U0001f3f3\ufe0f\u200d\U0001f308",
        "\u2801\u2800\u2803", "\u1100\u1160", "\u845b\U000e0100", "\u8fbb\ufe00", "\u3042\u3000\u3044", "a\u00a0b", "Persian \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "caf\u00e9 na\u00efve \u65e5\u672c\u8a9e \u0420\u0443\u0441\u0441\u043a\u0438\u0439", "two\tcolumns",
    ],
)  # fmt: skip
def test_what_scripts_and_emoji_need_is_shown(text: str) -> None:
    assert find_hidden(text) == []
    assert escape_unprintable(text) == escape_unprintable_lines(text) == text


@pytest.mark.parametrize("char", ["\ufe0f", "\u3164", "\u2800"])
def test_commands_with_blanks_are_blocked(repo: Folder, char: str) -> None:
    repo.plan(STEPS.replace("make parser", f"make{char} parser"))
    assert unicodedata.name(char)
    result = repo.run("evaluate", "--json")
    assert result.exit != 0
    assert f"U+{ord(char):04X}" in result.out
    assert char not in repo.run("evaluate").out


def test_lines_of_a_text_keep_their_ends() -> None:
    assert escape_unprintable_lines("a\r\nb\rc\n\x1b\n") == "a\r\nb\\rc\n\\x1b\n"
    assert escape_unprintable("a\nb\tc\x00") == "a\\nb\tc\\x00"
    assert escape_unprintable("\ud800") == "\\ud800"
    long = "a\x1b" * 200_000
    assert len(escape_unprintable(long)) == 200_000 * 5
