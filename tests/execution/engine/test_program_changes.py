"""An approval binds which programs run: what is found elsewhere or has other bytes by then is not run."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from execplan.core.documents.document_io import document_bytes, load_document
from execplan.core.edits.plan_writer import WriteOptions
from execplan.execution import approval_document
from execplan.execution.approval_document import Approval, UnsignedApproval
from execplan.execution.approvals import approval_key
from execplan.execution.approvals.disk_world import DiskWorld
from execplan.execution.engine.run import run
from execplan.execution.engine.run_observer import RunObserver, RunOptions
from execplan.execution.engine.step_executor import StepExecutor
from execplan.execution.program_lookup import resolve_programs
from tests.execution.approval_documents import document
from tests.execution.engine.run_repository import RunRepository, steps

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.execution.engine.run_state import RunState
    from execplan.execution.engine.steps.run_context import RunContext as StepBench
    from execplan.execution.engine.ticks import TickResult
    from execplan.execution.execution_plan import Step

RUN = "```sh {#run effect=idempotent}\nmytool\n```\n"
TWO = "```sh {#first effect=idempotent}\nmytool first\n```\n\n```sh {#second effect=idempotent}\nmytool second\n```\n"


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    repository = RunRepository(tmp_path / "repo", monkeypatch)
    repository.write_user_settings('sandbox = "off"')
    write_program(repository, "../bin/mytool", "good")
    put_first_in_path(repository, "../bin")
    return repository


def write_program(run_repo: RunRepository, path: str, text: str) -> None:
    """A program that writes to a file of the repository what it is."""
    run_repo.write(path, f"#!/bin/sh\necho {text} >> {run_repo.path}/ran\n").chmod(0o755)


def put_first_in_path(run_repo: RunRepository, *folders: str) -> None:
    """Let these folders, from the root of the repository, be the first in PATH."""
    usual_path = run_repo.env.setdefault("USUAL", run_repo.env["PATH"])
    path = ":".join([*[os.path.normpath(run_repo.path / folder) for folder in folders], usual_path])
    run_repo.env["PATH"] = path
    run_repo.patch.setenv("PATH", path)


def refused(run_repo: RunRepository) -> list[str]:
    """How the programs differ for which a run is refused, before anything has run."""
    lines: list[str] = run_repo.refused(4, "stale-approval", "run")["candidates"]
    assert not run_repo.exists("ran")
    assert lines == run_repo.drift()
    return lines


def test_another_directory_first_in_path(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(RUN))
    write_program(run_repo, "../evil/mytool", "evil")
    put_first_in_path(run_repo, "../evil", "../bin")
    parent = run_repo.path.parent
    assert refused(run_repo) == [f"mytool: was {parent}/bin/mytool and is now {parent}/evil/mytool"]
    assert "execplan evaluate" in run_repo.refused(4, "stale-approval", "run")["hint"]
    run_repo.approve()
    assert run_repo.run_plan().status == "completed"
    assert run_repo.text("ran") == "evil\n"


def test_a_program_of_the_repository_first_in_path(run_repo: RunRepository) -> None:
    put_first_in_path(run_repo, "tools", "../bin")
    run_repo.approve_plan(steps(RUN))
    digest = run_repo.digest()
    write_program(run_repo, "tools/mytool", "evil")
    (line,) = refused(run_repo)
    assert line.endswith("/bin/mytool and is now tools/mytool in the repository")
    assert run_repo.digest() != digest  # so that nobody approves it by the digest that was read before
    run_repo.refused(4, "other-digest", "approve", "--digest", digest)


def test_other_bytes_in_the_repository(run_repo: RunRepository) -> None:
    write_program(run_repo, "tools/mytool", "good")
    run_repo.approve_plan(steps("```sh {#go}\ntools/mytool\n```\n"))
    write_program(run_repo, "tools/mytool", "evil")
    (line,) = refused(run_repo)
    assert line.startswith("tools/mytool: tools/mytool has different content (")


def test_other_bytes_outside_are_not_bound(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(RUN))
    write_program(run_repo, "../bin/mytool", "updated")
    assert run_repo.run_plan().status == "completed"


def test_a_link_that_leads_elsewhere(run_repo: RunRepository) -> None:
    for name in ("one", "two"):
        write_program(run_repo, f"node_modules/{name}/cli.js", name)
    link = run_repo.path / "node_modules/.bin/mytool"
    link.parent.mkdir()
    link.symlink_to("../one/cli.js")
    run_repo.approve_plan(steps("```sh {#go}\nnode_modules/.bin/mytool\n```\n"))
    assert run_repo.approval_data()["programs"]["node_modules/.bin/mytool"]["real"] == "node_modules/one/cli.js"
    link.unlink()
    link.symlink_to("../two/cli.js")
    (line,) = refused(run_repo)
    assert line.endswith("pointed to node_modules/one/cli.js and now points to node_modules/two/cli.js")


def test_the_file_behind_a_link_is_bound(run_repo: RunRepository) -> None:
    write_program(run_repo, "node_modules/one/cli.js", "good")
    (run_repo.path.parent / "bin" / "linked").symlink_to(run_repo.path / "node_modules/one/cli.js")
    run_repo.approve_plan(steps("```sh {#go}\nlinked\n```\n"))
    write_program(run_repo, "node_modules/one/cli.js", "evil")
    (line,) = refused(run_repo)
    assert "has different content (" in line


def test_a_program_that_appears_or_goes(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps("```sh {shell=sh}\nmytool && later || true\n```\n"))
    write_program(run_repo, "../bin/later", "evil")
    assert [line.partition(" and is now /")[0] for line in refused(run_repo)] == ["later: was not found"]
    (run_repo.path.parent / "bin" / "later").unlink()
    (run_repo.path.parent / "bin" / "mytool").unlink()
    run_repo.refused(4, "stale-approval", "approve", "--check")
    assert run_repo.drift()[0].endswith("/bin/mytool and no longer exists")


@pytest.mark.parametrize(
    "fence",
    [
        "```sh {#go}\nenv A=b timeout 5 mytool\n```\n",
        "```sh {shell=sh}\ntrue\nmytool\n```\n",
        "```sh {#go}\nsh -c mytool\n```\n",
        "```sh {test-after=mytool}\ntrue\n```\n",
        "```sh {#go}\nscript\n```\n",
        "```sh {#go}\nenvscript\n```\n",
    ],
)
def test_wherever_a_name_is_looked_up(run_repo: RunRepository, fence: str) -> None:
    script = run_repo.write("../bin/script", "#!mytool\n")
    script.chmod(0o755)
    script.write_text(f"#!{run_repo.path.parent}/bin/envscript\n")
    run_repo.write("../bin/envscript", "#!/usr/bin/env mytool\n").chmod(0o755)
    run_repo.approve_plan(steps(fence))
    write_program(run_repo, "../evil/mytool", "evil")
    put_first_in_path(run_repo, "../evil", "../bin")
    assert any([line.startswith("mytool: was ") for line in refused(run_repo)])


@pytest.mark.parametrize(
    "fence",
    [
        "```sh {shell=sh}\nexport PATH=/usr/bin\nmytool || true\n```\n",
        "```sh {shell=sh}\n. ./activate\nmytool || true\n```\n",
    ],
)
def test_what_a_script_looks_up_along_a_path_of_its_own_is_not_bound(run_repo: RunRepository, fence: str) -> None:
    run_repo.approve_plan(steps(fence))
    assert "mytool" not in run_repo.approval_data()["programs"]
    assert "sh" in run_repo.approval_data()["programs"]


def test_the_path_of_a_step_is_its_own(run_repo: RunRepository) -> None:
    write_program(run_repo, "../own/mytool", "own")
    own_folder = os.path.normpath(run_repo.path / "../own")
    run_repo.approve_plan(steps(f"```sh {{#go}}\nPATH={own_folder}:/bin mytool\n```\n"))
    write_program(run_repo, "../evil/mytool", "evil")
    put_first_in_path(run_repo, "../evil", "../bin")
    assert run_repo.run_plan().status == "completed"
    assert run_repo.text("ran") == "own\n"


def test_what_the_run_itself_builds_or_installs_is_its_own(run_repo: RunRepository) -> None:
    write_program(run_repo, "tools/mytool", "old")
    run_repo.write("new", f"#!/bin/sh\necho new >> {run_repo.path}/ran\n")
    run_repo.approve_plan(
        steps(
            "```sh {#build}\ncp new tools/mytool\n```\n",
            "```sh {#more}\ncp tools/mytool tools/other\n```\n",
            "```sh {#run}\ntools/mytool\n```\n",
            "```sh {#other}\ntools/other\n```\n",
        )
    )
    assert run_repo.run_plan().status == "completed"
    assert run_repo.text("ran") == "new\nnew\n"
    programs = [sorted(entry.fields.get("programs", {})) for entry in run_repo.entries() if entry.kind == "result"]
    assert programs == [["tools/mytool"], ["tools/other"], [], []]


def test_a_program_that_changes_while_a_run_waits(run_repo: RunRepository) -> None:
    write_program(run_repo, "../evil/mytool", "evil")
    run_repo.approve_plan(steps(TWO.replace("{#second", "{#second confirm")))
    assert run_repo.run_plan().question is not None
    put_first_in_path(run_repo, "../evil", "../bin")
    _, ref = run_repo.project()
    error = run_repo.refused(4, "program-changed", "resume", "--answer", "go")
    assert "mytool: was" in error["message"]
    assert f"execplan approve {ref.shell_name}; execplan resume" in error["hint"]
    run_repo.refused(4, "program-changed", "resume", "--answer", "go", "--dry-run")
    put_first_in_path(run_repo, "../bin")
    assert run_repo.resume_run("go").status == "completed"
    assert run_repo.text("ran") == "good\ngood\n"


def test_a_new_approval_lets_a_run_go_on_with_another_program(run_repo: RunRepository) -> None:
    write_program(run_repo, "../evil/mytool", "other")
    run_repo.approve_plan(steps(TWO.replace("{#second", "{#second confirm")))
    run_repo.run_plan()
    put_first_in_path(run_repo, "../evil", "../bin")
    run_repo.approve()
    assert run_repo.resume_run("go").status == "completed"
    assert run_repo.text("ran") == "good\nother\n"


def test_a_program_that_changes_before_a_step(run_repo: RunRepository) -> None:
    """Somebody else changes it between two steps."""

    class Slow(StepExecutor):
        def tick_task(self, context: StepBench, run_state: RunState, step: Step) -> tuple[str, TickResult]:
            if step.id == "first":
                write_program(repository, "tools/mytool", "evil")
            return super().tick_task(context, run_state, step)

    write_program(run_repo, "tools/mytool", "good")
    run_repo.approve_plan(steps(TWO.replace("mytool", "tools/mytool")))
    repository, (project, ref) = run_repo, run_repo.project()
    finished = run(project, ref, RunOptions(), RunObserver(), WriteOptions(commit=False), executor=Slow())
    assert finished.status == "failed"
    assert run_repo.text("ran") == "good\n"
    ended = run_repo.entries()[-1].fields
    assert ended["cause"] == "drift"
    assert (
        "second was not started because it would run a different program or code than approved: tools/mytool"
        in ended["reason"]
    )


def test_a_policy_that_only_warns(run_repo: RunRepository) -> None:
    run_repo.write_user_settings('sandbox = "off"\nprograms = "warn"')
    run_repo.approve_plan(steps(RUN))
    write_program(run_repo, "../evil/mytool", "evil")
    put_first_in_path(run_repo, "../evil", "../bin")
    result = run_repo.type("run", "--json")
    assert result.exit == 0
    assert any(
        [
            "a different program or code than at the approval: mytool: was" in warning
            for warning in result.json["warnings"]
        ]
    )


def test_a_repository_may_not_loosen_it(run_repo: RunRepository) -> None:
    run_repo.write(".agent/execplan.toml", '[execution]\nprograms = "warn"\n')
    run_repo.refused(3, "loosened-policy", "evaluate")


def test_an_approval_from_before_still_holds(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(RUN))
    project, _ = run_repo.project()
    sealing = approval_key.read(project)
    assert sealing is not None
    fields = {name: value for name, value in run_repo.approval_data().items() if name not in ("programs", "hmac")}
    old = document_bytes(
        approval_document.sign(load_document(json.dumps(fields).encode(), UnsignedApproval, "it"), sealing)
    )
    assert b"programs" not in old
    assert document_bytes(load_document(old, Approval, "it")) == old
    run_repo.file().write_bytes(old)
    write_program(run_repo, "../evil/mytool", "evil")
    put_first_in_path(run_repo, "../evil", "../bin")
    assert run_repo.run_plan().status == "completed"


def test_what_status_remembers_of_a_plan_depends_on_path(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(RUN))
    write_program(run_repo, "../evil/mytool", "evil")
    assert "approved" in run_repo.type("status").out
    put_first_in_path(run_repo, "../evil", "../bin")
    assert "stale" in run_repo.type("status").out


def test_an_altered_list_of_programs_breaks_the_seal(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(RUN))
    approval_data = run_repo.approval_data()
    approval_data["programs"]["mytool"]["path"] = "/evil/mytool"
    run_repo.file().write_bytes(document_bytes(load_document(json.dumps(approval_data).encode(), Approval, "it")))
    run_repo.refused(4, "approval-altered", "run")


def test_nothing_is_bound_for_an_agent(run_repo: RunRepository) -> None:
    step = {"command": "mytool", "argv": ["mytool"]}
    project, _ = run_repo.project()
    assert resolve_programs(document(step), DiskWorld(project))["mytool"].path.endswith("/bin/mytool")
    assert resolve_programs(document(step, mode="agent"), DiskWorld(project)) == {}


def test_an_agent_looks_up_the_steps_of_a_plan_itself(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(RUN))
    write_program(run_repo, "../evil/mytool", "evil")
    put_first_in_path(run_repo, "../evil", "../bin")
    assert run_repo.type("handoff").exit == 0
    assert run_repo.type("report", "run", "--status", "completed", "--result", "Done.").exit == 0
