"""How often the table of risks is right: on the commands of the tests, or on files with a command a line.

`risk_rates.py` prints both rates and every miss; `risk_rates.py hostile FILE` and `risk_rates.py everyday FILE` those of a file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from execplan.execution.risk import CRITICAL, HIGH, LOW, MEDIUM, builtin, rate_command

SETS = Path(__file__).resolve().parent.parent / "tests" / "execution"
WANTED = {"hostile": (HIGH, CRITICAL), "everyday": (LOW, MEDIUM)}
"""What each set is to be rated as."""


class Rates(NamedTuple):
    """How a set was rated."""

    right: int
    total: int
    missed: list[str]
    """What was rated otherwise, each with why."""

    def line(self, name: str) -> str:
        """The rate in words."""
        wanted = " or ".join(WANTED[name])
        return f"risk: {self.right} of {self.total} {name} commands are {wanted}"


def rates(name: str, path: Path) -> Rates:
    """Rate every command of a file, a line each."""
    commands = [line for line in path.read_text(encoding="utf-8").split("\n") if line]
    missed = []
    for command in commands:
        risk = rate_command(command, builtin())
        if risk.level not in WANTED[name]:
            missed.append(f"{risk.level}  {command}  ({'; '.join(risk.reasons)})")
    return Rates(len(commands) - len(missed), len(commands), missed)


def main(arguments: list[str]) -> int:
    """Print the rates; the exit status is 1 when something was missed."""
    chosen = {arguments[0]: Path(arguments[1])} if arguments else {name: SETS / f"{name}.tsv" for name in WANTED}
    missed = []
    for name, path in chosen.items():
        found = rates(name, path)
        missed += found.missed
        print("\n".join([found.line(name), *found.missed]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
