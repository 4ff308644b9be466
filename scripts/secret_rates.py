"""Measure the recall of secret detection on labeled sets, and its false positives on real texts without secrets.

`secret_rates.py` prints the rates of the labeled sets, every miss, and the results for the plan corpus
(../shared/corpus or EXECPLAN_CORPUS) and this repository's own source. With `--labelled` it prints only the first two.
The exit status is 1 if a labeled secret was missed or a labeled clean text was changed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from corpus_location import CORPUS

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from tests.core.secrets.rates import CLEAN, SETS, in_files, markdown_table, precision, recall

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    """Print the rates; return 1 if a labeled text has a wrong result."""
    print(markdown_table())
    wrong = [*map(recall, SETS), *map(precision, CLEAN)]
    for rate in wrong:
        print("\n".join([f"{rate.name}: {miss}" for miss in rate.wrong]), end="\n" if rate.wrong else "")
    if "--labelled" not in arguments:
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        source_files = [ROOT / name for name in listed.split("\n") if name and not name.startswith("tests/")]
        for title, paths in (("corpus", sorted(CORPUS.rglob("*.md"))), ("own source without tests", source_files)):
            begun = time.process_time()
            files, size, detections = in_files(paths)
            took = time.process_time() - begun
            print(
                f"{title}: {files} files, {size:,} characters, {len(detections)} places, {took:.1f} s of processor time"
            )
            print("\n".join([f"  {detection}" for detection in detections]))
    return 1 if any([rate.wrong for rate in wrong]) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
