"""Lint's cache: whatever happens to a plan, what is found with it is what is found without it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from execplan.cli.formats import text
from execplan.core import trace
from execplan.core.files import file_access
from execplan.linter.checking import batch_check, pending_check, plan_check, stored_findings
from execplan.linter.checking.plan_check import read_lines
from execplan.linter.finding_summary import FindingReport
from execplan.linter.rule import Finding
from tests.linter.checking.lint_project import BAD, PLANS, UNSTAMPED, LintProject, make_lint_project
from tests.plans import CLEAN


def test_nothing_is_judged_twice(project: LintProject) -> None:
    before = project.caches[0].stat()
    results = project.lint()
    assert project.checked == []
    assert [len(result.findings) for result in results] == [0, 1, 1]
    assert results == project.lint(cached=False)
    after = project.caches[0].stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_mended_findings_come_back_with_what_mends_them(project: LintProject) -> None:
    project.write("d.md", CLEAN.replace("## Progress\n", "## Progress   \n").replace("# Build", "\ufeff# Build", 1))
    first = project.lint()
    second = project.lint()
    assert project.checked == []
    assert second == first
    assert [type(finding) for result in second for finding in result.findings] == [
        type(finding) for result in first for finding in result.findings
    ]
    assert [finding.to_json() for result in second for finding in result.findings] == [
        finding.to_json() for result in first for finding in result.findings
    ]


def test_the_bytes_are_given_where_something_was_found(project: LintProject) -> None:
    for cached in (True, False):
        assert [result.data for result in project.lint(cached=cached, with_data=True)] == [
            b"",
            BAD.encode(),
            UNSTAMPED.encode(),
        ]
    assert [result.data for result in project.lint()] == [b"", b"", b""]
    project.lint(with_data=True)
    assert project.checked == []


def test_a_report_is_cached_and_made_only_when_requested(project: LintProject) -> None:
    reported_lines = []

    def make_report(findings: Sequence[Finding], lines: list[str]) -> FindingReport:
        reported_lines.append(lines[findings[0].line - 1])
        return text.make_report(findings, lines)

    assert [result.report for result in project.lint()] == [None, None, None]
    first = project.lint(make_report=make_report)
    assert project.checked == []  # the findings come from the cache, the lines from the plans
    assert len(reported_lines) == 2
    assert first == project.lint(make_report=make_report) == project.lint(cached=False, make_report=make_report)
    assert len(reported_lines) == 4  # two more without the cache
    assert [result.report is None for result in first] == [True, False, False]
    for result in first[1:]:
        assert result.report == text.make_report(result.findings, read_lines(result))
    assert [result.report for result in project.lint(with_data=True)] == [None, None, None]


def test_a_report_follows_the_plan(project: LintProject) -> None:
    for content in (UNSTAMPED, BAD, CLEAN, UNSTAMPED.replace("# Build", "# Make")):
        project.write("a.md", content)
        cached, checked = (
            project.lint(make_report=text.make_report),
            project.lint(cached=False, make_report=text.make_report),
        )
        assert [result.report for result in cached] == [result.report for result in checked]


def test_an_unchanged_plan_is_not_read(project: LintProject, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = text.render(project.lint(make_report=text.make_report))
    monkeypatch.setattr(file_access, "read_with_status", None)
    monkeypatch.setattr(plan_check, "read_lines", None)
    monkeypatch.setattr(stored_findings, "decode_findings", None)
    assert text.render(project.lint(make_report=text.make_report)) == expected
    assert "EP" in expected


def test_other_bytes_of_the_same_size_and_time(project: LintProject) -> None:
    path = project.path / PLANS / "a.md"
    before = path.stat()
    project.write("a.md", UNSTAMPED)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (before.st_size, before.st_mtime_ns, before.st_ino) == (after.st_size, after.st_mtime_ns, after.st_ino)
    assert project.lint_consistently() == ["a.md"]


def test_a_plan_that_was_just_written_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_lint_project(tmp_path / "home", monkeypatch, old=False)
    coarse = 2 * 10**9

    def coarse_stat(status: os.stat_result) -> tuple[int, int, int, int]:
        times = [moment // coarse * coarse for moment in (status.st_mtime_ns, status.st_ctime_ns)]
        return status.st_size, times[0], times[1], status.st_ino

    for module in (batch_check, pending_check):
        monkeypatch.setattr(module, "file_stat", coarse_stat)
    for content in (CLEAN, UNSTAMPED, CLEAN, UNSTAMPED):  # each within the same tick of the clock for files
        project.write("a.md", content)
        assert project.lint_consistently() == ["a.md"]
    assert project.lint_consistently() == []


def test_touched(project: LintProject) -> None:
    for name in ("a.md", "b.md"):
        os.utime(project.path / PLANS / name)
    assert project.lint_consistently() == []
    assert project.lint() == project.lint()
    reads: list[str] = []
    trace.add_listener(reads.append)
    project.lint()
    trace._listeners.pop()
    assert not [line for line in reads if line.endswith(".md")], "the new status was not kept"


def test_replaced_by_a_file_of_the_same_size_and_time(project: LintProject) -> None:
    path = project.path / PLANS / "a.md"
    status = path.stat()
    other = project.write("other", UNSTAMPED)
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)
    assert project.lint_consistently() == ["a.md"]


def test_new_moved_and_deleted(project: LintProject) -> None:
    folder = project.path / PLANS
    project.write("d.md", CLEAN)
    assert project.lint_consistently() == ["d.md"]
    (folder / "b.md").rename(folder / "e.md")
    assert project.lint_consistently() == ["e.md"]
    (folder / "a.md").unlink()
    assert project.lint_consistently() == []
    assert b"c.md" in project.caches[0].read_bytes()
    for name in ("c.md", "d.md"):
        (folder / name).unlink()
    assert project.lint_consistently() == []
    assert b"e.md" in project.caches[0].read_bytes()
    assert b"c.md" not in project.caches[0].read_bytes()
    (folder / "e.md").unlink()
    assert project.lint_consistently() == []


def test_a_part_keeps_the_rest(project: LintProject) -> None:
    project.write("d.md", BAD)
    project.lint(f"{PLANS}/d.md", f"{PLANS}/a.md")
    assert project.checked == ["d.md"]
    assert project.lint_consistently() == []


def test_unreadable_for_a_time(project: LintProject) -> None:
    path = project.path / PLANS / "a.md"
    moved = project.path / "kept"
    path.rename(moved)
    for make in (os.mkdir, os.mkfifo, lambda path: os.symlink("nowhere.md", path)):
        make(path)
        for _ in range(2):
            assert project.lint_consistently() == []
            assert [finding.code for finding in project.lint()[0].findings] == ["EP001"]
        path.rmdir() if path.is_dir() else path.unlink()
    moved.rename(path)
    project.lint_consistently()
    assert project.lint()[0].findings == []


def test_too_large_and_no_text(project: LintProject) -> None:
    project.write("d.md", b"\xff\xfe\0a")
    project.write("e.md", b"# A\n" * 3_000_000)
    assert project.lint_consistently() == ["d.md"]
    assert project.lint_consistently() == []
    assert [[finding.code for finding in result.findings] for result in project.lint()[3:]] == [["EP001"], ["EP001"]]


def test_names_that_are_no_text(project: LintProject) -> None:
    name = os.fsencode(project.path / PLANS) + b"/d-\xff.md"
    try:
        Path(os.fsdecode(name)).write_text(BAD)
    except OSError:
        pytest.skip("the file system takes no such name")
    project.lint_consistently()
    assert project.lint_consistently() == []


def test_links(project: LintProject) -> None:
    target = project.path / "real.md"
    target.write_text(CLEAN)
    (project.path / PLANS / "d.md").symlink_to("../../real.md")
    project.lint_consistently()
    assert project.lint()[3].findings == []
    target.write_text(BAD)
    project.lint_consistently()
    assert [finding.code for finding in project.lint()[3].findings] == ["EP301"]
    outside = project.path.parent / "outside.md"
    outside.write_text(CLEAN)
    target.unlink()
    target.symlink_to(outside)
    project.lint_consistently()
    assert [finding.code for finding in project.lint()[3].findings] == ["EP001"]


def test_the_folder_becomes_a_link(project: LintProject) -> None:
    folder = project.path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(CLEAN)
    assert project.lint("docs")[0].findings == []
    outside = project.path.parent / "outside"
    folder.rename(outside)
    folder.symlink_to(outside)
    assert project.lint("docs")[0].findings == project.lint("docs", cached=False)[0].findings


def test_a_folder_that_becomes_the_archive(project: LintProject) -> None:
    folder = project.path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(CLEAN)
    assert project.lint("docs")[0].findings == []
    folder.rename(project.path / PLANS / "archive")
    folder.symlink_to(project.path / PLANS / "archive")
    assert [finding.code for finding in project.lint("docs")[0].findings] == ["EP502"]


@pytest.mark.parametrize("look", [2, 3])
def test_changed_while_it_is_read(project: LintProject, monkeypatch: pytest.MonkeyPatch, look: int) -> None:
    path = project.path / PLANS / "a.md"
    project.write("a.md", CLEAN + "\n")
    fstat, calls = os.fstat, []

    def slow(handle: int) -> os.stat_result:
        status = fstat(handle)
        if status.st_ino == path.stat().st_ino:
            calls.append(handle)
            if len(calls) == look:  # 2: behind the look at it before it is read; 3: before the one behind that
                project.write("a.md", BAD)
                return status if look == 2 else fstat(handle)
        return status

    monkeypatch.setattr(os, "fstat", slow)
    project.lint()
    monkeypatch.setattr(os, "fstat", fstat)
    project.lint_consistently()
    assert [finding.code for finding in project.lint()[0].findings] == ["EP301"]
