"""Dangerous text that a step would write into a file: a person must approve such a step, whatever its type."""

from __future__ import annotations

from itertools import pairwise

from execplan.execution.command.parse import parse
from execplan.execution.risk.rate import CRITICAL, rate_simple
from execplan.text.hidden import hidden_in, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.risk.table import Table

_SHELL = "runs a command in a shell"
_CODE = "runs text as code"
_PIPED = "pipes text into a shell"
_SIGNS = (
    ("/dev/tcp/", "opens a network connection from the shell"),
    ("| sh", _PIPED),
    ("|sh", _PIPED),
    ("| bash", _PIPED),
    ("|bash", _PIPED),
    ("| sudo", "pipes text into a command that runs as root"),
    ("verify=False", "does not check certificates"),
    ("rm -rf /", "deletes everything from the root directory"),
    ("rm -fr /", "deletes everything from the root directory"),
    ("pickle.loads(", "loads pickled objects, which can run any code"),
    ("shell=True", _SHELL),
    ("os.system(", _SHELL),
    ("os.popen(", _SHELL),
    ("system(", _SHELL),
    ("shell_exec(", _SHELL),
    ("child_process", _SHELL),
    (".getRuntime().exec(", _SHELL),
    ("eval(", _CODE),
    ("exec(", _CODE),
)
"""What dangerous text looks like, and what it does."""
_SCRIPTS = (".sh", ".bash", ".zsh", ".ksh")
_INTERPRETERS = ("sh", "bash", "dash", "zsh", "ksh")


def dangers(path: str, text: str, before: str, table: Table) -> list[str]:
    """What the text does that a person should read first, each once; what the file held before does not count."""
    found = [what for sign, what in _SIGNS if _count(text, sign) > _count(before, sign)]
    if _is_shell_script(path, text):
        known = set(before.split("\n"))
        lines = "\n".join([line for line in text.split("\n") if line not in known])
        found += _critical(lines, table)
    return list(dict.fromkeys(found))


def hidden_characters(text: str, before: str) -> list[str]:
    """What the text holds that nobody can see, each once; what the file held before does not count."""
    chars = [line[start:end] for line in text.split("\n") for start, end in hidden_in(line.removesuffix("\r"))]
    return [f"holds {shown(each)}, which nobody can see" for each in dict.fromkeys(chars) if each not in before]


def patched(patch: str, target: str) -> list[tuple[str, str, str]]:
    """Each file of a unified diff: its path, or the target where the diff has none, the lines added and those removed.

    A line that looks like a header begins another file, so that no line of a hunk is passed over.
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


def _critical(script: str, table: Table) -> Iterator[str]:
    """The reasons of the CRITICAL commands in a shell script."""
    for simple in parse(script).simple:
        for risk in rate_simple(simple, table):
            if risk.level == CRITICAL:
                yield from risk.reasons


def _is_shell_script(path: str, text: str) -> bool:
    if path.endswith(_SCRIPTS):
        return True
    first = text.partition("\n")[0]
    return first.startswith("#!") and first.rpartition("/")[2].rpartition(" ")[2] in _INTERPRETERS


def _count(text: str, sign: str) -> int:
    """How often a sign is in a text on its own: `eval(`, not `model.eval(`; `| sh`, not `| show` or `| sh |`."""
    pieces = text.split(sign)
    return sum([not _is_part(sign, left[-1:], right[:2]) for left, right in pairwise(pieces)])


def _is_part(sign: str, before: str, after: str) -> bool:
    """Whether a sign is part of another name, a cell of a table, or the start of a longer path."""
    if sign[0].isalpha() and (before.isalnum() or before in ("_", ".")):
        return True
    if sign[-1] == "(" or sign[0] == "/" or not after:
        return False
    return after[0].isalnum() or after[0] in ("_", "-", ".") or after.lstrip()[:1] == "|"
