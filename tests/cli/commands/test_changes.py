"""`changes`: its text, document and exit status, and what it writes for a GitHub workflow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN

ERRORS = CLEAN.replace("## Outcomes", "- Decision: Read bytes.\n  Date/Author: 2025-12-31 / Ann\n\n## Outcomes")
WARNINGS = CLEAN.replace("- [x] (2025-12-30 09:15Z) Read", "- [x] Read")
NAME = ".agent/execplans/2026-01-01_parser.md"


@pytest.fixture
def branch(repo: Folder) -> Folder:
    """A repository with a plan on main, and the branch `work`."""
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    repo.git("checkout", "-q", "-b", "work")
    return repo


def workflow_commands(out: str) -> list[str]:
    """The workflow commands in an output."""
    return [line for line in out.splitlines() if line.startswith("::")]


def test_text(branch: Folder) -> None:
    assert branch.run("changes", "--since", "main").out == "no plan was changed\n"
    branch.ok("done", "2")
    branch.ok("discover", "CR ends lines", "--evidence", "old.md")
    assert branch.run("changes", "--since", "main").out == (
        "2026-01-01_parser  active, 2 of 3 tasks done\n"
        "  done       Build the parser.\n"
        "  discovery  CR ends lines\n\n"
        "1 plan changed; no findings\n"
    )


def test_the_document(branch: Folder) -> None:
    branch.plan(ERRORS)
    result = branch.run("changes", "--since", "main", "--json")
    data = result.json["data"]
    assert result.exit == 1
    assert result.json["next"] == ["execplan lint --since main"]
    assert branch.run("lint", "--since", "main").exit == 1
    assert data["since"] == branch.git("rev-parse", "main").strip()
    assert data["findings"] == {"error": 1, "warning": 0, "hint": 0}
    (plan,) = data["plans"]
    assert (plan["path"], plan["state"], plan["former_path"]) == (NAME, "active", NAME)
    assert [event["kind"] for event in plan["events"]] == ["decision-added"]
    assert [finding["code"] for finding in plan["findings"]] == ["EP301"]


@pytest.mark.parametrize(
    ("plan", "options", "exit"),
    [
        (ERRORS, [], 1),
        (ERRORS, ["--fail-on", "warning"], 1),
        (ERRORS, ["--fail-on", "never"], 0),
        (ERRORS, ["--ignore", "EP301"], 0),
        (WARNINGS, [], 0),
        (WARNINGS, ["--fail-on", "warning"], 1),
        (WARNINGS, ["--fail-on", "warning", "--select", "EP301"], 0),
        (WARNINGS, ["--fail-on", "warning", "README.md"], 0),
        (WARNINGS, ["--fail-on", "warning", ".agent"], 1),
    ],
)
def test_the_gate(branch: Folder, plan: str, options: list[str], exit: int) -> None:
    branch.plan(plan)
    assert branch.run("changes", "--since", "main", *options).exit == exit


def test_markdown(branch: Folder) -> None:
    branch.ok("done", "2")
    assert branch.run("changes", "--since", "main", "--format", "markdown").out.startswith(
        "## 1 plan changed\n\n1 task done."
    )


@pytest.mark.parametrize(
    ("arguments", "code", "exit"),
    [
        ((), "usage", 2),
        (("--since", "main", "--no-summary"), "usage", 2),
        (("--since", "main", "--json", "--format", "markdown"), "usage", 2),
        (("--since", "main", "--fail-on", "hint"), "usage", 2),
        (("--since", "nowhere"), "no-such-revision", 3),
        (("--since", "--all"), "no-such-revision", 3),
        (("--since", "main", "--select", "XX9"), "no-such-rule", 3),
        (("--format", "github"), "no-base-commit", 3),
    ],
)
def test_errors(branch: Folder, arguments: tuple[str, ...], code: str, exit: int) -> None:
    result = branch.run("changes", *arguments)
    assert result.exit == exit, result
    if "--json" in arguments:
        assert result.json["error"]["code"] == code
    else:
        assert "hint: " in result.err
        if code != "usage":
            assert f"execplan explain {code}" in branch.run("changes", *arguments, "-v").err


def test_without_git(plain: Folder) -> None:
    plain.plan()
    result = plain.run("changes", "--since", "main")
    assert result.exit == 6


def test_github(branch: Folder, tmp_path: Path) -> None:
    branch.plan(ERRORS)
    branch.env |= {"GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    result = branch.run("changes", "--since", "main", "--format", "github")
    assert result.exit == 1
    assert result.out.splitlines() == [
        f"::error file={NAME},line=26,endLine=26,col=1,endColumn=23,title=EP301::the decision has no rationale: Read bytes.",
        "1 plan changed; 1 error",
    ]
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert outputs == {"errors": "1", "warnings": "0", "hints": "0", "plans": json.dumps([NAME])}
    assert "**Decisions**" in (tmp_path / "summary").read_text("utf-8")
    (tmp_path / "summary").unlink()
    quiet = branch.run("changes", "--since", "main", "--format", "github", "--no-annotations", "--no-summary")
    assert quiet.out == "1 plan changed; 1 error\n"
    assert not (tmp_path / "summary").exists()


def test_github_gets_as_many_annotations_as_it_shows_and_errors_first(branch: Folder) -> None:
    decision = "- Decision: Number {}.\n  Date/Author: 2025-12-30 / Ann\n"
    decisions = "".join(decision.format(number) for number in range(15))
    tasks = "".join(f"- [x] Task {number}.\n" for number in range(15))
    for name in ("2026-01-01_parser", "2026-01-02_printer"):
        branch.plan(
            CLEAN.replace("## Outcomes", decisions + "\n## Outcomes").replace("- [ ] Write", tasks + "- [ ] Write"),
            name,
        )
    out = branch.run("changes", "--since", "main", "--format", "github").out
    assert [line.split()[0] for line in workflow_commands(out)] == ["::error"] * 10 + ["::warning"] * 10
    assert "\n40 more findings: GitHub shows 10 of each level\n2 plans changed; 30 errors, 30 warnings\n" in out


def test_paths_of_annotations_count_from_the_workspace(branch: Folder) -> None:
    branch.plan(ERRORS)
    branch.env["GITHUB_WORKSPACE"] = str(branch.path.parent)
    (line,) = workflow_commands(branch.run("changes", "--since", "main", "--format", "github").out)
    assert f"file={branch.path.name}/{NAME}," in line
    branch.env["GITHUB_WORKSPACE"] = "/elsewhere"
    (line,) = workflow_commands(branch.run("changes", "--since", "main", "--format", "github").out)
    assert f"file={NAME}," in line


def test_a_plan_cant_add_workflow_commands(branch: Folder) -> None:
    hostile = "%0A::add-mask::x ::error::x ##[error]x \x1b[2J"
    branch.plan(ERRORS.replace("Read bytes.", hostile), "2026-01-02_a,line=1::error::%0A")
    out = branch.run("changes", "--since", "main", "--format", "github").out
    lines = out.splitlines()
    assert len(workflow_commands(out)) == len(lines) - 1
    assert "\x1b" not in out
    file = ".agent/execplans/2026-01-02_a%2Cline=1%3A%3Aerror%3A%3A%250A.md"
    for line in workflow_commands(out):
        assert line.startswith(
            (f"::error file={file},line=", f"::warning file={file},line=", f"::notice file={file},line=")
        )
        assert "%0A" not in line.replace("%250A", "")


def test_after_all_tasks_are_done_a_discovery_leads_to_the_archive(repo: Folder) -> None:
    repo.plan(CLEAN)
    repo.ok("done", "2-3")
    out = repo.run("discover", "CR ends lines", "--evidence", "old.md").out
    assert out.splitlines()[-1].startswith(("next: execplan archive ", "next: execplan outcome "))
