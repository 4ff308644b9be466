"""What a worker returns is checked before anything is written."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from execplan.execution import states
from execplan.execution.engine.executors.remote_command import find_output_problem
from execplan.execution.engine.executors.ticket import Ticket
from execplan.execution.engine.workspace.file_archive import FileArchive
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from tests.execution.engine.run_repository import steps

if TYPE_CHECKING:
    from pathlib import Path

    from tests.execution.engine.executors.cluster import Cluster
    from tests.execution.engine.run_repository import RunRepository

DATA = b"x\n"
DIGEST = sha256(DATA).hexdigest()


def file_entry(path: str, digest: str = DIGEST) -> dict[str, Any]:
    return {"path": path, "kind": "file", "mode": 0o644, "sha256": digest}


def link_entry(path: str, target: str) -> dict[str, Any]:
    return {"path": path, "kind": "link", "link": target}


FOLDER = {"path": "out", "kind": "folder", "mode": 0o755}


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ([FOLDER, file_entry("out/a")], ""),
        ([FOLDER, link_entry("out/a", "../src/other.py"), link_entry("out/b", "a")], ""),
        ([{"path": "out", "kind": "absent"}], ""),
        ([FOLDER, file_entry("src/other.py")], "no step declares src/other.py"),
        ([FOLDER, file_entry("outer/a")], "no step declares outer/a"),
        ([FOLDER, file_entry("out/a", "0" * 64)], "the content of out/a doesn't match its digest"),
        ([FOLDER, link_entry("out/a", "/etc/passwd")], "out/a is a link that leads outside the repository"),
        ([FOLDER, link_entry("out/a", "../../x")], "out/a is a link that leads outside the repository"),
        ([link_entry("out", "src"), file_entry("out/a")], "out/a is not the only entry for its path"),
        ([file_entry("out"), file_entry("out/a")], "out/a is not the only entry for its path"),
        ([FOLDER, file_entry("out/a"), file_entry("out/a")], "out/a is not the only entry for its path"),
        ([FOLDER, file_entry("out/.git/hooks/pre-commit")], "out/.git/hooks/pre-commit is git's own"),
        ([file_entry("out/a")], "it does not say what is at out"),
        ([], "it does not say what is at out"),
    ],
)
def test_outputs(run_repo: RunRepository, entries: list[dict[str, Any]], problem: str) -> None:
    contents = {number: DATA for number, entry in enumerate(entries) if entry["kind"] == "file"}
    assert find_output_problem(FileArchive({}, entries, contents, {}), _ticket(), _workspace(run_repo)) == problem


HOSTILE = """\
from execplan.execution.engine.executors import worker_task
from execplan.execution.engine.executors.ticket import Ticket, unpack_result, pack_result

run = worker_task.run

def hostile_run(ticket, archive, workspace, folder, stop):
    data = run(ticket, archive, workspace, folder, stop)
    if ticket.step == "garbage":
        return b"garbage"
    if ticket.step == "number":
        return 5
    if ticket.step == "crash":
        raise ValueError("crashed on purpose")
    result = unpack_result(data, ticket.id)
    entry = {"kind": "file", "mode": 0o644, "sha256": "%s"}
    entries = {
        "elsewhere": [{**entry, "path": "src/other.py"}],
        "dots": [{**entry, "path": "out/../src/other.py"}],
        "link": [{"path": "link.txt", "kind": "link", "link": "/etc/passwd"}],
        "altered": [{**entry, "path": "altered.txt", "sha256": "0" * 64}],
    }[ticket.step]
    return pack_result(ticket.id, result, entries, lambda path: b"x\\n")

worker_task.run = hostile_run
"""


def test_a_hostile_worker_writes_nothing(run_repo: RunRepository, cluster: Cluster, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(HOSTILE % DIGEST)
    cluster.start_worker(PYTHONPATH=str(site))
    names = ("elsewhere", "dots", "link", "altered", "garbage", "number", "crash")
    fences = [
        f"```sh {{#{name} inputs=Makefile outputs={name}.txt effect=idempotent on-failure=skip}}\ncp Makefile {name}.txt\n```"
        for name in names
    ]
    run_repo.approve_plan(steps(*fences))
    before = sorted(path.relative_to(run_repo.path).as_posix() for path in run_repo.path.glob("*"))
    assert run_repo.run_plan(executor=cluster.address).status == states.COMPLETED  # all skipped after they failed
    state = run_repo.run_state()
    results = {name: state.last_result(name) for name in names}
    reasons = {name: result.reason for name, result in results.items() if result is not None}
    assert "no step declares src/other.py" in reasons["elsewhere"]
    assert "returned something else than a result" in reasons["dots"]
    assert "leads outside the repository" in reasons["link"]
    assert "doesn't match its digest" in reasons["altered"]
    assert "returned something else than a result" in reasons["garbage"]
    assert "returned something else than bytes" in reasons["number"]
    assert "crashed on purpose" in reasons["crash"]
    assert sorted(path.relative_to(run_repo.path).as_posix() for path in run_repo.path.glob("*")) == before
    assert run_repo.text("src/other.py") == "y = 1\n"


def _ticket() -> Ticket:
    return Ticket(
        "t", "w", "0001-0000", DIGEST, "s", 1, ("true",), ".", {}, 1.0, 1, 1, 1, 1, "off", False, {}, DIGEST, "name", {},
        ("out",), "once",
    )  # fmt: skip


def _workspace(run_repo: RunRepository) -> WorkspaceFiles:
    return WorkspaceFiles(run_repo.project()[0])
