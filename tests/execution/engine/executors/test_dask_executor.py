"""Steps on a cluster of real worker processes, which are killed and stopped: no step runs twice."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from execplan.core.errors import ENVIRONMENT, POLICY, USAGE, ExecplanError
from execplan.core.installation import extra_hint
from execplan.execution import states
from execplan.execution.engine.executors import ticket_watch
from execplan.execution.engine.executors.executor_address import parse_executor
from execplan.execution.engine.executors.worker_workspace import PackedWorkspace, pack_workspace
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from tests.execution.engine.executors.cluster import Cluster
from tests.execution.engine.run_repository import steps
from tests.execution.export.exported_repository import LISTED_FILES, REPLACED_FILES, REPLACING_STEPS
from tests.in_process_repository import NAME
from tests.needs import SANDBOX_WARNING, need

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.execution.engine.run_observer import FinishedRun
    from tests.execution.engine.run_repository import RunRepository

pytest.importorskip("distributed")


def count_step(name: str, counter: Path, *, seconds: float = 0, effect: str = "once", more: str = "") -> str:
    """A step that notes outside of the workspace that it runs, with the processes above it."""
    script = (
        f"echo {name} >>{counter}/{name}; "
        f"p=$$; while [ $p -gt 1 ]; do echo $p; p=$(cut -d' ' -f4 /proc/$p/stat); done >{counter}/{name}.tmp; "
        f"mv {counter}/{name}.tmp {counter}/{name}.pids; sleep {seconds}; cat src/other.py >out/{name}.txt"
    )
    return (
        f"```sh {{#{name} inputs=src/other.py outputs=out/{name}.txt shell=sh effect={effect} parallel {more}}}\n"
        f"mkdir -p out; {script}\n```"
    )


def counts(counter: Path) -> dict[str, int]:
    """How often each step ran."""
    return {path.name: len(path.read_text().splitlines()) for path in counter.iterdir() if not path.suffix}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that can't be reached is lost after two seconds."""
    monkeypatch.setattr(ticket_watch, "LOST_AFTER", 2.0)
    monkeypatch.setattr(ticket_watch, "RENEWAL_SECONDS", 0.3)
    monkeypatch.setattr(ticket_watch, "ANSWER_SECONDS", 0.5)


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    """A directory outside of the repository; without a sandbox, a step can write there."""
    folder = tmp_path / "counter"
    folder.mkdir()
    return folder


def test_steps_run_on_workers_and_their_outputs_come_home(
    run_repo: RunRepository, cluster: Cluster, counter: Path
) -> None:
    cluster.start_worker()
    cluster.start_worker()
    run_repo.write_user_settings('sandbox = "off"')
    total = "```sh {#total inputs=out outputs=total.txt shell=sh}\ncat out/*.txt >total.txt\n```"
    home = "```sh {#home shell=sh}\nwc -l total.txt >lines.txt\n```"
    run_repo.approve_plan(steps(*[count_step(f"s{number}", counter) for number in range(4)], total, home))
    finished = run_repo.run_plan(executor=cluster.address, jobs=2)
    assert finished.status == states.COMPLETED
    assert run_repo.text("total.txt") == "y = 1\n" * 4
    assert run_repo.text("lines.txt").split() == ["4", "total.txt"]
    assert counts(counter) == {f"s{number}": 1 for number in range(4)}
    state = run_repo.run_state()
    workers = {step: attempts[-1].worker for step, attempts in state.attempts.items()}
    assert workers["home"] == ""
    assert len({worker for step, worker in workers.items() if step != "home"}) == 2
    assert state.begin_fields["executor"] == cluster.address
    assert not [path for path in cluster.folder.rglob("execplan/*") if path.is_dir()]  # nothing stays on the workers


