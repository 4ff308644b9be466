"""The history of plans in real repositories: renames, moves, merges, deletions and versions that can't be read."""

from __future__ import annotations

import os

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_selection
from execplan.core.project import project_discovery
from execplan.team.history.history_event import HistoryEvent
from execplan.team.history.plan_history import iter_history, load_history
from tests.conftest import CLOCK, Folder
from tests.plans import CLEAN

NAME = "2026-01-01_parser"
PATH = f".agent/execplans/{NAME}.md"
Row = tuple[str, str]


@pytest.fixture(autouse=True)
def _environment(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)


def commit(repo: Folder, author: str = "Ann") -> str:
    """Commit all files, and give the commit."""
    repo.env["GIT_AUTHOR_NAME"] = author
    repo.git("add", "-A")
    repo.git("commit", "-q", "--allow-empty", "-m", "All")
    repo.env["GIT_AUTHOR_NAME"] = "Ann"
    return repo.git("rev-parse", "HEAD").strip()


def history(repo: Folder, plan: str | None = None) -> list[HistoryEvent]:
    """The events of a plan, or of all plans."""
    if plan is None:
        return load_history(project_discovery.find(os.fspath(repo.path)))
    return load_history(*plan_selection.select_plan(os.fspath(repo.path), plan))


def rows(events: list[HistoryEvent]) -> list[Row]:
    """The kinds and texts of events, without the content of new plans."""
    created = {(event.commit, event.path) for event in events if event.kind == "created"}
    return [
        (event.kind, event.text)
        for event in events
        if event.kind == "created" or (event.commit, event.path) not in created
    ]


def edit(repo: Folder, before: str, after: str, path: str = PATH) -> None:
    """Replace a text in a plan."""
    file = repo.path / path
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after, 1))


def test_events_have_their_commit(repo: Folder) -> None:
    repo.plan()
    first = commit(repo)
    edit(repo, "- [ ] Build", "- [x] Build")
    second = commit(repo, "Bob")
    edit(repo, "- [ ] Write", "- [x] Write")
    os.utime(repo.path / PATH, (CLOCK + 60, CLOCK + 60))
    uncommitted, done, *created = history(repo)
    assert (uncommitted.text, uncommitted.commit, uncommitted.author) == ("Write the tests.", "", "")
    assert uncommitted.time == CLOCK + 60
    assert (done.kind, done.commit, done.author, done.plan_id) == ("task-done", second, "Bob", NAME)
    assert {event.commit for event in created} == {first}
    assert [event.kind for event in created][:3] == ["created", "task-added", "task-done"]
    assert history(repo, "parser") == history(repo)


def test_a_time_that_no_calendar_has(repo: Folder) -> None:
    repo.plan()
    repo.env["GIT_AUTHOR_DATE"] = "@999999999999999 +0000"
    commit(repo)
    assert repo.run("log").out.startswith("9999-12-31 23:59Z  Ann  ")
    assert repo.run("stats", "--chart", "lead-time").exit == 0


