"""`merge PLAN`: a plan that holds conflict markers is finished, and what a person has settled in it stays."""

from __future__ import annotations

import pytest

from execplan.core.plan.task_edits import add_task, complete_tasks
from tests.conftest import Folder
from tests.core.git_merge.branches import BOTH, MOMENT, OURS, PLAN, THEIRS, commit, edited, fork, git, plan, states
from tests.plans import CLEAN

PLAN_ID = PLAN.rpartition("/")[2].removesuffix(".md")
WORK = "Write the scanner, then the reader."
OURS_LINE, THEIRS_LINE = "Scan first.", "Read first."


def conflict(repo: Folder, *, prose: bool = False, style: str = "merge") -> str:
    """Merge two branches as git does without our driver; the plan with its markers."""
    repo.git("config", "merge.conflictStyle", style)
    ours, theirs = (CLEAN.replace(WORK, line) if prose else CLEAN for line in (OURS_LINE, THEIRS_LINE))
    fork(repo, edited(ours, *OURS), edited(theirs, *THEIRS))
    assert git(repo, "merge", "side").returncode == 1
    text = (repo.path / PLAN).read_text()
    assert text.count("<<<<<<< HEAD") > 1
    return text


def holds_both(repo: Folder) -> None:
    """See that the plan says what both branches brought in, each once."""
    text = (repo.path / PLAN).read_text()
    assert [text.count(phrase) for phrase in BOTH] == [1] * len(BOTH)
    assert [states(repo)[phrase] for phrase in ("Build the parser.", "Write the tests.")] == ["done", "done"]
    assert len(plan(repo).tasks) == 5


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_an_unmerged_plan_is_finished(repo: Folder, style: str) -> None:
    text = conflict(repo, style=style)
    count = text.count("<<<<<<<")
    result = repo.run("merge", "parser", "--json")
    data = result.json["data"]
    assert result.exit == 0
    assert data["conflicts"] == 0
    assert data["changed"] is True
    assert data["said"] == [f"merged: {count} of {count} conflict{'' if count == 1 else 's'}"]
    assert result.json["next"] == [f"git add {PLAN}", "git commit --no-edit"]
    holds_both(repo)
    advice = f"next: mark it as resolved, with: git add {PLAN}; then finish: git commit --no-edit\n"
    assert (
        repo.run("merge").out == repo.run("merge", "parser").out == f"no conflict markers: nothing to merge\n{advice}"
    )
    commands = f": git add {PLAN} && git commit --no-edit"
    assert repo.run("commit", "parser", "--json").json["error"]["hint"] == f"finish it{commands}"
    repo.git("add", PLAN)
    for named in ((), ("parser",)):
        assert repo.run("merge", *named, "--json").json["next"] == ["git commit --no-edit"]
    hint = repo.run("commit", "parser", "--json").json["error"]["hint"]
    assert hint.endswith(f": git commit --no-edit && execplan commit {PLAN_ID}")
    repo.git("commit", "-q", "--no-edit")
    assert repo.run("lint", PLAN).exit == 0
    repeated = repo.ok("merge", "parser")
    assert repeated["changed"] is False
    assert "nothing to merge" in repeated["said"][0]


def test_from_a_folder_below(repo: Folder) -> None:
    conflict(repo)
    subdirectory = repo.path / "src"
    subdirectory.mkdir()
    document = repo.run("merge", "parser", "--json", cwd=subdirectory).json
    assert document["data"]["path"] == PLAN
    assert document["next"] == [f"git add ../{PLAN}", "git commit --no-edit"]


def test_it_can_be_taken_back(repo: Folder) -> None:
    text = conflict(repo)
    repo.ok("merge", "parser")
    repo.ok("undo", "-p", "parser")
    assert (repo.path / PLAN).read_text() == text


def test_what_was_settled_by_hand_stays(repo: Folder) -> None:
    text = conflict(repo)
    head, _, rest = text.partition("<<<<<<< HEAD\n")
    region, _, tail = rest.partition(">>>>>>> side\n")
    assert "Handle CRLF" in region
    by_hand = "- [x] (2026-01-01 00:00Z) Build the whole parser.\n- [x] (2026-01-01 00:00Z) Write the tests.\n"
    tail = tail.replace("Lines can be read.", "Lines can be read, and so said I.")
    repo.write(PLAN, head + by_hand + tail)
    repo.ok("merge", "parser")
    merged = (repo.path / PLAN).read_text()
    assert "<<<<<<<" not in merged
    assert "- [x] (2025-12-30 09:15Z) Read lines.\n" + by_hand + "\n##" in merged
    assert "Lines can be read, and so said I." in merged
    assert "Handle CRLF" not in merged
    assert all(phrase in merged for phrase in BOTH[2:])


