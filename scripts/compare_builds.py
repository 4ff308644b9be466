"""Compare the output of two installations on all real plans: `compare_builds.py DIRECTORY DIRECTORY`, byte for byte.

Each directory contains a package `execplan`, such as a checkout and an unpacked compiled wheel.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from corpus_location import CORPUS

_PLANS = Path(".agent", "execplans")
_PROJECT_COMMANDS = ("lint --no-cache", "lint --no-cache --json", "list --json", "explain --json")
_PLAN_COMMANDS = (
    "show --json",
    "show",
    "lint --no-cache --fix --dry-run",
    "done 1 --dry-run -p",
    "add Compare --dry-run -p",
    "decide Compare --why Outputs --dry-run -p",
    "reopen 1 --dry-run -p",
)
"""Commands to which the path of a plan is added; those that edit show the change."""


def record_outputs(repository: Path) -> dict[str, str]:
    """Return the exit status and digest of the output of each command, run in this process."""
    from execplan.cli.main import main
    from execplan.errors import INTERNAL_ERROR, USAGE
    from execplan.linter.runner import RULES

    os.chdir(repository)
    plans = sorted(_PLANS.glob("*.md"))
    lines = [
        *_PROJECT_COMMANDS,
        *[f"explain {code}" for code in RULES],
        *[f"{command} {plan}" for plan in plans for command in _PLAN_COMMANDS],
    ]
    outputs = {}
    for line in lines:
        sys.argv = ["execplan", *line.split()]
        data = io.BytesIO()
        with redirect_stdout(io.TextIOWrapper(data, "utf-8")) as out, redirect_stderr(out):
            status = main()
            out.flush()
        if status in (INTERNAL_ERROR, USAGE):
            raise SystemExit(f"{line}: {data.getvalue().decode()}")
        outputs[line] = f"{status} {hashlib.sha256(data.getvalue()).hexdigest()}"
    return outputs


def write_repository(repository: Path, corpus: Path) -> dict[str, str]:
    """Write all plans of a corpus into a new repository, and return the path of each in the corpus by its new path."""
    (repository / _PLANS).mkdir(parents=True)
    origins = {}
    for number, path in enumerate(sorted(corpus.rglob("*.md"))):
        plan = _PLANS / f"2026-01-02_plan-{number}.md"
        (repository / plan).write_bytes(path.read_bytes())
        origins[str(plan)] = str(path.relative_to(corpus))
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    return origins


def main() -> int:
    """Run all commands with both installations, and print those whose output differs; return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("installations", nargs=2, type=Path, metavar="DIRECTORY")
    parser.add_argument("--record", type=Path, metavar="REPOSITORY", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.record:
        print(json.dumps(record_outputs(arguments.record)))
        return 0
    if not CORPUS.is_dir():
        print(f"no corpus in {CORPUS}: nothing to compare")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        origins = write_repository(Path(scratch, "repository"), CORPUS)
        processes = [
            subprocess.Popen(
                [sys.executable, __file__, "--record", str(Path(scratch, "repository")), *arguments.installations],
                env={**os.environ, "PYTHONPATH": str(directory.resolve()), "SOURCE_DATE_EPOCH": "1767434400"},
                stdout=subprocess.PIPE,
            )
            for directory in arguments.installations
        ]
        first, second = [json.loads(process.communicate()[0]) for process in processes]
    differences = [line for line in first if first[line] != second.get(line)]
    for line in differences:
        plan = line.rpartition(" ")[2]
        print(f"{line}: {first[line][:12]} and {second[line][:12]}; {origins.get(plan, '')}", file=sys.stderr)
    print(f"{len(first)} outputs for {len(origins)} plans, {len(differences)} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
