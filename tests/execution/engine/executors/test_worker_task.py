"""A worker process runs each ticket at most once, and only tickets that are for it."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from hashlib import sha256
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from execplan.execution.engine.executors import worker_task
from execplan.execution.engine.executors.ticket import Ticket, TicketResult, pack_ticket, unpack_result
from execplan.execution.engine.executors.worker_workspace import PackedWorkspace, pack_workspace
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles

if TYPE_CHECKING:
    from pathlib import Path

    from tests.execution.engine.run_repository import RunRepository


@pytest.fixture
def packed(run_repo: RunRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackedWorkspace:
    """A workspace that this process has as a worker."""
    monkeypatch.setattr(worker_task, "_folders", [])
    worker_task.describe_worker(SimpleNamespace(local_directory=str(tmp_path / "worker")))
    project = run_repo.project()[0]
    packed = pack_workspace(project, WorkspaceFiles(project))
    assert asyncio.run(worker_task.receive_workspace(packed.id, packed.data, packed.digest)) == ""
    assert (tmp_path / "worker/execplan" / packed.id / "Makefile").read_text() == "parser:\n"
    return packed


def make_ticket(packed: PackedWorkspace, number: int, script: str, **fields: object) -> Ticket:
    token = worker_task.describe_process()["token"]
    ticket = Ticket(
        f"ticket-{number}-{time.monotonic_ns()}", token, "0001-0000", "0" * 64, "s", 1, ("/bin/sh", "-c", script), ".", {},
        60.0, 1000, 100, 100, 64, "off", False, {}, packed.id, "name", {}, ("out.txt",), "once",
    )  # fmt: skip
    return ticket._replace(**fields)  # type: ignore[arg-type]


def run(ticket: Ticket) -> TicketResult:
    return unpack_result(worker_task.run_ticket(pack_ticket(ticket, [], _no_file)), ticket.id)


def test_a_ticket_runs_once(packed: PackedWorkspace, tmp_path: Path) -> None:
    ticket = make_ticket(packed, 1, f"echo ran >>{tmp_path}/count; cat Makefile >out.txt; pwd; echo no >&2")
    result = run(ticket)
    assert (result.ended.exit, result.has_outputs) == (0, True)
    assert result.files.contents == {0: b"parser:\n"}
    assert os.path.basename(result.ended.stdout.strip()) == b"name"
    assert sorted(result.output)[1] == (1, b"no\n")
    with pytest.raises(RuntimeError, match="twice"):
        run(ticket)
    with pytest.raises(RuntimeError, match="by another process"):
        run(make_ticket(packed, 2, f"echo ran >>{tmp_path}/count", worker="another"))
    assert (tmp_path / "count").read_text() == "ran\n"
    assert [name for name in os.listdir(tmp_path / "worker/execplan") if name.startswith("ticket")] == []


def test_a_command_stops_when_its_lease_ends(packed: PackedWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_task, "LEASE_SECONDS", 0.2)
    assert run(make_ticket(packed, 1, "sleep 60")).ended.cause == "interrupted"


def test_a_renewed_lease_lasts(packed: PackedWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_task, "LEASE_SECONDS", 1.0)
    ticket, has_ended = make_ticket(packed, 1, "sleep 2; echo x >out.txt"), threading.Event()

    def renew() -> None:
        while not has_ended.wait(0.1):
            worker_task.renew_lease(ticket.id)

    thread = threading.Thread(target=renew)
    thread.start()
    result = run(ticket)
    has_ended.set()
    thread.join()
    assert (result.ended.exit, result.ended.cause) == (0, "")


def test_a_ticket_that_was_stopped_before_does_not_begin(packed: PackedWorkspace, tmp_path: Path) -> None:
    ticket = make_ticket(packed, 1, f"echo ran >{tmp_path}/count")
    worker_task.stop_ticket(ticket.id)
    result = run(ticket)
    assert (result.ended.cause, result.has_outputs) == ("interrupted", False)
    assert not (tmp_path / "count").exists()
    worker_task.stop_ticket(ticket.id)  # it has ended
    worker_task.renew_lease(ticket.id)


def test_other_inputs_and_programs_are_found_out(packed: PackedWorkspace) -> None:
    ended = run(make_ticket(packed, 1, "true", inputs={"Makefile": "0" * 64})).ended
    assert (ended.cause, ended.reason) == ("error", "the worker's copy of Makefile differs from the original")
    ended = run(make_ticket(packed, 2, "true", programs={"/bin/sh": "/opt/sh"})).ended
    assert ended.reason == "it would run another /bin/sh than approved: /bin/sh on the worker, not /opt/sh"


def test_of_a_long_output_the_middle_stays(packed: PackedWorkspace) -> None:
    script = "i=0; while [ $i -lt 20000 ]; do echo line number $i; i=$((i + 1)); done; echo x >out.txt"
    result = run(make_ticket(packed, 1, script))
    text = b"".join([data for _, data in result.output])
    assert text.startswith(b"line number 0\n")
    assert text.endswith(b"line number 19999\n")
    full = b"".join([b"line number %d\n" % number for number in range(20000)])
    assert len(text) + result.left_out == len(full)
    assert result.ended.stdout_sha256 == sha256(full).hexdigest()


def test_a_damaged_workspace_is_not_unpacked(packed: PackedWorkspace, tmp_path: Path) -> None:
    data = packed.data.replace(b'"schema"', b'"scheme"')
    assert data != packed.data
    for digest in (packed.digest[::-1], sha256(data).hexdigest()):
        assert "damaged" in asyncio.run(worker_task.receive_workspace("other", data, digest))
    assert os.listdir(tmp_path / "worker/execplan") == [packed.id]
    asyncio.run(worker_task.remove_workspace(packed.id))
    assert os.listdir(tmp_path / "worker/execplan") == []


def _no_file(path: str) -> bytes:
    raise AssertionError(path)