WRAPPED = """\
- Decision: Read the file line by line
  with the scanner, not as a whole. Rationale:
  A task is a line. Date/Author:
  2025-12-30 / Ann
- Decision: Keep the tests free of a disk.
  Rationale: They take less time that way.
  Date/Author: 2025-12-30 / Ann
"""
REWRAPPED = """\
- Decision: Read the file line by line with the
  scanner, not as a whole. Rationale: A task is
  a line. Date/Author: 2025-12-30
  / Ann
- Decision: Keep the tests free of a disk. Rationale:
  They take less time that way. Date/Author:
  2025-12-30 / Ann
"""
REWORDED = WRAPPED.replace("free of a disk", "free of a hard disk")


@pytest.mark.parametrize("by_hand", [False, True])
def test_an_entry_that_one_side_wrapped_and_the_other_reworded_is_kept_once(repo: Folder, *, by_hand: bool) -> None:
    """Git has put lines of one side into the other by then; what a person has edited meanwhile stays."""
    at = CLEAN.index("- Decision:")
    log = CLEAN[at : CLEAN.index("## Outcomes")]
    base, ours, theirs = [CLEAN.replace(log, f"{entries}\n") for entries in (WRAPPED, REWRAPPED, REWORDED)]
    fork(repo, ours, theirs, base)
    assert git(repo, "merge", "side").returncode == 1
    if by_hand:
        text = (repo.path / PLAN).read_text()
        repo.write(PLAN, text.replace("Lines can be read.", "Lines can be read, and so said I."))
    assert repo.ok("merge", "parser")["conflicts"] == 0
    merged_plan = plan(repo)
    assert len(merged_plan.decisions) == 2
    assert "a hard disk" in merged_plan.decisions[1].text
    assert ("and so said I" in (repo.path / PLAN).read_text()) == by_hand


def test_what_cannot_be_merged_stays_between_markers(repo: Folder) -> None:
    conflict(repo, prose=True)
    result = repo.run("merge", "parser", "--json")
    document = result.json
    assert result.exit == 1
    assert document["ok"] is False
    assert document["data"]["conflicts"] == 1
    assert document["data"]["changed"] is True
    assert document["error"] is None
    assert document["next"] == [f"git diff {PLAN}"]
    assert document["data"]["do"]["then"] == f"execplan merge {PLAN}"
    assert any("1 conflict is left" in warning for warning in document["warnings"])
    text = (repo.path / PLAN).read_text()
    assert f"<<<<<<< HEAD\n{OURS_LINE}\n=======\n{THEIRS_LINE}\n>>>>>>> side\n" in text
    assert text.count("<<<<<<<") == 1
    holds_both(repo)
    before = (repo.path / PLAN).read_bytes()
    repeated = repo.run("merge", "parser", "--json")
    assert (repeated.exit, repeated.json["data"]["changed"]) == (1, False)
    assert (repo.path / PLAN).read_bytes() == before
    repo.write(
        PLAN, "".join([line + "\n" for line in text.splitlines() if line[:7] not in ("<<<<<<<", "=======", ">>>>>>>")])
    )
    assert repo.run(*document["data"]["do"]["then"].split()[1:]).out.endswith(
        f" git add {PLAN}; then finish: git commit --no-edit\n"
    )


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_markers_that_were_committed(repo: Folder, style: str) -> None:
    """There is no unmerged version in the index then; the base is what the markers show, or none."""
    conflict(repo, style=style)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "With markers")
    repo.ok("merge", "parser")
    holds_both(repo)


