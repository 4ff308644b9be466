"""An approval binds which programs run: what is found elsewhere or has other bytes by then is not run."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from execplan.approvals import approval_key
from execplan.approvals.disk_world import DiskWorld
from execplan.edits.plan_writer import WriteOptions
from execplan.engine.run import run
from execplan.engine.run_observer import RunObserver, RunOptions
from execplan.engine.step_executor import StepExecutor
from execplan.execution import approval_document
from execplan.execution.approval_document import Approval, UnsignedApproval
from execplan.execution.documents.document_io import load, to_bytes
from execplan.execution.program_lookup import resolve_programs
from tests.engine.running import Bench, steps
from tests.execution.approving import document

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.engine.run_state import RunState
    from execplan.engine.steps.run_context import RunContext as StepBench
    from execplan.engine.ticks import TickResult
    from execplan.execution.execution_plan import Step

RUN = "```sh {#run effect=idempotent}\nmytool\n```\n"
TWO = "```sh {#first effect=idempotent}\nmytool first\n```\n\n```sh {#second effect=idempotent}\nmytool second\n```\n"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench = Bench(tmp_path / "repo", monkeypatch)
    bench.own('sandbox = "off"')
    put(bench, "../bin/mytool", "good")
    first(bench, "../bin")
    return bench


def put(bench: Bench, path: str, text: str) -> None:
    """A program that writes to a file of the repository what it is."""
    bench.write(path, f"#!/bin/sh\necho {text} >> {bench.path}/ran\n").chmod(0o755)


def first(bench: Bench, *folders: str) -> None:
    """Let these folders, from the root of the repository, be the first in PATH."""
    before = bench.env.setdefault("USUAL", bench.env["PATH"])
    path = ":".join([*[os.path.normpath(bench.path / each) for each in folders], before])
    bench.env["PATH"] = path
    bench.patch.setenv("PATH", path)


def refused(bench: Bench) -> list[str]:
    """How the programs differ for which a run is refused, before anything has run."""
    lines: list[str] = bench.refused(4, "stale-approval", "run")["candidates"]
    assert not bench.there("ran")
    assert lines == bench.drift()
    return lines


def test_another_directory_first_in_path(bench: Bench) -> None:
    bench.approved(steps(RUN))
    put(bench, "../evil/mytool", "evil")
    first(bench, "../evil", "../bin")
    above = bench.path.parent
    assert refused(bench) == [f"mytool: was {above}/bin/mytool, is now {above}/evil/mytool"]
    assert "execplan approve" in bench.refused(4, "stale-approval", "run")["hint"]
    bench.approve()
    assert bench.go().status == "completed"
    assert bench.text("ran") == "evil\n"


def test_a_program_of_the_repository_first_in_path(bench: Bench) -> None:
    first(bench, "tools", "../bin")
    bench.approved(steps(RUN))
    digest = bench.digest()
    put(bench, "tools/mytool", "evil")
    (line,) = refused(bench)
    assert line.endswith("/bin/mytool, is now tools/mytool in the repository")
    assert bench.digest() != digest  # so that nobody approves it by the digest that was read before
    bench.refused(4, "other-digest", "approve", "--digest", digest)


def test_other_bytes_in_the_repository(bench: Bench) -> None:
    put(bench, "tools/mytool", "good")
    bench.approved(steps("```sh {#go}\ntools/mytool\n```\n"))
    put(bench, "tools/mytool", "evil")
    (line,) = refused(bench)
    assert line.startswith("tools/mytool: tools/mytool has other bytes (")


def test_other_bytes_outside_are_not_bound(bench: Bench) -> None:
    bench.approved(steps(RUN))
    put(bench, "../bin/mytool", "updated")
    assert bench.go().status == "completed"


def test_a_link_that_leads_elsewhere(bench: Bench) -> None:
    for name in ("one", "two"):
        put(bench, f"node_modules/{name}/cli.js", name)
    link = bench.path / "node_modules/.bin/mytool"
    link.parent.mkdir()
    link.symlink_to("../one/cli.js")
    bench.approved(steps("```sh {#go}\nnode_modules/.bin/mytool\n```\n"))
    assert bench.kept()["programs"]["node_modules/.bin/mytool"]["real"] == "node_modules/one/cli.js"
    link.unlink()
    link.symlink_to("../two/cli.js")
    (line,) = refused(bench)
    assert line.endswith("led to node_modules/one/cli.js, now it leads to node_modules/two/cli.js")


def test_the_file_behind_a_link_is_bound(bench: Bench) -> None:
    put(bench, "node_modules/one/cli.js", "good")
    (bench.path.parent / "bin" / "linked").symlink_to(bench.path / "node_modules/one/cli.js")
    bench.approved(steps("```sh {#go}\nlinked\n```\n"))
    put(bench, "node_modules/one/cli.js", "evil")
    (line,) = refused(bench)
    assert "has other bytes" in line


def test_a_program_that_appears_or_goes(bench: Bench) -> None:
    bench.approved(steps("```sh {shell=sh}\nmytool && later || true\n```\n"))
    put(bench, "../bin/later", "evil")
    assert [line.partition(", now")[0] for line in refused(bench)] == ["later: there was no such program"]
    (bench.path.parent / "bin" / "later").unlink()
    (bench.path.parent / "bin" / "mytool").unlink()
    bench.refused(4, "stale-approval", "approve", "--check")
    assert bench.drift()[0].endswith("/bin/mytool, is gone")


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
def test_wherever_a_name_is_looked_up(bench: Bench, fence: str) -> None:
    script = bench.write("../bin/script", "#!mytool\n")
    script.chmod(0o755)
    script.write_text(f"#!{bench.path.parent}/bin/envscript\n")
    bench.write("../bin/envscript", "#!/usr/bin/env mytool\n").chmod(0o755)
    bench.approved(steps(fence))
    put(bench, "../evil/mytool", "evil")
    first(bench, "../evil", "../bin")
    assert any([line.startswith("mytool: was ") for line in refused(bench)])


@pytest.mark.parametrize(
    "fence",
    [
        "```sh {shell=sh}\nexport PATH=/usr/bin\nmytool || true\n```\n",
        "```sh {shell=sh}\n. ./activate\nmytool || true\n```\n",
    ],
)
def test_what_a_script_looks_up_along_a_path_of_its_own_is_not_bound(bench: Bench, fence: str) -> None:
    bench.approved(steps(fence))
    assert "mytool" not in bench.kept()["programs"]
    assert "sh" in bench.kept()["programs"]


def test_the_path_of_a_step_is_its_own(bench: Bench) -> None:
    put(bench, "../own/mytool", "own")
    own = os.path.normpath(bench.path / "../own")
    bench.approved(steps(f"```sh {{#go}}\nPATH={own}:/bin mytool\n```\n"))
    put(bench, "../evil/mytool", "evil")
    first(bench, "../evil", "../bin")
    assert bench.go().status == "completed"
    assert bench.text("ran") == "own\n"


def test_what_the_run_itself_builds_or_installs_is_its_own(bench: Bench) -> None:
    put(bench, "tools/mytool", "old")
    bench.write("new", f"#!/bin/sh\necho new >> {bench.path}/ran\n")
    bench.approved(
        steps(
            "```sh {#build}\ncp new tools/mytool\n```\n",
            "```sh {#more}\ncp tools/mytool tools/other\n```\n",
            "```sh {#run}\ntools/mytool\n```\n",
            "```sh {#other}\ntools/other\n```\n",
        )
    )
    assert bench.go().status == "completed"
    assert bench.text("ran") == "new\nnew\n"
    told = [sorted(each.fields.get("programs", {})) for each in bench.entries() if each.kind == "result"]
    assert told == [["tools/mytool"], ["tools/other"], [], []]


def test_a_program_that_changes_while_a_run_waits(bench: Bench) -> None:
    put(bench, "../evil/mytool", "evil")
    bench.approved(steps(TWO.replace("{#second", "{#second confirm")))
    assert bench.go().question is not None
    first(bench, "../evil", "../bin")
    _, ref = bench.project()
    error = bench.refused(4, "program-changed", "resume", "--answer", "go")
    assert "mytool: was" in error["message"]
    assert f"execplan approve {ref.shell_name}; execplan resume" in error["hint"]
    bench.refused(4, "program-changed", "resume", "--answer", "go", "--dry-run")
    first(bench, "../bin")
    assert bench.on("go").status == "completed"
    assert bench.text("ran") == "good\ngood\n"


def test_a_new_approval_lets_a_run_go_on_with_another_program(bench: Bench) -> None:
    put(bench, "../evil/mytool", "other")
    bench.approved(steps(TWO.replace("{#second", "{#second confirm")))
    bench.go()
    first(bench, "../evil", "../bin")
    bench.approve()
    assert bench.on("go").status == "completed"
    assert bench.text("ran") == "good\nother\n"


def test_a_program_that_changes_before_a_step(bench: Bench) -> None:
    """Somebody else changes it between two steps."""

    class Slow(StepExecutor):
        def tick_task(self, bench: StepBench, course: RunState, step: Step) -> tuple[str, TickResult]:
            if step.id == "first":
                put(here, "tools/mytool", "evil")
            return super().tick_task(bench, course, step)

    put(bench, "tools/mytool", "good")
    bench.approved(steps(TWO.replace("mytool", "tools/mytool")))
    here, (project, ref) = bench, bench.project()
    finished = run(project, ref, RunOptions(), RunObserver(), WriteOptions(commit=False), executor=Slow())
    assert finished.status == "failed"
    assert bench.text("ran") == "good\n"
    ended = bench.entries()[-1].fields
    assert ended["cause"] == "drift"
    assert "second was not begun, it would run another program than was approved: tools/mytool" in ended["reason"]


def test_a_policy_that_only_warns(bench: Bench) -> None:
    bench.own('sandbox = "off"\nprograms = "warn"')
    bench.approved(steps(RUN))
    put(bench, "../evil/mytool", "evil")
    first(bench, "../evil", "../bin")
    result = bench.type("run", "--json")
    assert result.exit == 0
    assert any(["another program than at the approval: mytool: was" in each for each in result.json["warnings"]])


def test_a_repository_may_not_loosen_it(bench: Bench) -> None:
    bench.write(".agent/execplan.toml", '[execution]\nprograms = "warn"\n')
    bench.refused(3, "loosened-policy", "evaluate")


def test_an_approval_from_before_still_holds(bench: Bench) -> None:
    bench.approved(steps(RUN))
    project, _ = bench.project()
    sealing = approval_key.read(project)
    assert sealing is not None
    told = {name: value for name, value in bench.kept().items() if name not in ("programs", "hmac")}
    old = to_bytes(approval_document.sign(load(json.dumps(told).encode(), UnsignedApproval, "it"), sealing))
    assert b"programs" not in old
    assert to_bytes(load(old, Approval, "it")) == old
    bench.file().write_bytes(old)
    put(bench, "../evil/mytool", "evil")
    first(bench, "../evil", "../bin")
    assert bench.go().status == "completed"


def test_what_status_remembers_of_a_plan_depends_on_path(bench: Bench) -> None:
    bench.approved(steps(RUN))
    put(bench, "../evil/mytool", "evil")
    assert "approved" in bench.type("status").out
    first(bench, "../evil", "../bin")
    assert "stale" in bench.type("status").out


def test_an_altered_list_of_programs_breaks_the_seal(bench: Bench) -> None:
    bench.approved(steps(RUN))
    told = bench.kept()
    told["programs"]["mytool"]["path"] = "/evil/mytool"
    bench.file().write_bytes(to_bytes(load(json.dumps(told).encode(), Approval, "it")))
    bench.refused(4, "approval-altered", "run")


def test_nothing_is_bound_for_an_agent(bench: Bench) -> None:
    step = {"command": "mytool", "argv": ["mytool"]}
    project, _ = bench.project()
    assert resolve_programs(document(step), DiskWorld(project))["mytool"].path.endswith("/bin/mytool")
    assert resolve_programs(document(step, mode="agent"), DiskWorld(project)) == {}


def test_an_agent_looks_up_the_steps_of_a_plan_itself(bench: Bench) -> None:
    bench.approved(steps(RUN))
    put(bench, "../evil/mytool", "evil")
    first(bench, "../evil", "../bin")
    assert bench.type("handoff").exit == 0
    assert bench.type("report", "run", "--status", "completed", "--result", "Done.").exit == 0
