"""Patterns of calls, and what a document says that can't be one."""

from __future__ import annotations

import pytest

from execplan.core.errors import ExecplanError
from execplan.execution.shell.call_patterns import (
    dotted_tool_name,
    matches_command,
    matches_command_prefix,
    matches_path,
    matches_path_ignoring_case,
    matches_tool,
    pattern_problem,
    split_pattern,
)
from tests.execution.plan_documents import command, loaded, plan


@pytest.mark.parametrize(
    ("pattern", "line", "fit", "begun"),
    [
        ("git push", "git push", True, True),
        ("git push", "git push -f", False, True),
        ("git push", "git", False, False),
        ("git push", "git pushed", False, False),
        ("git push", "/usr/bin/git push", False, True),
        ("/usr/bin/git push", "git push", False, False),
        ("git push ...", "git push", True, True),
        ("git push ...", "git push a b", True, True),
        ("git * -f", "git push -f", True, True),
        ("git *", "git", False, False),
        ("make t?st", "make test", True, True),
        ("make [ab]", "make b", True, True),
        ("make ...", "cmake", False, False),
        ("...", "rm", True, False),
    ],
)
def test_a_command_is_compared_word_by_word(pattern: str, line: str, *, fit: bool, begun: bool) -> None:
    words = line.split()
    assert (matches_command(words, pattern), matches_command_prefix(words, pattern)) == (fit, begun)


def test_a_word_with_a_blank_is_one_word() -> None:
    assert matches_command(["echo", "a b"], "echo *")
    assert not matches_command(["echo", "a", "b"], "echo *")


@pytest.mark.parametrize(
    ("pattern", "path", "covered", "forbidden"),
    [
        ("src", "src/a.py", True, True),
        ("./src//", "src/a.py", True, True),
        ("src", "source/a.py", False, False),
        ("src/*", "src/a/b.py", True, True),
        ("*.pem", "keys/a.pem", True, True),
        ("*.pem", "keys/a.PEM", False, True),
        ("Src", "src/a.py", False, True),
        (".", "anything", True, True),
    ],
)
def test_a_path_is_covered_by_its_folder_or_a_glob(pattern: str, path: str, *, covered: bool, forbidden: bool) -> None:
    assert (matches_path(path, pattern), matches_path_ignoring_case(path, pattern)) == (covered, forbidden)


def test_kinds_are_told_from_commands() -> None:
    assert split_pattern("write: src/* ") == ("write", "src/*")
    assert split_pattern("make all") == ("command", "make all")
    assert split_pattern("https://x") == ("command", "https://x")


def test_tools_go_by_both_of_their_names() -> None:
    assert dotted_tool_name("mcp__server__tool") == "server.tool"
    assert (dotted_tool_name("mcp__a__b__c"), dotted_tool_name("server.tool"), dotted_tool_name("mcp__server")) == (
        "",
        "",
        "",
    )
    assert matches_tool("mcp__server__drop_all", "server.drop*")
    assert matches_tool("mcp__server__drop_all", "mcp__server__*")
    assert not matches_tool("mcp__server__drop", "server")


@pytest.mark.parametrize(
    "pattern", ["", " ", "...", "write:", "wirte:x", "make ... all", "write:/etc/x", "delete:../x"]
)
def test_what_can_mean_nothing_is_refused(pattern: str) -> None:
    assert pattern_problem(pattern)
    if pattern.strip():
        for name in ("allow", "deny"):
            with pytest.raises(ExecplanError) as caught:
                loaded(plan(command(1, **{name: [pattern]})))
            assert f"/steps/0/{name}" in f"{caught.value.message} {caught.value.candidates}"
