"""What the jobs of a workflow install: languages by the programs of their steps, with the versions of the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from execplan.cli.commands.export import render
from execplan.execution.export.job_setup import find_setup
from tests.execution.export.exported_repository import HEAD, approve, desk, exported
from tests.execution.export.test_exported_files import validate
from tests.execution.export.test_job_partition import document_of, step

if TYPE_CHECKING:
    from tests.in_process_repository import InProcessRepository

__all__ = ["desk"]


def _setup(desk: InProcessRepository, *commands: str, **files: str) -> tuple[list[dict[str, Any]], list[str]]:
    for name, content in files.items():
        desk.write(name, content).chmod(0o755)
    steps = "".join([step(f"#s{number} shell=sh", command) for number, command in enumerate(commands)])
    setup = find_setup(desk.project()[0], document_of(HEAD + steps).steps)
    return list(setup.steps), list(setup.unknown)


@pytest.mark.parametrize(
    ("command", "files", "uses"),
    [
        ("make test", {}, []),
        ("python3 -m pytest", {}, []),
        (
            "python3 -m pytest",
            {".python-version": "3.12"},
            [("actions/setup-python@v5", {"python-version-file": ".python-version"})],
        ),
        ("npm test", {}, [("actions/setup-node@v4", {"node-version": "lts/*"})]),
        ("npm test", {".nvmrc": "22"}, [("actions/setup-node@v4", {"node-version-file": ".nvmrc"})]),
        ("cd x && go test ./...", {"go.mod": ""}, [("actions/setup-go@v5", {"go-version-file": "go.mod"})]),
        ("go vet", {}, [("actions/setup-go@v5", {"go-version": "stable"})]),
        ("uv run pytest", {}, [("astral-sh/setup-uv@v5", None)]),
        (
            "gradle test",
            {".java-version": "21"},
            [("actions/setup-java@v4", {"distribution": "temurin", "java-version-file": ".java-version"})],
        ),
    ],
)
def test_languages_are_set_up(
    desk: InProcessRepository, command: str, files: dict[str, str], uses: list[tuple[str, dict[str, str] | None]]
) -> None:
    steps, unknown = _setup(desk, command, **files)
    assert [(each["uses"], each.get("with")) for each in steps] == uses
    assert unknown == []


def test_what_nothing_installs_is_reported(desk: InProcessRepository) -> None:
    assert _setup(desk, "terraform apply && ls | jq . > x", "./own.sh", **{"own.sh": "#!/bin/sh\n"}) == (
        [],
        ["terraform"],
    )
    assert _setup(desk, "gradle test") == ([], ["gradle"]), "the version of Java is not known"
    steps, _ = _setup(desk, "pnpm test")
    assert steps[-1] == {"run": "corepack enable"}


def test_each_job_installs_what_its_own_steps_need(desk: InProcessRepository) -> None:
    desk.stub("npm", "terraform")
    steps = (
        step("#look", "ls src")
        + step("#build outputs=o", "npm run build")
        + step("#apply outputs=p", "terraform apply")
    )
    plan = exported(approve(desk, HEAD + steps))
    jobs = validate("github", render(plan, "github"))["jobs"]
    uses = {name: [each["uses"] for each in job["steps"] if "uses" in each] for name, job in jobs.items()}
    assert "actions/setup-node@v4" not in uses["job-1"]
    assert "actions/setup-node@v4" in uses["job-2"]
    result = desk.type("export", "--to", "github")
    assert "the workflow doesn't install terraform" in result.err
    assert "# It installs none of these programs: terraform.\n" in result.out
    assert desk.type("export", "--to", "make").err == ""
