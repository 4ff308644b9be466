"""Services: they serve the steps after them, and none of their processes outlives the run, however it ends."""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import closing
from pathlib import Path

import pytest

from execplan.execution import states
from tests.execution.engine.command_folder import OWN_SESSION
from tests.execution.engine.run_repository import RunRepository, steps
from tests.execution.engine.run_scenario import survivors, wait_for

SERVER = '''\
"""A server: each request is counted in hits.txt; it fails until `broken` is gone; options come from the environment."""

import http.server, os, signal, sys, time

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open("hits.txt", "a") as file:
            file.write(self.path + "\\n")
        self.send_response(503 if self.path == "/health" and os.path.exists("broken") else 200)
        self.end_headers()
        if self.path == "/stop":
            os._exit(3)

if "DEAF" in os.environ:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
port = int(sys.argv[1])
server = http.server.HTTPServer(("127.0.0.1", port), Handler)
print("listening on", port)
print("password=hunter2hunter2", file=sys.stderr, flush=True)
server.serve_forever()
'''
CLIENT = """\
import sys, urllib.request

for path in sys.argv[2:]:
    print(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}{path}").status)
"""


@pytest.fixture
def port() -> int:
    """A port that nobody uses."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        number: int = server.getsockname()[1]
        return number


@pytest.fixture(params=["off", "auto"])
def desk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A repository with a server, without and with the sandbox."""
    repo = RunRepository(tmp_path / "repo", monkeypatch)
    repo.write_user_settings(f'sandbox = "{request.param}"')
    repo.write("server.py", SERVER)
    repo.write("client.py", CLIENT)
    return repo


def service(command: str, ready: str, attributes: str = "") -> str:
    """A step with a service."""
    return f'```sh {{#web service="{ready}" {attributes}}}\n{command}\n```\n'


def python(script: str, *arguments: object) -> str:
    """Run a script."""
    return " ".join([sys.executable, "-S", script, *map(str, arguments)])


def client(name: str, port: int, *paths: str) -> str:
    """A step with requests."""
    return f"```sh {{#{name} exit=0}}\n{python('client.py', port, *paths)}\n```\n"


def log_of(repo: RunRepository, name: str = "01-web-log") -> str:
    """The log of the service."""
    return (Path(repo.last_run().transcripts) / f"{name}.md").read_text()


def test_it_serves_the_steps_after_it_and_is_stopped(desk: RunRepository, port: int) -> None:
    fences = [service(python("server.py", port), f"port:{port}"), client("one", port, "/a"), client("two", port, "/b")]
    desk.approve_plan(steps(*fences))
    finished = desk.run_plan()
    assert finished.status == states.COMPLETED, finished
    assert [step.depends_on for step in desk.run_state().document.steps] == [(), ("web",), ("web",)]
    assert desk.text("hits.txt") == "/a\n/b\n"
    assert not survivors(desk.path)
    assert desk.entry_names()[-3:] == ["result two", "service_ended web", "ended"]
    log = log_of(desk)
    assert f"| listening on {port}" in log
    assert "hunter2" not in log
    assert "signal 15" in log
    web = desk.run_state().last_attempt("web")
    assert web is not None
    assert web.service_end is not None
    assert web.service_end.seconds > 0
    assert web.service_end.transcript.endswith("01-web-log.md")


@pytest.mark.parametrize(
    ("command", "ready", "cause", "reason"),
    [
        ("sleep 300", "port:{port}", "timeout", "it was not ready, `port:"),
        ("sh -c 'echo almost; sleep 300'", "line:ready", "timeout", "it was not ready, `line:ready`"),
        ("sh -c 'echo no config >&2; exit 4'", "port:{port}", "exit", "it ended with exit status 4 before it was ready"),
        (f"sh -c '{OWN_SESSION.replace(chr(39), chr(34))} sleep 300 & sleep 0.1'", "port:{{port}}", "exit", "must stay in the foreground"),
    ],
)  # fmt: skip
def test_one_that_does_not_become_ready_fails_and_leaves_nothing(
    desk: RunRepository, port: int, command: str, ready: str, cause: str, reason: str
) -> None:
    desk.approve_plan(
        steps(
            service(command, ready.replace("{{port}}", "{port}").format(port=port), "timeout=1"),
            client("one", port, "/a"),
        )
    )
    finished = desk.run_plan()
    assert finished.status == states.FAILED
    result = desk.run_state().last_result("web")
    assert result is not None
    assert result.cause == cause, result
    assert reason in result.reason
    assert desk.run_state().status_of["one"] == states.BLOCKED
    assert not survivors(desk.path)
    transcript = (Path(desk.last_run().transcripts) / "01-web.md").read_text()
    assert ("no config" in transcript) == ("no config" in command)


def test_the_port_of_another_program_is_not_taken_as_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = RunRepository(tmp_path / "repo", monkeypatch)
    repo.write_user_settings('sandbox = "off"')
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        repo.approve_plan(steps(service("touch begun.txt", f"port:{port}")))
        repo.run_plan()
    result = repo.run_state().last_result("web")
    assert result is not None
    assert result.reason == f"port {port} is used by another program: stop that, or use another port"
    assert not repo.exists("begun.txt")


