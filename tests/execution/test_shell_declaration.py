"""What is written into a plan for a command that needs a shell."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from execplan.execution.shell_declaration import hides_failure, needs_bash, shell_fix, shell_use

NEEDS = {
    "make test": ("", False, False),
    "make a && make b": ("`&&`", False, False),
    "grep -q x a.txt || true": ("`||`", False, False),
    "make test 2>&1 | tee out.log": ("a pipe", True, True),
    "make test | tee -a out.log 2>&1": ("a pipe", True, True),
    "set -o pipefail; make test | tee out.log": ("`;`", True, False),
    "make list | tee out.log | sort": ("a pipe", False, False),
    "make test || tee out.log": ("`||`", False, False),
    "grep -n '| tee' notes.md": ("", False, False),
    "diff <(sort a) <(sort b)": ("a process substitution", True, False),
    "[[ -f a ]] && make": ("`[[`", True, False),
    "echo '[[ x ]]' > a": ("a redirection", False, False),
    "touch {a,b}.txt": ("a brace expansion", True, False),
    "source .venv/bin/activate && pytest": ("`source`", True, False),
}


@pytest.mark.parametrize("command", NEEDS)
def test_what_a_command_needs(command: str) -> None:
    use, bash, hides = NEEDS[command]
    assert bool(shell_use(command)) == bool(use), shell_use(command)
    assert (needs_bash(command), hides_failure(command)) == (bash, hides)


def test_the_line_above_a_pipe_shows_a_failure(tmp_path: object) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    command = "false 2>&1 | tee out.log"
    assert subprocess.run([bash, "-c", command], cwd=str(tmp_path), check=False).returncode == 0
    script = f"set -o pipefail\n{command}"
    assert subprocess.run([bash, "-c", script], cwd=str(tmp_path), check=False).returncode == 1


def test_the_edit_depends_on_the_code_block() -> None:
    in_block = "add `shell` to the attributes of its code block, or run `execplan compile --annotate`"
    assert shell_fix("a && b") == in_block
    assert shell_fix("a && b", is_alone=False) == "move it to a code block of its own, with the attribute `shell`"
    assert "`shell=bash` to the attributes of its code block and the line `set -o pipefail`" in shell_fix("a | tee b")
    assert shell_fix("a && b", is_inferred=True).startswith("`execplan compile --annotate`")