@pytest.mark.exhaustive
def test_what_an_earlier_step_removed_or_replaced_is_gone_on_the_worker(
    run_repo: RunRepository, cluster: Cluster
) -> None:
    cluster.start_worker()
    run_repo.write_user_settings('sandbox = "off"')
    for name, content in REPLACED_FILES.items():
        run_repo.write(name, content)
    run_repo.commit()
    text = REPLACING_STEPS.partition("## Concrete Steps\n\n")[2].replace(" checkpoint", "")
    run_repo.approve_plan(steps(text))
    finished = run_repo.run_plan(executor=cluster.address)
    assert finished.status == states.COMPLETED, finished
    assert run_repo.text("plain/listed") == "dist\ndist/new\n"
    assert run_repo.text("list.txt") == LISTED_FILES


@pytest.mark.exhaustive
@pytest.mark.parametrize("effect", ["once", "idempotent"])
def test_the_worker_of_a_step_is_killed(run_repo: RunRepository, cluster: Cluster, counter: Path, effect: str) -> None:
    cluster.start_worker()
    cluster.start_worker()
    run_repo.write_user_settings('sandbox = "off"')
    retry = "retry=1 backoff=0" if effect == "idempotent" else ""
    run_repo.approve_plan(steps(count_step("lost", counter, seconds=5, effect=effect, more=retry)))
    finished = _run_while(run_repo, cluster, lambda: cluster.worker_with(counter / "lost.pids").kill())
    if effect == "idempotent":
        assert finished.status == states.COMPLETED
        assert counts(counter) == {"lost": 2}
        first, second = run_repo.run_state().attempts["lost"]
        assert first.performed is not None
        assert "its outcome is unknown" in first.performed.reason
        assert first.worker != second.worker
        return
    assert (finished.status, finished.question and finished.question.why) == (states.IN_PROGRESS, "unknown")
    assert counts(counter) == {"lost": 1}
    resume_command, rollback_command = run_repo.type("show", NAME, "--run", "1", "--json").json["next"]
    assert resume_command.endswith(f" --executor {cluster.address} --answer go")
    assert rollback_command.startswith("execplan rollback ")
    assert f"resume it: execplan resume 1 -p {NAME} --executor {cluster.address}; or" in run_repo.type("run", NAME).err
    assert run_repo.resume_run(executor_text=cluster.address).question is not None  # no answer, so nothing runs
    assert counts(counter) == {"lost": 1}
    assert run_repo.resume_run("again", executor_text=cluster.address).status == states.COMPLETED
    assert counts(counter) == {"lost": 2}
    assert run_repo.text("out/lost.txt") == "y = 1\n"


@pytest.mark.exhaustive
def test_the_command_after_a_revision_names_the_executor(run_repo: RunRepository, cluster: Cluster) -> None:
    cluster.start_worker()
    run_repo.approve_plan(steps("```sh {#see inputs=Makefile outputs=out.txt on-failure=ask}\nfalse\n```"))
    assert run_repo.run_plan(executor=cluster.address).status == states.IN_PROGRESS
    next_command = f"execplan resume {run_repo.runs()[0].id} -p {NAME} --executor {cluster.address}"
    assert run_repo.type("replan", "--reason", "It failed.", "--json").json["next"] == [f"execplan evaluate {NAME}"]
    approved = run_repo.type("approve", "--digest", run_repo.ok("evaluate")["digest"], "--json").json
    assert approved["next"] == [next_command]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("impatient")
def test_a_worker_that_is_stopped_is_lost(run_repo: RunRepository, cluster: Cluster, counter: Path) -> None:
    cluster.start_worker()
    run_repo.write_user_settings('sandbox = "off"')
    run_repo.approve_plan(steps(count_step("lost", counter, seconds=1)))
    finished = _run_while(
        run_repo, cluster, lambda: cluster.worker_with(counter / "lost.pids").send_signal(signal.SIGSTOP)
    )
    assert finished.question is not None
    assert finished.question.why == "unknown"
    assert not run_repo.exists("out/lost.txt")
    assert run_repo.resume_run("go").status == states.COMPLETED  # a person has looked: the step did its work
    assert counts(counter) == {"lost": 1}


