"""The help of the program, `execplan help`, and the commands that are suggested for unknown names."""

from __future__ import annotations

import re

import pytest

from execplan.cli.command_synonyms import COMMAND_SYNONYMS, describe_commands, suggest_commands, suggestions_for
from execplan.cli.commands import COMMAND_GROUPS, COMMANDS, EVERYDAY_COMMANDS
from tests.commands import check_command
from tests.conftest import Folder

_ARGUMENTS = {
    "add": "Text",
    "attach": "run.log",
    "decide": "Text --why Text",
    "discover": "Text --evidence Text",
    "done": "1",
    "note": "Text",
    "outcome": "Text",
    "rename": "parser Title",
    "reopen": "1",
    "restore": "parser",
    "search": "parser",
    "set": "Purpose Text",
    "install": "agents",
    "install completion": "",
    "install git-hooks": "",
    "new --from": "draft.md",
    "compile --from": "plan.json",
    "show --section": "Purpose",
    "next --claim": "Ann",
    "next --release": "Ann",
    "run --replay": "1",
}
"""The arguments that a suggested command requires to be parsed."""
TARGETS = sorted({target for synonym in COMMAND_SYNONYMS for target in suggestions_for(synonym)})


def sections(text: str) -> dict[str, list[str]]:
    """The first words of the lines in each section of a help text."""
    blocks = [block.splitlines() for block in text.split("\n\n")]
    return {lines[0].rstrip(":"): [line.split()[0] for line in lines[1:]] for lines in blocks if lines[0].endswith(":")}


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"], ["help", "help"], []])
def test_help_lists_the_everyday_commands(plain: Folder, arguments: list[str]) -> None:
    out = plain.run(*arguments).out
    assert len(out.splitlines()) <= 40
    everyday = {
        group: names
        for group, commands in COMMAND_GROUPS.items()
        if (names := [name for name in commands if name in EVERYDAY_COMMANDS])
    }
    listed = sections(out)
    assert {group: listed[group] for group in everyday} == everyday
    assert set(COMMAND_GROUPS) & set(listed) == set(everyday)
    assert "--help-all" in listed["Options"]


@pytest.mark.parametrize("arguments", [["--help-all"], ["help", "--all"], ["help", "done", "--all"]])
def test_all_help_lists_every_command_and_option(plain: Folder, arguments: list[str]) -> None:
    listed = sections(plain.run(*arguments).out)
    assert {group: listed[group] for group in COMMAND_GROUPS} == {
        group: list(commands) for group, commands in COMMAND_GROUPS.items()
    }
    assert {"-C", "-q,", "--as", "--json", "--help-all"} <= set(listed["Options"])


def test_everyday_commands_exist() -> None:
    assert set(COMMANDS) > EVERYDAY_COMMANDS


def test_help_shows_the_first_steps_one_per_line(plain: Folder) -> None:
    lines = plain.run("--help").out.splitlines()
    assert "  execplan init" in lines
    assert "  execplan done 1" in lines


def test_help_of_a_command(plain: Folder) -> None:
    assert plain.run("help", "done").out == plain.run("done", "--help").out


@pytest.mark.parametrize("arguments", [["history"], ["help", "history"], ["HISTORY", "1", "--oneline"]])
def test_an_unknown_command_suggests_commands(plain: Folder, arguments: list[str]) -> None:
    result = plain.run(*arguments)
    assert result.exit == 2
    assert result.err.startswith(
        "execplan: unknown command 'history'\n  execplan log "
        if arguments[0] != "HISTORY"
        else "execplan: unknown command 'HISTORY'\n"
    )
    assert "execplan undo --list" in result.err
    assert "--help-all" in result.err


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("dnoe", ["done"]),
        ("Done", ["done"]),
        ("shwo", ["show"]),
        ("ls", ["list"]),
        ("rm", ["drop", "archive --as abandoned"]),
        ("delte", ["drop", "archive --as abandoned"]),
        ("settings", ["explain settings"]),
        ("find", ["search"]),
        ("version", ["--version"]),
        ("", []),
        ("xyzzy", []),
    ],
)
def test_suggestions(name: str, commands: list[str]) -> None:
    assert suggest_commands(name) == commands


FOREIGN_NAMES = (
    "view delete rm ls create check tick complete finish close start claim history validate cancel abort apply"
).split()


def test_names_of_other_tools_have_suggestions() -> None:
    assert set(FOREIGN_NAMES) <= set(COMMAND_SYNONYMS)


def test_no_synonym_is_a_command() -> None:
    assert set(COMMAND_SYNONYMS).isdisjoint({*COMMANDS, "help"})
    assert all(synonym == synonym.casefold() for synonym in COMMAND_SYNONYMS)


@pytest.mark.parametrize("target", TARGETS)
def test_every_suggestion_can_be_run_and_has_a_summary(target: str) -> None:
    assert describe_commands([target])[0].endswith(".")
    check_command(f"execplan {target} {_ARGUMENTS.get(target, '')}")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_terminal(plain: Folder, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    help_text = plain.run(name, "--help").out
    assert [line for line in help_text.splitlines() if len(line) > 80] == []
    assert not re.search(r"\w-$", help_text, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_explains_its_plan(plain: Folder, name: str) -> None:
    help_text = plain.run(name, "--help").out
    assert not re.search(r"^Usage: .*PLAN", help_text) or "ID, part of the ID or title, or path" in " ".join(
        help_text.split()
    )


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["done"], "missing argument TASK...", "see execplan done --help"),
        (["decide", "x"], "missing option --why", "see execplan decide --help"),
        (["done", "-p"], "-p requires a value", "see execplan done --help"),
        (["show", "--jsno"], "unknown option --jsno", "did you mean --json? Otherwise see execplan show --help"),
        (["show", "--task", "x"], "unknown option --task", "see execplan show --help"),
        (
            ["decide", "--rationale"],
            "unknown option --rationale",
            "did you mean --why? Otherwise see execplan decide --help; put -- before text that starts with a hyphen",
        ),
        (["-x"], "unknown option -x", "see execplan --help"),
        (["run", "--jobs", "x"], "--jobs must be a whole number from 1 to 64, not 'x'", "see execplan run --help"),
        (
            ["done", "1", "--lock-timeout", "x"],
            "--lock-timeout must be a number of at least 0, not 'x'",
            "see execplan done --help",
        ),
        (["list", "a", "b"], "unexpected arguments: a b", "see execplan list --help"),
        (
            ["status", "--state", "New."],
            "--state must be one of broken, active, draft, complete, archived, document, not 'New.'",
            "see execplan status --help",
        ),
        (
            ["archive", "--as", "ann"],
            "--as must be one of completed, superseded, abandoned, not 'ann'",
            "to act as a person or an agent: execplan --as NAME archive; otherwise see execplan archive --help",
        ),
        (
            ["add", "a", "--b"],
            "unknown option --b",
            "see execplan add --help; put -- before text that starts with a hyphen",
        ),
    ],
)
def test_usage_errors(plain: Folder, arguments: list[str], message: str, hint: str) -> None:
    result = plain.run(*arguments)
    assert (result.exit, result.err) == (2, f"execplan: {message}\nhint: {hint}\n")
