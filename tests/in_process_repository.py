"""A repository whose plan has steps, in which execplan is run within the test's own process."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

from execplan.cli.app import run
from execplan.cli.commands import COMMANDS
from execplan.cli.error_handler import run_with_error_handling
from execplan.core.plan_store import plan_selection
from execplan.core.project import project_discovery
from tests.conftest import CLOCK, ENVIRONMENT, Folder, Result, copy_from_template

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

NAME = "2026-01-01_parser"
STEPS = """\
# Build the parser

## Progress

- [ ] Build the parser.

## Concrete Steps

```sh {#build inputs=Makefile}
make parser
```

```python {#api type=create_file target=src/made.py}
X = 1
```

```text {#drop type=delete_file target=src/old.py}
Nobody calls it.
```
"""
LOW = STEPS[: STEPS.index("```sh")] + STEPS[STEPS.index("```python") : STEPS.index("```text")]
INFERRED = STEPS.replace("```sh {#build inputs=Makefile}\nmake parser", "```sh\ncargo build --release")


def _stepped(folder: Folder) -> None:
    folder.git("init", "-q", "-b", "main")
    for name, content in (("Makefile", "parser:\n"), ("src/old.py", "x = 1\n"), ("src/other.py", "y = 1\n")):
        folder.write(name, content).chmod(0o644)
    folder.plan(STEPS)
    _commit(folder)


def _commit(folder: Folder) -> None:
    folder.git("add", "-A")
    folder.git("commit", "-q", "-m", "All")


class InProcessRepository(Folder):
    """A repository, and what is typed in it."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(path)
        self.patch = patch
        for name in (
            "EXECPLAN_AGENT",
            "EXECPLAN_PLAN",
            "EXECPLAN_SESSION",
            "CLAUDE_CODE_SESSION_ID",
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "OTEL_TRACES_EXPORTER",
            "XDG_CONFIG_HOME",
        ):
            patch.delenv(name, raising=False)
        for name, value in {**ENVIRONMENT, **self.env}.items():
            patch.setenv(name, value)
        copy_from_template(_stepped, path)
        patch.chdir(path)

    def commit(self) -> None:
        """Commit all."""
        _commit(self)

    def stub(self, *names: str) -> None:
        """Put programs on PATH that this machine may not have; they do nothing."""
        for name in names:
            self.write(f"../stubs/{name}", "#!/bin/sh\n").chmod(0o755)
        self.env["PATH"] = f"{self.path.parent}/stubs:{self.env['PATH']}"
        self.patch.setenv("PATH", self.env["PATH"])

    def type(self, *arguments: str) -> Result:
        """Run execplan in this process."""
        out, trouble = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        as_json = "--json" in arguments or "--jsonl" in arguments
        kind = next((argument for argument in arguments if argument in COMMANDS), "execplan")
        with redirect_stdout(out), redirect_stderr(trouble):
            status = run_with_error_handling(lambda: run(list(arguments)), as_json=as_json, kind=kind)
        sys.stdout.flush()
        texts = [
            stream.buffer.getvalue().decode() for stream in (out, trouble) if isinstance(stream.buffer, io.BytesIO)
        ]
        return Result(status, *texts)

    def data(self, *arguments: str) -> dict[str, Any]:
        """The data of a document, at exit 0."""
        result = self.type(*arguments, "--json")
        assert result.exit == 0, (arguments, result)
        data: dict[str, Any] = result.json["data"]
        return data

    def refused(self, exit: int, code: str, *arguments: str) -> dict[str, Any]:
        """The error of a refusal."""
        result = self.type(*arguments, "--json")
        error: dict[str, Any] = result.json["error"]
        assert (result.exit, error["code"]) == (exit, code), (arguments, result)
        assert error["hint"]
        return error

    def digest(self) -> str:
        """What evaluate tells to be approved."""
        digest: str = self.data("evaluate")["digest"]
        return digest

    def approve(self, *arguments: str) -> dict[str, Any]:
        """Approve what would run now."""
        return self.data("approve", "--digest", self.digest()[:8], *arguments)

    def approval_state(self) -> str:
        """How the plan stands, as its approvals are listed and as `--check` says; if none holds the state of the last one."""
        approvals: list[dict[str, Any]] = self.data("approve", "--list")["approvals"]
        approved = [approval for approval in approvals if approval["state"] == "approved"]
        assert (self.type("approve", "--check").exit == 0) == bool(approved)
        state: str = (approved or approvals)[0]["state"]
        return state

    def drift(self) -> list[str]:
        """What `--check` says to have drifted."""
        lines: list[str] = self.refused(4, "stale-approval", "approve", "--check")["candidates"]
        return lines

    def file(self) -> Path:
        """The approval."""
        (path,) = (self.path / f".agent/execplans/artifacts/{NAME}/approvals").iterdir()
        return path

    def approval_data(self) -> dict[str, Any]:
        """What the approval says."""
        data: dict[str, Any] = json.loads(self.file().read_bytes())
        return data

    def later(self, seconds: int) -> None:
        """Set the clock."""
        self.patch.setenv("SOURCE_DATE_EPOCH", str(CLOCK + seconds))

    def project(self) -> tuple[Project, PlanRef]:
        """The plan directory, and the plan."""
        return project_discovery.find(os.getcwd()), plan_selection.select_plan(os.getcwd(), None)[1]
