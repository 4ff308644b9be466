"""How much the detector of secrets finds, and how much it takes for a secret that is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.core.secrets.all_secrets import find_secret_spans
from execplan.core.secrets.redaction import Redactor
from tests.core.secrets.secret_samples import forms, readable, remaining_secret

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SETS = {
    "forms.tsv": "our forms, in every syntax that we know of",
    "held_out.tsv": "our second set, written before the detector",
    "gitleaks.tsv": "the rules of gitleaks 8.30.1, one sample or more of each",
    "credsweeper.tsv": "the token rules of CredSweeper 1.19.5, one sample of each",
}
FIRST_MEASURED = {"forms.tsv": 149, "held_out.tsv": 176, "gitleaks.tsv": 250, "credsweeper.tsv": 56}
"""How many were found when each set was first measured, before anything was changed for what was missed."""
OTHER_TOOLS = {"forms.tsv": (64, 53), "held_out.tsv": (79, 55), "gitleaks.tsv": (237, 64), "credsweeper.tsv": (20, 5)}
"""How many gitleaks 8.30.1 and detect-secrets 1.5.0 found with their own settings, a file for each secret."""
CLEAN = {"readable.tsv": "texts without secrets", "held_out_readable.tsv": "our second set of these"}


class Rate(NamedTuple):
    """What was measured of one table."""

    name: str
    total: int
    wrong: list[str]
    """What was missed, or changed."""


def recall(name: str) -> Rate:
    """Which secrets of a table are not redacted."""
    redaction = Redactor({}, ())
    labelled = forms(name)
    return Rate(
        name,
        len(labelled),
        [form.name for form in labelled if remaining_secret(form, redaction.redact_text(form.text))],
    )


def precision(name: str) -> Rate:
    """Which texts of a table do not come out as they went in."""
    redaction = Redactor({}, ())
    labelled = readable(name)
    return Rate(name, len(labelled), [title for title, text in labelled if redaction.redact_text(text) != text])


def in_files(paths: Iterable[Path]) -> tuple[int, int, list[str]]:
    """How many files and characters there are, and each place that is taken for a secret, with its file and line."""
    files = size = 0
    locations = []
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        files, size = files + 1, size + len(text)
        locations += [f"{path}:{text.count(chr(10), 0, start) + 1}" for start, _ in find_secret_spans(text)]
    return files, size, locations


def markdown_table() -> str:
    """The labelled sets as a table of markdown."""
    lines = [
        "| set | secrets | found | when first measured | gitleaks | detect-secrets |",
        "|---|---|---|---|---|---|",
    ]
    for name, description in SETS.items():
        rate = recall(name)
        gitleaks, detect = OTHER_TOOLS[name]
        redacted = rate.total - len(rate.wrong)
        lines.append(
            f"| {description} (`{name}`) | {rate.total} | {_count_and_percentage(redacted, rate.total)} | {_count_and_percentage(FIRST_MEASURED[name], rate.total)} "
            f"| {_count_and_percentage(gitleaks, rate.total)} | {_count_and_percentage(detect, rate.total)} |"
        )
    lines += ["", "| set | texts | changed |", "|---|---|---|"]
    for name, description in CLEAN.items():
        rate = precision(name)
        lines.append(f"| {description} (`{name}`) | {rate.total} | {len(rate.wrong)} |")
    return "\n".join(lines) + "\n"


def _count_and_percentage(number: int, total: int) -> str:
    return f"{number} ({100 * number / total:.0f} %)"