def test_settings_of_git_change_nothing(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.ok("done", "2")
    commit(repo)
    repo.ok("archive", "parser", "--force", "--reason", "Enough.")
    commit(repo)
    expected = history(repo)
    assert [event.kind for event in expected if event.kind in ("created", "archived")] == ["archived", "created"]
    for name, value in {
        "log.showRoot": "false",
        "log.follow": "true",
        "log.diffMerges": "off",
        "log.showSignature": "true",
        "diff.renames": "false",
        "diff.relative": "true",
        "core.quotePath": "true",
        "i18n.logOutputEncoding": "UTF-16",
        "color.ui": "always",
        "format.pretty": "oneline",
    }.items():
        repo.git("config", name, value)
    assert history(repo) == expected


def test_before_the_first_commit_all_is_uncommitted(plain: Folder) -> None:
    plain.git("init", "-q")
    plain.plan()
    assert rows(history(plain)) == [("created", "Build the parser")]


def test_without_a_repository_there_is_no_history(plain: Folder) -> None:
    plain.plan()
    with pytest.raises(ExecplanError) as error:
        history(plain)
    assert (error.value.code, error.value.exit) == ("no-repository", 6)


def test_files_that_are_no_plans_have_no_events(repo: Folder) -> None:
    repo.plan()
    repo.write(".agent/execplans/README.md", "# Read me\n")
    repo.write(f".agent/execplans/artifacts/{NAME}/notes.md", "# Notes\n")
    repo.write(".agent/execplans/.hidden.md", "# Hidden\n")
    (repo.path / ".agent/execplans/link.md").symlink_to("README.md")
    commit(repo)
    assert {event.plan_id for event in history(repo)} == {NAME}


def test_the_life_of_a_plan_under_several_names(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.ok("rename", "parser", "Build the reader", "--commit")
    repo.ok("archive", "reader", "--force", "--reason", "Enough.", "--commit")
    repo.ok("restore", "reader", "--commit")
    repo.ok("done", "2", "--commit")
    expected = [
        ("task-done", "Build the parser."),
        ("restored", "Build the reader"),
        ("revision-added", "Restored from the archive"),
        ("archived", "Build the reader"),
        ("revision-added", "Archived by force: Enough."),
        ("renamed", "Build the reader"),
        ("created", "Build the parser"),
    ]
    events = history(repo, "reader")
    assert [row for row in rows(events) if row[0] != "section-changed"] == expected
    assert {event.plan_id for event in events} == {"2026-01-01_build-the-reader"}
    assert next(event for event in events if event.kind == "renamed").previous == NAME


def test_a_move_that_is_not_committed_is_one_event(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.ok("rename", "parser", "Build the reader", "--no-commit")
    assert rows(history(repo)) == [("renamed", "Build the reader"), ("created", "Build the parser")]
    repo.ok("archive", "reader", "--force", "--reason", "Enough.", "--no-commit")
    assert ("archived", "Build the reader") in rows(history(repo))
    assert "deleted" not in {event.kind for event in history(repo)}


def test_a_move_by_hand_is_followed(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    (repo.path / PATH).rename(repo.path / ".agent/execplans/2026-01-01_by-hand.md")
    assert rows(history(repo))[0] == ("renamed", "Build the parser")
    commit(repo)
    assert rows(history(repo, "by-hand")) == [("renamed", "Build the parser"), ("created", "Build the parser")]


def test_an_archived_plan_that_is_rewritten_at_once_is_still_the_same(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.git("rm", "-q", PATH)
    repo.write(f".agent/execplans/archive/{NAME}.md", "# Other\n\n## Progress\n\n- [ ] New\n")
    commit(repo)
    assert rows(history(repo))[0] == ("archived", "Other")


def test_two_plans_archived_together_are_not_mixed_up(repo: Folder) -> None:
    names = ["2026-01-01_one", "2026-01-02_two"]
    for name in names:
        repo.plan(CLEAN.replace("Build the parser\n", f"Plan {name}\n", 1), name)
    commit(repo)
    for name in names:
        repo.write(f".agent/execplans/archive/{name}.md", (repo.path / f".agent/execplans/{name}.md").read_bytes())
        (repo.path / f".agent/execplans/{name}.md").unlink()
    commit(repo)
    events = [event for event in history(repo) if event.kind in ("archived", "renamed", "deleted")]
    assert [(event.kind, event.plan_id) for event in events] == [("archived", name) for name in names]


def test_a_deleted_plan_comes_back(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    (repo.path / PATH).unlink()
    assert rows(history(repo))[0] == ("deleted", "Build the parser")
    commit(repo)
    assert rows(history(repo)) == [("deleted", "Build the parser"), ("created", "Build the parser")]
    repo.plan(CLEAN.replace("- [ ] Build", "- [x] Build"))
    commit(repo)
    assert rows(history(repo)) == [
        ("restored", "Build the parser"),
        ("task-done", "Build the parser."),
        ("deleted", "Build the parser"),
        ("created", "Build the parser"),
    ]


def test_another_plan_at_the_path_of_a_renamed_one_is_new(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.git("mv", PATH, ".agent/execplans/2026-01-01_moved.md")
    commit(repo)
    repo.plan("# Something else\n\n## Progress\n\n- [ ] One\n")
    commit(repo)
    assert rows(history(repo, NAME)) == [("created", "Something else")]
    assert rows(history(repo, "moved")) == [("renamed", "Build the parser"), ("created", "Build the parser")]


def test_new_line_endings_are_a_new_layout(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.plan(CLEAN.replace("\n", "\r\n"))
    assert rows(history(repo))[0][0] == "reformatted"
    commit(repo)
    assert rows(history(repo))[0][0] == "reformatted"


def test_a_merge_repeats_nothing(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.git("checkout", "-q", "-b", "side")
    edit(repo, "- [ ] Write", "- [x] Write")
    edit(repo, "Every command calls", "Each command calls")
    commit(repo, "Bob")
    repo.git("checkout", "-q", "main")
    edit(repo, "Lines can be read.", "Lines can be read.\n\nBlocks too.")
    edit(repo, "then the reader.", "then the writer.")
    commit(repo)
    repo.git("merge", "-q", "--no-edit", "side")
    merged = rows(history(repo))
    assert sorted(merged) == sorted(
        [
            ("task-done", "Write the tests."),
            ("section-changed", "Context and Orientation"),
            ("outcome-added", "Blocks too."),
            ("section-changed", "Plan of Work"),
            ("created", "Build the parser"),
        ]
    )


def test_a_merge_has_what_it_changed_itself(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.git("checkout", "-q", "-b", "side")
    edit(repo, "Build the parser.\n- [ ]", "Build the parser at once.\n- [ ]")
    commit(repo, "Bob")
    repo.git("checkout", "-q", "main")
    edit(repo, "Build the parser.\n- [ ]", "Build the parser slowly.\n- [ ]")
    commit(repo)
    with pytest.raises(AssertionError, match="merge"):
        repo.git("merge", "-q", "side")
    assert [event.kind for event in history(repo)][:2] == ["broken", "task-reworded"]
    repo.plan(CLEAN.replace("Build the parser.\n- [ ]", "Build the parser in time.\n- [ ]"))
    merge = commit(repo, "Carol")
    (event, *_) = history(repo)
    assert (event.kind, event.text, event.commit, event.author) == (
        "task-reworded",
        "Build the parser in time.",
        merge,
        "Carol",
    )


def test_an_octopus_merge_repeats_nothing(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    for branch, before, after in (
        ("one", "- [ ] Build", "- [x] Build"),
        ("two", "Lines can", "All lines can"),
        ("three", "then the reader.", "then the writer."),
    ):
        repo.git("checkout", "-q", "-b", branch, "main")
        edit(repo, before, after)
        commit(repo)
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "one", "two", "three")
    assert len(repo.git("log", "-1", "--format=%P").split()) == 3
    kinds = [kind for kind, _ in rows(history(repo))]
    assert sorted(kinds) == ["created", "outcome-changed", "section-changed", "task-done"]


def test_a_branch_that_renamed_and_one_that_edited(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.git("checkout", "-q", "-b", "side")
    repo.git("mv", PATH, ".agent/execplans/2026-01-01_moved.md")
    commit(repo, "Bob")
    repo.git("checkout", "-q", "main")
    edit(repo, "- [ ] Build", "- [x] Build")
    commit(repo)
    repo.git("merge", "-q", "--no-edit", "side")
    edit(repo, "- [ ] Write", "- [x] Write", ".agent/execplans/2026-01-01_moved.md")
    commit(repo)
    events = rows(history(repo, "moved"))
    assert events[0] == ("task-done", "Write the tests.")
    assert sorted(events[1:]) == [
        ("created", "Build the parser"),
        ("renamed", "Build the parser"),
        ("task-done", "Build the parser."),
    ]


def test_discarded_changes_of_a_branch_are_left_out(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.git("checkout", "-q", "-b", "side")
    edit(repo, "- [ ] Write", "- [x] Write")
    commit(repo)
    repo.git("checkout", "-q", "main")
    edit(repo, "- [ ] Build", "- [x] Build")
    commit(repo)
    repo.git("merge", "-q", "-s", "ours", "--no-edit", "side")
    assert rows(history(repo)) == [("task-done", "Build the parser."), ("created", "Build the parser")]


@pytest.mark.parametrize(
    "broken",
    [
        b"\xff\xfe\x00",
        b"# T\xe9\n",
        b"",
        b"# T\n\0",
        b"# T\n\n<<<<<<< a\n- [ ] x\n=======\n- [ ] y\n>>>>>>> b\n",
        b"x" * (6 << 20),
    ],
    ids=["utf-16", "latin-1", "empty", "nul", "conflict", "large"],
)
def test_versions_that_cannot_be_read(repo: Folder, broken: bytes) -> None:
    repo.plan()
    commit(repo)
    repo.plan(broken)
    assert history(repo)[0].kind == "broken"
    commit(repo)
    assert [event.kind for event in history(repo)][:2] == ["broken", "created"]
    repo.plan(broken + b" ")
    commit(repo)
    repo.plan(CLEAN.replace("- [ ] Build", "- [x] Build"))
    commit(repo)
    assert rows(history(repo))[:2] == [("repaired", "Build the parser"), ("task-done", "Build the parser.")]
    assert [kind for kind, _ in rows(history(repo))[2:]] == ["broken", "broken", "created"]


def test_a_plan_that_was_never_readable_before(repo: Folder) -> None:
    repo.plan(b"# T\xe9\n")
    commit(repo)
    repo.plan()
    commit(repo)
    kinds = [event.kind for event in history(repo)]
    assert kinds[:3] == ["repaired", "task-added", "task-done"]
    assert kinds[-2:] == ["created", "broken"]


def test_odd_names_of_files_and_authors(repo: Folder) -> None:
    name = "2026-01-01_größe\tund \"mehr\" 'x'"
    repo.plan(CLEAN, name)
    commit(repo, "Zoë \x01 <x> Ü")
    edit(repo, "- [ ] Build", "- [x] Build", f".agent/execplans/{name}.md")
    commit(repo, "Zoë")
    done, *_ = history(repo)
    assert (done.plan_id, done.author) == (name, "Zoë")


def test_the_mailmap_names_authors(repo: Folder) -> None:
    repo.write(".mailmap", "Ann Miller <ann@example.org>\n")
    repo.plan()
    commit(repo, "a.miller")
    assert {event.author for event in history(repo)} == {"Ann Miller"}


def test_dated_archives_and_directories_of_plans(plain: Folder) -> None:
    plain.git("init", "-q", "-b", "main")
    plain.write(".agent/execplan.toml", 'layout = "folder"\narchive = ".agent/archive/{year}"\n')
    plain.write(f".agent/execplans/{NAME}/{NAME}.md", CLEAN)
    plain.write(f".agent/execplans/{NAME}/notes.md", "# Notes\n")
    commit(plain)
    plain.git("mv", f".agent/execplans/{NAME}", ".agent/moved")
    (plain.path / ".agent/archive/2025").mkdir(parents=True)
    plain.git("mv", ".agent/moved", f".agent/archive/2025/{NAME}")
    commit(plain)
    assert rows(history(plain)) == [("archived", "Build the parser"), ("created", "Build the parser")]


def test_a_link_to_the_directory_of_plans_is_followed(repo: Folder) -> None:
    (repo.path / ".agent/execplans").rmdir()
    (repo.path / "plans").mkdir()
    (repo.path / ".agent/execplans").symlink_to("../plans")
    repo.plan()
    first = commit(repo)
    edit(repo, "- [ ] Build", "- [x] Build")
    second = commit(repo)
    assert [event.commit for event in history(repo) if event.kind in ("created", "task-done")][:2] == [second, first]
    assert rows(history(repo, "parser")) == [("task-done", "Build the parser."), ("created", "Build the parser")]


def test_a_link_to_a_plan_elsewhere_has_no_history(repo: Folder) -> None:
    repo.write("docs/plan.md", CLEAN)
    (repo.path / ".agent/execplans/2026-01-01_link.md").symlink_to("../../docs/plan.md")
    assert history(repo) == []
    commit(repo)
    assert history(repo) == []
    assert history(repo, "link") == []


def test_a_file_that_git_no_longer_tracks_is_unchanged(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.git("rm", "-q", "--cached", PATH)
    assert rows(history(repo)) == [("created", "Build the parser")]
    repo.write(".gitignore", ".agent/\n")
    assert rows(history(repo)) == [("created", "Build the parser")]


def test_a_subdirectory_and_a_worktree_have_the_same_history(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.git("worktree", "add", "-q", "../other")
    other = Folder(repo.path.parent / "other")
    assert history(other) == history(repo)
    assert load_history(project_discovery.find(os.fspath(repo.path / ".agent"))) == history(repo)


def test_versions_are_read_only_as_far_as_they_are_needed(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    for number in range(40):
        repo.plan(CLEAN.replace("None so far.", f"Note {number}."))
        commit(repo)
    ticks: list[tuple[int, int]] = []
    events = iter_history(
        project_discovery.find(os.fspath(repo.path)), tick=lambda completed, total: ticks.append((completed, total))
    )
    assert next(events).kind == "section-changed"
    next(events)
    assert ticks == [(1, 41)]