@pytest.mark.exhaustive
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_retry_goes_to_another_worker_than_the_lost_one(
    run_repo: RunRepository, cluster: Cluster, counter: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    from execplan.execution.engine.executors import dask_executor

    monkeypatch.setattr(dask_executor, "_ANSWER_SECONDS", 3)
    for _ in range(workers):
        cluster.start_worker()
    run_repo.write_user_settings('sandbox = "off"')
    step = count_step("lost", counter, seconds=2, effect="idempotent", more="retry=1 backoff=0")
    run_repo.approve_plan(steps(step))

    def stop_worker() -> None:
        cluster.worker_with(counter / "lost.pids").send_signal(signal.SIGSTOP)

    if workers == 1:
        with pytest.raises(ExecplanError, match="has no worker that can take the step") as raised:
            _run_while(run_repo, cluster, stop_worker)
        assert [reason.partition(" ")[2] for reason in raised.value.candidates] == ["was lost and does not answer"]
        return
    assert _run_while(run_repo, cluster, stop_worker).status == states.COMPLETED
    first, second = run_repo.run_state().attempts["lost"]
    assert first.performed is not None
    assert "it has not answered" in first.performed.reason
    assert first.worker != second.worker


@pytest.mark.exhaustive
@pytest.mark.usefixtures("impatient")
def test_a_lost_worker_that_answers_again_is_used_if_no_other_is_left(
    run_repo: RunRepository, cluster: Cluster, counter: Path
) -> None:
    cluster.start_worker(threads=2)
    run_repo.write_user_settings('sandbox = "off"')
    step = count_step("lost", counter, seconds=1, effect="idempotent", more="retry=1 backoff=0")
    run_repo.approve_plan(steps(step))

    def stop_worker() -> None:
        worker = cluster.worker_with(counter / "lost.pids")
        worker.send_signal(signal.SIGSTOP)
        cluster.wait_until(lambda: [entry.kind for entry in run_repo.entries()].count("retaken"))
        worker.send_signal(signal.SIGCONT)

    assert _run_while(run_repo, cluster, stop_worker).status == states.COMPLETED
    first, second = run_repo.run_state().attempts["lost"]
    assert first.worker == second.worker


@pytest.mark.exhaustive
def test_nobody_waits_for_a_worker_that_has_left(
    run_repo: RunRepository, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from execplan.execution.engine.executors import dask_executor

    worker = cluster.start_worker()
    cluster.start_worker()
    project, _ = run_repo.project()
    executor = dask_executor.DaskExecutor(parse_executor(cluster.address))
    monkeypatch.setattr(dask_executor, "_ANSWER_SECONDS", 600)
    monkeypatch.setattr(dask_executor, "_CONNECT_SECONDS", 5)
    try:
        executor.reserve(pack_workspace(project, WorkspaceFiles(project)))
        worker.kill()
        cluster.wait_until(lambda: len(executor._call(executor._list_workers(), 10)) == 1)
    finally:
        executor.close()
    assert executor._client.status == "closed"
    workspaces = [path for path in cluster.folder.rglob("execplan/*") if path.is_dir()]
    assert len(workspaces) == 1  # that of the killed worker


@pytest.mark.exhaustive
def test_the_scheduler_is_killed(run_repo: RunRepository, cluster: Cluster, counter: Path) -> None:
    cluster.start_worker()
    run_repo.write_user_settings('sandbox = "off"')
    run_repo.approve_plan(steps(count_step("lost", counter, seconds=20), count_step("next", counter)))

    def kill_scheduler() -> None:
        cluster.worker_with(counter / "lost.pids")
        cluster.scheduler.kill()

    finished = _run_while(run_repo, cluster, kill_scheduler, jobs=1)
    assert finished.question is not None
    assert (finished.question.why, finished.question.step) == ("unknown", "lost")
    assert counts(counter) == {"lost": 1}
    with pytest.raises(ExecplanError) as raised:
        run_repo.resume_run("skip", executor_text=cluster.address)
    assert (raised.value.code, raised.value.exit) == ("no-executor", ENVIRONMENT)
    assert run_repo.resume_run("skip").status == states.COMPLETED  # without the cluster
    assert counts(counter) == {"lost": 1, "next": 1}


@pytest.mark.exhaustive
@pytest.mark.parametrize("effect", ["once", "idempotent"])
def test_the_run_is_killed_and_resumed(run_repo: RunRepository, cluster: Cluster, counter: Path, effect: str) -> None:
    cluster.start_worker()
    run_repo.write_user_settings('sandbox = "off"')
    run_repo.approve_plan(steps(count_step("lost", counter, seconds=3, effect=effect), count_step("next", counter)))
    command = [sys.executable, "-m", "execplan", "run", "--executor", cluster.address, "--jobs", "1"]
    process = subprocess.Popen(command, cwd=run_repo.path, env=run_repo.env, stdout=subprocess.DEVNULL)
    cluster.worker_with(counter / "lost.pids")
    process.kill()
    process.wait()
    if effect == "once":
        finished = run_repo.resume_run(executor_text=cluster.address)
        assert finished.question is not None
        assert finished.question.why == "unknown"
        assert counts(counter) == {"lost": 1}
        finished = run_repo.resume_run("skip", executor_text=cluster.address)
    else:
        finished = run_repo.resume_run(executor_text=cluster.address)
    assert finished.status == states.COMPLETED
    assert counts(counter) == {"lost": 1 if effect == "once" else 2, "next": 1}


@pytest.mark.exhaustive
def test_large_files_of_earlier_steps_cause_no_warning(run_repo: RunRepository, cluster: Cluster) -> None:
    cluster.start_worker()
    make = "```sh {#big inputs=src/other.py outputs=out/big.bin shell}\nmkdir -p out && head -c 30000000 /dev/urandom > out/big.bin\n```"
    count = (
        "```sh {#size needs=big inputs=out/big.bin outputs=out/size.txt shell}\nwc -c < out/big.bin > out/size.txt\n```"
    )
    run_repo.approve_plan(steps(make, count))
    command = [sys.executable, "-m", "execplan", "run", "--executor", cluster.address]
    environment = {**run_repo.env, "PYTHONWARNINGS": "default::UserWarning"}
    completed = subprocess.run(command, check=False, cwd=run_repo.path, env=environment, capture_output=True, text=True)
    assert completed.returncode == 0, completed
    assert "Warning" not in completed.stderr
    assert run_repo.text("out/size.txt").strip() == "30000000"


@pytest.mark.exhaustive
def test_a_stopped_run_stops_the_command_on_its_worker(
    run_repo: RunRepository, cluster: Cluster, counter: Path
) -> None:
    cluster.start_worker()
    run_repo.write_user_settings('sandbox = "off"')
    run_repo.approve_plan(steps(count_step("long", counter, seconds=60)))
    command = [sys.executable, "-m", "execplan", "run", "--executor", cluster.address]
    process = subprocess.Popen(command, cwd=run_repo.path, env=run_repo.env, stderr=subprocess.PIPE, text=True)
    cluster.worker_with(counter / "long.pids")
    shell = int((counter / "long.pids").read_text().split()[0])
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert f"next: execplan resume {run_repo.runs()[0].id} -p {NAME} --executor {cluster.address}\n" in err
    assert not _is_running(shell)
    performed = run_repo.run_state().last_result("long")
    assert performed is not None
    assert performed.cause == "interrupted"
    resume_command = f"execplan resume {run_repo.runs()[0].id} -p {NAME} --executor {cluster.address}"
    for subcommand in ("runs", "status", "next"):
        assert resume_command in run_repo.type(subcommand, "--json").json["next"], subcommand
    assert f"execplan resume 1 -p {NAME} --executor {cluster.address}; or" in run_repo.type("doctor").out


@pytest.mark.exhaustive
@pytest.mark.parametrize("effect", ["once", "idempotent"])
def test_a_worker_that_hears_nothing_stops_the_command(
    run_repo: RunRepository, cluster: Cluster, counter: Path, monkeypatch: pytest.MonkeyPatch, effect: str
) -> None:
    monkeypatch.setattr(ticket_watch, "RENEWAL_SECONDS", 100.0)
    site = counter.parent / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "from execplan.execution.engine.executors import worker_task; worker_task.LEASE_SECONDS = 2.0\n"
    )
    cluster.start_worker(PYTHONPATH=str(site))
    run_repo.write_user_settings('sandbox = "off"')
    run_repo.approve_plan(steps(count_step("long", counter, seconds=60, effect=effect)))
    finished = run_repo.run_plan(executor=cluster.address)
    result = run_repo.run_state().last_result("long")
    assert result is not None
    assert "it had heard nothing from the run" in result.reason
    if effect == "once":
        assert finished.question is not None
        assert finished.question.why == "unknown"
    else:
        assert (finished.status, finished.cause) == (states.FAILED, "failure")
    assert counts(counter) == {"long": 1}


@pytest.mark.exhaustive
def test_the_limit_of_a_step_applies_on_its_worker(run_repo: RunRepository, cluster: Cluster, counter: Path) -> None:
    cluster.start_worker()
    run_repo.write_user_settings('sandbox = "off"')
    run_repo.approve_plan(steps(count_step("long", counter, seconds=60, more="timeout=1")))
    assert run_repo.run_plan(executor=cluster.address).cause == "timeout"


@pytest.mark.exhaustive
def test_a_failed_step_leaves_nothing(run_repo: RunRepository, cluster: Cluster) -> None:
    cluster.start_worker()
    step = "```sh {#bad inputs=Makefile outputs=src/other.py shell=sh}\necho broken >src/other.py; echo no >&2; exit 3\n```"
    run_repo.approve_plan(steps(step))
    assert run_repo.run_plan(executor=cluster.address).reason == "step bad failed: exit status 3, not 0"
    assert run_repo.text("src/other.py") == "y = 1\n"
    entry = next(entry for entry in run_repo.entries() if entry.kind == "retaken")
    assert [change["path"] for change in entry.fields["changes"]] == ["src/other.py"]
    (transcript,) = (run_repo.last_run().folder and [run_repo.run_state().attempts["bad"][0].performed]) or [None]
    assert transcript is not None
    assert "! no" in run_repo.text(transcript.transcript)


@pytest.mark.exhaustive
def test_the_workspace_is_the_one_on_disk(run_repo: RunRepository, cluster: Cluster) -> None:
    cluster.start_worker()
    run_repo.write(".gitignore", "*.cache\n")
    run_repo.commit()
    run_repo.write("src/other.py", "z = 2\n")  # not committed
    run_repo.write("new/file with space.txt", "new\n").chmod(0o755)
    run_repo.write("ignored.cache", "kept\n")
    run_repo.write("declared.cache", "sent\n")
    (run_repo.path / "src/old.py").unlink()
    (run_repo.path / "link").symlink_to("src/other.py")
    script = (
        "cat link declared.cache >out.txt; ls src new ignored.cache >>out.txt 2>/dev/null; test -x 'new/file with space.txt'; "
        "git status --short >status.txt; git log --format=%s >log.txt"
    )
    outputs = "out.txt status.txt log.txt"
    run_repo.approve_plan(steps(f'```sh {{#see inputs=declared.cache outputs="{outputs}" shell=sh}}\n{script}\n```'))
    finished = run_repo.run_plan(executor=cluster.address)
    assert finished.status == states.COMPLETED, finished
    assert run_repo.text("out.txt") == "z = 2\nsent\nnew:\nfile with space.txt\n\nsrc:\nother.py\n"
    assert " D src/old.py\n M src/other.py\n" in run_repo.text("status.txt")
    assert run_repo.text("log.txt") == "All\nAll\n"


@pytest.mark.exhaustive
def test_other_versions_are_refused(run_repo: RunRepository, cluster: Cluster, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import execplan; execplan.__version__ = '0.0.1'\n")
    cluster.start_worker(PYTHONPATH=str(site))
    run_repo.approve_plan(steps("```sh {#see inputs=Makefile outputs=out.txt}\ncp Makefile out.txt\n```"))
    with pytest.raises(ExecplanError) as raised:
        run_repo.run_plan(executor=cluster.address)
    assert (raised.value.code, raised.value.exit) == ("incompatible-executor", ENVIRONMENT)
    assert "another version of execplan: 0.0.1" in raised.value.message
    assert not run_repo.runs()  # the approval is not used up


@pytest.mark.exhaustive
def test_a_scheduler_without_execplan_is_not_used(run_repo: RunRepository, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import sys; sys.modules['execplan'] = None\n")
    cluster = Cluster(tmp_path / "cluster", PYTHONPATH=str(site))
    try:
        cluster.start_worker()
        run_repo.approve_plan(steps("```sh {#see inputs=Makefile outputs=out.txt}\ncp Makefile out.txt\n```"))
        with pytest.raises(ExecplanError, match="the scheduler can't run execplan") as raised:
            run_repo.run_plan(executor=cluster.address)
        assert (raised.value.code, raised.value.exit) == ("incompatible-executor", ENVIRONMENT)
    finally:
        cluster.close()


@pytest.mark.exhaustive
def test_a_scheduler_without_workers_is_reported(
    run_repo: RunRepository, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from execplan.execution.engine.executors import dask_executor

    monkeypatch.setattr(dask_executor, "_CONNECT_SECONDS", 1)
    run_repo.approve_plan(steps("```sh {#see inputs=Makefile outputs=out.txt}\ncp Makefile out.txt\n```"))
    with pytest.raises(ExecplanError) as raised:
        run_repo.run_plan(executor=cluster.address)
    assert raised.value.message == f"{cluster.address} has no workers; none has registered in 1 seconds"
    assert raised.value.hint == "start workers: dask worker HOST:PORT"
    assert not run_repo.runs()


@pytest.mark.exhaustive
def test_an_idempotent_step_whose_scheduler_was_killed(
    run_repo: RunRepository, cluster: Cluster, counter: Path
) -> None:
    cluster.start_worker()
    run_repo.write_user_settings('sandbox = "off"')
    step = count_step("lost", counter, seconds=20, effect="idempotent", more="retry=1 backoff=0")
    run_repo.approve_plan(steps(step))
    command = [sys.executable, "-m", "execplan", "run", "--executor", cluster.address]
    process = subprocess.Popen(
        command, cwd=run_repo.path, env=run_repo.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    cluster.worker_with(counter / "lost.pids")
    cluster.scheduler.kill()
    out, err = process.communicate(timeout=120)
    assert process.returncode == ENVIRONMENT
    assert f"then continue: execplan resume 1 -p {NAME} --executor {cluster.address}\n" in err
    assert "distributed" not in err  # no line of Dask's own log
    performed = run_repo.run_state().last_result("lost")
    assert performed is not None
    assert performed.reason.endswith(": the connection to the scheduler was lost")
    assert performed.reason in out


@pytest.mark.exhaustive
def test_a_scheduler_that_left_long_ago_is_a_plain_error(
    run_repo: RunRepository, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from execplan.execution.engine.executors import dask_executor

    monkeypatch.setattr(dask_executor, "_CONNECT_SECONDS", 1)
    cluster.start_worker()
    executor = dask_executor.DaskExecutor(parse_executor(cluster.address))
    try:
        cluster.scheduler.kill()
        cluster.wait_until(lambda: executor._client.scheduler is None)
        with pytest.raises(ExecplanError) as raised:
            executor.reserve(PackedWorkspace("none", "", b"", {}, "none"))
        assert (raised.value.code, raised.value.exit) == ("no-executor", ENVIRONMENT)
        assert "its scheduler has ended or does not answer" in raised.value.message
    finally:
        executor.close()


@pytest.mark.exhaustive
def test_a_scheduler_that_repeats_tasks_is_not_used(run_repo: RunRepository, tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / "cluster", allowed_failures=3)
    try:
        cluster.start_worker()
        run_repo.approve_plan(steps("```sh {#see inputs=Makefile outputs=out.txt}\ncp Makefile out.txt\n```"))
        with pytest.raises(ExecplanError, match="a step could run twice") as raised:
            run_repo.run_plan(executor=cluster.address)
        assert raised.value.code == "incompatible-executor"
    finally:
        cluster.close()


@pytest.mark.parametrize(
    ("executor", "code", "exit"),
    [
        ("dask://192.0.2.1:8786", "executor-without-tls", POLICY),
        ("dask://cluster.example:8786", "executor-without-tls", POLICY),
        ("dask://127.0.0.1:1", "no-executor", ENVIRONMENT),
        ("dask://127.0.0.1", "bad-executor", USAGE),
        ("ray", "bad-executor", USAGE),
    ],
)
def test_executors_that_are_not_used(
    run_repo: RunRepository, executor: str, code: str, exit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from execplan.execution.engine.executors import dask_executor

    monkeypatch.setattr(dask_executor, "_CONNECT_SECONDS", 1)
    run_repo.approve_plan(steps("```sh {#see inputs=Makefile outputs=out.txt}\ncp Makefile out.txt\n```"))
    with pytest.raises(ExecplanError) as raised:
        run_repo.run_plan(executor=executor)
    assert (raised.value.code, raised.value.exit) == (code, exit)
    assert not run_repo.runs()


@pytest.mark.exhaustive
def test_a_cluster_with_tls(run_repo: RunRepository, tmp_path: Path) -> None:
    import dask

    pytest.importorskip("cryptography")
    from distributed import Security

    security = Security.temporary()  # type: ignore[no-untyped-call]
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    certificate.write_text(security.tls_ca_file)
    key.write_text(security.tls_client_key)
    cluster = Cluster(tmp_path / "cluster", certificate=certificate, key=key)
    tls = {"ca-file": certificate, "client.cert": certificate, "client.key": key}
    settings = {f"distributed.comm.tls.{name}": str(path) for name, path in tls.items()}
    try:
        cluster.start_worker()
        run_repo.approve_plan(steps("```sh {#see inputs=Makefile outputs=out.txt}\ncp Makefile out.txt\n```"))
        with dask.config.set({**settings, "distributed.comm.require-encryption": True}):
            assert run_repo.run_plan(executor=cluster.address).status == states.COMPLETED
    finally:
        cluster.close()
    assert run_repo.text("out.txt") == "parser:\n"


@pytest.mark.exhaustive
def test_the_sandbox_of_a_worker(run_repo: RunRepository, cluster: Cluster, counter: Path) -> None:
    need("bwrap")
    cluster.start_worker()
    run_repo.approve_plan(steps(count_step("see", counter, more="on-failure=skip")))
    finished = run_repo.run_plan(executor=cluster.address)
    assert finished.status == states.COMPLETED
    assert counts(counter) == {}  # outside of the workspace, it can't write
    result = run_repo.run_state().last_result("see")
    assert result is not None
    assert "= in bwrap on the worker" in run_repo.text(result.transcript)


@pytest.mark.exhaustive
def test_a_worker_without_a_required_sandbox(run_repo: RunRepository, cluster: Cluster, tmp_path: Path) -> None:
    need("bwrap")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "sh", "cat", "mkdir"):
        (programs / name).symlink_to(shutil.which(name) or "")
    cluster.start_worker(PATH=str(programs))
    run_repo.write_user_settings('sandbox = "required"\nprograms = "warn"')
    run_repo.approve_plan(steps("```sh {#see inputs=Makefile outputs=out.txt shell=sh}\ncat Makefile >out.txt\n```"))
    reason = run_repo.run_plan(executor=cluster.address).reason
    assert "the policy requires a sandbox for commands, but bwrap is not installed" in reason
    assert not run_repo.exists("out.txt")


@pytest.mark.exhaustive
def test_a_worker_with_another_program(run_repo: RunRepository, cluster: Cluster, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "cp").symlink_to(shutil.which("cp") or "")
    cluster.start_worker(PATH=f"{programs}:{os.environ['PATH']}")
    run_repo.approve_plan(steps("```sh {#see inputs=Makefile outputs=out.txt}\ncp Makefile out.txt\n```"))
    reason = run_repo.run_plan(executor=cluster.address).reason
    assert f"it would run another cp than approved: {programs}/cp on the worker, not {shutil.which('cp')}" in reason


def test_dask_is_not_installed(run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    run_repo.approve_plan(steps("```sh {#see inputs=Makefile outputs=out.txt}\ncp Makefile out.txt\n```"))
    with pytest.raises(ExecplanError) as raised:
        run_repo.run_plan(executor="dask")
    assert (raised.value.code, raised.value.exit) == ("no-dask", ENVIRONMENT)
    assert raised.value.hint == extra_hint("dask")
    assert not run_repo.runs()


def test_a_run_without_an_executor_imports_no_dask(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps("```sh {#see inputs=Makefile outputs=out.txt}\ncp Makefile out.txt\n```"))
    code = (
        "import sys; from execplan.cli.main import run; sys.argv = ['execplan', 'run']; status = run(); "
        "sys.exit(status or bool({'dask', 'distributed'} & set(sys.modules)))"
    )
    completed = subprocess.run([sys.executable, "-c", code], cwd=run_repo.path, env=run_repo.env, check=False)
    assert completed.returncode == 0


@pytest.mark.exhaustive
def test_workers_of_this_machine_by_the_command(run_repo: RunRepository) -> None:
    """The real script starts processes that import it again."""
    run_repo.approve_plan(steps("```sh {#see inputs=Makefile outputs=out.txt}\ncp Makefile out.txt\n```"))
    script = shutil.which("execplan", path=os.path.dirname(sys.executable))
    assert script is not None
    command = [script, "run", "--executor", "dask"]
    completed = subprocess.run(
        command, cwd=run_repo.path, env=run_repo.env, capture_output=True, text=True, check=False
    )
    assert (completed.returncode, completed.stderr.replace(SANDBOX_WARNING, "")) == (0, "")
    assert "with workers of dask" in completed.stdout
    assert "ok 1 see (" in completed.stdout
    assert ", on " in completed.stdout
    audit = run_repo.type("audit").out
    assert "see, attempt 1, on " in audit
    assert "with workers of dask" in audit
    shown = run_repo.data("show", NAME, "--run", "1")
    assert shown["executor"] == "dask"
    assert shown["steps"][0]["worker"] == shown["record"]["steps"][0]["worker"]
    assert shown["steps"][0]["worker"].split()[1].startswith("127.0.0.1:")


def test_a_dry_run_shows_which_steps_run_on_workers(run_repo: RunRepository) -> None:
    travels = "```sh {#see inputs=Makefile outputs=out.txt}\ncp Makefile out.txt\n```"
    run_repo.approve_plan(steps(travels, "```sh {#home inputs=Makefile}\ncat Makefile\n```"))
    preview = run_repo.data("run", "--dry-run", "--executor", "dask")
    assert [step["runs_here_because"] for step in preview["steps"]] == [None, "it declares no outputs"]
    text = run_repo.type("run", "--dry-run", "--executor", "dask").out
    assert "  on a worker of dask\n" in text
    assert "  here: it declares no outputs\n" in text
    one_by_one = run_repo.type("run", "--dry-run", "--executor", "dask", "--jobs", "1", "--json").json["next"]
    assert one_by_one == [f"execplan run {NAME} --jobs 1 --executor dask"]
    nonsense = run_repo.type("run", "--dry-run", "--executor", "nonsense")
    assert (nonsense.exit, "'nonsense' is not an executor" in nonsense.err) == (USAGE, True)


def _run_while(run_repo: RunRepository, cluster: Cluster, action: object, **options: Any) -> FinishedRun:
    """Run the plan, and perform an action meanwhile."""
    assert callable(action)
    thread = threading.Thread(target=action)
    thread.start()
    finished = run_repo.run_plan(executor=cluster.address, **options)
    thread.join()
    return finished


def _is_running(pid: int) -> bool:
    return subprocess.run(["kill", "-0", str(pid)], check=False, stderr=subprocess.DEVNULL).returncode == 0
