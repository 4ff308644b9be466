"""How a whole plan runs: the fence `{execution …}`, and what it becomes in the execution plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from execplan.execution.attributes import PLAN_ATTRIBUTES
from execplan.execution.execution_plan import Constraints
from tests.conftest import Folder

STEPS = '```sh {#a}\nmake test\n```\n\n```sh {#b timeout=30 allow="npm run lint"}\nmake build\n```\n'
ALL_ATTRIBUTES = (
    'text {execution mode=agent max-steps=20 max-duration=1h require-sequential forbidden-paths="secrets infra/**" '
    'forbidden-commands="git push, npm publish" timeout=2m allow="npm run fmt" deny="git commit"}'
)


def write_plan(repo: Folder, fence: str) -> None:
    text = f"# A plan\n\n## Progress\n\n- [ ] One\n\n## Concrete Steps\n\n```{fence}\nWhy so.\n```\n\n{STEPS}"
    repo.write(".agent/execplans/2026-01-01_a-plan.md", text)


def compiled(repo: Folder) -> dict[str, Any]:
    repo.ok("compile")
    document: dict[str, Any] = json.loads(
        Path(repo.path, ".agent/execplans/artifacts/2026-01-01_a-plan/execution-plan.json").read_text(encoding="utf-8")
    )
    return document


def test_every_attribute_reaches_the_execution_plan(repo: Folder) -> None:
    write_plan(repo, ALL_ATTRIBUTES)
    document = compiled(repo)
    assert document["mode"] == "agent"
    assert document["constraints"] == {
        "max_steps": 20,
        "max_duration_s": 3600,
        "require_sequential": True,
        "allow_unplanned": False,
        "forbidden_paths": ["secrets", "infra/**"],
        "forbidden_commands": ["git push", "npm publish"],
    }
    first, second = document["steps"]
    assert (first["timeout_s"], first["allow"], first["deny"]) == (120, ["npm run fmt"], ["git commit"])
    assert (second["timeout_s"], second["allow"]) == (30, ["npm run lint", "npm run fmt"])


def test_there_is_an_attribute_for_the_mode_and_every_constraint() -> None:
    fields = {attribute.field for attribute in PLAN_ATTRIBUTES}
    assert {"mode", *[f"constraints.{name}" for name in Constraints.__struct_fields__]} <= fields


def test_without_the_fence_nothing_changes_and_many_steps_are_for_the_policy_to_limit(repo: Folder) -> None:
    write_plan(repo, "text")
    assert compiled(repo)["mode"] == "engine"
    assert compiled(repo)["constraints"]["max_steps"] == 100
    lines = "\n".join([f"make test-{number}" for number in range(150)])
    repo.write(
        ".agent/execplans/2026-01-01_a-plan.md",
        f"# A plan\n\n## Progress\n\n- [ ] One\n\n## Concrete Steps\n\n```sh {{#a}}\n{lines}\n```\n",
    )
    compiled(repo)
    refused = repo.run("evaluate")
    assert "150 steps; the policy's limit is 100" in refused.out
    assert "set steps = 150 under [execution] in your own settings" in refused.out


@pytest.mark.parametrize(
    ("fence", "code", "words"),
    [
        ("text {execution mod=agent}", "EP602", "a code block {execution} has no attribute mod; did you mean mode?"),
        ("text {execution mode=robot}", "EP603", "robot"),
        ("text {execution max-steps=0}", "EP603", "max-steps must be from 1 to 1,000, not '0'"),
        ("text {execution max-duration=1x}", "EP603", "max-duration must be written as 90, 90s, 5m or 1h, not '1x'"),
        (
            "text {execution forbidden-commands=...}",
            "EP603",
            "forbidden-commands can't be '...': it is empty or matches every command",
        ),
        ("text {#x execution mode=agent}", "EP603", "a code block {execution} is not a step and can't have an ID"),
        ("text {execution mode=agent", "EP601", "the brace is never closed"),
        ("text {execution}\n```\n\n```text {execution}", "EP604", "a plan can have only one code block {execution}"),
    ],
)
def test_what_is_wrong_is_found_by_lint_and_stops_compile(repo: Folder, fence: str, code: str, words: str) -> None:
    write_plan(repo, fence)
    findings = repo.run("lint", "--select", "EP60", "--ignore", "EP609", "--json").json["data"]["findings"]
    assert [(finding["code"], words in finding["message"]) for finding in findings] == [(code, True)], findings
    assert repo.run("compile").exit == 3


def test_constraints_of_the_plan_hold(repo: Folder) -> None:
    write_plan(repo, 'text {execution forbidden-commands="make build"}')
    repo.ok("compile")
    assert "make build is forbidden by 'make build'" in repo.run("evaluate").out
    write_plan(repo, "text {execution max-steps=1}")
    assert repo.run("compile").exit == 3
    write_plan(repo, "text {execution max-duration=10s}")
    repo.ok("compile")
    assert "its timeout is 30 seconds, but the plan limits a run to 10" in repo.run("evaluate").out


def test_lint_renames_an_attribute_of_the_whole_plan(repo: Folder) -> None:
    write_plan(repo, "text {execution max-step=20}")
    repo.run("lint", "--select", "EP602", "--fix", "--unsafe-fixes")
    assert "{execution max-steps=20}" in Path(repo.path, ".agent/execplans/2026-01-01_a-plan.md").read_text("utf-8")
