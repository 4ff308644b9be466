"""An approval binds the files that tell a command what to do: a script, a Makefile, the settings of a test runner."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.execution.engine.run_repository import RunRepository, steps

if TYPE_CHECKING:
    from pathlib import Path

STUBS = "make npm pnpm yarn node deno ruby pytest tox nox cargo just rake docker go pre-commit uv mvn jest psql ansible-playbook"
"""Programs that need not be installed: a test that replaces a file never runs them."""
COMMANDS = [
    ("sh t.sh", "t.sh"),
    ("bash -eu -o pipefail ci/t.sh x.sh", "ci/t.sh"),
    ("env A=b timeout 5 sh t.sh", "t.sh"),
    ("python3 t.py", "t.py"),
    ("python3 -W ignore -u src/t.py", "src/t.py"),
    ("python3 -m pkg.tool", "pkg/tool/__main__.py"),
    ("python3 -m pkg.tool", "pkg/__init__.py"),
    ("python3 -mpkg.tool", "pkg/tool/__main__.py"),
    ("python3 -um pkg.tool", "pkg/tool/__main__.py"),
    ("git bisect run sh t.sh", "t.sh"),
    ("git rebase --exec 'sh t.sh' main", "t.sh"),
    ("python3 src", "src/__main__.py"),
    ("python3 -m pytest tests/a/test_x.py::test_y", "tests/conftest.py"),
    ("node --require ./hook.js app.js", "hook.js"),
    ("node app.js", "app.js"),
    ("deno run app.ts", "app.ts"),
    ("ruby -w t.rb", "t.rb"),
    ("make x", "Makefile"),
    ("make -C sub x", "sub/Makefile"),
    ("make -f build.mk x", "build.mk"),
    ("make -C sub -f ../build.mk x", "build.mk"),
    ("npm run y", "package.json"),
    ("npm --prefix web run y", "web/package.json"),
    ("pnpm y", "package.json"),
    ("yarn y", "package.json"),
    ("pytest tests/a/test_x.py", "tests/a/test_x.py"),
    ("pytest tests/a", "conftest.py"),
    ("pytest tests/a", "tests/a/conftest.py"),
    ("pytest -q", "pyproject.toml"),
    ("pytest -c other.ini", "other.ini"),
    ("tox -e py", "tox.ini"),
    ("nox -s tests", "noxfile.py"),
    ("cargo test", "Cargo.toml"),
    ("cargo build", "build.rs"),
    ("just x", "justfile"),
    ("rake x", "Rakefile"),
    ("docker compose -f dev.yaml up -d", "dev.yaml"),
    ("docker compose up -d", "compose.yaml"),
    ("docker build -f ci/Dockerfile .", "ci/Dockerfile"),
    ("go generate ./...", "go.mod"),
    ("go run main.go", "main.go"),
    ("pre-commit run -a", ".pre-commit-config.yaml"),
    ("uv run x", "pyproject.toml"),
    ("mvn test", "pom.xml"),
    ("jest", "jest.config.js"),
    ("psql -f change.sql", "change.sql"),
    ("ansible-playbook site.yml", "site.yml"),
]


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    repository = RunRepository(tmp_path / "repo", monkeypatch)
    repository.write_user_settings('sandbox = "off"')
    for name in [*STUBS.split(), "x"]:
        repository.write(f"../bin/{name}", "#!/bin/sh\n").chmod(0o755)
    path = f"{os.path.normpath(repository.path / '../bin')}:{repository.env['PATH']}"
    repository.env["PATH"] = path
    monkeypatch.setenv("PATH", path)
    return repository


def step(command: str, attributes: str = "#go") -> str:
    """A plan with one command."""
    return steps(f"```sh {{{attributes}}}\n{command}\n```\n")


def code_of(run_repo: RunRepository) -> dict[str, list[str]]:
    """What the evaluation says about the code of the only step."""
    code: dict[str, list[str]] = run_repo.data("evaluate")["steps"][0]["code"]
    return code


@pytest.mark.parametrize(("command", "path"), COMMANDS)
def test_a_replaced_file_makes_the_approval_stale(run_repo: RunRepository, command: str, path: str) -> None:
    run_repo.write("tests/a/test_x.py", "def test_y(): pass\n")
    run_repo.write("src/other.txt", "")
    run_repo.write(path, "# good\n")
    run_repo.approve_plan(step(command))
    digest = run_repo.digest()
    assert path in code_of(run_repo)["bound"]
    run_repo.write("unrelated.py", "x\n")
    run_repo.write("docs/Makefile", "x\n")
    assert run_repo.approval_state() == "approved"
    run_repo.write(path, "# evil\n")
    (line,) = run_repo.refused(4, "stale-approval", "run")["candidates"]
    assert line.startswith(f"{path} (read by ")
    assert "different content" in line
    assert run_repo.digest() != digest  # so that nobody approves it by the digest that was read before


@pytest.mark.parametrize(
    ("command", "path"),
    [("make x", "GNUmakefile"), ("pytest tests", "tests/conftest.py"), ("python3 -m json.tool", "json/__init__.py")],
)
def test_a_file_that_comes_first_when_it_appears(run_repo: RunRepository, command: str, path: str) -> None:
    run_repo.write("Makefile", "x:\n\ttrue\n")
    run_repo.write("tests/test_x.py", "")
    run_repo.approve_plan(step(command))
    run_repo.write(path, "evil\n")
    (line,) = run_repo.refused(4, "stale-approval", "run")["candidates"]
    assert line.endswith(f": was not found and is now {path} in the repository")


def test_a_removed_script(run_repo: RunRepository) -> None:
    script = run_repo.write("t.sh", "true\n")
    run_repo.approve_plan(step("sh t.sh"))
    script.unlink()
    (line,) = run_repo.refused(4, "stale-approval", "run")["candidates"]
    assert line == "t.sh (read by sh): was t.sh in the repository and no longer exists"


def test_a_link_is_followed_in_the_repository(run_repo: RunRepository) -> None:
    run_repo.write("real.sh", "true\n")
    (run_repo.path / "t.sh").symlink_to("real.sh")
    run_repo.approve_plan(step("sh t.sh"))
    run_repo.write("real.sh", "false\n")
    assert run_repo.refused(4, "stale-approval", "run")["candidates"]


def test_a_file_in_the_directory_of_the_step(run_repo: RunRepository) -> None:
    run_repo.write("web/package.json", "{}\n")
    run_repo.write("web/t.sh", "true\n")
    run_repo.approve_plan(step("cd web && npm run y && . ./t.sh", "#go shell=sh"))
    assert sorted(code_of(run_repo)["bound"]) == ["web/package.json", "web/t.sh"]
    run_repo.approve_plan(step("sh t.sh", "#go cwd=web"))
    assert code_of(run_repo)["bound"] == ["web/t.sh"]


def test_the_test_of_a_step(run_repo: RunRepository) -> None:
    run_repo.write("Makefile", "x:\n\ttrue\n")
    run_repo.approve_plan(step("true", '#go test-after="make x"'))
    assert code_of(run_repo)["bound"] == ["Makefile"]


def test_what_no_approval_can_cover_is_named(run_repo: RunRepository) -> None:
    run_repo.write("../outside.sh", "true\n")
    run_repo.write("big.sh", "# " + "x" * (17 << 20))
    (run_repo.path / "link.sh").symlink_to("../outside.sh")
    run_repo.plan(step("sh ../outside.sh\nsh big.sh\nsh link.sh\nsh $NAME\njust x", "#go shell=sh"))
    code = code_of(run_repo)
    assert code["bound"] == []
    assert code["unbound"] == [
        "../outside.sh (outside the repository)",
        "big.sh (can't be read, or is too large)",
        "link.sh (leads outside the repository)",
        "$NAME (known only at run time)",
    ]
    assert "just: what its recipes import and run" in code["unlisted"]


@pytest.mark.parametrize(
    "command", ["sh -c true", "python3 -c 'print(1)' t.py", "echo t.sh", "cat t.sh", "grep -rn make .", "sh -s"]
)
def test_what_is_not_run_is_not_bound(run_repo: RunRepository, command: str) -> None:
    run_repo.write("t.sh", "true\n")
    run_repo.write("t.py", "1\n")
    run_repo.plan(step(command))
    assert code_of(run_repo)["bound"] == []


def test_what_the_run_itself_writes_is_its_own(run_repo: RunRepository) -> None:
    run_repo.write("new.sh", "echo made >> ran\n")
    run_repo.write("old.sh", "echo old >> ran\n")
    run_repo.approve_plan(
        steps(
            "```sh {#write type=create_file target=t.sh}\necho written >> ran\n```\n",
            "```sh {#change}\ncp new.sh old.sh\n```\n",
            "```sh {#run}\nsh t.sh\n```\n",
            "```sh {#other}\nsh old.sh\n```\n",
        )
    )
    assert run_repo.run_plan().status == "completed"
    assert run_repo.text("ran") == "written\nmade\n"


def test_a_script_that_changes_while_a_run_waits(run_repo: RunRepository) -> None:
    run_repo.write("t.sh", "echo good >> ran\n")
    run_repo.approve_plan(steps("```sh {#first}\nsh t.sh\n```\n", "```sh {#second confirm}\nsh t.sh\n```\n"))
    run_repo.run_plan()
    run_repo.write("t.sh", "echo evil >> ran\n")
    error = run_repo.refused(4, "program-changed", "resume", "--answer", "go")
    assert "t.sh (read by sh)" in error["message"]
    assert run_repo.text("ran") == "good\n"


def test_an_agent_runs_its_own_programs(run_repo: RunRepository) -> None:
    run_repo.write("t.sh", "true\n")
    run_repo.plan(step("sh t.sh") + "\n```text {execution mode=agent}\n```\n")
    assert code_of(run_repo)["unbound"] == ["t.sh (an agent runs the step)"]
