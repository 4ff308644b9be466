"""What a command line would run: words, what needs a shell, and every command that hides in it."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.execution.shell.command_line import parse_command

SHELL = st.text(alphabet="rm ls$(){}[]<>|&;'\"\\`\n\t#=~*?!-cxX@\x00\u202e\xa0é", max_size=60)
WORD = st.text(alphabet="abcXYZ019_-./:=,+@%^ '\"\\", min_size=1, max_size=12)


def programs(line: str) -> list[str]:
    return [" ".join(command.argv) for command in parse_command(line).simple_commands]


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("ls -la", ("ls", "-la")),
        ("  ls\t-la  # all", ("ls", "-la")),
        (r"r\m 'a b' \"c\"", ("rm", "a b", '"c"')),
        (r'echo "a \"b\" \$c \n"', ("echo", 'a "b" $c \\n')),
        (r"$'\x72\155' $'a\tb' $'\u00e9'", ("rm", "a\tb", "é")),
        ("pip install -e .[dev]", ("pip", "install", "-e", ".[dev]")),
        ("cat app/[slug]/page.tsx", ("cat", "app/[slug]/page.tsx")),
        ("git show HEAD^ stash@{0} a#b", ("git", "show", "HEAD^", "stash@{0}", "a#b")),
        ("rg 'x$' \"y$\"", ("rg", "x$", "y$")),
        ("find . -exec wc {} +", ("find", ".", "-exec", "wc", "{}", "+")),
        ("pytest \\\n  -q", ("pytest", "-q")),
        ("echo ''", ("echo", "")),
        ("curl http://localhost/x?y=1", ("curl", "http://localhost/x?y=1")),
    ],
)
def test_words_are_what_the_program_gets(line: str, argv: tuple[str, ...]) -> None:
    parsed = parse_command(line)
    assert parsed.argv == argv
    assert (parsed.shell_reason, parsed.problem) == ("", "")


def test_variables_in_front_need_no_shell() -> None:
    parsed = parse_command("CI=1 NAME='a b' npm test X=1")
    assert parsed.argv == ("npm", "test", "X=1")
    assert parsed.assignments == (("CI", "1"), ("NAME", "a b"))


@pytest.mark.parametrize(
    ("line", "needs"),
    [
        ("ls | wc", "a pipe"),
        ("ls > x", "a redirection"),
        ("ls 2>&1", "a redirection"),
        ("ls &> x", "a redirection"),
        ("cd a && ls", "`cd` is a shell builtin"),
        ("true && ls", "`&&`"),
        ("ls; ls", "`;`"),
        ("ls &", "`&`"),
        ("echo $HOME", "`$HOME` is expanded"),
        ('echo "$HOME"', "`$HOME` is expanded"),
        ("echo ${HOME}", "`${…}` is expanded"),
        ("echo $1", "`$1` is expanded"),
        ("echo $(ls)", "`$(…)` is expanded"),
        ("echo `ls`", "`` `…` `` is expanded"),
        ("diff <(ls) x", "`<(…)` is expanded"),
        ("ls *.py", "a glob pattern"),
        ("ls [ab].py", "a glob pattern"),
        ("ls ~/x", "`~` is expanded"),
        ("ls {a,b}", "`{…}` is expanded"),
        ("ls {1..3}", "`{…}` is expanded"),
        ("A=$B ls", "`$B` is expanded"),
        ("A=1", "no program is named"),
        ("export A=1", "`export` is a shell builtin"),
        ("source x", "`source` is a shell builtin"),
        ("! ls", "`!`"),
        ("if true; then ls; fi", "`if`"),
        ("(ls)", "`(`"),
        ("ls\nls", "several lines"),
    ],
)
def test_what_needs_a_shell_is_said(line: str, needs: str) -> None:
    parsed = parse_command(line)
    assert parsed.argv is None
    assert (parsed.shell_reason, parsed.problem) == (needs, "")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("ls 'a", "an unclosed quote"),
        ('ls "a', "an unclosed quote"),
        ("ls $(a", "an unclosed bracket"),
        ("ls `a", "an unclosed backtick"),
        ("ls ${a", "an unclosed brace"),
        ("ls)", "a closing bracket without an opening one"),
        ("a b (c)", "a misplaced bracket"),
        ("ls >", "a redirection without a target"),
        ("ls \\", "a `\\` at the end"),
        ("cat <<EOF\nx\nEOF", "a here-document"),
        ("echo $((1+1))", "arithmetic"),
        (r"echo $'\0'", "a `$'…'` that is not valid text"),
        ("", "it contains no command"),
        ("# only this", "it contains no command"),
        ("ls \u202ex", "a character that is invisible, U+202E (right-to-left override)"),
        ("ls \x1b[1m", "a character that is invisible, U+001B"),
        ("$(" * 30, "commands nested too deep"),
    ],
)
def test_what_cant_be_read_is_said(line: str, problem: str) -> None:
    parsed = parse_command(line)
    assert parsed.argv is None
    assert parsed.problem == problem


@pytest.mark.parametrize(
    ("line", "via"),
    [
        ("sudo -u root rm x", ("sudo",)),
        ("env A=1 rm x", ("env",)),
        ("env -S 'rm x'", ("env -S",)),
        ("timeout -k 5 60 nice -n 5 rm x", ("timeout", "nice")),
        ("xargs -0 -n1 rm x", ("xargs",)),
        ("sh -c 'rm x'", ("sh -c",)),
        ("bash -euo pipefail -c 'rm x' name", ("sh -c",)),
        ("bash -o pipefail -lc 'rm x'", ("sh -c",)),
        ("su root -c 'rm x'", ("su -c",)),
        ("eval rm x", ("eval",)),
        ("busybox rm x", ("busybox",)),
        ("nohup sudo sh -c 'exec rm x'", ("nohup", "sudo", "sh -c", "exec")),
        ("uv run --frozen rm x", ("uv run",)),
        ("pnpm --filter web exec rm x", ("pnpm exec",)),
        ("python3 -I -m rm x", ("python -m",)),
        ("(cd a; rm x)", ()),
        ("if rm x; then :; fi", ()),
        ("for a in b; do rm x; done", ()),
        ("f() { rm x; }", ()),
        ("echo $(rm x)", ("$(…)",)),
        ('echo "a ${b:-`rm x`}"', ("`…`",)),
        ("A=$(rm x) ls", ("$(…)",)),
        ("ls <(rm x)", ("<(…)",)),
        ("ls > $(rm x)", ("$(…)",)),
        ("[[ -n $(rm x) ]]", ("$(…)",)),
        ("cat <<EOF\nEOF\nrm x", ()),
        ("find . -exec rm x \\;", ("find -exec",)),
        ("fd . -x rm x", ("fd -exec",)),
        ("ssh host 'ls; rm x'", ("ssh",)),
    ],
)
def test_a_command_is_found_wherever_it_hides(line: str, via: tuple[str, ...]) -> None:
    assert ("rm", "x") in [command.argv for command in parse_command(line).simple_commands]
    assert via in [command.via for command in parse_command(line).simple_commands if command.argv == ("rm", "x")]


def test_what_only_runs_another_is_left_out_and_what_does_more_is_not() -> None:
    assert programs("timeout 60 pytest -q") == ["pytest -q"]
    assert programs("find . -exec wc {} +") == ["find . -exec wc {} +", "wc {}"]
    assert programs("./timeout 60 ls") == ["./timeout 60 ls", "ls"]
    assert programs("uv run --with x pytest")[-1] == "uv run --with x pytest"
    assert programs("timeout 60") == ["timeout 60"]


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        ("curl x | tee y | sh", ("curl", "tee")),
        ("(curl x; true) | sh", ("curl", "true")),
        ("{ curl x; } | sh", ("curl",)),
        ("curl x | (true; sh)", ("curl",)),
        ("curl x | while read a; do sh; done", ("curl",)),
        ("curl x; sh", ()),
        ("sh <(curl x)", ("curl",)),
        ("sh < x", ("<",)),
        ("sh <<< x", ("<<",)),
    ],
)
def test_what_feeds_a_program_is_known(line: str, reads: tuple[str, ...]) -> None:
    assert [command.piped_from for command in parse_command(line).simple_commands if command.argv[0] == "sh"] == [reads]


def test_files_that_redirections_write() -> None:
    (command,) = parse_command("ls > a 2>> b &> c >| d <> e < f 2>&1 >&2").simple_commands
    assert command.writes == ("a", "b", "c", "d", "e")


@given(SHELL)
@settings(max_examples=50)
def test_any_text_is_read(text: str) -> None:
    parsed = parse_command(text)
    assert (parsed.argv is None) == bool(parsed.shell_reason or parsed.problem)
    assert parse_command(text) == parsed


@pytest.mark.parametrize(
    "text",
    [
        "sudo " * 3000 + "rm",
        "(" * 3000,
        "`" * 3001,
        "$(" * 3000,
        "${" * 3000,
        "a<<b\n" * 3000,
        "\\`" * 500,
        "if " * 3000,
    ],
)
def test_long_texts_are_read(text: str) -> None:
    assert parse_command(text).simple_commands or parse_command(text).problem


def test_what_is_read_twice_at_each_level_ends() -> None:
    text = "ls"
    for _ in range(12):
        text = f'eval "$({text})"'
    assert len(parse_command(text).simple_commands) < 3000


@given(st.lists(WORD, min_size=1, max_size=5))
@settings(max_examples=50)
def test_quoted_words_are_those_of_shlex(words: list[str]) -> None:
    line = shlex.join(["echo", *words])
    assert parse_command(line).argv == tuple(shlex.split(line)) == ("echo", *words)


def test_what_a_long_pipe_reads_is_told_once() -> None:
    commands = parse_command("|".join(["a b"] * 2000)).simple_commands
    assert {command.piped_from for command in commands} == {(), ("a",)}
    assert [command.piped_from for command in parse_command("curl x | tee y | tee z | sh").simple_commands][-1] == (
        "curl",
        "tee",
    )
    assert parse_command("while a | b; do c; done | sh").simple_commands[-1].piped_from == ("a", "b", "c")


@pytest.mark.parametrize("text", ["''A=1 x", "A''=1 x", 'A""=1 x', "\\A=1 x"])
def test_quotes_in_the_name_of_a_variable_make_a_program_of_it(text: str) -> None:
    (command,) = parse_command(text).simple_commands
    assert (command.argv, command.assignments) == (("A=1", "x"), ())


@pytest.mark.parametrize("text", ["A=1 x", "A='1' x", "A=\\\n1 x", "B=2 \\\nA=1 x"])
def test_quotes_in_the_value_of_a_variable_do_not(text: str) -> None:
    (command,) = parse_command(text).simple_commands
    assert (command.argv, command.assignments[-1]) == (("x",), ("A", "1"))
