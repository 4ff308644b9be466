"""Diffs are applied as git applies them, to the byte, or refused with the hunk."""

from __future__ import annotations

import difflib
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from execplan.core.errors import ExecplanError
from execplan.execution.documents.written_paths import diff_paths
from execplan.execution.evaluation.patch import apply_patch, parse_patch

OLD = "".join(f"line {number}\n" for number in range(1, 13))
DIFF = """\
--- a/app.py
+++ b/app.py
@@ -2,3 +2,4 @@ def f
 line 2
-line 3
+line three
+and a half
 line 4
@@ -11,2 +12,1 @@
-line 11
 line 12
"""
NEW = OLD.replace("line 3\n", "line three\nand a half\n").replace("line 11\n", "")
LINES = st.lists(st.sampled_from(["a", "b", "", " ", "+x", "-- y", "@@ z", "é\u2028", "\x0c"]), max_size=12)


def applied(old: str, diff: str, target: str | None = "app.py") -> str:
    (change,) = parse_patch(diff, target)
    return apply_patch(old.encode(), change).decode()


def patch_error(old: str, diff: str, target: str | None = "app.py") -> ExecplanError:
    with pytest.raises(ExecplanError) as raised:
        applied(old, diff, target)
    return raised.value


def test_it_applies() -> None:
    assert applied(OLD, DIFF) == NEW


def test_without_headers_it_is_about_the_target() -> None:
    assert applied(OLD, DIFF.partition("+++ b/app.py\n")[2]) == NEW


def test_a_blank_line_may_have_lost_its_space() -> None:
    assert applied("a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n") == "a\n\nc\n"
    assert applied("b\n\n", "@@ -1,2 +1,2 @@\n-b\n+c\n\n") == "c\n\n"


def test_line_ends_of_the_file_are_kept() -> None:
    assert applied(OLD.replace("\n", "\r\n"), DIFF) == NEW.replace("\n", "\r\n")
    assert "is 'line 2\\r', not 'line 2'" in patch_error(OLD.replace("line 2\n", "line 2\r\n"), DIFF).message


def test_a_missing_end_is_told_by_the_diff() -> None:
    diff = "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n"
    assert applied("a", diff) == "b\n"
    assert applied("a\n", "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n") == "b"
    assert patch_error("a\n", diff).code == "patch-does-not-apply"
    assert patch_error("a\nb\n", "@@ -1 +1 @@\n-a\n+x\n\\ No newline at end of file\n").code == "patch-does-not-apply"


@pytest.mark.parametrize(
    ("old", "words"),
    [
        (OLD.replace("line 3\n", "line III\n"), "hunk 1 (@@ -2,3 +2,4 @@) doesn't match: line 3 is 'line III'"),
        ("new\n" + OLD, "its lines are at line 3"),
        ("line 1\n", "the file has 1 lines"),
        (OLD.replace("line 12\n", "line 12"), "hunk 2"),
        ("", "the file has 0 lines"),
    ],
)
def test_a_hunk_that_does_not_fit_is_named(old: str, words: str) -> None:
    error = patch_error(old, DIFF)
    assert error.code == "patch-does-not-apply"
    assert words in error.message


@pytest.mark.parametrize(
    ("diff", "words"),
    [
        ("", "it has no `---`, `+++` and `@@` lines"),
        ("just words\n", "it has no `---`, `+++` and `@@` lines"),
        (DIFF.replace("+2,4", "+2,3"), "longer"),
        (DIFF.replace("+2,4", "+2,5"), "check the counts in the `@@` lines"),
        (DIFF.replace("@@ -11,2 +12,1 @@", "@@ -11,2 +12,1"), "it has lines outside its hunks"),
        (DIFF + "+and more\n", "it has lines outside its hunks"),
        (DIFF + "words\n" + DIFF.replace("app", "b"), "it contains 'words', which is not a line of a diff"),
        (
            DIFF.replace("+++ b/app.py", "+++ b/other.py"),
            "its headers app.py and other.py don't match: only a rename has two names",
        ),
        (DIFF + DIFF, "twice"),
        (DIFF.replace("app.py", "other.py"), "it is for other.py, not for app.py alone"),
        (DIFF.replace("a/app.py", "/dev/null"), "it creates or deletes app.py, but the step only changes it"),
        ("diff --git a/app.py b/app.py\n" + DIFF.replace("--- a/app.py", "--- a/evil.py"), "different files"),
        ("diff --git a/app.py b/app.py\nold mode 100644\nnew mode 100755\n", "changes no line"),
        ("diff --git a/app.py b/app.py\nnew file mode 120000\n" + DIFF, "mode 120000"),
        ("Binary files a/app.py and b/app.py differ\n", "binary"),
        ('--- "a/app.py"\n+++ "b/app.py"\n@@ -1 +1 @@\n-a\n+b\n', "quotes the name"),
    ],
)
def test_what_is_no_diff_of_the_target_is_refused(diff: str, words: str) -> None:
    error = patch_error(OLD, diff)
    assert error.code == "bad-patch"
    assert words in error.message


def test_files_are_made_deleted_and_renamed() -> None:
    created, deleted, moved = parse_patch(
        "diff --git a/new.py b/new.py\nnew file mode 100755\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\n"
        "--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/one.py b/two.py\nsimilarity index 100%\nrename from one.py\nrename to two.py\n"
    )
    assert (created.source, created.target, created.mode, apply_patch(b"", created)) == (None, "new.py", 0o755, b"x\n")
    assert (deleted.source, deleted.target, apply_patch(b"x\n", deleted)) == ("old.py", None, b"")
    assert (moved.source, moved.target, apply_patch(b"x\n", moved)) == ("one.py", "two.py", b"x\n")


@settings(max_examples=50)
@given(LINES, LINES, st.booleans())
def test_what_difflib_says_is_applied(old: list[str], new: list[str], ended: bool) -> None:
    before, after = "\n".join(old) + "\n" * ended, "\n".join(new) + "\n" * ended
    diff = ""
    line_lists = [
        [line + "\n" for line in text.split("\n")[:-1]] + ([text.split("\n")[-1]] * bool(text.split("\n")[-1]))
        for text in (before, after)
    ]
    for line in difflib.unified_diff(line_lists[0], line_lists[1], "a/app.py", "b/app.py", n=1):
        diff += line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
    if diff:
        assert applied(before, diff) == after


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(
        st.sampled_from(
            [
                "@@ -1 +1 @@",
                "-a",
                "+b",
                " a",
                "--- a/app.py",
                "+++ b/app.py",
                "--- a/x",
                "diff --git a/app.py b/x",
                "rename from app.py",
                "rename to x",
                "\\ No newline at end of file",
                "",
            ]
        ),
        max_size=9,
    )
)
def test_only_files_that_an_approval_binds_are_changed(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    try:
        changes = parse_patch(text)
    except ExecplanError:
        return
    changed_paths = {name for change in changes for name in (change.source, change.target) if name is not None}
    assert changed_paths == set(diff_paths(text))


def test_git_agrees(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(OLD)
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=DIFF.encode(), check=True)
    assert (tmp_path / "app.py").read_text() == applied(OLD, DIFF)
