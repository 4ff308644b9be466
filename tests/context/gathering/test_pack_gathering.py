"""What is gathered about a plan in a real repository: its parts, files, artifacts, changes; and what is kept out, and told."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from execplan.context.context_pack import DECISION, DIFF, FILE, Unit
from execplan.context.context_settings import parse_context_settings
from execplan.context.gathering.file_units import FileListing
from execplan.context.gathering.pack_gathering import GatheredPack, GatherOptions, gather_pack
from execplan.context.gathering.plan_units import split_plan
from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan_store import plan_selection, plan_store
from tests.plans import CLEAN, with_sections

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder

KEY = "ghp_" + "a8F3kLm9Qw2ZxYc7Vb1Nt6RsPq4JdHgT0EuI"
PLAN = with_sections(
    """\
## Progress

- [x] (2025-12-30 09:15Z) Read lines.
- [ ] Mend `src/reader.py:12` and [the scanner](../../src/scanner.py), then `tests/test_reader.py::test_last`.
- [ ] Write the tests.

## Decision Log

- Decision: One.
  Rationale: R
  Date/Author: 2025-12-30 / Ann
- Decision: Two.
  Rationale: R
  Date/Author: 2025-12-31 / Ann
- Decision: Three.
  Rationale: R
  Date/Author: 2026-01-01 / Ann
- Decision: Four.
  Rationale: R
  Date/Author: 2026-01-02 / Ann

## Context and Orientation

