"""A plan is named as an argument or with `-p`, for every command that is about one."""

from __future__ import annotations

import pytest

from execplan.cli.commands import COMMANDS
from tests.cli.test_contract import CALLS, PLANS, SETUP_COMMANDS
from tests.conftest import Folder
from tests.plans import CLEAN

NAME, OTHER_NAME = "2026-01-01_parser", "2026-01-02_scanner"
NO_PLAN = set(
    "init new list board search site serve doctor explain schema triage install uninstall guard mcp lsp import index overlaps changes job self sync".split()
)
"""Commands that are about no plan, or about a file of another program; `guard` speaks the protocol of a hook and has tests of its own."""
SECOND = "2026-01-03_tables"


def _arguments(command: str) -> list[str]:
    """The arguments of a command, without its plan."""
    first, *rest = CALLS[command]
    return [
        first,
        *[argument for argument in rest if not (command in ("merge", "restore", "rename") and argument == "parser")],
    ]


def _call_with_plan(command: str, form: str) -> list[str]:
    first, *rest = _arguments(command)
    return {
        "argument": [first, NAME, *rest],
        "before": [first, "-p", NAME, *rest],
        "behind": [first, *rest, "-p", NAME],
    }[form]


@pytest.mark.parametrize("form", ["argument", "before", "behind"])
@pytest.mark.parametrize("verb", sorted(set(COMMANDS) - NO_PLAN))
def test_both_forms(repo: Folder, verb: str, form: str) -> None:
    repo.plan(PLANS.get(verb, CLEAN))
    for call in SETUP_COMMANDS.get(verb, ()):
        repo.run(*call)
    repo.plan(CLEAN, OTHER_NAME)
    repo.plan(CLEAN, SECOND)
    result = repo.run(*_call_with_plan(verb, form), "--json")
    assert result.exit == 0, result
    if verb == "runs":
        assert (result.json["data"]["runs"], result.json["next"]) == ([], ["execplan explain steps"])
    elif verb in ("lint", "stats"):
        assert result.json["data"]["plans"] == (1 if verb == "lint" else 0)
    else:
        assert NAME in result.out
    for name in (OTHER_NAME, SECOND):
        assert (repo.path / f".agent/execplans/{name}.md").read_text() == CLEAN


PLAN_COMMANDS = sorted({*set(COMMANDS) - NO_PLAN} - {"resume", "rollback", "replan"})


@pytest.mark.parametrize("verb", PLAN_COMMANDS)
def test_two_names_of_two_plans_are_a_usage_error(repo: Folder, verb: str) -> None:
    repo.plan(CLEAN)
    repo.plan(CLEAN, OTHER_NAME)
    for name in (OTHER_NAME, "gone"):
        first, *rest = _arguments(verb)
        result = repo.run(first, NAME, *rest, "-p", name)
        assert result.exit == 2, result
        if verb not in ("compile", "merge"):
            assert f"{NAME} and -p {name} name different plans" in result.err
    assert all(path.read_text() == CLEAN for path in (repo.path / ".agent/execplans").glob("*.md"))


def test_a_task_is_not_mistaken_for_a_second_plan(repo: Folder) -> None:
    repo.plan()
    assert repo.run("drop", "2", "-p", NAME).err == (
        f"execplan: drop takes a plan, and 2 is a task of {NAME}\n"
        f"hint: to drop the task, mark it [-] in Progress: execplan edit {NAME}\n"
    )
    assert repo.run("archive", "the tests", "-p", NAME).err.endswith(f"hint: omit the task: execplan archive {NAME}\n")


def test_two_names_of_one_plan_are_fine(repo: Folder) -> None:
    repo.plan()
    for same_plan in ("parser", NAME, f".agent/execplans/{NAME}.md", "Build the parser"):
        assert repo.ok("show", NAME, "-p", same_plan)["id"] == NAME
        assert repo.ok("lint", NAME, "-p", same_plan)["plans"] == 1
    result = repo.run("show", "parser", "-p", "scanner")
    assert result.err == "execplan: parser and -p scanner name different plans\nhint: specify the plan once\n"


