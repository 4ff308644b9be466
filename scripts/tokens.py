"""The error of the estimate of tokens beside a real tokenizer, over real plans and code; with `--fit`, its weights anew.

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
"""How much higher than fitted: nine of ten plans are then not taken for shorter than they are."""
FITTED = (0x2E80, 0xAC00, 0xD7B0)
"""The characters beyond ASCII of which plans hold enough."""
FEW = 12
"""Every so manieth plan is looked at with `--check`."""
MEDIAN, MOST = 0.03, 0.08
"""What `--check` lets the median and the 95th percentile of the error be."""


class Sample(NamedTuple):
    """A text, and the tokens that it takes."""

    kind: str
    text: str
    tokens: int


def samples(every: int) -> list[Sample]:
    """Plans of the corpus and modules of Python's library and of ours; those that are empty or too long left out."""
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
    """By how much of itself each count is missed, the lowest first."""
    return sorted([estimate_tokens(each.text) / each.tokens - 1 for each in found if each.kind == kind])


def table(found: list[Sample]) -> str:
    """The errors, as markdown."""
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
    """The weights, none below nothing, that make the sum of the squares of relative errors least: plans and code count alike."""
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
    """The best numbers that are not below nothing, one coordinate at a time."""
    best = [0.0] * len(right)
    for _ in range(3000):
        for at, line in enumerate(square):
            if line[at]:
                gap = right[at] - sum([one * other for one, other in zip(line, best, strict=True)])
                best[at] = max(0.0, best[at] + gap / line[at])
    return best


def _beyond(text: str) -> dict[int, int]:
    """How many characters of a text are in each range of OTHERS."""
    codes = [] if text.isascii() else [ord(char) for char in text if char > "\x7f"]
    ranges = pairwise([0x80, *NON_ASCII_WEIGHTS])
    return {end: sum([start <= code < end for code in codes]) for start, end in ranges}


def main() -> int:
    """Print the table, the weights, or with `--check` whether the error of a few texts is within bounds."""
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
