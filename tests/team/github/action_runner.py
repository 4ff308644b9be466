"""GitHub's runner, as far as action.yml needs one: inputs, files of the environment, and workflow commands in the log."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

ACTION = Path(__file__).resolve().parents[3] / "action.yml"
FILES = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH")
COMMANDS = (
    "add-mask",
    "add-matcher",
    "debug",
    "echo",
    "endgroup",
    "error",
    "group",
    "notice",
    "remove-matcher",
    "warning",
)
"""Commands that a runner obeys; those that set variables and paths are turned off on GitHub."""


class StepResult(NamedTuple):
    """What a step of the action did."""

    status: int
    log: str
    outputs: dict[str, str]
    summary: str

    @property
    def commands(self) -> list[str]:
        """The lines of the log that a runner obeys, as it finds them: `::name`, or `##[name` anywhere in a line."""
        lines, token = [], None
        for line in self.log.splitlines():
            text = line.lstrip()
            if token is not None:
                token = None if text == f"::{token}::" else token
                continue
            name = re.match(r"::([\w-]+)[ :]", text) or re.search(r"##\[([\w-]+)", line)
            if name and name[1] == "stop-commands":
                token = text.partition("::stop-commands::")[2]
            elif name and name[1].lower() in COMMANDS:
                lines.append(text)
        return lines


class ActionRunner:
    """Runs the steps of action.yml one after the other, as a workflow with `uses:` would."""

    def __init__(self, workspace: Path, home: Path, environ: Mapping[str, str]) -> None:
        self.workspace = workspace
        self.home = home
        self.environ = dict(environ)
        self.action: dict[str, Any] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
        self.results: dict[str, StepResult] = {}

    def run(self, **inputs: str) -> StepResult:
        """Run the action with inputs, whose names have `_` for `-`; return the result of the last step that ran."""
        values = {name: str(definition["default"]) for name, definition in self.action["inputs"].items()}
        for name, value in inputs.items():
            assert name.replace("_", "-") in values
            values[name.replace("_", "-")] = value
        result = StepResult(0, "", {}, "")
        for index, step in enumerate(self.action["runs"]["steps"]):
            if result.status == 0 and self._is_wanted(step.get("if"), values):
                result = self._run_step(index, step, values)
                self.results[step.get("id", str(index))] = result
        return result

    def outputs(self) -> dict[str, str]:
        """The outputs of the action."""
        return {name: self._evaluate_output(definition["value"]) for name, definition in self.action["outputs"].items()}

    def _is_wanted(self, condition: str | None, values: Mapping[str, str]) -> bool:
        if condition is None:
            return True
        match = re.fullmatch(r"inputs\.([\w-]+) == '(\w+)'", condition)
        assert match, condition
        return values[match[1]] == match[2]

    def _evaluate_output(self, expression: str) -> str:
        match = re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}", expression)
        assert match, expression
        return self.results[match[1]].outputs[match[2]]

    def _run_step(self, index: int, step: Mapping[str, Any], values: Mapping[str, str]) -> StepResult:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        directory = self.home / f"step-{index}"
        directory.mkdir(parents=True)
        files = {name: directory / name.lower() for name in FILES}
        for file in files.values():
            file.touch()
        script = directory / "script.sh"
        script.write_text(step["run"], encoding="utf-8")
        variables = {}
        for name, expression in step["env"].items():
            match = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", expression)
            assert match, expression
            variables[name] = values[match[1]]
        environ = {
            **self.environ,
            **{name: os.fspath(file) for name, file in files.items()},
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": os.fspath(ACTION.parent),
            "GITHUB_WORKSPACE": os.fspath(self.workspace),
            "RUNNER_TEMP": os.fspath(self.home),
            **variables,
        }
        completed = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=self.workspace,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
            check=False,
        )
        self._apply_files(files)
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text("utf-8").splitlines())
        summary = files["GITHUB_STEP_SUMMARY"].read_text("utf-8")
        return StepResult(completed.returncode, completed.stdout.decode(), outputs, summary)

    def _apply_files(self, files: Mapping[str, Path]) -> None:
        """Let the next steps have the variables and paths that a step has added."""
        for line in files["GITHUB_ENV"].read_text("utf-8").splitlines():
            name, _, value = line.partition("=")
            self.environ[name] = value
        for line in files["GITHUB_PATH"].read_text("utf-8").splitlines():
            self.environ["PATH"] = f"{line}:{self.environ['PATH']}"
