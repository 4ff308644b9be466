"""The action: its shell in a repository with the runner's files, hostile plans and inputs, and what linters say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

import execplan
from tests.conftest import Folder
from tests.needs import need
from tests.plans import CLEAN
from tests.team.github.action_runner import ACTION, ActionRunner, StepResult

HOSTILE = "%0A::error::x ##[add-matcher]x ::stop-commands::x <img src=x> $(touch hit) `touch hit` ${{ github.token }}"
ERRORS = CLEAN.replace("## Outcomes", f"- Decision: {HOSTILE}\n  Date/Author: 2025-12-31 / Ann\n\n## Outcomes")
NAME = ".agent/execplans/2026-01-01_parser.md"


@pytest.fixture
def pull_request(repo: Folder) -> Folder:
    """A clone in which the merge commit of a pull request is checked out that adds a decision without a rationale."""
    need("bash")
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    base = repo.git("rev-parse", "HEAD").strip()
    repo.git("checkout", "-q", "-b", "work")
    repo.plan(ERRORS)
    repo.ok("done", "2", "--commit")
    repo.git("commit", "-q", "-a", "-m", "Work", "--allow-empty")
    head = repo.git("rev-parse", "HEAD").strip()
    repo.git("checkout", "-q", "--detach", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge", "work")
    event = {"pull_request": {"base": {"sha": base}, "head": {"sha": head}}}
    repo.env["GITHUB_EVENT_PATH"] = str(repo.write("../event.json", json.dumps(event)))
    script = repo.write("../bin/execplan", f'#!/bin/sh\nexec "{sys.executable}" -m execplan "$@"\n')
    script.chmod(0o755)
    repo.env["PATH"] = f"{script.parent}:{repo.env['PATH']}"
    return repo


def runner(folder: Folder) -> ActionRunner:
    """A runner whose workspace is a repository."""
    return ActionRunner(folder.path, folder.path.parent / "runner", folder.env)


def run(folder: Folder, **inputs: str) -> StepResult:
    """Run the action with the execplan on PATH."""
    return runner(folder).run(install="false", **inputs)


def test_a_pull_request(pull_request: Folder) -> None:
    action_runner = runner(pull_request)
    result = action_runner.run(install="false")
    assert result.status == 1, result
    assert action_runner.outputs() == {"plans": json.dumps([NAME]), "errors": "1", "warnings": "0", "hints": "0"}
    assert len(result.commands) == 1
    assert result.commands[0].startswith(f"::error file={NAME},line=26,")
    assert "1 plan changed; 1 error" in result.log
    assert "**Tasks done**\n\n- Build the parser." in result.summary
    assert "<img" not in result.summary
    assert not (pull_request.path / "hit").exists()


def test_open_comments_stop_a_pull_request_that_only_adds_some(pull_request: Folder) -> None:
    """Whose plans are as they were in the base."""
    pull_request.git("checkout", "-q", "-B", "work", "main")
    pull_request.ok("comment", "Why?", "--commit")
    assert run(pull_request, select="EP515").status == 1


@pytest.mark.parametrize(
    ("inputs", "status", "command_count"),
    [
        ({"fail_on": "never"}, 0, 1),
        ({"fail_on": "warning"}, 1, 1),
        ({"ignore": "EP301"}, 0, 0),
        ({"select": "EP2,EP5"}, 0, 0),
        ({"profile": "strict"}, 1, 2),
        ({"annotations": "false"}, 1, 0),
        ({"paths": "src\n\ndocs\n"}, 0, 0),
        ({"paths": f"src\n{NAME}"}, 1, 1),
        ({"directory": ".agent", "paths": "execplans"}, 1, 1),
        ({"since": "HEAD"}, 0, 0),
    ],
)
def test_inputs(pull_request: Folder, inputs: dict[str, str], status: int, command_count: int) -> None:
    result = run(pull_request, **inputs)
    assert (result.status, len(result.commands)) == (status, command_count), result


def test_the_summary_can_be_left_out(pull_request: Folder) -> None:
    assert run(pull_request, summary="false").summary == ""


@pytest.mark.parametrize("name", ["since", "directory", "paths", "select", "ignore", "profile", "fail_on"])
@pytest.mark.parametrize("value", ["--help", "\"; touch hit; \"'; touch hit; '$(touch hit)\n::error::x\n##[add-mask]x"])
def test_an_input_cant_run_or_annotate_anything(pull_request: Folder, name: str, value: str) -> None:
    result = run(pull_request, **{name: value})
    assert not list(pull_request.path.rglob("hit"))
    own_commands = [command for command in result.commands if f"file={NAME}" not in command]
    assert own_commands in (
        [],
        [f"::error title=execplan::execplan stopped with exit status {result.status}. The log of this step shows why."],
    )


def test_a_shallow_clone_is_an_error_that_says_what_to_do(pull_request: Folder) -> None:
    clone = Folder(pull_request.path.parent / "clone")
    pull_request.git("clone", "-q", "--depth", "1", f"file://{pull_request.path}", str(clone.path))
    clone.env = pull_request.env
    clone.git("checkout", "-q", "--detach")
    result = ActionRunner(clone.path, clone.path.parent / "runner", clone.env).run(install="false")
    assert result.status == 6
    assert "hint: fetch the whole history: give actions/checkout the input `fetch-depth: 0`" in result.log
    assert result.commands == [
        "::error title=execplan::execplan stopped with exit status 6. The log of this step shows why."
    ]


@pytest.mark.exhaustive
def test_it_installs_itself(pull_request: Folder) -> None:
    """Pip builds the checkout without network: it gets the build backend and the dependencies from this environment."""
    site_packages = sysconfig.get_path("purelib")
    pull_request.env |= {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PYTHONPATH": site_packages}
    pull_request.env["PATH"] = f"{os.path.dirname(sys.executable)}:{pull_request.env['PATH']}"
    action_runner = runner(pull_request)
    result = action_runner.run()
    assert result.status == 1, result
    program = pull_request.path.parent / "runner/execplan/bin/execplan"
    assert action_runner.environ["PATH"].startswith(f"{program.parent}:")
    version = subprocess.run([program, "--version"], env=pull_request.env, capture_output=True, check=True, text=True)
    assert execplan.__version__ in version.stdout


def test_an_old_python_is_an_error(pull_request: Folder) -> None:
    pull_request.write("../bin/python3", "#!/bin/sh\nexit 1\n").chmod(0o755)
    result = runner(pull_request).run()
    assert result.status == 6
    assert "Run actions/setup-python" in result.commands[0]


def test_each_input_reaches_the_script_as_a_variable() -> None:
    action = yaml.safe_load(ACTION.read_text("utf-8"))
    text = ACTION.read_text("utf-8")
    for name, definition in action["inputs"].items():
        assert definition["description"]
        assert f"inputs.{name}" in text
    for step in action["runs"]["steps"]:
        for variable in step["env"]:
            assert f"${variable}" in step["run"], variable


def test_shellcheck_finds_nothing(tmp_path: Path) -> None:
    action = yaml.safe_load(ACTION.read_text("utf-8"))
    for index, step in enumerate(action["runs"]["steps"]):
        script = tmp_path / f"{index}.sh"
        script.write_text(f"#!/usr/bin/env bash\nset -eo pipefail\n{step['run']}", "utf-8")
        check("shellcheck", os.fspath(script))


def test_actionlint_finds_nothing(tmp_path: Path) -> None:
    """It checks a workflow, and the metadata of the action that the workflow uses, with its inputs and outputs."""
    folder = Folder(tmp_path)
    folder.git("init", "-q")
    folder.write("action.yml", ACTION.read_bytes())
    workflows = sorted((ACTION.parent / ".github/workflows").glob("*.yml"))
    assert workflows
    for workflow in workflows:
        folder.write(f".github/workflows/{workflow.name}", workflow.read_bytes())
    check("actionlint", "-shellcheck", program_path("shellcheck"), cwd=tmp_path)
    plans = ACTION.parent / ".github/workflows/plans.yml"
    folder.write(".github/workflows/wrong.yml", plans.read_text("utf-8").replace("fail-on:", "fails-on:"))
    with pytest.raises(AssertionError, match="fails-on"):
        check("actionlint", "-shellcheck", program_path("shellcheck"), cwd=tmp_path)


def test_zizmor_finds_no_weakness() -> None:
    folder = ACTION.parent / ".github"
    check(
        "zizmor",
        "--offline",
        "--quiet",
        "--config",
        os.fspath(folder / "zizmor.yml"),
        os.fspath(folder),
        os.fspath(ACTION),
    )


def program_path(name: str) -> str:
    """The path of a development tool that is installed beside Python."""
    return os.path.join(sysconfig.get_path("scripts"), name)


def check(name: str, *arguments: str, cwd: Path | None = None) -> None:
    """Run a linter and expect that it finds nothing."""
    completed = subprocess.run([program_path(name), *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout + completed.stderr
