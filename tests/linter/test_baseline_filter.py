"""What is known stays known when lines move; what is new is found; what is gone is told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from execplan.core.plan import reader
from execplan.linter.baseline_filter import apply_baseline, count_by_mark, find_moved_plan
from execplan.linter.finding_summary import count_by_rule
from execplan.linter.fingerprint import compute_fingerprints, unique_fingerprints
from execplan.linter.rule import Finding
from execplan.linter.runner import MAX_FINDINGS, RULES, lint_plan
from tests.plans import CLEAN, with_sections

if TYPE_CHECKING:
    from tests.conftest import Folder

FILE = ".agent/lint-baseline.json"
PLAN = ".agent/execplans/2026-01-01_parser.md"
BAD = CLEAN.replace("(2025-12-30 09:15Z) ", "").replace("  Rationale: A task is a line.\n", "")
RULE_CODES = ("EP103", "EP202", "EP301", "EP303")


def _lint_with_fingerprints(text: str) -> tuple[list[Finding], list[str]]:
    plan = reader.read(text.encode())
    findings = lint_plan(plan, None, {code: RULES[code].level for code in RULE_CODES})
    return findings, compute_fingerprints(findings, plan)


def _new_codes(before: str, after: str) -> list[str]:
    """The codes that are new in a plan of which all was known before."""
    return [
        finding.code
        for finding in apply_baseline(
            count_by_mark(*_lint_with_fingerprints(before)), *_lint_with_fingerprints(after), RULE_CODES
        ).new_findings
    ]


# The pure part.


def test_conflict_markers_that_an_older_baseline_has_are_new() -> None:
    finding = Finding("EP002", "error", 1, 1, 1, 2, "the plan contains a git conflict marker")
    assert apply_baseline({"EP002:a": 1}, [finding], ["EP002:a"], ("EP002",)).new_findings == [finding]


@pytest.mark.parametrize(
    "after",
    [
        BAD,
        BAD.replace("## Progress\n", "Some more words.\n\n## Progress\n\nAnd here.\n"),
        BAD.replace("- [x] Read lines.", "- [ ] Another task.\n- [x]   Read  lines."),
        BAD.replace("- [x] Read lines.", "* [X] Read lines."),
        BAD.replace("# Build the parser", "# Build the reader"),
        BAD.replace("## Decision Log", "## Decision log"),
        BAD.replace("\n", "\r\n"),
        "\ufeff" + BAD,
    ],
)
def test_what_is_known_stays_known(after: str) -> None:
    assert [finding.code for finding in _lint_with_fingerprints(after)[0]] == ["EP202", "EP301"]
    assert _new_codes(BAD, after) == []


@pytest.mark.parametrize(
    ("after", "new"),
    [
        (BAD.replace("Read lines.", "Read all lines."), ["EP202"]),
        (BAD.replace("- [x] Read lines.", "- [x] Read lines.\n- [x] Read lines."), ["EP202"]),
        (BAD.replace("- [x] Read lines.", "- [x] Read lines.\n- [x] Read words."), ["EP202"]),
        (BAD.replace("Decision: Read", "Decision: Do not read"), ["EP301"]),
        (BAD.replace("  Evidence: `tests/test_lines.py::test_last` failed.\n", ""), ["EP303"]),
    ],
)
def test_what_is_new_is_found(after: str, new: list[str]) -> None:
    assert _new_codes(BAD, after) == new


def test_the_same_words_in_another_section_are_new() -> None:
    first = Finding("EP404", "warning", 3, 1, 3, 4, "a message")
    texts = ["make", "make"]
    plan = reader.read(f"# A\n\n{texts[0]}\n\n## Progress\n\n{texts[1]}\n".encode())
    known_counts = count_by_mark([first], compute_fingerprints([first], plan))
    other = first._replace(line=7, end_line=7)
    assert apply_baseline(known_counts, [other], compute_fingerprints([other], plan), ["EP404"]).new_findings == [other]


def test_words_of_a_place_decide_and_not_those_around_them() -> None:
    def mark(line: str, excerpt: str) -> list[str]:
        begin = line.index(excerpt)
        finding = Finding("EP401", "warning", 1, begin + 1, 1, begin + len(excerpt), "a message")
        return compute_fingerprints([finding], reader.read(f"{line}\n".encode()))

    assert mark("See `/home/ann/a` now", "/home/ann/a") == mark("Look into `/home/ann/a`.", "/home/ann/a")
    assert mark("See `/home/ann/a` now", "/home/ann/a") != mark("See `/home/ann/b` now", "/home/ann/b")


def test_what_is_gone_is_counted_where_the_rule_ran() -> None:
    known_counts = count_by_mark(*_lint_with_fingerprints(BAD))
    filtered = apply_baseline(known_counts, *_lint_with_fingerprints(CLEAN), RULE_CODES)
    assert sorted(mark.split(":")[0] for mark in filtered.resolved) == ["EP202", "EP301"]
    assert (filtered.known_count, filtered.unchecked) == (0, {})
    filtered = apply_baseline(known_counts, *_lint_with_fingerprints(CLEAN), ["EP202"])
    assert [mark.split(":")[0] for mark in filtered.resolved] == ["EP202"]
    assert [mark.split(":")[0] for mark in filtered.unchecked] == ["EP301"]


def test_a_file_that_cannot_be_read_is_never_known() -> None:
    finding = Finding("EP001", "error", 1, 1, 1, 1, "the file is empty")
    assert count_by_mark([finding], compute_fingerprints([finding], None)) == {}


def _plan_with_done_tasks(count: int) -> str:
    return with_sections("## Progress\n\n" + "".join([f"- [x] Task {at}.\n" for at in range(count)]))


def test_more_findings_than_are_listed_are_known_by_their_number() -> None:
    long_plan = _plan_with_done_tasks(MAX_FINDINGS + 20)
    known_counts = count_by_mark(*_lint_with_fingerprints(long_plan))
    assert sum(known_counts.values()) == MAX_FINDINGS + 20
    assert known_counts["EP202:more"] == 20
    for changed_plan in (long_plan, _plan_with_done_tasks(MAX_FINDINGS + 10), long_plan.replace("- [x] Task 3.\n", "")):
        assert apply_baseline(known_counts, *_lint_with_fingerprints(changed_plan), RULE_CODES).new_findings == []
    for changed_plan in (_plan_with_done_tasks(MAX_FINDINGS + 21), long_plan.replace("Task 3.", "Task three.")):
        assert [
            finding.message[:4]
            for finding in apply_baseline(known_counts, *_lint_with_fingerprints(changed_plan), RULE_CODES).new_findings
        ] == ["and "]
    assert count_by_rule(_lint_with_fingerprints(long_plan)[0])[0][:3] == ("EP202", "warning", MAX_FINDINGS + 20)


def test_a_plan_that_was_moved_is_found_by_its_name() -> None:
    def is_gone(path: str) -> bool:
        return path.startswith("plans/here")

    assert find_moved_plan("archive/a.md", ["plans/a.md", "plans/b.md"], is_gone) == "plans/a.md"
    assert find_moved_plan("archive/a.md", ["plans/here/a.md"], is_gone) == ""
    assert find_moved_plan("archive/a.md", ["plans/x/a.md", "plans/y/a.md"], is_gone) == ""
    known_paths = ["plans/x/ExecPlan.md", "plans/y/ExecPlan.md"]
    assert find_moved_plan("archive/x/ExecPlan.md", known_paths, is_gone) == "plans/x/ExecPlan.md"


def test_digests_of_findings_are_unique_and_stay() -> None:
    def digests(text: str, path: str = "a.md") -> list[str]:
        return list(unique_fingerprints(_lint_with_fingerprints(text)[1], path))

    twice = BAD.replace("- [x] Read lines.", "- [x] Read lines.\n- [x] Read lines.")
    assert len(set(digests(twice) + digests(twice, "b.md"))) == 6
    assert digests(BAD) == digests(BAD.replace("## Progress", "More.\n\n## Progress"))


# The command.


def _write_baseline(folder: Folder, text: str = BAD) -> dict[str, Any]:
    folder.plan(text)
    return folder.ok("lint", "--write-baseline")


def test_adoption(repo: Folder) -> None:
    data = _write_baseline(repo)
    assert data["baseline"] == {"file": FILE, "known": 2, "gone": 0}
    assert data["changed"] is True
    assert repo.run("lint").exit == 1
    result = repo.run("lint", "--baseline", FILE)
    assert (result.exit, result.out) == (0, "1 plan, no findings; 2 in the baseline\n")
    repo.plan(BAD.replace("Build the parser.\n", "Build the parser.\n- [x] New.\n", 1))
    result = repo.run("lint", "--baseline", FILE, "--format", "concise")
    assert result.out.splitlines()[:2] == [
        f"{PLAN}:13:1 EP202 task 3 is done but has no timestamp",
        "1 warning in 1 plan; 2 in the baseline",
    ]


def test_it_is_written_again_only_when_it_differs(repo: Folder) -> None:
    _write_baseline(repo)
    path = repo.path / FILE
    before = path.read_bytes(), path.stat().st_ino
    assert repo.ok("lint", "--write-baseline")["changed"] is False
    assert (path.read_bytes(), path.stat().st_ino) == before
    assert before[0].endswith(b"\n")
    repo.plan(CLEAN)
    assert repo.ok("lint", "--baseline", FILE)["baseline"] == {"file": FILE, "known": 0, "gone": 2}
    assert repo.ok("lint", "--write-baseline")["changed"] is True
    assert json.loads(path.read_bytes()) == {"schema": "execplan-lint-baseline/1", "plans": {}}


def test_a_dry_run_writes_nothing(repo: Folder) -> None:
    repo.plan(BAD)
    data = repo.ok("lint", "--write-baseline", "--dry-run")
    assert data["diff"].startswith(f"--- /dev/null\n+++ b/{FILE}\n")
    assert not (repo.path / FILE).exists()
    assert repo.git("status", "--porcelain").split() == ["??", ".agent/"]
    _write_baseline(repo)
    assert repo.ok("lint", "--write-baseline", "--dry-run")["diff"] == ""


def test_an_archived_plan_stays_known(repo: Folder) -> None:
    repo.plan(BAD)
    repo.plan(BAD.replace("Read lines.", "Read words."), "2026-01-02_reader")
    repo.ok("lint", "--write-baseline")
    repo.ok("archive", "2026-01-01_parser", "--force", "--reason", "No longer wanted.")
    assert repo.ok("lint", "--baseline", FILE)["baseline"] == {"file": FILE, "known": 4, "gone": 0}
    repo.ok("lint", "--write-baseline")
    plans = json.loads((repo.path / FILE).read_bytes())["plans"]
    assert list(plans) == [".agent/execplans/2026-01-02_reader.md", ".agent/execplans/archive/2026-01-01_parser.md"]


def test_plans_that_were_not_checked_keep_their_entries(repo: Folder) -> None:
    repo.plan(BAD)
    other_path = repo.plan(BAD, "2026-01-02_reader")
    repo.ok("lint", "--write-baseline")
    repo.plan(CLEAN)
    data = repo.ok("lint", "parser", "--baseline", FILE)
    assert data["baseline"] == {"file": FILE, "known": 0, "gone": 2}
    assert repo.ok("lint", "reader", "--baseline", FILE)["baseline"]["gone"] == 0
    repo.ok("lint", "parser", "--write-baseline")
    assert list(json.loads((repo.path / FILE).read_bytes())["plans"]) == [".agent/execplans/2026-01-02_reader.md"]
    other_path.unlink()
    assert "2 baseline entries no longer match;" in repo.run("lint", "--baseline", FILE).out


def test_staged_plans_and_standard_input_are_held_against_it(repo: Folder) -> None:
    _write_baseline(repo)
    repo.git("add", "-A")
    assert repo.ok("lint", "--staged", "--baseline", FILE)["baseline"]["known"] == 2
    call = ("lint", "-", "--stdin-filename", PLAN, "--baseline", FILE)
    assert repo.ok(*call, stdin=BAD.encode())["baseline"]["known"] == 2
    assert repo.run("lint", "-", "--baseline", FILE, stdin=BAD.encode()).exit == 1


@pytest.mark.parametrize("form", ["github", "sarif", "junit", "gitlab"])
def test_known_findings_are_in_no_form(repo: Folder, form: str) -> None:
    _write_baseline(repo)
    result = repo.run("lint", "--baseline", FILE, "--format", form)
    assert result.exit == 0
    assert "EP202" not in result.out


def test_from_a_folder_below_and_by_any_name(repo: Folder) -> None:
    subfolder = repo.path / "src"
    subfolder.mkdir()
    repo.plan(BAD)
    result = repo.run("lint", "--write-baseline", cwd=subfolder)
    assert result.out.endswith(f"next: git add ../{FILE}\n")
    assert repo.run("lint", "--baseline", f"../{FILE}", cwd=subfolder).exit == 0
    assert repo.run("lint", "--write-baseline", "--baseline", "ci/known plans.json").exit == 0
    assert (repo.path / "ci/known plans.json").read_bytes() == (repo.path / FILE).read_bytes()


def test_a_plan_that_cannot_be_read_is_found_while_it_is_written(repo: Folder) -> None:
    repo.plan(BAD)
    repo.plan(b"\xff", "2026-01-02_broken")
    result = repo.run("lint", "--write-baseline", "--json")
    assert result.exit == 1
    assert [finding["code"] for finding in result.json["data"]["findings"]] == ["EP001"]
    result = repo.run("lint", "--baseline", FILE, "--format", "concise", "-q")
    assert (result.exit, result.out.count("EP001")) == (1, 1)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "null",
        "[]",
        "{}",
        "# A plan\n",
        "[" * 100_000,
        '{"schema": "execplan-lint-baseline/1"}',
        '{"schema": "execplan-lint-baseline/2", "plans": {}}',
        '{"schema": "execplan-lint-baseline/1", "plans": {"a": {"EP202:1": true}}}',
        '{"schema": "execplan-lint-baseline/1", "plans": {"a": {"EP202:1": 0}}}',
        '{"schema": "execplan-lint-baseline/1", "plans": {"a": ["EP202:1"]}}',
        '{"schema": "execplan-lint-baseline/1", "plans": {"a": {"EP202:1": 1, "EP202:1": 2}}}',
        '{"schema": "execplan-lint-baseline/1", "plans": {}, "more": 1}',
        '<<<<<<< HEAD\n{"schema": "execplan-lint-baseline/1", "plans": {}}\n',
        b"\xff\xfe",
    ],
)
def test_a_file_that_is_no_baseline_is_an_error_and_stays(repo: Folder, content: str | bytes) -> None:
    repo.plan(BAD)
    path = repo.write(FILE, content)
    before = path.read_bytes()
    for options in ((), ("--write-baseline",)):
        result = repo.run("lint", "--baseline", FILE, *options, "--json")
        assert (result.exit, result.json["error"]["code"]) == (3, "bad-baseline")
        assert FILE in result.json["error"]["message"]
        assert "--write-baseline" in result.json["error"]["hint"]
    assert path.read_bytes() == before


def test_a_file_that_is_missing_a_folder_or_a_link_out(repo: Folder) -> None:
    repo.plan(BAD)
    result = repo.run("lint", "--baseline", "none.json")
    assert result.exit == 3
    assert "execplan lint --baseline none.json --write-baseline" in result.err
    assert repo.run("lint", "--baseline", ".agent", "--write-baseline").exit == 3
    (repo.path / FILE).symlink_to(repo.path.parent / "outside.json")
    assert repo.run("lint", "--write-baseline").exit == 7
    assert not (repo.path.parent / "outside.json").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--write-baseline", "--format", "sarif"),
        ("--write-baseline", "--statistics"),
        ("--write-baseline", "--staged"),
        ("-", "--write-baseline"),
        ("--dry-run",),
        ("--baseline", FILE, "--dry-run"),
    ],
)
def test_what_does_not_go_together(repo: Folder, arguments: tuple[str, ...]) -> None:
    repo.plan(BAD)
    assert repo.run("lint", *arguments).exit == 2
    assert not (repo.path / FILE).exists()
