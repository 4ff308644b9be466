"""Dangerous text that a step would write into a file: a person must approve such a step, whatever its type."""

from __future__ import annotations

from itertools import pairwise

from execplan.core.text.invisible_characters import describe_characters, find_hidden
from execplan.execution.risk.command_risk import CRITICAL, rate_simple
from execplan.execution.shell.command_line import parse_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.risk.risk_table import RiskTable

_RUNS_SHELL = "runs a command in a shell"
_RUNS_CODE = "runs text as code"
_PIPES_TO_SHELL = "pipes text into a shell"
_DANGER_SIGNS = (
    ("/dev/tcp/", "opens a network connection from the shell"),
    ("| sh", _PIPES_TO_SHELL),
    ("|sh", _PIPES_TO_SHELL),
    ("| bash", _PIPES_TO_SHELL),
    ("|bash", _PIPES_TO_SHELL),
    ("| sudo", "pipes text into a command that runs as root"),
    ("verify=False", "doesn't check certificates"),
    ("rm -rf /", "deletes everything from the root directory"),
    ("rm -fr /", "deletes everything from the root directory"),
    ("pickle.loads(", "loads pickled objects, which can run any code"),
    ("shell=True", _RUNS_SHELL),
    ("os.system(", _RUNS_SHELL),
    ("os.popen(", _RUNS_SHELL),
    ("system(", _RUNS_SHELL),
    ("shell_exec(", _RUNS_SHELL),
    ("child_process", _RUNS_SHELL),
    (".getRuntime().exec(", _RUNS_SHELL),
    ("eval(", _RUNS_CODE),
    ("exec(", _RUNS_CODE),
)
"""Signs of dangerous text, each with its effect."""
_SCRIPT_SUFFIXES = (".sh", ".bash", ".zsh", ".ksh")
_INTERPRETERS = ("sh", "bash", "dash", "zsh", "ksh")


def find_dangers(path: str, text: str, old_text: str, table: RiskTable) -> list[str]:
    """Return the dangerous effects of a text, without duplicates; what the file contained before does not count."""
    reasons = [reason for sign, reason in _DANGER_SIGNS if _count_sign(text, sign) > _count_sign(old_text, sign)]
    if _is_shell_script(path, text):
        old_lines = set(old_text.split("\n"))
        added_text = "\n".join([line for line in text.split("\n") if line not in old_lines])
        reasons += _critical_reasons(added_text, table)
    return list(dict.fromkeys(reasons))


def find_hidden_characters(text: str, old_text: str) -> list[str]:
    """Return the hidden characters in a text, without duplicates; what the file contained before does not count."""
    runs = [line[start:end] for line in text.split("\n") for start, end in find_hidden(line.removesuffix("\r"))]
    return [
        f"contains {describe_characters(run)}, which is invisible" for run in dict.fromkeys(runs) if run not in old_text
    ]


def patched_files(patch: str, target: str) -> list[tuple[str, str, str]]:
    """Return each file of a unified diff: its path, or the target if it has none, its added and its removed lines.

    A line that looks like a header begins another file, so that no line of a hunk is missed.
    """
    files: list[tuple[str, list[str], list[str]]] = [(target, [], [])]
    lines = patch.split("\n")
    for previous, line in pairwise(["", *lines]):
        if line.startswith("+++ ") and previous.startswith("--- "):
            files.append((line[4:].partition("\t")[0].removeprefix("b/"), [], []))
        elif line[:1] in ("+", "-"):
            _, added, removed = files[-1]
            (added if line[0] == "+" else removed).append(line[1:])
    return [(path, "\n".join(new), "\n".join(old)) for path, new, old in files if new or old]


def _critical_reasons(script: str, table: RiskTable) -> Iterator[str]:
    """Yield the reasons of the CRITICAL commands in a shell script."""
    for simple in parse_command(script).simple_commands:
        for risk in rate_simple(simple, table):
            if risk.level == CRITICAL:
                yield from risk.reasons


def _is_shell_script(path: str, text: str) -> bool:
    if path.endswith(_SCRIPT_SUFFIXES):
        return True
    first_line = text.partition("\n")[0]
    return first_line.startswith("#!") and first_line.rpartition("/")[2].rpartition(" ")[2] in _INTERPRETERS


def _count_sign(text: str, sign: str) -> int:
    """Return how often a sign occurs on its own: `eval(`, not `model.eval(`; `| sh`, not `| show` or `| sh |`."""
    pieces = text.split(sign)
    return sum([not _is_part_of_token(sign, left[-1:], right[:2]) for left, right in pairwise(pieces)])


def _is_part_of_token(sign: str, before: str, after: str) -> bool:
    """Return whether a sign is part of another name, a cell of a table, or the start of a longer path."""
    if sign[0].isalpha() and (before.isalnum() or before in ("_", ".")):
        return True
    if sign[-1] == "(" or sign[0] == "/" or not after:
        return False
    return after[0].isalnum() or after[0] in ("_", "-", ".") or after.lstrip()[:1] == "|"
