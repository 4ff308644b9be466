"""What can't be exported, and the files that `export` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.execution.approvals.team import SETTINGS, Person, Team
from tests.execution.export.exported_repository import HEAD, STEPS, approve, desk
from tests.in_process_repository import NAME
from tests.needs import need

if TYPE_CHECKING:
    from tests.in_process_repository import InProcessRepository

__all__ = ["desk"]

OUT = ".github/workflows/parser.yml"


ASKS = "check: it asks for confirmation, and nobody can answer there"
STOPS = "check: it has a checkpoint, which asks whether to continue"


@pytest.mark.parametrize(
    ("attribute", "targets", "reason"),
    [
        ("confirm", ("make",), ASKS),
        ("checkpoint", ("make",), STOPS),
        ("on-failure=ask", ("github", "gitlab", "make"), "check: on-failure=ask needs a person"),
        ("on-failure=replan", ("github", "gitlab", "make"), "check: on-failure=replan needs a person"),
    ],
)
def test_steps_that_need_an_answer_where_nobody_can_give_one(
    desk: InProcessRepository, attribute: str, targets: tuple[str, ...], reason: str
) -> None:
    approve(desk, STEPS.replace("{#check ", f"{{#check {attribute} "))
    for target in ("github", "gitlab", "make"):
        if target in targets:
            error = desk.refused(1, "not-exportable", "export", "--to", target, "--out", OUT)
            assert error["candidates"] == [reason]
        else:
            assert desk.type("export", "--to", target).exit == 0
    assert not (desk.path / OUT).exists()


def test_a_step_that_asks_in_the_middle_of_a_job_is_not_exported(desk: InProcessRepository) -> None:
    approve(
        desk,
        STEPS.replace("{#check ", "{#check confirm ")
        .replace(" outputs=out/lines.txt,out/bin,out/link", "")
        .replace("inputs=out/lines.txt ", ""),
    )
    assert desk.refused(1, "not-exportable", "export", "--to", "github")["candidates"] == [ASKS]


def test_files_that_git_ignores_are_missing_in_a_checkout(desk: InProcessRepository) -> None:
    desk.write(".gitignore", "data/\n")
    desk.write("data/rows.csv", "1\n")
    approve(desk, HEAD + "```sh {#count inputs=data/rows.csv}\nwc -l data/rows.csv\n```\n")
    error = desk.refused(1, "not-exportable", "export", "--to", "gitlab")
    assert error["candidates"] == ["count: it uses data/rows.csv, which Git ignores, so a checkout doesn't contain it"]
    assert desk.type("export", "--to", "make").exit == 0


def test_more_jobs_than_a_workflow_can_have(desk: InProcessRepository) -> None:
    desk.write("../.config/execplan/config.toml", "[execution]\nsteps = 300\nfiles = 300\n")
    settings = "```text {execution max-steps=300}\n```\n\n"
    steps = [f"```sh {{#s{number} outputs=o{number} checkpoint}}\nls src\n```\n\n" for number in range(257)]
    approve(desk, HEAD + settings + "".join(steps))
    error = desk.refused(1, "not-exportable", "export", "--to", "github")
    assert error["candidates"] == [f"{NAME}: it has 257 jobs, but a workflow can have only 256"]


def test_only_an_approved_plan_is_exported(desk: InProcessRepository) -> None:
    desk.plan(STEPS)
    desk.refused(7, "not-approved", "export", "--to", "github", "--out", OUT)
    desk.approve()
    assert desk.type("export", "--to", "github", "--out", OUT).exit == 0
    desk.plan(STEPS.replace("hello", "goodbye"))
    desk.refused(4, "stale-approval", "export", "--to", "github", "--out", OUT)


def test_a_plan_of_which_some_steps_are_approved_is_not_exported(desk: InProcessRepository) -> None:
    desk.plan(STEPS)
    desk.approve("--step", "check")
    error = desk.refused(7, "step-not-approved", "export", "--to", "github")
    assert "approve them without --step" in error["hint"]


def test_an_agent_runs_the_steps_of_its_plans_itself(desk: InProcessRepository) -> None:
    desk.plan(STEPS.replace("```python", "```text {execution mode=agent}\n```\n\n```python", 1))
    desk.approve()
    desk.refused(3, "agent-mode", "export", "--to", "make")


def test_an_export_is_written_replaced_and_committed(desk: InProcessRepository) -> None:
    approve(desk)
    dry = desk.data("export", "--to", "github", "--out", OUT, "--dry-run")
    assert (dry["changed"], (desk.path / OUT).exists()) == (False, False)
    assert "+jobs:" in dry["diff"]
    data = desk.data("export", "--to", "github", "--out", OUT, "--commit")
    assert data["changed"]
    assert data["commit"]
    assert desk.git("status", "--porcelain") == ""
    assert not desk.data("export", "--to", "github", "--out", OUT)["changed"]
    assert desk.data("export", "--to", "gitlab", "--out", OUT)["changed"]
    printed = desk.type("export", "--to", "gitlab").out
    assert printed == (desk.path / OUT).read_text()


def test_a_file_of_someone_else_is_not_replaced(desk: InProcessRepository) -> None:
    approve(desk)
    desk.write(OUT, "name: mine\n")
    desk.refused(1, "not-an-export", "export", "--to", "github", "--out", OUT)
    assert (desk.path / OUT).read_text() == "name: mine\n"


def test_bad_calls(desk: InProcessRepository) -> None:
    approve(desk)
    desk.refused(2, "usage", "export")
    desk.refused(2, "usage", "export", "--to", "jenkins")
    desk.refused(2, "usage", "export", "--to", "make", "--dry-run")


@pytest.mark.parametrize("out", [".git/hooks/post-checkout", "../other/.git/hooks/post-checkout", "link/post-checkout"])
def test_nothing_is_written_into_a_git_directory(desk: InProcessRepository, out: str) -> None:
    approve(desk)
    (desk.path / "link").symlink_to(".git/hooks")
    (desk.path.parent / "other/.git/hooks").mkdir(parents=True)
    error = desk.refused(2, "usage", "export", "--to", "make", "--out", out)
    assert error["message"] == f"{out} is inside a git directory, where only git and execplan's own state belong"
    assert not (desk.path / out).exists()


@pytest.mark.parametrize("out", ["src/greet.py", "src/greet.py/x", "out/bin", "out/bin/plan.mk", "link/greet.py"])
def test_a_file_that_a_step_uses_is_not_written(desk: InProcessRepository, out: str) -> None:
    approve(desk)
    (desk.path / "link").symlink_to("src")
    error = desk.refused(2, "usage", "export", "--to", "make", "--out", out)
    assert error["message"].startswith(f"{out} is a file that the step ")
    assert not (desk.path / out).exists()
    assert desk.type("export", "--to", "make", "--out", "out/plan.mk").exit == 0
    assert desk.type("export", "--to", "make").exit == 0, "the plan is still as it was approved"


def test_directories_are_made_only_in_the_repository(desk: InProcessRepository) -> None:
    approve(desk)
    desk.refused(3, "no-such-file", "export", "--to", "make", "--out", "../new/dir/plan.mk")
    assert not (desk.path.parent / "new").exists()
    assert desk.type("export", "--to", "make", "--out", "new/dir/plan.mk").exit == 0


def test_joined_waves_are_explained(desk: InProcessRepository) -> None:
    approve(desk, STEPS.replace(" outputs=out/lines.txt,out/bin,out/link", "").replace("inputs=out/lines.txt ", ""))
    result = desk.type("export", "--to", "make")
    assert result.exit == 0
    assert result.err == "execplan: warning: a person lets all of job-2 begin at once: build: no declared outputs\n"


def test_the_environment_is_for_github_and_a_plain_name(desk: InProcessRepository) -> None:
    approve(desk)
    assert "environment: production\n" in desk.type("export", "--to", "github", "--environment", "production").out
    desk.refused(2, "usage", "export", "--to", "gitlab", "--environment", "production")
    for name in ("", "a b", "${{ github.token }}", "x/../y", "ü"):
        desk.refused(2, "usage", "export", "--to", "github", "--environment", name)


def test_people_who_sign_approve_one_run_which_make_does_not_start(desk: InProcessRepository) -> None:
    need("ssh-keygen")
    team = Team(
        desk.path.parent / "team",
        SETTINGS,
        STEPS.replace("type=delete_file target=src/old.py", "type=create_file target=new"),
    )
    ann = Person(team.scratch, "ann")
    ann.approve("--allow-inferred")
    (reason,) = ann.error("export", "--to", "make")["candidates"]
    assert "people sign approvals, which are for one run, and make would start 3" in reason
    assert ann.run("export", "--to", "github").exit == 0


def test_a_file_outside_of_the_repository_is_named_as_such(desk: InProcessRepository) -> None:
    approve(desk)
    outside = desk.path.parent / "plan.mk"
    for options, word in ((("--dry-run",), "would write"), ((), "wrote"), ((), "")):
        result = desk.type("export", "--to", "make", "--out", "../plan.mk", *options)
        assert result.exit == 0
        assert f"{word} ../plan.mk, outside of the repository".lstrip() in result.out
    assert "is up to date" in result.out
    assert outside.exists()
    (desk.path / "link").symlink_to(desk.path.parent)
    result = desk.type("export", "--to", "make", "--out", "link/other.mk")
    assert (result.exit, (desk.path.parent / "other.mk").exists()) == (7, False)
    assert "outside" not in desk.type("export", "--to", "make", "--out", "plan.mk").out
