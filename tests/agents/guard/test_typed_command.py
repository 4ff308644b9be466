"""What is typed is one plain command only where every shell reads it alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from execplan.agents.guard.typed_command import parse_typed_command


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("ls HEAD~1 stash@{0} {} a=b = x$ %s", ("ls", "HEAD~1", "stash@{0}", "{}", "a=b", "=", "x$", "%s")),
        ("ls .[dev] 'x?y' http://localhost/?a=1", ("ls", ".[dev]", "x?y", "http://localhost/?a=1")),
        ("ls '~' \\~ '=a' '{a,b}' a\\*", ("ls", "~", "~", "=a", "{a,b}", "a*")),
        ("ls \\ ", ("ls", " ")),
        ("ls a\\\\ ", ("ls", "a\\")),
    ],
)
def test_what_every_shell_leaves_alone_is_read(text: str, argv: tuple[str, ...], tmp_path: Path) -> None:
    parsed = parse_typed_command(text, str(tmp_path))
    assert (parsed.argv, parsed.problem) == (argv, "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ls =a", "a leading `=`: put =a in quotes"),
        ("ls a=~", "`~` is expanded: put a=~ in quotes"),
        ("ls a:~/b", "`~` is expanded: put a:~/b in quotes"),
        ("A=~ ls", "`~` is expanded: put A=~ in quotes"),
        ("ls {a}b,c}", "`{…}` is expanded: put {a}b,c} in quotes"),
        ("ls x[dev]", "a glob pattern: put x[dev] in quotes"),
        ("ls ''x[dev]", "a glob pattern: put x[dev] in quotes"),
        ("ls $'a'", "`$'…'`, which shells interpret differently"),
        ("cd ~/x && ls", "`cd` to a directory that only a shell can resolve"),
        ("cd 'a && ls", "an unclosed quote"),
        ("ls " + "x" * 131_072, "too long"),
        ("", "it contains no command"),
    ],
)
def test_what_some_shell_makes_something_of_is_no_plain_command(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "xd").write_text("")
    parsed = parse_typed_command(text, str(tmp_path))
    assert (parsed.argv, parsed.problem) == ((), why)