def test_a_status_of_400_or_more_is_not_ready(desk: RunRepository, port: int) -> None:
    desk.write("broken", "")
    fences = service(python("server.py", port), f"http://localhost:{port}/health", "timeout=2")
    desk.approve_plan(steps(fences))
    assert desk.run_plan().status == states.FAILED
    assert "/health\n/health\n" in log_hits(desk)
    (desk.path / "broken").unlink()
    assert desk.resume_run().status == states.COMPLETED
    assert not survivors(desk.path)


def log_hits(repo: RunRepository) -> str:
    """How often the server was asked, by its own log: what a failed step wrote is reverted."""
    return "".join([f"{line.split()[-4]}\n" for line in log_of(repo).splitlines() if '"GET ' in line])


@pytest.mark.parametrize("is_last", [True, False])
def test_one_that_ends_while_it_is_needed_fails_the_run(desk: RunRepository, port: int, is_last: bool) -> None:
    fences = [service(python("server.py", port), f"port:{port}"), client("stop", port, "/stop")]
    desk.approve_plan(steps(*fences, *([] if is_last else [client("after", port, "/a")])))
    finished = desk.run_plan()
    run_state = desk.run_state()
    assert finished.status == (states.COMPLETED if is_last else states.FAILED)
    assert run_state.status_of["web"] == (states.COMPLETED if is_last else states.FAILED)
    if not is_last:
        assert finished.reason.startswith("step web failed: it ended while later steps needed it")
        assert run_state.reasons["web"] == "it ended with exit status 3"
        assert run_state.status_of["stop"] == states.COMPLETED
        assert desk.resume_run().status == states.COMPLETED
        assert desk.text("hits.txt") == "/stop\n/a\n"


def test_megabytes_of_output_are_limited_and_a_deaf_one_is_killed(desk: RunRepository) -> None:
    loud = "import signal, sys; signal.signal(15, signal.SIG_IGN); print('up'); [print('x' * 999) for _ in range(20000)]; signal.pause()"
    desk.write("loud.py", loud)
    desk.approve_plan(steps(service(python("loud.py"), "line:up"), "```sh {#wait exit=0}\nsleep 1\n```\n"))
    assert desk.run_plan().status == states.COMPLETED
    log = log_of(desk)
    assert len(log) < 3 << 20
    assert "bytes left out" in log
    assert "signal 9" in log
    assert not survivors(desk.path)


def test_a_pause_stops_it_and_a_resume_starts_it_again(desk: RunRepository, port: int) -> None:
    by_hand = "```text {#look type=manual}\nLook at it.\n```\n"
    fences = [service(python("server.py", port), f"port:{port}"), client("one", port, "/a"), by_hand]
    desk.approve_plan(steps(*fences, client("two", port, "/b")))
    paused = desk.run_plan()
    assert paused.question is not None
    assert not survivors(desk.path)
    assert desk.entry_names()[-2:] == ["service_ended web", "paused look"]
    assert desk.run_state().settled_steps == {"one"}
    assert desk.resume_run("go").status == states.COMPLETED
    assert desk.text("hits.txt") == "/a\n/b\n"
    assert f"| listening on {port}" in log_of(desk, "01-web-2-log")
    assert not survivors(desk.path)


def test_a_rollback_reverts_what_it_wrote_between_the_steps_and_at_its_end(desk: RunRepository) -> None:
    desk.write("kept.txt", "before\n")
    writer = "import signal, sys, time\ndef end(*_):\n    open('kept.txt', 'w').write('end')\n    sys.exit()\nsignal.signal(15, end)\nopen('new.txt', 'w').close()\nprint('up')\nsignal.pause()\n"
    desk.write("writer.py", writer)
    desk.approve_plan(steps(service(python("writer.py"), "line:up"), "```sh {#one exit=0}\ntouch one.txt\n```\n"))
    assert desk.run_plan().status == states.COMPLETED
    assert desk.text("kept.txt") == "end"
    assert desk.run("rollback").exit == 0
    assert desk.text("kept.txt") == "before\n"
    assert not desk.exists("new.txt")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_or_a_kill_leaves_nothing_and_a_resume_goes_on(
    desk: RunRepository, port: int, number: signal.Signals
) -> None:
    waiting = "```sh {#wait shell effect=idempotent timeout=30 exit=0}\ntouch begun; while ! test -e .git/calm; do sleep 0.01; done\n```\n"
    fences = [service(python("server.py", port), f"port:{port}"), client("one", port, "/a"), waiting]
    desk.approve_plan(steps(*fences, client("two", port, "/b")))
    process = desk.start("run")
    wait_for(desk.path / "begun")
    process.send_signal(number)
    process.communicate(timeout=30)
    assert not survivors(desk.path)
    desk.write(".git/calm", "")
    resumed = desk.resume_run()
    assert resumed.status == states.COMPLETED, resumed
    assert desk.text("hits.txt") == "/a\n/b\n"
    assert desk.run_state().attempts["one"][0].number == len(desk.run_state().attempts["one"]) == 1
    assert not survivors(desk.path)
    assert desk.run("rollback").exit == 0
    assert not os.path.exists(desk.path / "hits.txt")
