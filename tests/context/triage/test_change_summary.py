"""A change: the kinds of its files, the parts that they lie in, what counts, and what it says of the criteria."""

from __future__ import annotations

import pytest

from execplan.context.triage.change_summary import (
    ChangedFile,
    classify_file,
    find_part,
    find_parts_by_name,
    summarize_changes,
)
from execplan.context.triage.triage_evaluation import NONE, PLAN, UNCLEAR, TriageResult, evaluate_triage
from execplan.context.triage.triage_table import load_builtin_table


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("db/migrations/0003_add.py", "migration"),
        ("schema.sql", "migration"),
        ("src/test_auth.py", "test"),
        ("web/AuthGuard.ts", "security"),
        ("src/auth/login.py", "security"),
        ("src/author.py", ""),
        (".github/workflows/ci.yml", "CI"),
        ("Cargo.toml", "dependencies"),
        ("Cargo.lock", "generated"),
        ("node_modules/auth/index.js", "generated"),
        ("docs/auth.md", "documentation"),
        ("api/v1/orders.proto", "public interface"),
        ("deploy/Dockerfile", "deployment"),
        ("a\nb", ""),
    ],
)
def test_kinds(path: str, kind: str) -> None:
    file_kind = classify_file(path, load_builtin_table())
    assert (file_kind.name if file_kind is not None else "") == kind


def test_parts() -> None:
    paths = ("a.py", "src/a.py", "src/reader/a.py", "packages/apps/web/x/y.ts", "engine/steps/a.py", "docs/a.md")
    assert [find_part(path, load_builtin_table()) for path in paths] == [
        ".",
        "src",
        "src/reader",
        "packages/apps/web",
        "engine",
        "docs",
    ]
    assert find_parts_by_name(paths, load_builtin_table()) == {
        "reader": "src/reader",
        "engine": "engine",
    }  # others are ordinary words


def test_tests_prose_and_what_is_generated_are_no_sources() -> None:
    summary = summarize_changes(
        [
            ChangedFile("src/a.py", 5, 2),
            ChangedFile("tests/test_a.py", 9),
            ChangedFile("a.md", 3),
            ChangedFile("x.lock", 999),
        ],
        load_builtin_table(),
    )
    assert (summary.files, summary.lines, summary.source_files, summary.untested_lines) == (4, 19, ("src/a.py",), 0)
    assert (summary.added, summary.removed) == (1016, 2)
    alone = summarize_changes([ChangedFile("src/a.py", 5, 2)], load_builtin_table())
    assert (alone.lines, alone.untested_lines) == (7, 7)


def triage_changes(*changed: tuple[str, int], request: str | None = None) -> TriageResult:
    """The triage of files with so many added lines each."""
    return evaluate_triage(request, [ChangedFile(path, lines) for path, lines in changed])


def test_a_small_change_needs_none() -> None:
    assert triage_changes(("src/a.py", 4)).verdict == NONE
    assert triage_changes(("src/a.py", 20), ("tests/test_a.py", 30)).verdict == NONE
    assert triage_changes(("package-lock.json", 9000), ("a.py", 2)).verdict == NONE
    assert triage_changes().verdict == NONE
    assert triage_changes(("docs/a.md", 10)).reasons == (
        "small: 1 file with 10 lines added or removed is a small change",
    )


def test_what_is_large_or_risky_needs_one() -> None:
    assert triage_changes(*[(f"part{number}/a.py", 20) for number in range(5)]).verdict == PLAN
    assert triage_changes(*[(f"src/a{number}.py", 90) for number in range(9)]).verdict == PLAN
    assert triage_changes(("db/migrations/2.sql", 80), ("src/a.py", 40), ("tests/test_a.py", 5)).verdict == PLAN
    assert triage_changes(("src/a.py", 2500)).verdict == PLAN


def test_four_files_of_a_line_are_unclear() -> None:
    result = triage_changes(*[(f"{name}.py", 1) for name in "abcd"])
    assert result.verdict == UNCLEAR
    assert [unclear_point.criterion for unclear_point in result.unclear] == ["scope"]


def test_a_change_settles_what_words_leave_open_and_never_overrules_them() -> None:
    assert evaluate_triage("The list is empty again").verdict == UNCLEAR
    assert triage_changes(("src/a.py", 3), request="The list is empty again").verdict == NONE
    begun = triage_changes(("src/a.py", 3), request="Migrate all accounts to the new database")
    assert begun.verdict == PLAN
    assert begun.confidence == evaluate_triage("Migrate all accounts to the new database").confidence
    many_files = [(f"part{number}/a.py", 200) for number in range(9)]
    assert triage_changes(*many_files, request="Fix a typo").verdict == PLAN
    unread = triage_changes(("src/a.py", 3), request="Behebe das Problem mit der Liste")
    assert (unread.verdict, unread.unclear[0].criterion) == (UNCLEAR, "language")
    table = ("db/migrations/2.sql", 1)
    assert triage_changes(table, request="Reword the greeting").confidence == triage_changes(table).confidence
    assert triage_changes(table).verdict == UNCLEAR


def test_the_order_of_the_files_makes_no_difference() -> None:
    files = [ChangedFile(f"part{number}/auth.py", number) for number in range(9)]
    assert evaluate_triage(None, files) == evaluate_triage(None, files[::-1])
