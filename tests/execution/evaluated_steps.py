"""What the tests of evaluations share: steps in short, judged on a real folder."""

from __future__ import annotations

from typing import Any

from execplan.core.project import project_discovery
from execplan.execution.approvals.disk_world import DiskWorld
from execplan.execution.attributes import LEVELS
from execplan.execution.evaluate import Evaluation, evaluate
from execplan.execution.policy import Policy
from execplan.execution.shell.command_line import parse_command
from tests.conftest import Folder
from tests.execution.approval_documents import document

Step = dict[str, Any]


def evaluate_steps(repo: Folder, *steps: Step, policy: Policy | None = None, **fields: Any) -> Evaluation:
    """The evaluation of some steps in a repository."""
    level = max([step.get("risk", LOW)["level"] for step in steps], key=LEVELS.index)
    intent = {"summary": "A plan", "category": "mixed", "risk_level": level}
    plan = document(*[{"risk": LOW, **step} for step in steps], intent=intent, **fields)
    return evaluate(plan, DiskWorld(project_discovery.find(str(repo.path))), policy or Policy())


def run(line: str, **fields: Any) -> Step:
    """A step that runs a command."""
    argv = None if "shell" in fields else parse_command(line).argv
    return {"command": line, "argv": list(argv) if argv is not None else None, **fields}


def create(path: str, content: str = "x\n", **fields: Any) -> Step:
    """A step that makes a file."""
    return {"type": "create_file", "tool": "file.create", "target": path, "content": content, "risk": LOW, **fields}


def modify(path: str, patch: str, **fields: Any) -> Step:
    """A step that changes a file by a diff."""
    return {"type": "modify_file", "tool": "file.modify", "target": path, "patch": patch, "risk": LOW, **fields}


def splice(path: str, first: int, last: int, content: str) -> Step:
    """A step that gives lines of a file anew."""
    lines = {"lines": [first, last], "content": content}
    return {"type": "modify_file", "tool": "file.modify", "target": path, "risk": LOW, **lines}


def delete(path: str, **fields: Any) -> Step:
    """A step that deletes a file."""
    return {"type": "delete_file", "tool": "file.delete", "target": path, "risk": LOW, **fields}


def refactor(patch: str) -> Step:
    """A step that changes several files."""
    return {"type": "refactor_code", "tool": "code.refactor", "patch": patch, "risk": LOW}


LOW = {"level": "LOW"}


def finding_rows(evaluation: Evaluation) -> list[tuple[str, str, str, str]]:
    """The findings: step, level, check and message."""
    return [
        (finding.step.id if finding.step is not None else "", finding.level, finding.check, finding.message)
        for finding in evaluation.findings
    ]


def messages(evaluation: Evaluation, check: str = "", level: str = "") -> list[str]:
    """What was found, by a check or of a level."""
    return [
        finding.message
        for finding in evaluation.findings
        if check in ("", finding.check) and level in ("", finding.level)
    ]
