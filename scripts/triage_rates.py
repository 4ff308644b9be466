"""Measure the accuracy of triage on the labeled test requests, and on the titles and purposes of real plans.

`triage_rates.py` prints the confusion matrix and the calibration of each set. With `-v` it also prints the requests
with a wrong verdict, from the sets for which cues were written; held-out requests are only counted.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from execplan.context.triage.triage_evaluation import evaluate_triage
from execplan.core.errors import ExecplanError
from execplan.core.plan import outline, reader
from tests.conftest import find_corpus
from tests.context.triage import rates


def main(arguments: list[str]) -> int:
    """Print the rates; return 1 if a request that needs a plan was judged to need none."""
    wrong = 0
    for path in (rates.FITTED, rates.FURTHER, rates.HELD_OUT):
        requests = rates.evaluate_requests(path)
        print("\n".join(_table(path.stem, requests)))
        if "-v" in arguments and path != rates.HELD_OUT:
            missed = [
                request for request in requests if request.triage.verdict != rates.EXPECTED_VERDICTS[request.label]
            ]
            print(
                "\n".join(
                    [
                        f"{request.triage.verdict} {request.triage.confidence:.2f}  {request.request}"
                        for request in missed
                    ]
                )
            )
        wrong += rates.confusion(requests)["plan", "none"]
    corpus = find_corpus()
    if corpus is not None:
        print("\n".join(_plans(corpus)))
    return 1 if wrong else 0


def _table(name: str, requests: list[rates.LabelledTriage]) -> list[str]:
    """Return the confusion matrix and the calibration of a set, in the format of the page."""
    counts = rates.confusion(requests)
    lines = [f"{name}: {len(requests)} requests, Brier score {rates.brier(requests):.3f}", ""]
    lines += [f"| labelled | {' | '.join(rates.VERDICTS)} |", "|---|---|---|---|"]
    for label in rates.EXPECTED_VERDICTS:
        lines.append(f"| {label} | {' | '.join([str(counts[label, verdict]) for verdict in rates.VERDICTS])} |")
    lines += ["", "| confidence that none is needed | requests | mean confidence | small |", "|---|---|---|---|"]
    for bucket in rates.calibration(requests):
        share = f"{bucket.small / bucket.total:.2f}" if bucket.total else "-"
        lines.append(f"| {bucket.lower:g} to {min(bucket.upper, 1):g} | {bucket.total} | {bucket.mean:.2f} | {share} |")
    return [*lines, ""]


def _plans(corpus: Path) -> list[str]:
    """Return the verdicts on the titles and on the first paragraphs of the purposes of all plans in a directory."""
    titles: Counter[str] = Counter()
    purposes: Counter[str] = Counter()
    for path in sorted(corpus.glob("*/*.md")):
        try:
            plan = reader.read(path.read_bytes())
        except ExecplanError:
            continue
        if plan.title:
            titles[evaluate_triage(plan.title).verdict] += 1
        section = plan.section(outline.PURPOSE)
        lines = plan.text.lines[section.start + 1 : section.end] if section is not None else []
        paragraph = "\n".join(lines).strip().split("\n\n")[0]
        if paragraph:
            purposes[evaluate_triage(paragraph).verdict] += 1
    return [
        f"{name}: {', '.join([f'{counts[verdict]} {verdict}' for verdict in rates.VERDICTS])}"
        for name, counts in (("titles of plans", titles), ("first paragraphs of purposes", purposes))
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