@pytest.mark.parametrize("verb", ["resume", "rollback", "replan"])
def test_a_plan_and_a_run(repo: Folder, verb: str) -> None:
    repo.plan(PLANS[verb])
    for call in SETUP_COMMANDS[verb]:
        repo.run(*call)
    repo.plan(CLEAN, OTHER_NAME)
    options = ["--reason", "It failed."] if verb == "replan" else []
    assert repo.run(verb, OTHER_NAME, *options, "--dry-run").err.startswith(f"execplan: {OTHER_NAME} was never run")
    assert repo.run(verb, NAME, "7", *options, "--dry-run").err.startswith(f"execplan: {NAME} has no run '7'")
    assert repo.run(verb, NAME, "1", *options, "--dry-run").exit == 0
    assert repo.run(verb, "1", *options, "-p", "parser", "--dry-run").exit == 0
    assert repo.run(verb, "parser", *options, "--dry-run").exit == 0


def test_more_words_than_a_command_takes(repo: Folder) -> None:
    path = repo.plan()
    for arguments in (["Write", "it"], ["Write", "the", "tests"], ["tests", "parser"], ["pars", "Write it"]):
        result = repo.run("add", *arguments)
        assert result.exit == 2
        assert "unexpected argument" in result.err
        assert "put text with spaces in quotes, and name the plan with -p" in result.err
    assert path.read_text() == CLEAN


def test_the_plan_before_several_tasks(repo: Folder) -> None:
    path = repo.plan()
    repo.plan(CLEAN, OTHER_NAME)
    repo.plan(CLEAN.replace("- [ ] Build the parser.", "- [ ] Build the scanner."), "2026-01-05_lexer")
    repo.ok("done", NAME, "2", "3")
    assert "- [ ]" not in path.read_text()
    repo.ok("reopen", "parser", "2", "3")
    assert path.read_text().count("- [ ]") == 2
    repo.ok("done", f".agent/execplans/{NAME}.md", "tests")
    assert path.read_text().count("- [ ]") == 1
    result = repo.run("done", "scanner", "tests", EXECPLAN_PLAN="lexer")
    assert result.exit == 2
    assert "'scanner' matches both a plan and a task" in result.err
    assert len(repo.ok("done", "scanner", "tests", "-p", "lexer")["said"]) == 2


def test_a_comment_takes_any_name_of_a_plan_before_its_text(repo: Folder) -> None:
    repo.plan(CLEAN)
    repo.plan(CLEAN, OTHER_NAME)
    assert NAME in repo.ok("comment", "pars", "--on", "2", "Which line endings?")["path"]
    assert "unknown plan 'gone'" in repo.run("comment", "gone", "Which line endings?").err


def test_an_unknown_option_of_a_command_without_text_has_no_hint_about_text(repo: Folder) -> None:
    repo.plan()
    assert repo.run("show", "--plna", "x").err.endswith("Otherwise see execplan show --help\n")
    assert "--plan" in repo.run("show", "--plna", "x").err
    assert repo.run("add", "-x is new").err.endswith("; put -- before text that starts with a hyphen\n")


def test_commands_that_need_a_plan_to_be_named(repo: Folder) -> None:
    path = repo.plan()
    for call in (["restore"], ["rename", "parser"]):
        assert repo.run(*call).exit == 2, call
    assert path.read_text() == CLEAN


def test_the_guard(repo: Folder) -> None:
    repo.plan()
    for arguments in (["parser"], ["-p", "parser"], ["parser", "-p", "parser"], ["--program", "json", "parser"]):
        assert "two plans" not in repo.run("guard", *arguments, stdin=b"{}").err
    result = repo.run("guard", "parser", "-p", "scanner", stdin=b"{}")
    assert (result.exit, result.err.splitlines()[0]) == (2, "execplan: two plans are specified, parser and scanner")


def test_the_plan_before_the_command(repo: Folder) -> None:
    repo.plan()
    for option in ("-p", "--plan"):
        error = repo.run(option, "parser", "status", "--json").json["error"]
        assert (error["message"], error["hint"]) == (f"{option} follows the command", "use execplan COMMAND -p PLAN")
