"""Words in a log that no entry holds, and decisions that supersede what is not there."""

from __future__ import annotations

import pytest

from tests.linter.single_rule import findings, lines, marked_text

ENTRY = "- Decision: Read by line.\n  Rationale: Fast.\n  Date/Author: 2026-03-01 / Ann\n"
OBSERVATION = "- Observation: It is slow.\n  Evidence: `make bench`.\n"


def log(body: str, title: str = "Decision Log") -> str:
    return f"# Build\n\n## {title}\n\n{body}\n## Context and Orientation\n\nText.\n"


@pytest.mark.parametrize(
    ("body", "at"),
    [
        (f"{ENTRY}\nLists are left out.\n", 9),
        (f"{ENTRY}\n| a | b |\n|---|---|\n| c | d |\n", 9),
        (f"Intro.\n\nLists are left out.\n\n{ENTRY}", 7),
        ("We read by line, since it is fast.\n", 5),
        ("### Decision 1\n\nRead by line.\n", 7),
        ("### Read\n\n- a\n\n### Write\n\nby line.\n", 11),
        ("### Read\n\n### Write\n\nBy line.\n", 9),
        ("### Read\n\nBy line.\n\n### Write\n\n```\na\n```\n", 7),
        (f"{ENTRY}\nBy line.\n\n### Read\n\na\n\n### Write\n\nb\n", 9),
        ("- Rationale: Fast.\n  Date/Author: 2026-03-01 / Ann\n", 5),
        ("- Decision:\n  Rationale: It is fast.\n", 5),
    ],
)
def test_words_of_no_decision(body: str, at: int) -> None:
    assert lines("EP304", log(body)) == [at]


@pytest.mark.parametrize(
    "body",
    [
        ENTRY,
        f"Every decision that was made:\n\n{ENTRY}",
        f"What was decided.\n\n{ENTRY}",
        f"{ENTRY}\n  A second paragraph of it.\n",
        f"{ENTRY}\n  ```\n  code\n  ```\n",
        f"{ENTRY}\nIn the second week:\n\n{ENTRY}",
        f"{ENTRY}\n**Second week**\n\n{ENTRY}",
        f"{ENTRY}\n### Second week\n\n{ENTRY}",
        f"{ENTRY}\n<!-- more to come -->\n",
        f"{ENTRY}\n---\n",
        "None yet.\n",
        "*None yet - filled during the work*\n",
        "See [the log](docs/log.md).\n",
        "- Decision: …\n  Rationale: …\n  Date/Author: …\n",
        "- Decision: (none yet)\n  Rationale: (fill in as discovered)\n".replace("fill in as discovered", "TBD"),
        "### Read by line\n\nRationale: Fast.\nDate/Author: 2026-03-01 / Ann\n",
        "### Decision 1\n\nRead by line.\n\n### Decision 2\n\nWrite by line.\n",
        "### Read\n\nBy line:\n\n- first\n\nIt is fast.\n\n---\n\n### Write\nBy line.\n\n**Why**\nIt is fast.\n",
        "Decision: Read by line.\nRationale: Fast.\nDate/Author: 2026-03-01 / Ann\n",
        "",
    ],
)
def test_a_log_that_is_read_whole(body: str) -> None:
    assert lines("EP304", log(body)) == []


def test_surprises() -> None:
    title = "Surprises & Discoveries"
    assert lines("EP304", log("It is slow.\n\nIt is large.\n", title)) == []  # prose is read as discoveries
    assert lines("EP304", log(f"{OBSERVATION}\nIt is large.\n\nAnd old.\n", title)) == [8]
    assert "2 blocks" in findings("EP304", log(f"{OBSERVATION}\nIt is large.\n\nAnd old.\n", title))[0].message
    assert lines("EP304", log("- Observation: (none yet) Evidence: (TBD)\n", title)) == []


@pytest.mark.parametrize(
    "said",
    [
        "Read by line (2026-03-01)",
        "Read by line.",
        "read  BY line. (2026-03-01)",
        "by line",
        "line, read by".replace(",", ""),
        "`Read` by *line*",
        "the decision of 2026-03-01",
        "`docs/adr/0003.md`",
        "[the old way](https://example.org)",
        "none",
    ],
)
def test_what_is_superseded_is_there(said: str) -> None:
    assert (
        findings("EP306", log(f"{ENTRY}- Decision: Read at once.\n  Rationale: Faster.\n  Supersedes: {said}\n")) == []
    )


@pytest.mark.parametrize("said", ["Read by page (2026-02-01)", "Read at once", "the older one", "line by Read page"])
def test_what_is_superseded_is_gone(said: str) -> None:
    text = log(f"{ENTRY}- Decision: Read at once.\n  Rationale: Faster.\n  Supersedes: {said}\n")
    assert marked_text("EP306", text) == [f"Supersedes: {said}"]


def test_one_line_holds_all_labels() -> None:
    text = log("- Decision: Read at once. Rationale: Faster. Supersedes: Read by page\n")
    assert marked_text("EP306", text) == ["Supersedes: Read by page"]
