"""The `search` command: hidden matches, queries that begin with a hyphen, and excerpts."""

from __future__ import annotations

import json

import pytest

from execplan.cli.commands import search
from execplan.context.search.match_lines import Match
from execplan.context.search.search_query import FILTERS
from tests.conftest import Folder


def next_command(folder: Folder, *arguments: str) -> str:
    """The command that a search suggests, without its program; empty if there is none."""
    commands = json.loads(folder.run("search", "--json", *arguments).out)["next"]
    return commands[0].removeprefix("execplan search ") if commands else ""


def test_hidden_matches_are_announced(repo: Folder) -> None:
    repo.plan()
    result = repo.run("search", "read", "--matches", "2").out.splitlines()
    assert result[2:] == ["2 of 5 matches in 1 plan shown", "next: execplan search read --matches 5"]
    complete = repo.run("search", "read", "--matches", "5").out
    assert complete.count("\n") == 5
    assert "shown" not in complete
    assert "next:" not in complete


def test_the_next_command_shows_hidden_plans_and_matches(repo: Folder) -> None:
    for at in range(12):
        repo.plan(name=f"2026-01-01_plan-{at}")
    assert next_command(repo, "read") == "read --limit 12 --matches 5"
    assert next_command(repo, "loss") == "loss --limit 12"
    assert next_command(repo, "read", "--limit", "12") == "read --limit 12 --matches 5"
    assert next_command(repo, "read", "--limit", "12", "--matches", "5") == ""
    assert next_command(repo, "--", "-tests read") == "--limit 12 --matches 5 -- '-tests read'"


def test_the_next_command_shows_the_matches_of_plans_that_are_hidden(repo: Folder) -> None:
    repo.plan("# Lines\n\n## Progress\n\n- [ ] Read lines.\n")
    text = "".join(
        [f"- [ ] Write a long note about what comes after line {number}, in words.\n" for number in range(6)]
    )
    repo.plan(f"# Notes\n\n## Progress\n\n{text}", "2026-01-02_notes")
    (plan,) = repo.ok("search", "line*", "--limit", "1")["plans"]
    assert (plan["id"], plan["match_count"]) == ("2026-01-01_parser", 2)
    assert next_command(repo, "line*", "--limit", "1") == "'line*' --limit 2 --matches 6"


def test_a_query_may_begin_with_an_excluded_word(repo: Folder) -> None:
    repo.plan()
    for name in FILTERS:
        assert repo.run("search", f"-{name}:", "parser").err.startswith(f"execplan: the filter {name}: has no value")
    assert ": task: " not in repo.run("search", "-in:tasks parser").out
    assert repo.run("search", "-IN:tasks", "parser").exit == 0
    without_word = repo.run("search", "--", "-build parser").out
    assert without_word
    for query in (["-build parser"], ["-build", "parser"], ["parser", "-build"], ["-'build'", "parser"]):
        assert repo.run("search", *query).out == without_word
    assert repo.run("search", "-- x", "--limits").exit == 2


def test_options_are_no_excluded_words(repo: Folder) -> None:
    repo.plan()
    for options in (["-qv"], ["-vq"], ["-q", "-v"], [f"-C{repo.path}"], ["-C", str(repo.path)]):
        assert repo.run("search", *options, "parser").out == repo.run("search", "parser").out


def test_unknown_filters_are_reported_when_nothing_matches(repo: Folder) -> None:
    repo.plan("# Plan\n\nnote:read\n")
    result = repo.run("search", "title:parser")
    assert result.out == "no matches\n"
    assert result.err == "execplan: warning: title: is not a filter; did you mean in:titles?\n"
    assert repo.run("search", "note:read").err == ""


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("one two three four five six seven eight", "one", "one two three four…"),
        ("one two three four five six seven eight", "eight", "…five six seven eight"),
        ("one twotwotwotwotwo four five six seven eight nine ten", "six", "…five six seven eight…"),
        ("x" * 50, "x" * 50, "x" * 19 + "…"),
        ("日本語" * 10, "日本語", "日本語日本語日本語日本語日本語日本語日…"),
    ],
)
def test_excerpts_begin_and_end_between_words(text: str, word: str, expected: str) -> None:
    start = text.index(word)
    match = Match("section", "", "plan.md", 1, text, ((start, start + len(word)),), "", "", "")
    assert search._format_line(match, 22 if " " in text else 20) == expected