The tables are in `tables.py`, as the README.md says; nothing is in `src/gone.py`. `Makefile` builds.
"""
)


@pytest.fixture
def project(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A repository with a plan that names files, all committed."""
    repo.plan(PLAN)
    for name in ("src/reader.py", "src/scanner.py", "tests/test_reader.py", "lib/deep/tables.py", "Makefile"):
        repo.write(name, f"# {name}\n")
    repo.write("src/other.py", "# nobody names it\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "All")
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("EXECPLAN_PLAN", raising=False)
    monkeypatch.chdir(repo.path)
    return repo


def gather(**options: Any) -> GatheredPack:
    """What is gathered about the only plan."""
    current_project, ref = plan_selection.select_plan(os.getcwd(), None)
    plan = plan_store.load(current_project, ref).plan
    assert plan is not None
    return gather_pack(current_project, ref, plan, GatherOptions(**options))


def units_of(kind: str, result: GatheredPack) -> list[Unit]:
    return [unit for unit in result.pack.units if unit.type == kind]


def test_files_that_the_plan_names(project: Folder) -> None:
    result = gather()
    paths = ["README.md", "Makefile", "lib/deep/tables.py", "src/reader.py", "src/scanner.py", "tests/test_reader.py"]
    origins = {unit.path: unit.origin for unit in units_of(FILE, result)}
    assert sorted(origins) == sorted([*paths, "src/other.py"])
    assert origins["src/reader.py"] == "2 parts of the plan name it"
    assert origins["src/other.py"] == "git has changed it together with files that the plan names"
    assert result.warnings == ()
    unit = next(unit for unit in units_of(FILE, result) if unit.path == "src/reader.py")
    assert (unit.id, unit.content, unit.line_start, unit.line_end) == ("file:src/reader.py", "# src/reader.py\n", 1, 1)


def test_the_plan_in_parts(project: Folder) -> None:
    result = gather()
    assert result.pack.task.startswith("Mend `src/reader.py:12`")
    assert result.pack.purpose == "A plan can be read and edited without loss."
    pinned = {unit.id: unit.pinned for unit in result.pack.units if unit.pinned}
    assert pinned["section:purpose"] == "the plan's purpose"
    assert [why for name, why in pinned.items() if name.startswith("task:")] == ["the next open task"]
    assert [unit.content.split("\n")[0] for unit in units_of(DECISION, result) if unit.pinned] == [
        "- Decision: Two.",
        "- Decision: Three.",
        "- Decision: Four.",
    ]
    task = next(unit for unit in result.pack.units if unit.pinned == "the next open task")
    assert task.references == ("src/reader.py", "tests/test_reader.py", "src/scanner.py")
    lines = PLAN.split("\n")
    for unit in result.pack.units:
        if unit.line_start and not unit.path:
            assert unit.content.split("\n")[-1] == lines[unit.line_end - 1]
    ids = [unit.id for unit in result.pack.units]
    assert len(ids) == len(set(ids))


def test_the_milestone_of_the_task_comes_first_and_finished_ones_are_left_out() -> None:
    filler = "It changes the code in many places. " * 20
    sections = "## Progress\n\n- [x] Milestone 1: read.\n- [ ] Milestone 2: write.\n- [ ] Milestone 3: test.\n\n"
    sections += "## Constraints\n\nNever lose a byte.\n\n## Plan of Work\n\n"
    sections += "".join([f"### Milestone {number}\n\n{filler}\n\n" for number in (1, 2, 3)])
    units = split_plan(reader.read(with_sections(sections).encode()), lambda text: ()).units
    assert {unit.title for unit in units if unit.comes_first} == {"Constraints", "Plan of Work: Milestone 2"}
    omitted = {unit.title: unit.omission for unit in units if unit.omission}
    assert omitted == {
        "1 of 3, done": "is done",
        "Plan of Work: Milestone 1": "its tasks are completed",
        "Artifacts and Notes": "is empty",
    }


def test_what_the_session_has_read_is_left_out_and_no_file_comes_twice(project: Folder) -> None:
    project.write("src/scanner.py", "first = 1\nsecond = 2\n")
    project.write("src/reader.py", "third = 3\n")
    printed = {"id": "r", "type": "tool_result", "content": "     1→first = 1\n     2→second = 2\n"}
    same = {"id": "s", "type": "file", "content": "third = 3\n", "path": "src/reader.py", "pinned": True}
    project.write("units.jsonl", f"{json.dumps(printed)}\n{json.dumps(same)}\n")
    omitted = {unit.id: unit.omission for unit in gather(unit_files=("units.jsonl",)).pack.units if unit.omission}
    assert omitted["file:src/scanner.py"] == "the session has read it"
    assert omitted["file:src/reader.py"] == "s is the same file"
    assert "file:Makefile" not in omitted


def test_the_next_task_is_the_own_claim_or_one_that_nobody_has(
    project: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.ok("next", "--claim", "--as", "bob")
    monkeypatch.setenv("EXECPLAN_AGENT", "alice")
    assert gather().pack.task == "Write the tests."
    monkeypatch.setenv("EXECPLAN_AGENT", "bob")
    assert gather().pack.task.startswith("Mend ")


def test_nothing_of_the_plan_is_lost_or_told_twice(project: Folder) -> None:
    text = "\n".join([unit.content for unit in gather().pack.units if not unit.path and unit.line_start])
    for line in PLAN.split("\n"):
        if line.strip() and not line.startswith("#"):
            assert text.count(line) == PLAN.count(line), line


def test_a_task_by_name_and_fewer_decisions(project: Folder) -> None:
    result = gather(task="3", decision_count=1)
    assert result.pack.task == "Write the tests."
    assert {unit.pinned for unit in result.pack.units} >= {"requested by name", "the last decision"}
    assert not [unit for unit in units_of(DECISION, gather(decision_count=0)) if unit.pinned]
    with pytest.raises(ExecplanError) as refused:
        gather(task="no such words")
    assert refused.value.code == "no-such-task"


def test_guidance_of_a_template_is_left_out(project: Folder) -> None:
    project.run("new", "Another thing")
    os.remove(project.path / ".agent/execplans/2026-01-01_parser.md")
    result = gather()
    assert result.pack.task == ""
    assert "what you changed" not in "\n".join([unit.content for unit in result.pack.units])
    assert not [unit for unit in result.pack.units if unit.id == "section:purpose"]


def test_newest_decisions_on_top() -> None:
    turned = "- Decision: B\n  Date/Author: 2026-01-02 / Ann\n- Decision: A\n  Date/Author: 2026-01-01 / Ann\n"
    plan = reader.read(with_sections(f"## Decision Log\n\n{turned}").encode())
    decisions = [unit for unit in split_plan(plan, lambda _: (), pinned_decisions=1).units if unit.type == DECISION]
    assert [(unit.content[:13], bool(unit.pinned), unit.order) for unit in decisions] == [
        ("- Decision: B", True, 2),
        ("- Decision: A", False, 1),
    ]


def test_long_sections_are_split_at_sub_headings() -> None:
    long = "word " * 400
    body = f"Above.\n\n### One\n\n{long}\n\n### Two\n\nTwo's.\n\n### One\n\nAgain.\n"
    plan = reader.read(with_sections(f"## Plan of Work\n\n{body}").encode())
    titles = {
        unit.id: unit.title for unit in split_plan(plan, lambda _: ()).units if unit.id.startswith("section:plan-of")
    }
    assert titles == {
        "section:plan-of-work": "Plan of Work",
        "section:plan-of-work/one": "Plan of Work: One",
        "section:plan-of-work/two": "Plan of Work: Two",
        "section:plan-of-work/one-2": "Plan of Work: One",
    }


def test_changes_staged_and_not(project: Folder) -> None:
    project.write("src/reader.py", "# staged\n")
    project.git("add", "src/reader.py")
    project.write("src/reader.py", "# staged\n# and not\n")
    project.write("src/with space.py", "new\n")
    project.plan(PLAN + "\nMore.\n")
    (project.path / "src/other.py").unlink()
    project.git("config", "diff.noprefix", "true")
    project.git("config", "color.diff", "always")
    project.git("config", "diff.external", "false")
    diffs = {unit.id: unit for unit in units_of(DIFF, gather())}
    assert sorted(diffs) == ["diff:src/other.py", "diff:src/reader.py", "diff:untracked"]
    patch = diffs["diff:src/reader.py"].content
    assert patch.startswith("diff --git a/src/reader.py b/src/reader.py\n")
    assert "+# staged\n+# and not" in patch
    assert diffs["diff:untracked"].content == "src/with space.py"
    project.git("add", "-A")
    assert "diff:src/with space.py" in {unit.id for unit in units_of(DIFF, gather())}


def test_changes_while_a_merge_conflicts(project: Folder) -> None:
    project.git("checkout", "-q", "-b", "theirs")
    project.write("src/reader.py", "# theirs\n")
    project.git("commit", "-q", "-am", "Theirs")
    project.git("checkout", "-q", "main")
    project.write("src/reader.py", "# ours\n")
    project.git("commit", "-q", "-am", "Ours")
    with pytest.raises(AssertionError):
        project.git("merge", "theirs")
    diffs = {unit.id: unit.content for unit in units_of(DIFF, gather())}
    assert list(diffs) == ["diff:src/reader.py"]
    assert "+<<<<<<< HEAD" in diffs["diff:src/reader.py"]


def test_before_the_first_commit_and_without_git(plain: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    plain.plan(PLAN)
    plain.write("src/reader.py", "x\n")
    monkeypatch.chdir(plain.path)
    assert [unit.id for unit in gather().pack.units if unit.path or unit.type == DIFF] == ["file:src/reader.py"]
    plain.git("init", "-q")
    plain.git("add", "src")
    assert [unit.id for unit in units_of(DIFF, gather())] == ["diff:src/reader.py"]


def test_what_is_kept_out_and_told(project: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("x\n")
    project.write("src/data.py", b"\0\1")
    project.write("src/huge.py", b"x" * (1 << 20) + b"x")
    project.write("certs/site.pem", "x\n")
    project.write("build/log.py", "x\n")
    project.write(".gitignore", "build/\n")
    (project.path / "src/link.py").symlink_to(tmp_path / "outside.py")
    references = "`src/data.py`, `src/huge.py`, `certs/site.pem`, `build/log.py`, `src/link.py`, `.env`"
    project.write(".env", "A=b\n")
    project.plan(PLAN.replace("Makefile` builds.", f"Makefile` builds: {references}."))
    result = gather()
    assert not {"src/data.py", "src/huge.py", "certs/site.pem", "build/log.py", "src/link.py", ".env"} & {
        unit.path for unit in result.pack.units
    }
    warnings = "\n".join(result.warnings)
    for phrase in (
        "NUL bytes",
        "1,048,577 bytes",
        "certs/site.pem is a secret file, judging by its name",
        "outside of the repository",
    ):
        assert phrase in warnings
    assert "git ignores build/log.py" in warnings


def test_secrets_are_taken_out(project: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_PASSWORD", "correct horse")
    project.write("src/reader.py", f'TOKEN = "{KEY}"\nSAID = "correct horse"\n')
    project.plan(PLAN.replace("Write the tests.", f"Write the tests with {KEY}."))
    result = gather(task="3")
    everything = "\n".join([result.pack.task, *[unit.content + unit.title for unit in result.pack.units]])
    assert KEY not in everything
    assert "correct horse" not in everything
    assert "[redacted]" in result.pack.task
    units = {unit.id: unit for unit in result.pack.units}
    assert "file:src/reader.py" in result.warnings_for(units.values())[-1]
    assert "file:src/reader.py" not in str(result.warnings_for([units["section:purpose"]]))


def test_changes_of_a_file_for_secrets(project: Folder) -> None:
    project.write(".env", "A=1\n")
    project.git("add", "-A")
    result = gather()
    assert not units_of(DIFF, result)
    assert "left out: the changes of .env, a secret file, judging by its name" in result.warnings


def test_another_name_of_a_file_for_secrets_is_left_out(project: Folder) -> None:
    project.write("deploy/prod.env", "A=1\n")
    os.link(project.path / "deploy/prod.env", project.path / "src/settings.txt")
    with pytest.raises(ExecplanError, match=r"src/settings.txt is another name of .*/deploy/prod.env"):
        gather(paths=["src/settings.txt"])


def test_artifacts_without_what_execplan_keeps(project: Folder) -> None:
    folder = ".agent/execplans/artifacts/2026-01-01_parser"
    project.write(f"{folder}/run.log", "12 passed\n")
    project.write(f"{folder}/ledger.jsonl", "{}\n")
    project.write(f"{folder}/runs/1/journal.jsonl", "{}\n")
    project.write(f"{folder}/notes/runs/deep.txt", "deep\n")
    paths = [unit.path for unit in gather().pack.units if unit.type == "artifact"]
    assert paths == [f"{folder}/run.log", f"{folder}/notes/runs/deep.txt"]


def test_files_and_folders_that_are_asked_for(project: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("build/log.txt", "ignored, and asked for\n")
    project.write(".gitignore", "build/\n")
    result = gather(paths=("src/other.py", "build/log.txt", "src"))
    pinned = [unit.path for unit in units_of(FILE, result) if unit.pinned]
    assert pinned == ["src/other.py", "build/log.txt"]
    assert {"src/reader.py", "src/scanner.py"} <= {unit.path for unit in units_of(FILE, result)}
    ids = [unit.id for unit in result.pack.units]
    assert len(ids) == len(set(ids))
    monkeypatch.chdir(project.path / "src")
    assert [unit.path for unit in units_of(FILE, gather(paths=("other.py",))) if unit.pinned] == ["src/other.py"]


@pytest.mark.parametrize(
    ("name", "code", "exit"),
    [
        ("no.py", "no-such-file", 3),
        ("", "no-such-file", 3),
        (".env", "secret-file", 7),
        ("data.bin", "no-text", 3),
        ("../outside.py", "path-outside", 7),
        ("link.py", "link-outside", 7),
        (".git/config", "secret-file", 7),
        ("settings.py", "secret-file", 7),
    ],
)
def test_what_is_asked_for_and_cannot_be_had(project: Folder, name: str, code: str, exit: int) -> None:
    project.write(".env", "A=b\n")
    project.write("data.bin", b"\0")
    project.write("../outside.py", "x\n")
    (project.path / "link.py").symlink_to(project.path.parent / "outside.py")
    (project.path / "settings.py").symlink_to(".git/config")
    with pytest.raises(ExecplanError) as refused:
        gather(paths=(name,))
    assert (refused.value.code, refused.value.exit) == (code, exit)
    assert refused.value.hint


def units(project: Folder, *lines: Any) -> str:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return str(project.write("units.jsonl", "\n".join(texts) + "\n"))


def test_units_of_others(project: Folder) -> None:
    lines = [
        {"id": "m1", "type": "message", "content": "See src/other.py", "title": "user"},
        "",
        {"id": "f1", "type": "file", "content": "x", "path": "far/away.py", "pinned": True, "references": ["a.py"]},
        {"id": "i1", "type": "instruction", "content": "Be brief."},
    ]
    pack_units = gather(unit_files=(units(project, *lines),)).pack.units
    by_id = {unit.id: unit for unit in pack_units}
    assert by_id["m1"].references == ("src/other.py",)
    assert by_id["f1"].pinned
    assert by_id["f1"].references == ("a.py",)
    assert [pack_units[0].id, pack_units[-1].id] == ["i1", "m1"]


def test_all_that_is_wrong_with_units_is_told_at_once(project: Folder) -> None:
    good = {"id": "a", "type": "message", "content": ""}
    file = units(
        project,
        good,
        good,
        "{",
        "[]",
        {**good, "id": "b", "type": "thought", "colour": "red"},
        {"id": "c"},
        '{"id": "d", "id": "e", "type": "message", "content": ""}',
        '{"id": "f", "type": "message", "content": NaN}',
        {**good, "id": ""},
        {**good, "id": "section:purpose"},
        {**good, "id": "g", "references": [1], "pinned": "yes"},
        "[" * 100_000,
        '{"id": "h", "type": "message", "content": %s}' % ("9" * 5000),
    )
    with pytest.raises(ExecplanError) as refused:
        gather(unit_files=(file,))
    error = refused.value
    assert (error.code, error.exit) == ("bad-units", 3)
    assert [int(candidate.split(":")[0].removeprefix("line ")) for candidate in error.candidates] == list(range(2, 14))
    messages = dict(enumerate(error.candidates, start=2))
    assert "is already on line 1" in messages[2]
    assert "unknown field 'colour'; type must be one of" in messages[5]
    assert "it has no type; it has no content" in messages[6]
    assert (messages[12], messages[13]) == ("line 12: it is nested too deeply", "line 13: content is not a string")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xff\n", b"[" * 100_000])
def test_units_that_are_none(project: Folder, data: bytes) -> None:
    project.write("units.jsonl", data)
    with pytest.raises(ExecplanError) as refused:
        gather(unit_files=("units.jsonl",))
    assert refused.value.code == "bad-units"


def test_sessions(project: Folder) -> None:
    line = {"type": "user", "uuid": "u", "message": {"role": "user", "content": "Mend src/other.py"}}
    project.write("one.jsonl", json.dumps(line) + "\nnot json\n")
    project.write("two.jsonl", json.dumps({"type": "turn_context", "payload": {"model": "gpt-6-luna"}}) + "\n")
    result = gather(session_logs=("one.jsonl", "two.jsonl"))
    unit = result.pack.units[-1]
    assert (unit.id, unit.references) == ("message:1", ("src/other.py",))
    assert result.model == "gpt-6-luna"
    assert result.warnings == ("one.jsonl: left out: 1 line that can't be read",)
    twice = gather(session_logs=("two.jsonl", "one.jsonl"))
    assert twice.pack.units[-1].id == "2:message:1"
    with pytest.raises(ExecplanError) as refused:
        gather(session_logs=("README.md",))
    assert (refused.value.code, refused.value.exit) == ("unknown-session", 3)


def test_names_are_found_from_anywhere() -> None:
    listing = FileListing(
        ["app/src/a.py", "lib/a.py", "lib/b.py", "Makefile"], root="/r", base_directories=("app", "app/plans")
    )
    assert listing.resolve("src/a.py") == "app/src/a.py"
    assert listing.resolve("../src/a.py") == "app/src/a.py"
    assert listing.resolve("b.py") == "lib/b.py"
    assert listing.resolve("a.py") == ""  # which of the two?
    assert listing.resolve("/r/lib/a.py") == "lib/a.py"
    assert listing.resolve("../../../etc/passwd") == ""
    assert listing.referenced_files("In `lib/b.py:3`, (lib/a.py). Then `make`; see [it](../src/a.py#L3).") == (
        "lib/b.py",
        "app/src/a.py",
        "lib/a.py",
    )


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"budget": 199}, "bad-setting"),
        ({"budget": "8000"}, "bad-setting"),
        ({"budget": True}, "bad-setting"),
        ({"decisions": -1}, "bad-setting"),
        ({"bugdet": 1}, "unknown-setting"),
        ({"shares": {"system_prompt": 0.5, "response_reserve": 0.5}}, "bad-setting"),
        ({"shares": {"prompt": 0.5}}, "bad-setting"),
        ({"shares": {"system_prompt": "half"}}, "bad-setting"),
        ({"models": [{"name": "x"}]}, "bad-setting"),
        ({"models": "x"}, "bad-setting"),
    ],
)
def test_settings_that_say_what_they_cannot(said: dict[str, object], code: str) -> None:
    with pytest.raises(ExecplanError) as refused:
        parse_context_settings(said)
    assert (refused.value.code, refused.value.exit) == (code, 3)


@pytest.mark.parametrize("said", [{"shares": {"system_prompt": 0.9}}, {"model": 1}, {"models": [{"name": "x"}]}])
def test_settings_that_do_not_do_name_their_file(said: dict[str, object]) -> None:
    with pytest.raises(ExecplanError) as refused:
        parse_context_settings(said, "the.toml")
    assert refused.value.message.startswith("the.toml: ")


def test_settings() -> None:
    row = {"name": "ours", "maker": "Ours", "window": 5000, "strength": 1}
    settings = parse_context_settings(
        {"budget": 900, "shares": {"system_prompt": 0}, "decisions": 0, "model": "ours", "models": [row]}
    )
    assert (settings.budget, settings.shares.system_prompt, settings.shares.response_reserve) == (900, 0.0, 0.125)
    assert settings.models == (row,)


def test_a_clean_plan_needs_nothing_else(project: Folder) -> None:
    project.plan(CLEAN)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "Clean")
    result = gather()
    assert not units_of(DIFF, result)
    assert result.warnings == ()
