"""What `next:` says, by the state of a plan, its runs, its steps and its sections; and that it is the same everywhere."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import pytest

from execplan.execution.engine.error_hints import CORRECT_OR_EDIT
from tests.cli.approved_plan import FAILS, MAKE
from tests.in_process_repository import InProcessRepository
from tests.plans import CLEAN, with_sections

if TYPE_CHECKING:
    from tests.conftest import Folder

TWO = with_sections(
    "## Progress\n\n- [x] (2025-12-30 09:15Z) Read lines\n- [ ] Write the tests.\n"
    "\n## Outcomes & Retrospective\n\nNone yet.\n"
)


def last_line(repo: Folder, *arguments: str) -> str:
    """The line of advice."""
    return repo.run(*arguments).out.splitlines()[-1]


def test_the_work_comes_before_the_tick(repo: Folder) -> None:
    repo.plan(TWO)
    task = repo.ok("next")["task"]["id"]
    done_command = f"execplan done {task} -p 2026-01-01_parser"
    assert last_line(repo, "next") == f"next: do it, then: {done_command}"
    for command in ("status", "show"):
        assert last_line(repo, command) == f"next: do task 2 (Write the tests), then: {done_command}"
    assert f"\nContinue:\n  do this task, then: {done_command}\n" in repo.run("prime").out
    repo.ok("checkpoint")
    page = (repo.path / ".agent/execplans/artifacts/2026-01-01_parser/checkpoint.md").read_text()
    assert f"## How to continue\n\n```\n# do task {task}, then:\n{done_command}\n" in page


@pytest.mark.parametrize("command", ["next", "status", "show"])
def test_a_document_names_no_tick_that_could_be_run_at_once(repo: Folder, command: str) -> None:
    repo.plan(TWO)
    document = repo.run(command, "--json").json
    task = document["data"]["do"]["task"]
    assert (task["number"], task["text"]) == (2, "Write the tests.")
    assert document["data"]["do"]["then"] == f"execplan done {task['id']} -p 2026-01-01_parser"
    assert not any("execplan done" in suggestion for suggestion in document["next"])


def test_a_plan_with_conflict_markers_is_merged_first(repo: Folder) -> None:
    conflict = "<<<<<<< ours\n- [ ] Write the tests.\n=======\n- [ ] Write all tests.\n>>>>>>> theirs\n"
    repo.plan(TWO.replace("- [ ] Write the tests.\n", conflict))
    for command in ("next", "status", "show"):
        assert last_line(repo, command) == "next: execplan merge 2026-01-01_parser"
        assert repo.run(command, "--json").json["next"] == ["execplan merge 2026-01-01_parser"]
    for command in ("prime", "checkpoint"):
        assert "execplan done" not in repo.run(command).out.partition("Continue")[2].partition("\n\n")[0]


def test_a_long_task_is_cut(repo: Folder) -> None:
    repo.plan(TWO.replace("Write the tests.", "Write " + "many " * 40))
    line = last_line(repo, "status")
    assert len(line.partition(", then")[0]) < 90
    assert "…), then: execplan done" in line


def test_after_a_release_nothing_is_to_be_ticked(repo: Folder) -> None:
    repo.plan(TWO)
    repo.ok("next", "--claim", "agent-1")
    result = repo.run("next", "--release", "agent-1")
    assert "execplan done" not in result.out
    assert result.out.splitlines()[-1].startswith("released: 2. ")


def test_a_claim_by_another_name_goes_into_the_command(repo: Folder) -> None:
    repo.plan(TWO)
    line = last_line(repo, "next", "--claim", "agent-1")
    assert line.startswith("next: do it, then: execplan done ")
    assert line.endswith(" -p 2026-01-01_parser --as agent-1")
    assert last_line(repo, "next", "--as", "agent-1") == line
    repo.env["EXECPLAN_AGENT"] = "agent-1"
    assert last_line(repo, "next") == line


def test_prime_says_what_is_yours(repo: Folder) -> None:
    repo.plan(TWO)
    task = repo.ok("next", "--claim", "agent-1")["task"]["id"]
    own_claim = f"\nClaimed by you, in progress until 2026-01-01 02:00Z, {task}:\n> Write the tests.\n"
    assert own_claim in repo.run("prime", "--as", "agent-1").out
    assert own_claim in repo.run("prime", EXECPLAN_AGENT="agent-1").out
    output = repo.run("prime").out
    assert "Yours" not in output
    assert f"\nAll open tasks are claimed:\n> {task} by agent-1\n" in output
    assert "execplan done" not in output
    assert "(claimed by you, in progress)" in repo.run("status", "--as", "agent-1").out
    assert "all open tasks are claimed: 2. by agent-1" in repo.run("status").out
    repo.ok("add", "Read it again.")
    assert f"\nClaimed, {task}:\n> by agent-1: Write the tests.\n" in repo.run("prime").out


def test_a_new_plan_names_the_sections_to_fill(repo: Folder) -> None:
    result = repo.run("new", "Build the parser", "--purpose", "Plans can be read.", "--task", "Read lines")
    name = "2026-01-01_build-the-parser"
    sections = ["Context and Orientation", "Plan of Work", "Concrete Steps", "Validation and Acceptance"]
    sections += ["Idempotence and Recovery", "Artifacts and Notes", "Interfaces and Dependencies"]
    advice = f"next: fill in 7 sections, for example: execplan set '{sections[0]}' 'New text' -p {name}"
    assert result.out.splitlines()[-1] == advice
    for command in ("next", "status", "show"):
        document = repo.run(command, "--json").json
        assert document["next"] == [f"execplan set '{section}' 'New text' -p {name}" for section in sections] + [
            f"execplan edit {name}"
        ]
        assert last_line(repo, command) == advice
    assert "\n> fill in 7 sections\n" in repo.run("prime").out
    for at, section in enumerate(sections):
        assert last_line(repo, "next").startswith("next: fill in "), at
        repo.ok("set", section, f"Words of {section}.")
    assert last_line(repo, "next").startswith("next: do it, then: execplan done ")


def test_all_commands_name_the_same_unfilled_sections_until_the_archive(repo: Folder) -> None:
    """An untouched log is empty, not unfilled, and each hint leads on."""
    name = "2026-01-01_build-the-parser"
    created = repo.run("new", "Build the parser", "--task", "Read lines")
    sections = [shlex.split(command)[2] for command in repo.run("next", "--json").json["next"][:-1]]
    assert len(sections) == 8
    advice = f"next: fill in 8 sections, for example: execplan set 'Purpose / Big Picture' 'New text' -p {name}"
    assert created.out.splitlines()[-1] == advice
    findings = repo.run("lint", "--json", "--select", "EP109").json["data"]["findings"]
    assert [finding["message"].partition(" still contains")[0] for finding in findings] == sections
    outcome_command = f"execplan outcome 'What works now' -p {name}"
    both = f"add an outcome and fill in 8 sections, for example: {outcome_command}"
    assert last_line(repo, "done", "1") == f"next: {both}"
    assert repo.run("next", "--json").json["next"][:2] == [
        outcome_command,
        f"execplan set 'Purpose / Big Picture' 'New text' -p {name}",
    ]
    hint = repo.run("archive", "--json").json["error"]["hint"]
    assert hint == f"add an outcome and fill in 8 sections: {outcome_command}"
    assert last_line(repo, "outcome", "Plans are read.") == advice
    for command in ("next", "status", "show"):
        assert last_line(repo, command) == advice
    prime = repo.run("prime").out
    assert "Lint errors (8), the first:" in prime
    assert f"Continue:\n  execplan set 'Purpose / Big Picture' 'New text' -p {name}\n" in prime
    assert f"archive {name}" not in prime
    assert repo.run("lint").out.splitlines()[-2:] == [
        "8 errors in 1 plan",
        f"next: execplan set 'Purpose / Big Picture' 'New text' -p {name}",
    ]
    error = repo.run("archive", "--json").json["error"]
    assert error["candidates"] == [f"EP109 on line 7: 8 sections still contain placeholder text: {', '.join(sections)}"]
    command = error["hint"].removeprefix("fill in 8 sections, for example: ")
    for section in sections:
        assert command == f"execplan set '{section}' 'New text' -p {name}"
        result = repo.run(*shlex.split(command)[1:], stdin=f"Text of {section}.\n".encode())
        command = result.out.splitlines()[-1]
        command = command[command.index("execplan ") :]
    assert command == f"execplan archive {name}"
    repo.ok(*shlex.split(command)[1:])


def test_errors_of_a_complete_plan_come_before_its_archive(repo: Folder) -> None:
    path = repo.plan(TWO.replace("- [ ] Write", "- [x] (2026-01-01 00:00Z) Write"))
    path.write_text(path.read_text().replace("## Surprises & Discoveries\n", "## Surprises & Discoveries\n\nTBD\n"))
    repo.ok("outcome", "It works.")
    assert "EP109" in repo.run("archive").err
    for command in ("next", "status", "show"):
        assert last_line(repo, command) == "next: execplan lint 2026-01-01_parser"
    prime = repo.run("prime").out
    assert "Continue:\n  execplan lint 2026-01-01_parser\n" in prime
    assert "execplan archive" not in prime


@pytest.mark.parametrize("change", ["", "Lines can be read."])
def test_a_complete_plan_from_elsewhere_gets_the_advice_of_next(repo: Folder, change: str) -> None:
    text = CLEAN.replace("- [ ]", "- [x]").replace(f"{change}\n\n" if change else "", "", 1)
    repo.write("elsewhere.md", text)
    hint = last_line(repo, "new", "--from", "elsewhere.md")
    assert hint == last_line(repo, "next")
    assert repo.run(*shlex.split(hint)[2:]).exit == 0


def test_new_prints_a_path_alone_when_quiet(repo: Folder) -> None:
    assert repo.run("new", "Build the parser", "-q").out == ".agent/execplans/2026-01-01_build-the-parser.md\n"


def test_prime_of_a_draft_shows_what_lint_calls_an_error(repo: Folder) -> None:
    repo.ok("new", "Build the parser", "--task", "Read lines")
    path = repo.path / ".agent/execplans/2026-01-01_build-the-parser.md"
    path.write_text(path.read_text().replace("## Progress\n\n- [ ] Read lines", "## Progress\n"))
    findings = [
        finding for finding in repo.run("lint", "--json").json["data"]["findings"] if finding["level"] == "error"
    ]
    assert findings
    out = repo.run("prime").out
    assert "Lint error:" in out or "Lint errors (" in out
    assert f"{findings[0]['code']} " in out
    assert [line.partition(" ")[2].split()[1] for line in repo.ok("prime")["findings"]] == [
        finding["code"] for finding in findings
    ]


def test_after_the_last_task_comes_the_outcome(repo: Folder) -> None:
    repo.plan(TWO)
    outcome = "execplan outcome 'What works now' -p 2026-01-01_parser"
    assert "\n## Outcomes & Retrospective\n" in TWO
    assert last_line(repo, "done", "2") == f"next: {outcome}"
    for command in ("status", "show", "next"):
        assert last_line(repo, command) == f"next: {outcome}", command
        assert repo.run(command, "--json").json["next"] == [outcome, "execplan archive 2026-01-01_parser"]
    assert "no open tasks, no outcome" in repo.run("status").out
    assert f"\nContinue:\n  {outcome}\n" in repo.run("prime").out
    assert last_line(repo, "outcome", "It works.") == "next: execplan archive 2026-01-01_parser"
    for command in ("status", "show", "next"):
        assert last_line(repo, command) == "next: execplan archive 2026-01-01_parser", command


def test_a_plan_without_the_section_gets_it(repo: Folder) -> None:
    repo.plan("# Build the parser\n\n## Progress\n\n- [ ] Read lines\n")
    line = last_line(repo, "done", "1")
    assert line == "next: execplan outcome 'What works now' -p 2026-01-01_parser --create"
    assert repo.run("outcome", "What works now", "-p", "2026-01-01_parser", "--create").exit == 0


STEPS = """\
## Progress

