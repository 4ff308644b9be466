"""A change: the kinds of its files, the parts that they lie in, what counts, and what it says of the criteria."""

from __future__ import annotations

import pytest

from execplan.context.triage.changes import Changed, kind_of, part_of, parts_of, summed
from execplan.context.triage.judge import NONE, PLAN, UNCLEAR, Triage, triage
from execplan.context.triage.table import builtin


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
    found = kind_of(path, builtin())
    assert (found.name if found is not None else "") == kind


def test_parts() -> None:
    paths = ("a.py", "src/a.py", "src/reader/a.py", "packages/apps/web/x/y.ts", "engine/steps/a.py", "docs/a.md")
    assert [part_of(each, builtin()) for each in paths] == [
        ".",
        "src",
        "src/reader",
        "packages/apps/web",
        "engine",
        "docs",
    ]
    assert parts_of(paths, builtin()) == {"reader": "src/reader", "engine": "engine"}  # others are ordinary words


def test_tests_prose_and_what_is_generated_are_no_sources() -> None:
    found = summed(
        [Changed("src/a.py", 5, 2), Changed("tests/test_a.py", 9), Changed("a.md", 3), Changed("x.lock", 999)],
        builtin(),
    )
    assert (found.files, found.lines, found.sources, found.untested) == (4, 19, ("src/a.py",), 0)
    assert (found.added, found.removed) == (1016, 2)
    alone = summed([Changed("src/a.py", 5, 2)], builtin())
    assert (alone.lines, alone.untested) == (7, 7)


def of(*changed: tuple[str, int], words: str | None = None) -> Triage:
    """The triage of files with so many added lines each."""
    return triage(words, [Changed(path, lines) for path, lines in changed])


def test_a_small_change_needs_none() -> None:
    assert of(("src/a.py", 4)).verdict == NONE
    assert of(("src/a.py", 20), ("tests/test_a.py", 30)).verdict == NONE
    assert of(("package-lock.json", 9000), ("a.py", 2)).verdict == NONE
    assert of().verdict == NONE
    assert of(("docs/a.md", 10)).reasons == ("small: 1 file, 10 lines of it added or removed, is a small change",)


def test_what_is_large_or_risky_needs_one() -> None:
    assert of(*[(f"part{number}/a.py", 20) for number in range(5)]).verdict == PLAN
    assert of(*[(f"src/a{number}.py", 90) for number in range(9)]).verdict == PLAN
    assert of(("db/migrations/2.sql", 80), ("src/a.py", 40), ("tests/test_a.py", 5)).verdict == PLAN
    assert of(("src/a.py", 2500)).verdict == PLAN


def test_four_files_of_a_line_are_unclear() -> None:
    found = of(*[(f"{name}.py", 1) for name in "abcd"])
    assert found.verdict == UNCLEAR
    assert [each.criterion for each in found.unclear] == ["scope"]


def test_a_change_settles_what_words_leave_open_and_never_overrules_them() -> None:
    assert triage("The list is empty again").verdict == UNCLEAR
    assert of(("src/a.py", 3), words="The list is empty again").verdict == NONE
    begun = of(("src/a.py", 3), words="Migrate all accounts to the new database")
    assert begun.verdict == PLAN
    assert begun.confidence == triage("Migrate all accounts to the new database").confidence
    many = [(f"part{number}/a.py", 200) for number in range(9)]
    assert of(*many, words="Fix a typo").verdict == PLAN
    unread = of(("src/a.py", 3), words="Behebe das Problem mit der Liste")
    assert (unread.verdict, unread.unclear[0].criterion) == (UNCLEAR, "language")
    table = ("db/migrations/2.sql", 1)
    assert of(table, words="Reword the greeting").confidence == of(table).confidence
    assert of(table).verdict == UNCLEAR


def test_the_order_of_the_files_makes_no_difference() -> None:
    files = [Changed(f"part{number}/auth.py", number) for number in range(9)]
    assert triage(None, files) == triage(None, files[::-1])
