"""Measure the error of the token estimate against a real tokenizer on plans and code; with `--fit`, refit its weights.

It needs the extra `tokens`, and for plans a corpus: $EXECPLAN_CORPUS, else ../shared/corpus.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from corpus_location import CORPUS

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
MEDIAN_LIMIT, PERCENTILE_LIMIT = 0.03, 0.08
"""Maximum median and 95th percentile of the error for `--check`."""


class Sample(NamedTuple):
    """A text and its number of tokens."""

    kind: str
    text: str
    tokens: int


def samples() -> list[Sample]:
    """Return the plans of the corpus and as many files of Python's library and of this package; no empty or very long ones.

    The files are spread evenly over all, so that the growth of this package does not change what the error is about.
    """
    plans = sorted(CORPUS.rglob("*.md"))
    code = sorted([*Path(sysconfig.get_path("stdlib")).glob("*.py"), *(ROOT / "execplan").rglob("*.py")])
    spread = code[:: -(-len(code) // len(plans))]
    count, collected = make_counter(exact=True).count, []
    for kind, paths in (("plans", plans), ("code", spread)):
        for path in paths:
            text = path.read_text(encoding="utf-8", errors="replace")
            if 0 < len(text) < 400_000:
                collected.append(Sample(kind, text, count(text)))
    return collected


def errors(texts: list[Sample], kind: str) -> list[float]:
    """Return the relative errors of the estimates of one kind, in ascending order."""
    return sorted([estimate_tokens(sample.text) / sample.tokens - 1 for sample in texts if sample.kind == kind])


def table(texts: list[Sample]) -> str:
    """Return the errors as a markdown table."""
    lines = [
        "| | texts | tokens | median error | 95th percentile | largest | too low |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in dict.fromkeys([sample.kind for sample in texts]):
        missed = errors(texts, kind)
        sizes = sorted([abs(error) for error in missed])
        median, percentile = sizes[len(sizes) // 2], sizes[int(len(sizes) * 0.95)]
        low = sum([error < 0 for error in missed]) / len(missed)
        tokens = sum([sample.tokens for sample in texts if sample.kind == kind])
        cells = [f"{figure:.1%}" for figure in (median, percentile, sizes[-1])]
        lines.append(f"| {kind} | {len(missed)} | {tokens:,} | {' | '.join(cells)} | {low:.0%} |")
    return "\n".join(lines)


def fit(texts: list[Sample]) -> dict[str, int]:
    """Return the nonnegative weights with the least sum of squared relative errors; plans and code count equally."""
    names = [*PAIR_WEIGHTS, *[hex(end) for end in FITTED]]
    counts = {kind: sum([sample.kind == kind for sample in texts]) for kind in ("plans", "code")}
    square = [[0.0] * len(names) for _ in names]
    right = [0.0] * len(names)
    for sample in texts:
        range_counts = _non_ascii_counts(sample.text)
        fixed_tokens = (
            sum([range_counts[end] * weight for end, weight in NON_ASCII_WEIGHTS.items() if end not in FITTED])
            / 1000
            / HIGH
        )
        share = 1 / sample.tokens / counts[sample.kind] ** 0.5
        row = [number * share for number in [*count_patterns(sample.text), *[range_counts[end] for end in FITTED]]]
        for at, row_value in enumerate(row):
            right[at] += row_value * (sample.tokens - fixed_tokens) * share
            for to, column_value in enumerate(row):
                square[at][to] += row_value * column_value
    return {
        name: round(1000 * HIGH * weight)
        for name, weight in zip(names, _nonnegative_least_squares(square, right), strict=True)
    }


def _nonnegative_least_squares(square: list[list[float]], right: list[float]) -> list[float]:
    """Solve nonnegative least squares by coordinate descent."""
    best = [0.0] * len(right)
    for _ in range(3000):
        for at, line in enumerate(square):
            if line[at]:
                gap = right[at] - sum(
                    [coefficient * solution for coefficient, solution in zip(line, best, strict=True)]
                )
                best[at] = max(0.0, best[at] + gap / line[at])
    return best


def _non_ascii_counts(text: str) -> dict[int, int]:
    """Count the characters of a text in each range of `NON_ASCII_WEIGHTS`."""
    codes = [] if text.isascii() else [ord(char) for char in text if char > "\x7f"]
    ranges = pairwise([0x80, *NON_ASCII_WEIGHTS])
    return {end: sum([start <= code < end for code in codes]) for start, end in ranges}


def main() -> int:
    """Print the table and, with `--fit`, the weights; with `--check` return 1 if the error is too large."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 if the error is too large")
    parser.add_argument("--fit", action="store_true", help="print refitted weights")
    arguments = parser.parse_args()
    texts = samples()
    print(table(texts))
    if arguments.fit:
        print("\n".join([f'    "{name}": {weight},' for name, weight in fit(texts).items()]))
    sizes = sorted([abs(error) for kind in ("plans", "code") for error in errors(texts, kind)])
    return int(
        arguments.check and (sizes[len(sizes) // 2] > MEDIAN_LIMIT or sizes[int(len(sizes) * 0.95)] > PERCENTILE_LIMIT)
    )


if __name__ == "__main__":
    sys.exit(main())
