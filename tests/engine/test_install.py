"""Steps that install packages: into the environment that they name."""

from __future__ import annotations

import os

from tests.conftest import Folder
from tests.engine.bench import Shop

SHOWN = "sh -c 'echo $VIRTUAL_ENV; command -v tool; pwd'"


def install(target: str, command: str = SHOWN, more: str = "") -> str:
    """A fence that installs."""
    return f"```sh {{#it type=install_package {f'target={target}' if target else ''} {more}}}\n{command}\n```\n"


def tool(repo: Folder, name: str) -> None:
    """A program."""
    repo.write(name, "#!/bin/sh\n").chmod(0o755)


def printed(made: Shop) -> list[str]:
    """What the step printed."""
    lines = made.transcript(made.do("it")).split("\n")
    return [line.removeprefix("    | ") for line in lines if line.startswith("    | ")]


def test_a_virtual_environment_comes_first(repo: Folder) -> None:
    repo.write("env/pyvenv.cfg", "")
    tool(repo, "env/bin/tool")
    made = Shop(repo, install("env"))
    assert printed(made) == [f"{repo.path}/env", f"{repo.path}/env/bin/tool", str(repo.path)]


def test_one_that_the_step_makes_itself(repo: Folder) -> None:
    repo.write(".gitignore", ".venv/\n")
    make = "mkdir -p .venv/bin; touch .venv/pyvenv.cfg; cp README.md .venv/bin/tool; chmod +x .venv/bin/tool; command -v tool"
    made = Shop(repo, install(".venv", make, "shell"))
    assert made.prepare("it").before[".venv"].kind == "absent"
    done = made.do("it")
    assert done.ok, done
    assert f"| {repo.path}/.venv/bin/tool" in made.transcript(done)
    assert [(each.path, each.declared) for each in done.changes] == [
        (".venv/bin/tool", True), (".venv/pyvenv.cfg", True),
    ]  # fmt: skip
    assert done.folders == (".venv", ".venv/bin")


def test_a_node_project_is_where_it_runs(repo: Folder) -> None:
    repo.write("web/package.json", "{}")
    tool(repo, "web/node_modules/.bin/tool")
    seen = printed(Shop(repo, install("web")))
    assert seen[-2:] == [f"{repo.path}/web/node_modules/.bin/tool", f"{repo.path}/web"]
    assert printed(Shop(repo, install("web", "pwd", "cwd=web/node_modules"))) == [f"{repo.path}/web/node_modules"]


def test_any_other_folder_and_none_change_nothing(repo: Folder) -> None:
    repo.write("lib/x", "")
    tool(repo, "lib/bin/tool")
    for target in ("lib", ""):
        seen = printed(Shop(repo, install(target, f"{SHOWN}", "exit=0")))
        assert seen == [os.environ.get("VIRTUAL_ENV", ""), str(repo.path)]
