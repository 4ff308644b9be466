"""What docs/research/secret-detection.md says of the detector is so: on the labelled sets, on real plans, and on this repository's own source."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.secrets.rates import CLEAN, FIRST_MEASURED, SETS, in_files, markdown_table, precision, recall
from tests.core.secrets.secret_samples import forms, readable, remaining_secret

ROOT = Path(__file__).resolve().parents[3]
CORPUS = Path(os.environ.get("EXECPLAN_CORPUS") or ROOT.parent / "shared" / "corpus")
NO_MORE = 6
"""Places in the corpus that are taken for secrets."""


@pytest.mark.parametrize("name", SETS)
def test_every_labelled_secret_is_found(name: str) -> None:
    rate = recall(name)
    assert rate.wrong == []
    assert rate.total >= FIRST_MEASURED[name] > 0


@pytest.mark.parametrize("name", CLEAN)
def test_no_labelled_text_is_changed(name: str) -> None:
    assert precision(name).wrong == []


@pytest.mark.parametrize("name", ["forms.tsv", "held_out.tsv"])
def test_it_does_not_depend_on_what_was_drawn(name: str) -> None:
    from execplan.core.secrets.redaction import Redactor

    redaction = Redactor({}, ())
    for seed in range(3):
        assert [
            form.text for form in forms(name, seed) if remaining_secret(form, redaction.redact_text(form.text))
        ] == []
        assert [
            text
            for table_name in CLEAN
            for _, text in readable(table_name, seed)
            if redaction.redact_text(text) != text
        ] == []


def test_the_page_says_what_is_measured() -> None:
    assert markdown_table() in (ROOT / "docs/research/secret-detection.md").read_text(encoding="utf-8")


@pytest.mark.exhaustive
@pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus")
def test_real_plans_stay_readable() -> None:
    files, size, locations = in_files(sorted(CORPUS.rglob("*.md")))
    assert files > 400
    assert len(locations) <= NO_MORE, locations
    page = (ROOT / "docs/research/secret-detection.md").read_text(encoding="utf-8")
    assert f"| a corpus of real plans | {files} | {size / 1e6:.1f} million | {len(locations)} |" in page


@pytest.mark.exhaustive
def test_the_own_source_stays_readable() -> None:
    written = [path for path in sorted((ROOT / "execplan").rglob("*.py")) if not path.stem.endswith("_data")]
    locations = in_files(written)[2]
    assert [location.rpartition("/")[2].rpartition(":")[0] for location in locations] == [
        "link_rules.py",
    ]


def test_the_script_prints_the_rates() -> None:
    completed = subprocess.run(
        [sys.executable, "scripts/secret_rates.py", "--labelled"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (completed.returncode, completed.stderr) == (0, "")
    assert markdown_table() in completed.stdout
