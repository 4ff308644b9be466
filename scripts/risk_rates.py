"""Measure the precision of the risk table on the test commands, or on files with one command per line.

`risk_rates.py` prints both rates and every miss; `risk_rates.py hostile FILE` and `risk_rates.py everyday FILE` print
those of a file.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from tests.execution.risk.rates import EXPECTED_LEVELS, SETS, rates


def main(arguments: list[str]) -> int:
    """Print the rates; return 1 if a command was rated wrong."""
    chosen = (
        {arguments[0]: Path(arguments[1])} if arguments else {name: SETS / f"{name}.tsv" for name in EXPECTED_LEVELS}
    )
    missed = []
    for name, path in chosen.items():
        set_rates = rates(name, path)
        missed += set_rates.missed
        print("\n".join([set_rates.line(name), *set_rates.missed]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
