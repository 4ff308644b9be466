"""How often the table of risks is right on a file with a command a line."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from execplan.execution.risk.command_risk import CRITICAL, HIGH, LOW, MEDIUM, builtin_table, rate_command

SETS = Path(__file__).resolve().parent
EXPECTED_LEVELS = {"hostile": (HIGH, CRITICAL), "everyday": (LOW, MEDIUM)}
"""What each set is to be rated as."""


class Rates(NamedTuple):
    """How a set was rated."""

    right: int
    total: int
    missed: list[str]
    """What was rated otherwise, each with why."""

    def line(self, name: str) -> str:
        """The rate in words."""
        levels = " or ".join(EXPECTED_LEVELS[name])
        return f"risk: {self.right} of {self.total} {name} commands are {levels}"


def rates(name: str, path: Path) -> Rates:
    """Rate every command of a file, a line each."""
    commands = [line for line in path.read_text(encoding="utf-8").split("\n") if line]
    missed = []
    for command in commands:
        risk = rate_command(command, builtin_table())
        if risk.level not in EXPECTED_LEVELS[name]:
            missed.append(f"{risk.level}  {command}  ({'; '.join(risk.reasons)})")
    return Rates(len(commands) - len(missed), len(commands), missed)
