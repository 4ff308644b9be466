"""Workflows, pipelines and makefiles: their exact text, their schemas, and hostile names."""

from __future__ import annotations

import json
import re
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml

from execplan import __version__
from execplan.cli.commands.export import render
from execplan.execution.documents.field_patterns import PLAN_ID
from execplan.execution.export.exported_plan import ExportedJob, ExportedPlan
from tests.execution.export.exported_repository import HEAD, STEPS, approve, desk, exported
from tests.execution.export.test_job_partition import document_of, partition

if TYPE_CHECKING:
    from tests.in_process_repository import InProcessRepository

__all__ = ["desk"]

GOLDEN = Path(__file__).parent / "golden"
FILES = {"github": "github.yml", "gitlab": "gitlab.yml", "make": "plan.mk"}
HOSTILE = [
    "$(touch pwned)",
    "`touch pwned`",
    "${{ secrets.TOKEN }}",
    "${{ '${{' }}",
    "'; touch pwned; '",
    '"$HOME"',
    "100% $@ $(shell touch pwned)",
    "a b\\ c",
    "# not a comment",
    "- yes: [no, *x, &y, !z]",
    "ünïcode … 計画",
    "$[[ inputs.x ]]",
]


def plan_named(name: str, text: str = STEPS) -> ExportedPlan:
    """A plan with this ID, and a path from it."""
    assert re.match(PLAN_ID.pattern or "", name)
    jobs = partition(document_of(text))
    exported_jobs = [ExportedJob(job, f"{job.number}" * 64, 21) for job in jobs]
    return ExportedPlan(name, f".agent/{name}/{name}.md", tuple(exported_jobs))


def schema(name: str) -> dict[str, Any]:
    """A published JSON Schema, as check-jsonschema brings it."""
    text = files("check_jsonschema.builtin_schemas").joinpath(f"vendor/{name}.json").read_text()
    document: dict[str, Any] = json.loads(text)
    return document


def validate(target: str, text: str) -> Any:
    """Validate a YAML file against the schema of its format, and return its data."""
    data = yaml.safe_load(text)
    if target == "github":
        data["on"] = data.pop("on", None) or data.pop(True)
        jsonschema.validate(data, schema("github-workflows"))
    else:
        jsonschema.validate(data, schema("gitlab-ci"))
    return data


def test_the_exact_text(desk: InProcessRepository) -> None:
    plan = exported(approve(desk))
    for target, name in FILES.items():
        text = render(plan, target)
        golden = GOLDEN / name
        assert text.replace(__version__, "VERSION") == golden.read_text(), f"if this is right, write it to {golden}"
        assert render(exported(desk), target) == text


@pytest.mark.parametrize("target", ["github", "gitlab"])
@pytest.mark.parametrize("name", ["2026-01-01_parser", *HOSTILE])
def test_the_file_is_valid_whatever_the_plan_is_called(target: str, name: str) -> None:
    plan = plan_named(name)
    data = validate(target, render(plan, target))
    jobs = data["jobs"] if target == "github" else data
    for number, job in enumerate(plan.jobs, 1):
        steps = jobs[job.name]["steps"] if target == "github" else [{"run": line} for line in jobs[job.name]["script"]]
        commands = [step["run"] for step in steps if "execplan job" in step.get("run", "")]
        assert len(commands) == 2
        for command, flag in zip(commands, ("--check", "--save"), strict=True):
            argv = shell_words(evaluate_expressions(command) if target == "github" else command)
            assert argv[:7] == ["execplan", "job", str(number), "-p", plan.path, "--digest", job.digest]
            assert argv[-1 if flag == "--check" else -2] == flag


def evaluate_expressions(text: str) -> str:
    """Evaluate the expressions of a workflow as GitHub does, which may only be quoted texts."""
    return re.sub(r"\$\{\{ '(\$\{\{)' \}\}", r"\1", text) if "${{" in text else text


def shell_words(command: str) -> list[str]:
    """The words of a command, as a shell splits and expands them."""
    script = f'execplan() {{ printf "%s\\0" execplan "$@"; }}; {command}'
    completed = subprocess.run(["sh", "-c", script], capture_output=True, check=True, cwd="/")
    return completed.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_expression_of_a_plan_is_evaluated_by_github(name: str) -> None:
    text = render(plan_named(name), "github")
    expressions = set(re.findall(r"\$\{\{.*?\}\}", text.split("\n", 2)[2]))
    assert expressions <= {"${{ '${{' }}", "${{ runner.temp }}", "${{ github.token }}"}


@pytest.mark.parametrize("name", HOSTILE)
def test_make_passes_every_name_on_as_it_is(tmp_path: Path, name: str) -> None:
    plan = plan_named(name)
    makefile = tmp_path / "plan.mk"
    makefile.write_text(render(plan, "make"))
    printer = tmp_path / "printer"
    printer.write_text('#!/bin/sh\nprintf "%s\\0" "$@" END >> calls\n')
    printer.chmod(0o755)
    subprocess.run(["make", "-s", "-f", makefile, f"EXECPLAN={printer}"], check=True, cwd=tmp_path)
    calls = (tmp_path / "calls").read_text().split("END\0")[:-1]
    expected = [
        ["1", plan.jobs[0].digest, "--check"],
        *[[str(number), job.digest] for number, job in enumerate(plan.jobs, 1)],
    ]
    assert [call.split("\0")[:-1] for call in calls] == [
        ["job", number, "-p", plan.path, "--digest", digest, *flags] for number, digest, *flags in expected
    ]
    assert not (tmp_path / "pwned").exists()


def test_parallel_steps_run_in_parallel() -> None:
    steps = "".join(
        [f"```sh {{#{name} parallel outputs={name}.txt shell=sh}}\ntouch {name}.txt\n```\n\n" for name in ("a", "b")]
    )
    plan = plan_named("parser", HEAD + steps)
    assert "--digest " + plan.jobs[0].digest + " --jobs 2" in render(plan, "make")
    assert " --jobs 2 --save job-1.tar" in render(plan, "gitlab")


def test_workflows_and_pages_use_the_same_version_of_the_checkout() -> None:
    root = GOLDEN.parents[2]
    pages = [*root.glob("docs/**/*.md"), *root.glob("templates/**/*.md"), *root.glob(".github/workflows/*.yml")]
    texts = [render(plan_named("parser"), "github"), *[page.read_text() for page in pages]]
    versions = {version for text in texts for version in re.findall(r"actions/checkout@(\w+)", text)}
    assert len(versions) == 1, versions
