"""Jobs of an exported plan, in clones as in CI and under make: the same files as `run`, and what stops them."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from execplan.cli.commands.export import render
from tests.cli.approved_plan import run_id
from tests.execution.approvals.team import SETTINGS, Person, Team
from tests.execution.export.exported_repository import (
    HEAD,
    LISTED_FILES,
    REPLACED_FILES,
    REPLACING_STEPS,
    STEPS,
    approve,
    clone,
    copy,
    desk,
    exported,
    tree,
)
from tests.needs import need

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.execution.export.exported_plan import ExportedPlan
    from tests.in_process_repository import InProcessRepository

__all__ = ["desk"]


def run_in_clone(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch, plan: ExportedPlan, number: int) -> Path:
    """Run a job in a new clone, with the outputs of the job before it, and return the clone."""
    path = clone(desk, monkeypatch, f"job-{number}")
    arguments = ["job", str(number), "--digest", plan.jobs[number - 1].digest]
    if number > 1:
        shutil.copy(path.parent / f"job-{number - 1}/job-{number - 1}.tar", path)
        arguments += ["--load", f"job-{number - 1}.tar"]
    result = desk.type(*arguments, "--save", f"job-{number}.tar")
    assert result.exit == 0, result
    assert result.err == "", "every step that others need was done by an earlier job"
    return path


def without_archives(path: Path) -> dict[str, tuple[str, object]]:
    """The files of a clone without those that jobs pass on, and without the plan: each job checks off its own tasks."""
    return {name: entry for name, entry in tree(path).items() if not name.endswith((".tar", "_parser.md"))}


def test_jobs_in_separate_clones_give_the_files_of_a_run(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = exported(approve(desk))
    last = [run_in_clone(desk, monkeypatch, plan, number) for number in (1, 2, 3)][-1]
    monkeypatch.chdir(desk.path)
    assert desk.type("run").exit == 0
    files = without_archives(desk.path)
    assert without_archives(last) == files
    assert files["out/lines.txt"][1] == b"hello $(x)\n"
    assert files["out/link"] == ("link", "bin/run")
    assert "src/old.py" not in files


def test_what_a_step_removes_or_replaces_is_gone_in_the_next_job(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in REPLACED_FILES.items():
        desk.write(name, content)
    plan = exported(approve(desk, REPLACING_STEPS))
    last = [run_in_clone(desk, monkeypatch, plan, number) for number in (1, 2, 3, 4)][-1]
    monkeypatch.chdir(desk.path)
    exits = [desk.type("run").exit, *[desk.type("resume").exit for _ in range(3)]]
    assert exits == [8, 8, 8, 0], "a person answers at each checkpoint"
    assert without_archives(last) == without_archives(desk.path)
    assert (last / "list.txt").read_text() == LISTED_FILES


def run_as_engine(target: str, job: dict[str, Any], path: Path, archives: Path) -> None:
    """Run the commands of a job as its engine does, in a clone, and pass on its outputs in a directory.

    The environment of the job has reviewers.
    """
    temp = path.parent / f"{path.name}-temp"
    temp.mkdir()
    if target == "github":
        steps = job["steps"]
        commands = [step["run"] for step in steps if "run" in step]
        downloads, uploads = (
            [step["with"] for step in steps if step.get("uses", "").startswith(f"actions/{kind}-artifact")]
            for kind in ("download", "upload")
        )
        received = [(f"{download['name']}.tar", download["path"]) for download in downloads]
        passed_on = [upload["path"] for upload in uploads]
    else:
        commands = job["script"]
        received = [(f"{need['job']}.tar", str(path)) for need in job["needs"]]
        passed_on = [str(path / name) for name in job["artifacts"]["paths"]]
    for name, directory in received:
        shutil.copy(archives / name, directory.replace("${{ runner.temp }}", str(temp)))
    commands = [command for command in commands if not command.startswith("python -m pip install")]
    script = (
        f'execplan() {{ {shlex.quote(sys.executable)} -m execplan "$@"; }}\ngh() {{ echo required_reviewers; }}\n'
        + "\n".join(commands)
    )
    environment = {**os.environ, "RUNNER_TEMP": str(temp), "TMPDIR": str(temp)}
    completed = subprocess.run(
        ["sh", "-e", "-c", script], check=False, capture_output=True, text=True, cwd=path, env=environment
    )
    assert completed.returncode == 0, completed
    for name in passed_on:
        shutil.copy(name.replace("${{ runner.temp }}", str(temp)), archives)


@pytest.mark.parametrize("target", ["github", "gitlab"])
def test_steps_do_not_see_the_outputs_file_of_the_job_before(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    listing = STEPS.replace("cat out/lines.txt", "ls").replace(' expect="hello $(x)"', " outputs=list.txt shell=sh")
    plan = exported(approve(desk, listing.replace("\nls\n", "\nls > list.txt\n")))
    workflow = yaml.safe_load(render(plan, target))
    jobs = workflow["jobs"] if target == "github" else workflow
    archives = desk.path.parent / "archives"
    archives.mkdir()
    for job in plan.jobs:
        path = clone(desk, monkeypatch, job.name)
        run_as_engine(target, jobs[job.name], path, archives)
    monkeypatch.chdir(desk.path)
    assert desk.type("run").exit == 0
    assert without_archives(path) == without_archives(desk.path)


def test_make_gives_the_tree_of_a_run(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    approve(desk)
    other = copy(desk, "made")
    monkeypatch.chdir(other)
    desk.approve()
    (other / "plan.mk").write_text(render(exported(desk), "make"))
    command = f"{sys.executable} -m execplan"
    completed = subprocess.run(
        ["make", "-f", "plan.mk", f"EXECPLAN={command}"], check=False, capture_output=True, text=True, cwd=other
    )
    assert completed.returncode == 0, completed
    monkeypatch.chdir(desk.path)
    assert desk.type("run").exit == 0
    assert tree(other) == tree(desk.path)


def test_a_failed_job_stops_make(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    approve(desk, STEPS.replace('expect="hello $(x)"', 'expect="goodbye"'))
    (desk.path / "plan.mk").write_text(render(exported(desk), "make"))
    command = f"{sys.executable} -m execplan"
    completed = subprocess.run(
        ["make", "-f", "plan.mk", f"EXECPLAN={command}"], check=False, capture_output=True, text=True, cwd=desk.path
    )
    assert completed.returncode == 2
    assert (
        "its output is not as expected: line 1 of the expected output, 'goodbye', is not in the output"
        in completed.stdout
    )
    assert "[plan.mk" in completed.stderr


@pytest.mark.parametrize(
    "change",
    [
        lambda path: (path / "src/old.py").write_text("changed\n"),
        lambda path: (path / "src/old.py").chmod(0o755),
        lambda path: (path / "src/greet.py").write_text("already here\n"),
        lambda path: next(path.glob(".agent/execplans/*.md")).write_text(STEPS.replace("hello", "goodbye")),
    ],
)
def test_a_change_stops_the_job_that_uses_what_changed(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch, change: object
) -> None:
    assert callable(change)
    plan = exported(approve(desk))
    path = clone(desk, monkeypatch, "changed")
    assert desk.type("job", "1", "--digest", plan.jobs[0].digest, "--check").exit == 0
    change(path)
    before = tree(path)
    desk.refused(4, "other-digest", "job", "1", "--digest", plan.jobs[0].digest, "--check")
    desk.refused(4, "other-digest", "job", "1", "--digest", plan.jobs[0].digest, "--save", "job-1.tar")
    assert tree(path) == before


def test_a_changed_plan_stops_every_job(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = exported(approve(desk))
    path = clone(desk, monkeypatch, "changed")
    next(path.glob(".agent/execplans/*.md")).write_text(STEPS.replace("hello", "goodbye"))
    for number, job in enumerate(plan.jobs, 1):
        desk.refused(4, "other-digest", "job", str(number), "--digest", job.digest, "--check")


def test_the_digest_ignores_what_differs_between_machines(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = exported(approve(desk))
    path = clone(desk, monkeypatch, "other")
    (path / "src/old.py").chmod(0o664)
    desk.write("../.config/execplan/config.toml", '[execution]\nsandbox = "off"\nseconds = 77\n')
    assert desk.type("job", "1", "--digest", plan.jobs[0].digest, "--check").exit == 0


def test_a_job_after_a_run_of_the_same_plan_names_the_runs_to_roll_back(desk: InProcessRepository) -> None:
    plan = exported(approve(desk))
    for number, job in enumerate(plan.jobs, 1):
        assert desk.type("job", str(number), "--digest", job.digest).exit == 0
    last_run = run_id(desk)
    for number, job in enumerate(plan.jobs[:2], 1):
        error = desk.refused(4, "other-digest", "job", str(number), "--digest", job.digest)
        assert "its runs have already changed the files" in error["message"]
        assert f"the last one first: execplan rollback {last_run} -p 2026-01-01_parser" in error["hint"]
    for name in ("3", "2", "1"):
        assert desk.type("rollback", name).exit == 0
    assert desk.type("job", "1", "--digest", plan.jobs[0].digest).exit == 0


def test_a_job_after_an_interrupted_one_names_the_run_to_resume(desk: InProcessRepository) -> None:
    slow = STEPS.replace("mkdir -p out/bin", "mkdir -p out/bin && touch out/lines.txt && sleep 60")
    plan = exported(approve(desk, slow))
    assert desk.type("job", "1", "--digest", plan.jobs[0].digest).exit == 0
    command = [sys.executable, "-m", "execplan", "job", "2", "--digest", plan.jobs[1].digest]
    with subprocess.Popen(command, cwd=desk.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        for _ in range(600):
            if (desk.path / "out/lines.txt").exists():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
    error = desk.refused(1, "run-under-way", "job", "2", "--digest", plan.jobs[1].digest)
    assert "resume it: execplan resume 2 -p 2026-01-01_parser; or roll it back" in error["hint"]


def test_an_open_task_or_a_new_entry_does_not_change_a_digest(desk: InProcessRepository) -> None:
    plan = exported(approve(desk))
    desk.data("done", "1")
    assert desk.type("job", "1", "--digest", plan.jobs[0].digest, "--check").exit == 0


def test_a_job_continues_after_the_number_of_steps_at_which_a_run_asks(desk: InProcessRepository) -> None:
    head = STEPS[: STEPS.index("```python")]
    steps = "".join(
        [
            f"```python {{#s{number} type=create_file target=made/{number}.py}}\nX = {number}\n```\n\n"
            for number in range(12)
        ]
    )
    plan = exported(approve(desk, head + steps))
    assert len(plan.jobs) == 1
    result = desk.type("job", "1", "--digest", plan.jobs[0].digest)
    assert result.exit == 0, result
    assert len(os.listdir(desk.path / "made")) == 12


def test_bad_calls(desk: InProcessRepository) -> None:
    plan = exported(approve(desk))
    digest = plan.jobs[0].digest
    desk.refused(3, "no-such-job", "job", "4", "--digest", digest)
    desk.refused(2, "usage", "job", "0", "--digest", digest)
    desk.refused(2, "usage", "job", "1", "--digest", digest, "--check", "--save", "x.tar")
    desk.refused(4, "other-digest", "job", "2", "--digest", digest)
    for text in ("", digest[:12], f"{digest}0", "x" * 64):
        assert "64 hex digits" in desk.refused(2, "usage", "job", "1", "--digest", text)["message"]


def saved(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> tuple[ExportedPlan, Path]:
    """The outputs of the first job, in a clone where the second one is to run."""
    plan = exported(approve(desk))
    archive = run_in_clone(desk, monkeypatch, plan, 1) / "job-1.tar"
    path = clone(desk, monkeypatch, "job-2")
    shutil.copy(archive, path / "job-1.tar")
    return plan, path / "job-1.tar"


def rewrite(archive: Path, old: str, new: str) -> None:
    """Replace a text in the members of an archive."""
    with tarfile.open(archive) as source:
        members = [(member.name, file.read()) for member in source if (file := source.extractfile(member)) is not None]
    from io import BytesIO

    with tarfile.open(archive, "w") as target:
        for name, data in members:
            content = data.decode().replace(old, new).encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            target.addfile(member, BytesIO(content))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"src/greet.py"', '"src/other.py"', "no step declares src/other.py"),
        ('"src/greet.py"', '"../greet.py"', "it is not an archive"),
        ('"src/greet.py"', '"src/greet.py/../../../x"', "it is not an archive"),
        ("hello", "goodbye", "the content of src/greet.py doesn't match its digest"),
        ("job-outputs/1", "job-outputs/2", "its format is"),
        ('"document": "', '"document": "0', "it comes from other steps"),
        ('"src/greet.py"', '"\\ud800"', "it is not an archive"),
        ('"kind": "file"', '"kind": "device"', "it is not an archive"),
        ('"mode": 4', '"mode": 44', "it is not an archive"),
        ('"entries"', '"entry"', "it is not an archive"),
    ],
)
def test_altered_outputs_are_not_unpacked(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch, old: str, new: str, reason: str
) -> None:
    plan, archive = saved(desk, monkeypatch)
    rewrite(archive, old, new)
    before = tree(archive.parent)
    arguments = ["job", "2", "--digest", plan.jobs[1].digest, "--load", "job-1.tar"]
    error = desk.refused(3, "bad-job-outputs", *arguments)
    assert reason in error["message"]
    assert tree(archive.parent) == before


@pytest.mark.parametrize("data", [b"", b"x" * 2000, b"\0" * 2048])
def test_what_is_no_archive(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    plan, archive = saved(desk, monkeypatch)
    archive.write_bytes(data)
    desk.refused(3, "bad-job-outputs", "job", "2", "--digest", plan.jobs[1].digest, "--load", "job-1.tar")


def test_a_job_without_the_outputs_of_the_one_before_is_blocked(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = exported(approve(desk))
    clone(desk, monkeypatch, "job-2")
    desk.refused(1, "must-not-run", "job", "2", "--digest", plan.jobs[1].digest)


def test_the_same_outputs_are_saved_with_the_same_bytes(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = exported(approve(desk))
    first = (run_in_clone(desk, monkeypatch, plan, 1) / "job-1.tar").read_bytes()
    monkeypatch.chdir(desk.path)
    shutil.rmtree(desk.path.parent / "job-1")
    assert (run_in_clone(desk, monkeypatch, plan, 1) / "job-1.tar").read_bytes() == first


def test_a_person_who_lets_a_job_begin_confirms_its_first_step(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    manual = "```text {#call type=manual}\nCall them.\n```\n\n"
    steps = HEAD + "```sh {#look}\nls src\n```\n\n" + manual + "```sh {#ask confirm needs=call}\nls src\n```\n"
    plan = exported(approve(desk, steps))
    assert [job.title for job in plan.jobs] == ["look", "call", "ask"]
    workflow = yaml.safe_load(render(plan, "github"))
    archives = desk.path.parent / "archives"
    archives.mkdir()
    for job in plan.jobs:
        assert ("environment" in workflow["jobs"][job.name]) == (job.name != "job-1")
        run_as_engine("github", workflow["jobs"][job.name], clone(desk, monkeypatch, job.name), archives)
    path = clone(desk, monkeypatch, "unconfirmed")
    shutil.copy(archives / "job-1.tar", path)
    arguments = ["job", "2", "--digest", plan.jobs[1].digest, "--load", "job-1.tar"]
    assert desk.type(*arguments).exit == 8, "nobody has confirmed it"
    monkeypatch.setenv("EXECPLAN_AGENT", "agent-1")
    desk.refused(3, "person-required", *arguments, "--confirmed")


def test_a_named_agent_cannot_approve_by_running_a_job(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = exported(approve(desk, STEPS.replace("{#write ", "{#write risk=HIGH ")))
    clone(desk, monkeypatch, "job-1")
    monkeypatch.setenv("EXECPLAN_AGENT", "agent-1")
    desk.refused(3, "person-required", "job", "1", "--digest", plan.jobs[0].digest)


@pytest.mark.parametrize("rules", ["", "branch_policy", "wait_timer required_reviewers_x"])
def test_a_job_fails_if_its_environment_has_no_reviewers(desk: InProcessRepository, rules: str) -> None:
    workflow = yaml.safe_load(render(exported(approve(desk)), "github"))
    first = workflow["jobs"]["job-2"]["steps"][0]
    for answer, status in ((rules, 1), (f"{rules} required_reviewers", 0)):
        script = f"gh() {{ printf '%s\\n' {answer}; }}\n{first['run']}"
        environment = {**os.environ, "GITHUB_REPOSITORY": "ann/parser"}
        completed = subprocess.run(
            ["bash", "-e", "-c", script], check=False, capture_output=True, text=True, env=environment
        )
        assert completed.returncode == status, completed
        assert ("no required reviewers" in completed.stdout) == bool(status)


def test_jobs_run_under_the_signatures_of_people(tmp_path: Path) -> None:
    need("ssh-keygen")
    team = Team(tmp_path, SETTINGS, STEPS.replace("type=delete_file target=src/old.py", "type=create_file target=new"))
    ann = Person(tmp_path, "ann")
    ann.ok("approve", "--digest", ann.digest(), "--allow-inferred")
    workflow = yaml.safe_load(ann.run("export", "--to", "github").out)
    commands = {
        name: next(step["run"].split() for step in job["steps"] if "--save" in step.get("run", ""))
        for name, job in workflow["jobs"].items()
    }
    arguments = {name: command[1 : command.index("--digest") + 2] for name, command in commands.items()}
    ann.git("add", "-A")
    ann.git("commit", "-q", "-m", "Approved")
    ann.git("push", "-q")
    runner = team.clone("runner")
    archive = tmp_path / "job-1.tar"
    first = runner.run(*arguments["job-1"], "--save", str(archive))
    assert first.exit == 0, first
    assert "approved by ann@example.org" in first.out
    second = team.clone("runner2")
    result = second.run(*arguments["job-2"], "--load", str(archive))
    assert result.exit == 0, result
    bare = team.clone("runner3")
    shutil.rmtree(bare.path / ".agent/execplans/artifacts/2026-01-01_greet/approvals")
    assert bare.error(*arguments["job-1"])["code"] == "not-approved"
