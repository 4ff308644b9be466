"""However a command is quoted it is the same, and nothing that is taken for it is another one: real shells are the judges."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.agents.guard.guard_context import GuardScope, PlannedStep
from execplan.agents.guard.step_matching import StepMatch, match_call
from tests.agents.guard.matched_plan import cmd, with_root

SHELLS = [shell for shell in ("dash", "bash", "zsh", "sh") if shutil.which(shell)]
PROBE = """#!/bin/sh
for each; do printf '%s\\001' "$each"; done
printf 'LEVEL=%s\\001MORE=%s\\001' "${LEVEL-}" "${MORE-}"
pwd -P
"""
ALPHABET = "ab1 '\"\\$`*?[]{}(),;&|<>~#=!%^-./:@+_\t\né"
WORD = st.text(ALPHABET, max_size=8)
ARGV = st.lists(WORD, max_size=3)
SAFE = frozenset("ab1%-./:@+_é")


def _step(argv: list[str], env: dict[str, str], cwd: str) -> PlannedStep:
    fields = {"number": 1, "id": "s1", "type": "execute_command", "command": "probe", "argv": ["probe", *argv]}
    return PlannedStep({**fields, "env": env, "cwd": cwd}, "HIGH")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = Path(os.path.realpath(tmp_path_factory.mktemp("shells")))
    for name in ("bin", "sub", "sub/sub", "sub/a", "sub/sub/a", "a", "b"):
        (root / name).mkdir()
    (root / "1").write_text("")
    for name in ("probe", "a", "ab"):
        path = root / "bin" / name
        path.write_text(PROBE.replace("for each", f"printf '%s\\001' {name}; for each"))
        path.chmod(0o755)
    for name in ("cat", "tail", "env", "timeout"):
        (root / "bin" / name).symlink_to(shutil.which(name) or name)
    (root / "link").symlink_to("sub")
    return root


def _matching_steps(text: str, planned: PlannedStep, root: Path, cwd: str) -> tuple[StepMatch, ...]:
    around = GuardScope(str(root), {}, {}, lambda path: "", {}, lambda path, state: None)
    return match_call(with_root(cmd(text, f"{{root}}/{cwd}"), root), [planned], around, "inside").matches


def _run_in_shell(text: str, shell: str, root: Path, cwd: str) -> str:
    env = {"PATH": f"{root}/bin", "LC_ALL": "C.UTF-8", "HOME": str(root)}
    completed = subprocess.run(
        [shutil.which(shell) or shell, "-c", text], cwd=root / cwd, env=env, capture_output=True, text=True, check=False
    )
    return completed.stdout


def _expected(planned: PlannedStep, root: Path) -> str:
    arguments = "".join([f"{word}\x01" for word in planned.step["argv"]])
    env = planned.step["env"]
    cwd = os.path.realpath(root / planned.step["cwd"])
    return f"{arguments}LEVEL={env.get('LEVEL', '')}\x01MORE={env.get('MORE', '')}\x01{cwd}\n"


@st.composite
def quoted(draw: st.DrawFn, word: str) -> str:
    """A word in any of the ways in which it can be typed."""
    pieces = []
    for char in word:
        ways = [f"'{char}'"] if char != "'" else ["\\'", '"\'"']
        ways += [f'"{char}"'] if char not in '"\\$`!' else []
        ways += [f"\\{char}"] if char != "\n" else []
        ways += [char] * 3 if char in SAFE else []
        pieces.append(draw(st.sampled_from(ways)))
    return "".join(pieces) or draw(st.sampled_from(["''", '""']))


@given(data=st.data(), argv=ARGV)
@settings(max_examples=80)
def test_any_quoting_of_a_command_is_the_command(data: st.DataObject, argv: list[str], root: Path) -> None:
    if any(["\n" in word or "\t" in word for word in argv]):
        argv = [word.replace("\n", "n").replace("\t", "t") for word in argv]
    between = st.sampled_from([" ", "  ", "\t", " \\\n "])
    text = data.draw(quoted("probe"))
    for word in argv:
        text += data.draw(between) + data.draw(quoted(word))
    assert _matching_steps(text, _step(argv, {}, "."), root, "."), text


FRAGMENTS = [
    "probe",
    " ",
    "a",
    "b",
    "1",
    "'",
    '"',
    "\\",
    "$",
    "`",
    "*",
    "?",
    "[",
    "]",
    "{",
    "}",
    ",",
    "(",
    ")",
    ";",
    "&",
    "&&",
]
FRAGMENTS += [
    "|",
    ">",
    "<",
    "~",
    "#",
    "=",
    "!",
    "\n",
    "\t",
    "cd sub && ",
    "cd .. && ",
    "cd link && ",
    "LEVEL=1 ",
    "MORE=2 ",
]
FRAGMENTS += ["$'a'", "a=~", "=a", "{a,b}", "[ab]", "a/..", "./", "--", "é", "\u00a0", "+="]
FRAGMENTS += [
    " 2>&1",
    " </dev/null",
    " | cat",
    " | tail -50",
    "; true",
    " && true",
    " || true",
    "; ",
    "true && ",
    "false || ",
]
FRAGMENTS += [
    "set -e; ",
    "test -e a && ",
    "[ -e a ] && ",
    "timeout 9 ",
    "env ",
    "CI=1 ",
    "NO_COLOR=1 ",
    " 2>&-",
    " 2>1",
]


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    """A text that is like a command: parts of it are added, taken out or doubled."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = at + draw(st.integers(0, 2))
        text = text[:at] + draw(st.sampled_from(["", *FRAGMENTS])) + text[end:]
    return text


@given(data=st.data())
@settings(max_examples=300)
def test_what_is_taken_for_a_command_is_that_command_in_real_shells(data: st.DataObject, root: Path) -> None:
    argv = data.draw(st.lists(st.sampled_from(["a", "ab", "a b", "*", "~", "", "#", "a=~", "[ab]", "1"]), max_size=2))
    env = data.draw(st.sampled_from([{}, {"LEVEL": "1"}, {"LEVEL": "a b"}]))
    planned = _step(argv, env, data.draw(st.sampled_from([".", "sub"])))
    front = "".join([f"{name}='{value}' " for name, value in env.items()])
    body = " ".join(["probe", *[word if word.isalnum() else f"'{word}'" for word in argv]])
    moved = "cd sub && " if planned.step["cwd"] == "sub" else ""
    text = data.draw(mutated(f"{moved}{front}{body}"))
    cwd = data.draw(st.sampled_from([".", ".", "sub"]))
    if _matching_steps(text, planned, root, cwd):
        for shell in SHELLS:
            assert _run_in_shell(text, shell, root, cwd) == _expected(planned, root), (shell, text)
