"""Measure the error of the token estimate against a real tokenizer on plans and code; with `--fit`, refit its weights.

It needs the extra `tokens`, and for plans a corpus: $EXECPLAN_CORPUS, else ../shared/corpus.
"""

from __future__ import annotations

import argparse
import os
import sys
import sysconfig
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from execplan.context.token_counter import (
    NON_ASCII_WEIGHTS,
    PAIR_WEIGHTS,
    count_patterns,
    estimate_tokens,
    make_counter,
)

ROOT = Path(__file__).resolve().parent.parent
HIGH = 1.02
"""Factor applied to the fitted weights, so that nine of ten plans are not underestimated."""
FITTED = (0x2E80, 0xAC00, 0xD7B0)
"""Non-ASCII character ranges that occur often enough in plans to be fitted."""
FEW = 12
"""Sampling interval for `--check`, which reads every twelfth file."""
MEDIAN, MOST = 0.03, 0.08
"""Maximum median and 95th percentile of the error for `--check`."""


class Sample(NamedTuple):
    """A text and its number of tokens."""

    kind: str
    text: str
    tokens: int


def samples(every: int) -> list[Sample]:
    """Return samples of the corpus, of Python's library and of this package, except empty and very long files.

    `every` is the sampling interval.
    """
    corpus = Path(os.environ.get("EXECPLAN_CORPUS") or ROOT.parent / "shared" / "corpus")
    library = Path(sysconfig.get_path("stdlib"))
    folders = {
        "plans": sorted(corpus.rglob("*.md")),
        "code": sorted([*library.glob("*.py"), *(ROOT / "execplan").rglob("*.py")]),
    }
    count, found = make_counter(exact=True).count, []
    for kind, paths in folders.items():
        for path in paths[::every]:
            text = path.read_text(encoding="utf-8", errors="replace")
            if 0 < len(text) < 400_000:
                found.append(Sample(kind, text, count(text)))
    return found


def errors(found: list[Sample], kind: str) -> list[float]:
    """Return the relative errors of the estimates of one kind, in ascending order."""
    return sorted([estimate_tokens(each.text) / each.tokens - 1 for each in found if each.kind == kind])


def table(found: list[Sample]) -> str:
    """Return the errors as a markdown table."""
    lines = [
        "| | texts | tokens | median error | 95th percentile | largest | too low |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in dict.fromkeys([each.kind for each in found]):
        missed = errors(found, kind)
        sizes = sorted([abs(each) for each in missed])
        median, most = sizes[len(sizes) // 2], sizes[int(len(sizes) * 0.95)]
        low = sum([each < 0 for each in missed]) / len(missed)
        tokens = sum([each.tokens for each in found if each.kind == kind])
        cells = [f"{each:.1%}" for each in (median, most, sizes[-1])]
        lines.append(f"| {kind} | {len(missed)} | {tokens:,} | {' | '.join(cells)} | {low:.0%} |")
    return "\n".join(lines)


def fit(found: list[Sample]) -> dict[str, int]:
    """Return the nonnegative weights with the least sum of squared relative errors; plans and code count equally."""
    names = [*PAIR_WEIGHTS, *[hex(end) for end in FITTED]]
    many = {kind: sum([each.kind == kind for each in found]) for kind in ("plans", "code")}
    square = [[0.0] * len(names) for _ in names]
    right = [0.0] * len(names)
    for each in found:
        beyond = _beyond(each.text)
        known = (
            sum([beyond[end] * weight for end, weight in NON_ASCII_WEIGHTS.items() if end not in FITTED]) / 1000 / HIGH
        )
        share = 1 / each.tokens / many[each.kind] ** 0.5
        row = [number * share for number in [*count_patterns(each.text), *[beyond[end] for end in FITTED]]]
        for at, one in enumerate(row):
            right[at] += one * (each.tokens - known) * share
            for to, other in enumerate(row):
                square[at][to] += one * other
    return {name: round(1000 * HIGH * weight) for name, weight in zip(names, _least(square, right), strict=True)}


def _least(square: list[list[float]], right: list[float]) -> list[float]:
    """Solve nonnegative least squares by coordinate descent."""
    best = [0.0] * len(right)
    for _ in range(3000):
        for at, line in enumerate(square):
            if line[at]:
                gap = right[at] - sum([one * other for one, other in zip(line, best, strict=True)])
                best[at] = max(0.0, best[at] + gap / line[at])
    return best


def _beyond(text: str) -> dict[int, int]:
    """Count the characters of a text in each range of `NON_ASCII_WEIGHTS`."""
    codes = [] if text.isascii() else [ord(char) for char in text if char > "\x7f"]
    ranges = pairwise([0x80, *NON_ASCII_WEIGHTS])
    return {end: sum([start <= code < end for code in codes]) for start, end in ranges}


def main() -> int:
    """Print the table and, with `--fit`, the weights; with `--check` return 1 if the error on a sample is too large."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="look at a few texts only; exit 1 when the error is too large"
    )
    parser.add_argument("--fit", action="store_true", help="print weights that are fitted anew")
    asked = parser.parse_args()
    found = samples(FEW if asked.check else 1)
    print(table(found))
    if asked.fit:
        print("\n".join([f'    "{name}": {weight},' for name, weight in fit(found).items()]))
    sizes = sorted([abs(each) for kind in ("plans", "code") for each in errors(found, kind)])
    return int(asked.check and (sizes[len(sizes) // 2] > MEDIAN or sizes[int(len(sizes) * 0.95)] > MOST))


if __name__ == "__main__":
    sys.exit(main())