def test_without_git(plain: Folder) -> None:
    ours, theirs = "- [x] (2026-01-01 00:00Z) Build the parser.\n", "- [ ] Build the parser.\n- [ ] Handle tabs\n"
    plain.plan(
        CLEAN.replace(
            "- [ ] Build the parser.\n",
            f"<<<<<<< a\n{ours}||||||| o\n- [ ] Build the parser.\n=======\n{theirs}>>>>>>> b\n",
        )
    )
    plain.ok("merge", "parser")
    assert list(states(plain).items()) == [
        ("Read lines.", "done"),
        ("Build the parser.", "done"),
        ("Handle tabs", "open"),
        ("Write the tests.", "open"),
    ]


def test_dry_run_and_digest(repo: Folder) -> None:
    text = conflict(repo)
    data = repo.ok("merge", "parser", "--dry-run")
    assert data["diff"].startswith(f"--- a/{PLAN}\n+++ b/{PLAN}\n")
    assert "-<<<<<<< HEAD" in data["diff"]
    assert (repo.path / PLAN).read_text() == text
    assert repo.run("merge", "parser", "--if-match", "0" * 64).exit == 4
    assert (repo.path / PLAN).read_text() == text
    assert repo.ok("merge", "parser", "--if-match", repo.ok("show")["digest"])["digest"] == data["digest"]


def test_commit_waits_for_the_merge_that_is_under_way(repo: Folder) -> None:
    conflict(repo)
    steps = f": execplan merge {PLAN_ID} && git add {PLAN} && git commit --no-edit"
    for call in (("commit", "parser"), ("worktree", "parser"), ("worktree", "parser", "--commit")):
        assert repo.run(*call, "--json").json["error"]["hint"] == f"resolve the conflicts, then finish it{steps}"
    result = repo.run("merge", "parser", "--commit", "--json")
    assert result.exit == 5
    assert result.json["error"]["code"] == "under-way"
    holds_both(repo)
    for command in ("status", "next", "show"):
        assert repo.run(command).out.endswith(f"next: git add {PLAN}\n")
    repo.git("add", PLAN)
    for command in ("status", "next", "show"):
        assert repo.run(command).out.endswith("next: git commit --no-edit\n")
    repo.git("commit", "-q", "--no-edit")
    assert "git commit" not in repo.run("next").out


def test_one_side_of_a_record_in_conflict_is_kept(repo: Folder) -> None:
    record = f".agent/execplans/artifacts/{PLAN_ID}/ledger.jsonl"
    repo.plan()
    fork(repo, '{"at": 1}\n', '{"at": 2}\n', "", record)
    assert git(repo, "merge", "side").returncode
    steps = f"git checkout --ours -- {record} && git add {record} && git commit --no-edit"
    hint = repo.run("commit", "parser", "--json").json["error"]["hint"]
    assert hint == f"resolve the conflicts, then finish it: {steps}"
    repo.git("checkout", "-q", "--theirs", "--", record)
    hint = repo.run("commit", "parser", "--json").json["error"]["hint"]
    assert hint == f"finish it: git add {record} && git commit --no-edit"


def test_commit_where_no_merge_is_under_way(repo: Folder) -> None:
    conflict(repo)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "With markers")
    assert repo.ok("merge", "parser", "--commit")["commit"] == repo.git("rev-parse", "HEAD").strip()


def test_a_plan_with_conflicts_left_is_not_committed(repo: Folder) -> None:
    conflict(repo, prose=True)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "With markers")
    before = (repo.path / PLAN).read_bytes(), repo.git("rev-parse", "HEAD")
    result = repo.run("merge", "parser", "--commit", "--json")
    assert result.exit == 1
    assert result.json["error"]["code"] == "conflicts-left"
    assert ((repo.path / PLAN).read_bytes(), repo.git("rev-parse", "HEAD")) == before


