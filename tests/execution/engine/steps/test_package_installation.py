"""Steps that install packages: into the environment that they name."""

from __future__ import annotations

import os

from tests.conftest import Folder
from tests.execution.engine.step_repository import StepRepository

SHOW_COMMAND = "sh -c 'echo $VIRTUAL_ENV; command -v tool; pwd'"


def install(target: str, command: str = SHOW_COMMAND, attributes: str = "") -> str:
    """A fence that installs."""
    return f"```sh {{#it type=install_package {f'target={target}' if target else ''} {attributes}}}\n{command}\n```\n"


def tool(repo: Folder, name: str) -> None:
    """A program."""
    repo.write(name, "#!/bin/sh\n").chmod(0o755)


def printed(step_repo: StepRepository) -> list[str]:
    """What the step printed."""
    lines = step_repo.transcript(step_repo.perform("it")).split("\n")
    return [line.removeprefix("    | ") for line in lines if line.startswith("    | ")]


def test_a_virtual_environment_comes_first(repo: Folder) -> None:
    repo.write("env/pyvenv.cfg", "")
    tool(repo, "env/bin/tool")
    step_repo = StepRepository(repo, install("env"))
    assert printed(step_repo) == [f"{repo.path}/env", f"{repo.path}/env/bin/tool", str(repo.path)]


def test_one_that_the_step_makes_itself(repo: Folder) -> None:
    repo.write(".gitignore", ".venv/\n")
    make = "mkdir -p .venv/bin; touch .venv/pyvenv.cfg; cp README.md .venv/bin/tool; chmod +x .venv/bin/tool; command -v tool"
    step_repo = StepRepository(repo, install(".venv", make, "shell"))
    assert step_repo.prepare("it").before[".venv"].kind == "absent"
    result = step_repo.perform("it")
    assert result.ok, result
    assert f"| {repo.path}/.venv/bin/tool" in step_repo.transcript(result)
    assert [(change.path, change.declared) for change in result.changes] == [
        (".venv/bin/tool", True), (".venv/pyvenv.cfg", True),
    ]  # fmt: skip
    assert result.folders == (".venv", ".venv/bin")


def test_a_node_project_is_where_it_runs(repo: Folder) -> None:
    repo.write("web/package.json", "{}")
    tool(repo, "web/node_modules/.bin/tool")
    lines = printed(StepRepository(repo, install("web")))
    assert lines[-2:] == [f"{repo.path}/web/node_modules/.bin/tool", f"{repo.path}/web"]
    assert printed(StepRepository(repo, install("web", "pwd", "cwd=web/node_modules"))) == [
        f"{repo.path}/web/node_modules"
    ]


def test_any_other_folder_and_none_change_nothing(repo: Folder) -> None:
    repo.write("lib/x", "")
    tool(repo, "lib/bin/tool")
    for target in ("lib", ""):
        lines = printed(StepRepository(repo, install(target, f"{SHOW_COMMAND}", "exit=0")))
        assert lines == [os.environ.get("VIRTUAL_ENV", ""), str(repo.path)]
