"""Dangers in the text of files: of Python by what it calls, of other languages by the signs in dangers.toml."""

from __future__ import annotations

from itertools import pairwise

from execplan.core import features
from execplan.core.text.pure_paths import matches_glob
from execplan.execution.risk.command_risk import CRITICAL, rate_simple
from execplan.execution.shell.command_line import parse_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.risk.risk_table import RiskTable

_SHELL_SUFFIXES = (".sh", ".bash", ".zsh", ".ksh")
_PYTHON_SUFFIXES = (".py", ".pyw", ".pyi")
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh")


def find_dangers(path: str, text: str, old_text: str, table: RiskTable) -> list[str]:
    """Return the dangerous effects of a text, without duplicates; what the file contained before does not count."""
    if _is_python(path, text) and (python_effects := _find_python_effects(text, old_text, table)) is not None:
        return python_effects
    reasons = [reason for sign, reason in _signs(path, text) if _count_sign(text, sign) > _count_sign(old_text, sign)]
    if _is_shell_script(path, text):
        old_lines = set(old_text.split("\n"))
        added_text = "\n".join([line for line in text.split("\n") if line not in old_lines])
        reasons += _critical_reasons(added_text, table)
    return list(dict.fromkeys(reasons))


def runs_unasked(path: str) -> bool:
    """Return whether the code of a file runs although no step starts it: at a test, an installation or a commit."""
    from execplan.execution.risk.dangers_data import DATA

    *directories, name = path.split("/")
    if not set(directories).isdisjoint(DATA["unasked_directories"]):
        return True
    return any([matches_glob(name, pattern) for pattern in DATA["unasked_files"]])


def _find_python_effects(text: str, old_text: str, table: RiskTable) -> list[str] | None:
    """Return the new dangerous effects of a Python file; None if it can't be parsed."""
    find_python_dangers = features.load(features.PYTHON_DANGERS)
    effects = find_python_dangers(text, table)
    if effects is None:
        return None
    remaining = list(find_python_dangers(old_text, table) or ())
    new_effects = []
    for effect in effects:
        if effect in remaining:
            remaining.remove(effect)
        else:
            new_effects.append(effect)
    return list(dict.fromkeys(new_effects))


def _signs(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the signs that count in a file, each with its effect."""
    from execplan.execution.risk.dangers_data import DATA

    name = path.rpartition("/")[2]
    suffix = f".{name.rpartition('.')[2].lower()}" if "." in name.strip(".") else ""
    for texts, effect, suffixes, required_text in DATA["signs"]:
        if (not suffixes or suffix in suffixes) and required_text in text:
            yield from [(sign, effect) for sign in texts]


def _critical_reasons(script: str, table: RiskTable) -> Iterator[str]:
    """Yield the reasons of the CRITICAL commands in a shell script."""
    for simple in parse_command(script).simple_commands:
        for risk in rate_simple(simple, table):
            if risk.level == CRITICAL:
                yield from risk.reasons


def _is_python(path: str, text: str) -> bool:
    return path.endswith(_PYTHON_SUFFIXES) or "python" in _shebang_program(text)


def _is_shell_script(path: str, text: str) -> bool:
    return path.endswith(_SHELL_SUFFIXES) or _shebang_program(text) in _SHELLS


def _shebang_program(text: str) -> str:
    first_line = text.partition("\n")[0]
    return first_line.rpartition("/")[2].rpartition(" ")[2] if first_line.startswith("#!") else ""


def _count_sign(text: str, sign: str) -> int:
    """Return how often a sign occurs on its own: `eval(`, not `model.eval(`; `| sh`, not `| show` or `| sh |`."""
    pieces = text.split(sign)
    return sum([not _is_part_of_token(sign, left[-1:], right[:2]) for left, right in pairwise(pieces)])


def _is_part_of_token(sign: str, before: str, after: str) -> bool:
    """Return whether a sign is part of another name, a cell of a table, or the start of a longer path."""
    if sign[0].isalpha() and (before.isalnum() or before in ("_", ".")):
        return True
    if "(" in sign or sign[0] == "/" or not (sign[-1].isalnum() or sign[-1] == "/") or not after:
        return False
    return after[0].isalnum() or after[0] in ("_", "-", ".") or after.lstrip()[:1] == "|"
