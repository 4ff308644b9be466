"""Manual steps: a person does them and confirms, and what follows waits for it."""

from __future__ import annotations

from typing import Any

from tests.conftest import Folder
from tests.plans import CLEAN

MANUAL = """\
```text {#calls type=manual task="Build the parser"}
Update the call sites of `parse`.
```

```sh {#after exit=0}
touch after.txt
```

"""
PLAN = CLEAN.replace("## Validation and", MANUAL + "## Validation and", 1)


def approve(repo: Folder, plan: str) -> None:
    """Put a plan into the repository, and approve its steps."""
    repo.plan(plan)
    repo.ok("compile")
    repo.ok("approve", "--digest", repo.ok("evaluate")["digest"])


def statuses(repo: Folder) -> dict[str, str]:
    """The status of each step of the last run."""
    return {step["id"]: step["status"] for step in repo.ok("show", "--run")["steps"]}


def task_line(repo: Folder) -> str:
    """The line of the task in the plan."""
    lines = (repo.path / ".agent/execplans/2026-01-01_parser.md").read_text().splitlines()
    return next(line for line in lines if line.startswith("- [") and "Build the parser" in line)


def test_the_run_waits_until_a_person_has_done_it(repo: Folder) -> None:
    approve(repo, PLAN)
    evaluated: list[dict[str, Any]] = repo.ok("evaluate")["steps"]
    assert (evaluated[0]["type"], evaluated[0]["risk"]["level"]) == ("manual", "LOW")
    assert evaluated[0]["description"] == "By hand: Update the call sites of `parse`."
    paused = repo.run("run")
    assert paused.exit == 8
    assert "step calls is manual work: Update the call sites of `parse`." in paused.err
    assert not (repo.path / "after.txt").exists()
    assert repo.run("resume").exit == 8
    assert repo.run("resume", "--answer", "again").exit == 2
    assert repo.run("resume", "--answer", "go").exit == 0
    assert (repo.path / "after.txt").exists()
    assert statuses(repo) == {"calls": "completed", "after": "completed"}
    assert "[x]" in task_line(repo)
    answers = [entry for entry in repo.run("audit").out.splitlines() if "answered" in entry]
    assert len(answers) == 1
    assert answers[0].endswith("by_hand: go")
    assert "calls: its work by hand" in repo.run("rollback").out


def test_an_agent_does_the_work_and_asks_a_person_to_resume(repo: Folder) -> None:
    approve(repo, PLAN)
    assert "do its work by hand, then: ask a person to run: execplan resume " in repo.run("run", "--as", "agent-1").err


def test_it_can_be_skipped_or_end_the_run(repo: Folder) -> None:
    approve(repo, PLAN)
    repo.run("run")
    assert repo.run("resume", "--answer", "skip").exit == 0
    assert statuses(repo) == {"calls": "skipped", "after": "completed"}
    assert "[ ]" in task_line(repo)
    repo.run("run")
    assert repo.run("resume", "--answer", "stop").exit == 1


def test_its_test_checks_what_the_person_did(repo: Folder) -> None:
    approve(repo, PLAN.replace("type=manual", 'type=manual test-after="test -f done.txt"'))
    repo.run("run")
    assert repo.run("resume", "--answer", "go").exit == 1
    assert statuses(repo)["after"] == "blocked"
    repo.write("done.txt", "")
    assert repo.run("resume").exit == 0
    assert statuses(repo) == {"calls": "completed", "after": "completed"}


def test_an_agent_reports_it(repo: Folder) -> None:
    approve(repo, PLAN.replace(MANUAL, f"```text {{execution mode=agent}}\n```\n\n{MANUAL}"))
    assert "Do this, or ask a person to do it, then report the step: Update the call sites" in repo.run("handoff").out
    early = repo.run("report", "after", "--status", "completed", "--result", "Done.")
    assert "step after needs calls, which is not completed yet" in early.err
    repo.ok("report", "calls", "--status", "completed", "--result", "All nine are updated.")
    assert "[x]" in task_line(repo)


def test_a_plan_of_nothing_else(repo: Folder) -> None:
    manual = MANUAL.split("```sh", maxsplit=1)[0]
    approve(repo, CLEAN.replace("`make test`", "it").replace("## Validation and", manual + "## Validation and", 1))
    assert [step["id"] for step in repo.ok("compile")["steps"]] == ["calls"]
    assert repo.run("run").exit == 8
    assert repo.run("resume", "--answer", "go").exit == 0


def test_what_it_lacks(repo: Folder) -> None:
    repo.plan(PLAN.replace("Update the call sites of `parse`.", ""))
    assert "manual needs a text that says what to do" in repo.run("compile").err
    repo.plan(PLAN.replace("type=manual", "type=manual cwd=src"))
    assert "manual doesn't accept cwd" in repo.run("compile").err
    repo.plan(PLAN)
    repo.ok("compile")
    repo.ok("approve", "--digest", repo.ok("evaluate")["digest"])
    assert "    environment: execplan\n" in repo.run("export", "--to", "github").out, "a person lets the job begin"


def test_code_that_changes_meanwhile_is_approved_first(repo: Folder) -> None:
    script = repo.write("t.sh", "true\n")
    approve(repo, PLAN.replace("touch after.txt", "sh t.sh"))
    assert repo.run("run").exit == 8
    assert "--answer go" in repo.run("next").out
    script.write_text("touch after.txt\n")
    assert repo.run("resume", "--answer", "go").exit == 4
    waiting = repo.run("next").out.splitlines()
    assert waiting[-1] == "next: execplan evaluate 2026-01-01_parser"
    assert waiting[-2] == "code that its steps use has changed, so the run can be resumed after a new approval"
    assert repo.run("show", "--run").out.splitlines()[-1] == waiting[-1]
    repo.ok("approve", "--digest", repo.ok("evaluate")["digest"])
    assert "--answer go" in repo.run("next").out
    assert repo.run("resume", "--answer", "go").exit == 0
    assert (repo.path / "after.txt").exists()