def test_the_setting_commit_leaves_a_merge_to_git(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", "commit = true\n")
    conflict(repo)
    assert repo.ok("merge", "parser")["commit"] is None


def test_undo_of_a_committed_merge_says_that_the_markers_are_back(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", "commit = true\n")
    conflict(repo)
    repo.ok("merge", "parser")
    repo.git("commit", "-qam", "Merged")
    merged, head = (repo.path / PLAN).read_bytes(), repo.git("rev-parse", "HEAD")
    for command in ("redo -p 2026-01-01_parser", "merge 2026-01-01_parser"):
        undone = repo.run("undo", "--commit")
        assert undone.err == (
            f"execplan: warning: {PLAN} contains conflict markers again, uncommitted; "
            "to redo the merge: execplan redo -p 2026-01-01_parser\n"
        )
        assert undone.out.splitlines()[-1] == "next: execplan redo -p 2026-01-01_parser"
        assert "<<<<<<<" in (repo.path / PLAN).read_text()
        assert repo.git("rev-parse", "HEAD") == head, "markers are not committed"
        assert repo.run(*command.split()).err == ""
        assert (repo.path / PLAN).read_bytes() == merged


def test_redo_of_a_merge_leads_back_to_git_while_it_merges(repo: Folder) -> None:
    conflict(repo)
    repo.ok("merge", "parser")
    repo.ok("undo")
    assert repo.run("redo").out.endswith("next: execplan merge 2026-01-01_parser\n")
    assert f"git add {PLAN}" in repo.run("merge", "parser").out


def test_an_archived_plan_is_finished_too(repo: Folder) -> None:
    finished = edited(CLEAN, complete_tasks(["2", "3"], MOMENT))
    archived = ".agent/execplans/archive/2026-01-01_parser.md"
    fork(repo, edited(finished, *OURS[1:]), edited(finished, *THEIRS[1:]), base=finished, name=archived)
    assert git(repo, "merge", "side").returncode == 1
    repo.ok("merge", "parser")
    text = (repo.path / archived).read_text()
    assert [text.count(phrase) for phrase in BOTH] == [1] * len(BOTH)


def test_a_plan_archived_on_one_side_and_edited_on_the_other_is_merged_then_committed_then_restored(
    repo: Folder,
) -> None:
    tasks = edited(CLEAN, complete_tasks(["2", "3"], MOMENT))
    commit(repo, edited(CLEAN, complete_tasks(["2"], MOMENT)))
    repo.git("checkout", "-qb", "side")
    commit(repo, tasks)
    repo.ok("archive", "parser", "--commit")
    repo.git("checkout", "-q", "main")
    repo.ok("add", "Write the manual.")
    repo.git("commit", "-qam", "Ours")
    assert git(repo, "merge", "side").returncode == 1

    def next_command() -> str:
        first = {repo.run(command, "--json").json["next"][0] for command in ("status", "next", "list")}
        assert len(first) == 1
        return str(first.pop())

    merging = f"execplan merge {PLAN_ID}"
    assert next_command() == merging
    for command in ("show", "next"):
        assert repo.run(command, PLAN_ID).out.endswith(f"next: {merging}\n")
    assert repo.run("lint").out.endswith(f"next: {merging}\n")
    repo.plan(CLEAN, "2026-01-02_other")
    assert f"to resolve it: {merging}\n" in repo.run("status").err, "what is next is about the open plan"
    (repo.path / ".agent/execplans/2026-01-02_other.md").unlink()
    assert repo.run("merge").exit == 0
    assert next_command() == f"git add .agent/execplans/archive/{PLAN_ID}.md", "it is not marked as resolved"
    repo.git("add", ".agent")
    assert next_command() == "git commit --no-edit"
    repo.git("commit", "-q", "--no-edit")
    restoring = f"execplan restore {PLAN_ID}"
    assert next_command() == restoring
    assert repo.run("status").out.startswith(f"1 archived; archived with open tasks: {PLAN_ID}\n")
    assert repo.run("lint").out.endswith(f"next: {restoring}\n")
    assert repo.run("prime").out == (
        f"execplan: no open plans, 1 archived; archived with open tasks: {PLAN_ID}\nhint: {restoring}\n"
    )
    repo.ok("restore", PLAN_ID)
    assert repo.ok("next")["task"]["text"] == "Write the manual."


def test_plans_that_were_moved_into_the_archive_with_open_tasks_are_not_named(repo: Folder) -> None:
    commit(repo, CLEAN, f".agent/execplans/archive/{PLAN_ID}.md")
    assert repo.run("status").out == "1 archived\nnext: execplan new 'Title'\n"


def test_line_ends_that_git_turns(repo: Folder) -> None:
    repo.git("config", "core.autocrlf", "true")
    fork(repo, edited(CLEAN, *OURS).replace("\n", "\r\n"), edited(CLEAN, *THEIRS).replace("\n", "\r\n"))
    assert git(repo, "merge", "side").returncode == 1
    assert b"\r\n" in (repo.path / PLAN).read_bytes()
    repo.ok("merge", "parser")
    holds_both(repo)
    data = (repo.path / PLAN).read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n")


def test_markers_that_do_not_nest_are_refused(repo: Folder) -> None:
    broken = CLEAN.replace(WORK, f"<<<<<<< a\n{WORK}\n>>>>>>> b\n")
    path = repo.plan(broken)
    result = repo.run("merge", "parser", "--json")
    assert result.exit == 3
    assert result.json["error"]["code"] == "bad-markers"
    assert PLAN in result.json["error"]["message"]
    assert path.read_text() == broken


def test_a_plan_without_markers_is_left_alone(repo: Folder) -> None:
    path = repo.plan()
    result = repo.run("merge", "parser")
    assert result.exit == 0
    assert result.out == "no conflict markers: nothing to merge\n"
    assert path.read_text() == CLEAN
    commit(repo, CLEAN)
    repo.write(".agent/execplans/archive/2025-01-01_old.md", CLEAN)
    assert repo.ok("merge", "2025-01-01_old")["changed"] is False


def test_other_verbs_still_refuse_a_plan_with_markers(repo: Folder) -> None:
    text = conflict(repo)
    assert repo.run("add", "Another").exit == 3
    assert (repo.path / PLAN).read_text() == text
    repo.ok("merge", "parser")
    repo.ok("add", "Another")
    edited((repo.path / PLAN).read_bytes(), add_task("And another", MOMENT))


def test_without_a_name_the_only_plan_in_conflict_is_merged(repo: Folder) -> None:
    conflict(repo)
    repo.ok("new", "Another plan")
    assert repo.ok("merge", "--dry-run")["path"] == PLAN
    assert repo.ok("merge")["path"] == PLAN
    holds_both(repo)
    assert repo.ok("merge")["path"] == PLAN, "git still lists it as unmerged"
    repo.git("add", PLAN)
    assert repo.ok("merge")["said"] == ["nothing to merge: no plan has conflict markers"]


def test_a_file_in_conflict_is_edited_before_git_adds_it(repo: Folder) -> None:
    """Its conflict markers would be committed otherwise."""
    notes = f".agent/execplans/artifacts/{PLAN.rpartition('/')[2].removesuffix('.md')}/notes.txt"
    repo.plan(CLEAN, "2026-01-01_parser")
    for branch, text in (("main", "one"), ("other", "two"), ("main", "three")):
        repo.git("switch", "-q", *(["-c"] if branch == "other" else []), branch)
        repo.write(notes, f"{text}\n")
        repo.git("add", "-A")
        repo.git("commit", "-qm", text)
    repo.git("switch", "-q", "main")
    assert git(repo, "merge", "other").returncode == 1
    assert repo.run("merge", "--json").json["next"] == [f"git add {notes}", "git commit --no-edit"]
    hint = repo.run("commit", "parser", "--json").json["error"]["hint"]
    assert f"edit {notes}, then: git add {notes} && git commit --no-edit" in hint


def test_of_several_plans_in_conflict_one_is_named(repo: Folder) -> None:
    conflict(repo)
    other = repo.ok("new", "Another plan")["path"]
    path = repo.path / other
    path.write_text(path.read_text().replace("## Progress", "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n\n## Progress"))
    error = repo.run("merge", "--json").json["error"]
    assert error["code"] == "ambiguous-plan"
    assert len(error["candidates"]) == 2
    command = error["hint"].rpartition("execplan ")[2].split()
    assert repo.run(*command, "--dry-run").exit in (0, 1)
    repo.ok("use", "parser")
    assert repo.ok("merge", "--dry-run")["path"] == PLAN


@pytest.mark.parametrize("call", ["review", "handoff", "compile", "note text -p"])
def test_every_command_names_the_plan_that_is_to_be_merged(repo: Folder, call: str) -> None:
    conflict(repo)
    repo.ok("new", "Another plan")
    error = repo.run(*call.split(), "parser", "--json").json["error"]
    assert error["hint"].endswith(": execplan merge parser") or ": execplan merge 2026" in error["hint"]


@pytest.mark.parametrize("options", [(), ("--comments",), ("--section", "Progress")])
def test_show_leads_to_the_merge(repo: Folder, options: tuple[str, ...]) -> None:
    conflict(repo)
    (command,) = repo.run("show", "parser", *options, "--json").json["next"]
    assert command.startswith("execplan merge ")
