"""The example steps of the templates: with the mark off they compile, and do in the small service what they say."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from execplan.linter.runner import lint_bytes
from tests.conftest import Folder

APP = Path(__file__).resolve().parents[1] / "app"
KINDS = {
    "add-endpoint": ["contract", "missing", "work", "route", "present", "good", "refused"],
    "add-tests": ["before", "edges", "run", "twice.1", "twice.2", "seen"],
    "crud": ["contract", "missing", "store", "routes", "present", "created", "updated", "deleted", "gone"],
    "migration": ["old", "script", *[f"rehearse.{number}" for number in range(1, 7)], "move", "same", "back"],
    "refactor": ["pin", "shape", "move", "same"],
}
"""The templates that have some, with the ids of the steps."""


@pytest.fixture
def service(repo: Folder) -> Folder:
    """The small service in a repository."""
    shutil.copytree(APP, repo.path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "The service")
    return repo


def run_step(folder: Folder, step: dict[str, Any]) -> None:
    """Do what a step says, as a person would."""
    target = folder.path / (step["target"] or ".")
    if step["type"] == "create_file":
        assert not target.exists()
        target.parent.mkdir(exist_ok=True)
        target.write_text(step["content"])
    elif step["patch"] is not None:
        folder.write("change.patch", step["patch"])
        folder.git("apply", "change.patch")
    else:
        completed = subprocess.run(
            step["argv"], cwd=folder.path / step["cwd"], env=folder.env, capture_output=True, timeout=60, check=False
        )
        assert completed.returncode == step["exit"], (step, completed)
        if step["expect"] is not None:
            assert completed.stdout.decode().rstrip("\n") == step["expect"].rstrip("\n")
    if step["validation"]["test_after"] is not None:
        subprocess.run(
            step["validation"]["test_after"], cwd=folder.path, env=folder.env, capture_output=True, check=True
        )


@pytest.mark.parametrize("kind", KINDS)
def test_examples_are_steps_of_the_service(service: Folder, kind: str) -> None:
    path = service.path / service.ok("new", "Grow the service", "--template", kind)["path"]
    assert service.ok("show", "--steps")["steps"] == []
    path.write_text(path.read_text().replace("{example ", "{"))
    assert not [finding for finding in lint_bytes(path.read_bytes()) if finding.code > "EP6"]
    assert service.run("evaluate").exit == 0
    document = json.loads(service.run("compile", "--out", "-").out)
    assert [step["id"] for step in document["steps"]] == KINDS[kind]
    assert not any(step["inferred"] for step in document["steps"])
    tasks = [task["text"] for task in service.ok("show")["tasks"]]
    for step in document["steps"]:
        assert step["task"] is None or sum(step["task"] in task for task in tasks) == 1
        if step["when"] is None:  # otherwise it is for a failure, and none fails here
            run_step(service, step)


def test_other_templates_show_none(service: Folder) -> None:
    from tests.core.scaffold.test_template_rendering import KINDS as EVERY
    from tests.plans import from_template

    assert {name for name in ("plan", *EVERY) if "{example" in from_template(name)} == set(KINDS)