- [ ] Write the greeting.
- [ ] Test it.

## Concrete Steps

```sh {#see task="Write the greeting."}
python3 -c "import sys; sys.exit(3)"
```
"""


def read_advice(desk: InProcessRepository, command: str) -> tuple[str, list[str]]:
    """The line of advice, and what the document has."""
    text = desk.type(command).out.splitlines()[-1]
    following: list[Any] = desk.type(command, "--json").json["next"]
    return text, following


@pytest.mark.parametrize("rolled_back", [True, False])
@pytest.mark.parametrize("command", ["status", "next", "show"])
def test_steps_and_their_runs(desk: InProcessRepository, command: str, rolled_back: bool) -> None:
    if rolled_back:
        settings = desk.path.parent / ".config/execplan/config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text('[execution]\nrollback_on = ["failure"]\n')
    desk.plan(with_sections(STEPS))
    name = "2026-01-01_parser"
    assert read_advice(desk, command) == (f"next: execplan compile {name}", [f"execplan compile {name}"])
    assert desk.type("compile").exit == 0
    assert read_advice(desk, command) == (f"next: execplan evaluate {name}", [f"execplan evaluate {name}"])
    assert f"Continue:\n  execplan evaluate {name}\n" in desk.type("prime").out
    desk.approve()
    assert read_advice(desk, command)[0] == f"next: execplan run {name}"
    assert desk.type("run").exit == 1
    evaluate = f"{CORRECT_OR_EDIT}, then: execplan evaluate {name}"
    outcome = "was rolled back" if rolled_back else "failed"
    replan = f"execplan replan 1 -p {name} --reason 'What was wrong'"
    resume = f"if they are right, correct what failed; then resume the run: execplan resume 1 -p {name}"
    advice = f"next: {evaluate}" if rolled_back else f"next: edit the steps in the plan, then: {replan}; {resume}"
    assert read_advice(desk, command)[0] == advice
    assert f"run 1 {outcome}" in desk.type(command).out
    for subcommand in ("next", "show", "prime"):
        assert f"run 1 {outcome}: step see failed: exit status 3, not 0" in desk.type(subcommand).out, subcommand
    assert desk.type("done", "1").exit == 0
    assert read_advice(desk, command)[0] == advice, "in the same minute nobody knows which came first"
    desk.patch.setenv("SOURCE_DATE_EPOCH", str(1767225600 + 120))
    assert desk.type("reopen", "1").exit == 0
    assert desk.type("done", "1").exit == 0
    assert read_advice(desk, command)[0].startswith("next: do "), "the work went on by hand"


def test_next_of_several_complete_plans_says_to_archive_them(repo: Folder) -> None:
    for name in ("2026-01-01_parser", "2026-01-02_lexer"):
        repo.plan(TWO.replace("- [ ] Write", "- [x] (2026-01-01 00:00Z) Write"), name)
    error = repo.run("next", "--json").json["error"]
    assert error["message"] == "no task is open: 2 plans are complete"
    assert error["hint"] == "archive what is finished: execplan archive --complete"
    repo.plan(TWO, "2026-01-03_reader")
    assert repo.ok("next")["id"] == "2026-01-03_reader"


STEP = """\
```sh {#write task="Write the tests" outputs=out.txt}
touch out.txt
```
"""
WITH_STEP = TWO.replace("In the root of the repository, `make test` prints `12 passed`.\n", STEP).replace(
    "`make test` passes.", "The tests pass."
)


def test_the_steps_of_a_task_are_compiled_first(repo: Folder) -> None:
    repo.plan(WITH_STEP)
    assert "Continue:\n  execplan compile 2026-01-01_parser\n" in repo.run("prime").out
    repo.ok("add", "Document it", "--before", "2")
    assert last_line(repo, "next").startswith("next: do it, then: execplan done "), "this task has no step"


def test_an_approval_that_is_stale_is_renewed(repo: Folder) -> None:
    path = repo.plan(WITH_STEP)
    repo.ok("compile")
    repo.ok("approve", "--digest", repo.ok("evaluate")["digest"])
    assert last_line(repo, "next") == "next: execplan run 2026-01-01_parser"
    path.write_text(WITH_STEP.replace("touch out.txt", "touch other.txt"))
    hint = repo.run("run", "--json").json["error"]["hint"]
    assert hint == "see what would run, and who can approve it: execplan evaluate 2026-01-01_parser"
    for command in (("next",), ("status",), ("show",), ("show", "--steps"), ("handoff",)):
        assert last_line(repo, *command) == "next: execplan evaluate 2026-01-01_parser"
    assert "Continue:\n  execplan evaluate 2026-01-01_parser\n" in repo.run("prime").out
    path.write_text(WITH_STEP.replace(STEP, "Write them by hand.\n"))
    assert last_line(repo, "next").startswith("next: do it, then: execplan done "), "it has no steps any more"


def test_an_open_task_with_a_malformed_checkbox_is_not_archived_unseen(repo: Folder) -> None:
    repo.plan(TWO.replace("- [ ] Write the tests.", "- [] Write the tests."))
    repo.ok("outcome", "It works.")
    error = repo.run("archive", "--json").json["error"]
    assert [reason for reason in error["candidates"] if "EP206" in reason and "is not a checkbox" in reason]
    assert last_line(repo, "status") == "next: execplan lint 2026-01-01_parser"
    repo.ok("lint", "--fix")
    assert repo.ok("show")["counts"]["open"] == 1


@pytest.mark.parametrize("section", ["Progress", "Outcomes & Retrospective"])
def test_a_section_that_is_there_twice_comes_first(repo: Folder, section: str) -> None:
    path = repo.plan(TWO)
    path.write_text(f"{path.read_text()}\n## {section}\n\nMore.\n")
    for command in ("next", "status", "show"):
        assert last_line(repo, command) == "next: execplan lint 2026-01-01_parser"


def test_open_comments_come_before_the_archive_where_nobody_can_resolve_them(repo: Folder) -> None:
    repo.plan(TWO.replace("- [ ]", "- [x] (2026-01-01 00:00Z)"))
    repo.ok("comment", "Is it right?")
    assert last_line(repo, "outcome", "It works.") == "next: execplan show 2026-01-01_parser --comments"
    comment = repo.ok("show", "--comments")["comments"][0]["short_id"]
    repo.ok("resolve", comment)
    assert last_line(repo, "status") == "next: execplan archive 2026-01-01_parser"


def test_a_failed_run_counts_after_it_has_checked_off_the_last_task(desk: InProcessRepository) -> None:
    desk.plan(with_sections(f"# Build it\n\n## Progress\n\n- [ ] Make it.\n\n## Concrete Steps\n\n{MAKE}{FAILS}"))
    desk.approve()
    assert desk.type("run").exit == 1
    replan = "edit the steps in the plan, then: execplan replan 1 -p 2026-01-01_parser"
    for command in (("status",), ("next",), ("show",), ("outcome", "It works.")):
        assert replan in desk.type(*command).out.splitlines()[-1], command
    assert "run 1 failed" in desk.type("next").out
    assert "execplan archive" not in desk.type("prime").out
    assert "run 1 failed: step see failed" in desk.type("archive", "--dry-run").err
