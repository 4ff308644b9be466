"""Texts of several blocks in log entries: what is written is read back, and nothing else in the file changes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from execplan.core.edits.plan_writer import apply_change
from execplan.core.errors import ExecplanError
from execplan.core.plan import log_edits, reader, section_edits
from execplan.core.plan.line_grammar import is_empty_text
from execplan.core.plan.plan_change import require_blocks
from execplan.core.plan.text_blocks import canonical_text, escape_lead, fold_text
from tests.conftest import Folder
from tests.plans import CLEAN

if TYPE_CHECKING:
    from execplan.core.plan.plan_change import ChangeBuilder

NOW = datetime(2026, 1, 2, tzinfo=UTC)
TEXT = """Two reasons,
which are wrapped.

- Lines are simple.
- Trees are not:
  they nest.

```sh
Rationale: this is output
\tand a tab

  - [ ] no task
```

That is all.
"""
CANONICAL = """Two reasons, which are wrapped.

- Lines are simple.
- Trees are not: they nest.

```sh
Rationale: this is output
\tand a tab

  - [ ] no task
```

That is all."""
STAMP = "(2026-01-01 00:00Z) "
LINES = st.sampled_from(
    [
        *[
            "",
            "",
            "",
            "a",
            "some words",
            "    code",
            "\tcode",
            "- item",
            "  - nested",
            "* item",
            "1. one",
            "2) two",
            "-",
        ],
        *[
            "```",
            "~~~~",
            "```sh",
            "  ```",
            "> quote",
            "| a | b |",
            "|---|---|",
            "# heading",
            "## Progress",
            "---",
            "===",
        ],
        *["Rationale: x", "- Why: x", "Date/Author: x", "**Evidence:** x", "Decision: x", "- [ ] task", "- [x] task"],
        *["<div>", "</div>", "<!--", "-->", "<script>", "Revision note: x", "[a]: b", "Rationale： x", "[a](b)", "`c`"],
        *["   three", "- - double", "-     code", "\\- escaped", "None yet.", "(2026-01-01 00:00Z) x", "+"],
    ]
)
TEXTS = st.lists(LINES, min_size=2, max_size=8).map("\n".join)
PLANS = {
    "as it is": CLEAN.encode(),
    "CRLF and a BOM": b"\xef\xbb\xbf" + CLEAN.replace("\n", "\r\n").encode(),
    "hand-wrapped": CLEAN.replace(
        "  Rationale: ", "  Rationale: A long reason that goes on until the end of its line\n  and then on: "
    ).encode(),
}


def _edits(text: str) -> dict[str, tuple[ChangeBuilder, str]]:
    return {
        "decisions": (log_edits.add_decision(text, text, "Ann", NOW), canonical_text(text)),
        "discoveries": (log_edits.add_discovery(text, text), canonical_text(text)),
        "outcomes": (log_edits.add_outcome(text), escape_lead(canonical_text(text))),
        "revisions": (log_edits.add_revision_note(text, NOW), canonical_text(text)),
        "notes": (section_edits.add_note([text]), canonical_text(text)),
    }


@pytest.mark.parametrize("kind", ["decisions", "discoveries", "outcomes", "revisions", "notes"])
@pytest.mark.parametrize("plan", PLANS)
def test_blocks_are_kept(plan: str, kind: str) -> None:
    old = PLANS[plan]
    changer, body = _edits(TEXT)[kind]
    assert body == CANONICAL
    new, _ = apply_change(old, changer)
    _assert_only_added(old, new)
    if kind != "notes":
        entry = getattr(reader.read(new), kind)[-1]
        assert (entry.body, entry.text) == (CANONICAL, fold_text(CANONICAL))
        assert (entry.rationale or entry.evidence or CANONICAL) == CANONICAL
    indented = "\n".join([f"  {line}" if line else "" for line in CANONICAL.split("\n")][1:])
    assert indented in reader.decode(new).to_str().replace("\r\n", "\n")
    assert apply_change(new, changer)[1].edits == ()


def test_commands_keep_blocks_and_undo_removes_them(repo: Folder) -> None:
    path = repo.plan()
    for arguments, kind in (
        (["decide", "Read lines", "--why", "-"], "decisions"),
        (["discover", "Lines end", "--evidence", "-"], "discoveries"),
        (["outcome", "-"], "outcomes"),
        (["revise", "-"], "revisions"),
        (["note", "-"], ""),
    ):
        before = path.read_bytes()
        repo.ok(*arguments, stdin=TEXT.encode())
        entry = repo.ok("show")[kind][-1] if kind else {"text": CANONICAL}
        assert CANONICAL in entry.values()
        repo.ok("undo")
        assert path.read_bytes() == before, arguments


def test_a_merge_treats_an_entry_with_blocks_as_one(repo: Folder) -> None:
    repo.plan()
    repo.ok("install", "merge-driver")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    repo.git("switch", "-q", "-c", "other")
    repo.ok("decide", "Ours", "--why", TEXT, "--commit")
    repo.git("switch", "-q", "-")
    repo.ok("decide", "Theirs", "--why", TEXT.replace("Two", "Other"), "--commit")
    repo.git("merge", "-q", "other")
    reasons = {decision["text"]: decision["rationale"] for decision in repo.ok("show")["decisions"]}
    assert reasons["Ours"] == CANONICAL
    assert reasons["Theirs"] == CANONICAL.replace("Two", "Other")


@given(TEXTS, st.sampled_from(sorted(PLANS)))
@example("- a\n- b", "as it is")
@example("```\nopen", "as it is")
@example("<div>\na\n</div>", "as it is")
@example("| a |\n|---|\n| b |", "CRLF and a BOM")
@example("\n- Why: x", "CRLF and a BOM")
@example("(2026-01-01 00:00Z) x\na", "as it is")
@example("1. Why: x", "as it is")
@example("    code\n  - nested\n===", "as it is")
@example("\nRevision note: x", "as it is")
def test_every_text_is_read_back(text: str, plan: str) -> None:
    old = PLANS[plan]
    try:
        assert require_blocks(text, "it") == canonical_text(text) == canonical_text(canonical_text(text))
    except ExecplanError:
        return
    for kind, (changer, body) in _edits(text).items():
        new, change = apply_change(old, changer)
        _assert_only_added(old, new)
        if change.edits and kind != "notes":
            entry = getattr(reader.read(new), kind)[-1]
            if kind == "outcomes" and body.startswith(STAMP):
                assert entry.date == "2026-01-01 00:00Z"
            own_body = body.removeprefix(STAMP) if kind == "outcomes" else body  # an outcome can begin with its date
            assert (entry.body, entry.text) == (own_body, fold_text(own_body)), kind
            assert entry.rationale in (None, body), kind
            assert entry.evidence in (None, body), kind


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "Zs"]), max_size=60))
def test_one_line_is_folded(text: str) -> None:
    assert canonical_text(text) == fold_text(text)


def _assert_only_added(old: bytes, new: bytes) -> None:
    """Check that the lines of the old file are in the new one, in order, around one run of new lines."""
    old_lines, new_lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    start = next((at for at, line in enumerate(old_lines) if line != new_lines[at]), len(old_lines))
    start += start < len(old_lines) and is_empty_text(old_lines[start].decode().strip())  # replaced by the first entry
    rest = old_lines[start:]
    assert new_lines[len(new_lines) - len(rest) :] == rest
    assert reader.decode(new).to_bytes() == new
