"""What the tests share: a clean environment, a command that is really run, and real git repositories."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from execplan.core import trace
from execplan.core.files import file_lock
from tests import examples, fork_server, processes, selection, tool_lookups
from tests.needs import REQUIRED, SKIPPED
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.in_process_repository import InProcessRepository

examples.use_profile()

CLOCK = 1767225600
"""2026-01-01 00:00 UTC: what `done` writes in a test."""

collect_ignore = ["app"]
"""An application to try steps on, which has tests of its own."""

COUNTED = "counted"
"""The property of a test under which it records a line for the end of the run."""

ENVIRONMENT = {
    "EDITOR": "true",
    "EXECPLAN_AUTHOR": "Ann",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C.UTF-8",
    "PATH": os.environ["PATH"],
    "SOURCE_DATE_EPOCH": str(CLOCK),
    **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
}


class Result(NamedTuple):
    """What a command printed and how it ended."""

    exit: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The document on standard output."""
        document: dict[str, Any] = json.loads(self.out)
        return document


class Folder:
    """A folder to run commands in: plain, or a git repository."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.env = {**ENVIRONMENT, "HOME": str(path.parent), "XDG_STATE_HOME": str(path.parent / "state-home")}

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start execplan and do not wait."""
        return processes.start(
            [sys.executable, "-m", "execplan", *arguments],
            cwd=self.path,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=_listen,
        )

    def run(self, *arguments: str, stdin: bytes = b"", cwd: Path | None = None, **env: str) -> Result:
        """Run execplan, forked from a process that has imported it where its environment allows that."""
        environment = {**self.env, **env}
        if fork_server.can_serve(environment, ENVIRONMENT):
            status, out, err = fork_server.run(arguments, cwd or self.path, environment, stdin)
            return Result(status, out.decode(), err.decode())
        completed = subprocess.run(
            [sys.executable, "-m", "execplan", *arguments],
            cwd=cwd or self.path,
            env=environment,
            input=stdin,
            capture_output=True,
            timeout=fork_server.LIMIT,
            check=False,
        )
        return Result(completed.returncode, completed.stdout.decode(), completed.stderr.decode())

    def run_at_once(self, calls: Sequence[Sequence[str]]) -> list[Result]:
        """Run execplan in as many processes as there are calls, all at the same time."""
        with ThreadPoolExecutor(len(calls)) as threads:
            return list(threads.map(lambda call: self.run(*call), calls))

    def ok(self, *arguments: str, stdin: bytes = b"") -> dict[str, Any]:
        """Run execplan with `--json`, expect exit 0, and give the document's data."""
        result = self.run(*arguments, "--json", stdin=stdin)
        assert result.exit == 0, (arguments, result)
        data: dict[str, Any] = result.json["data"]
        return data

    def git(self, *arguments: str) -> str:
        """Run git and expect it to work."""
        completed = subprocess.run(
            ["git", *arguments], cwd=self.path, env=self.env, capture_output=True, check=False, timeout=60
        )
        assert completed.returncode == 0, (arguments, completed.stderr.decode())
        return completed.stdout.decode()

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file below the folder."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def plan(self, content: str | bytes = CLEAN, name: str = "2026-01-01_parser") -> Path:
        """Put a plan into the plan directory."""
        return self.write(f".agent/execplans/{name}.md", content)


def _listen() -> None:
    """Let Ctrl-C and a hangup through, which a shell or nohup keeps from the jobs that it runs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def plain(tmp_path: Path) -> Folder:
    """A folder without git."""
    path = tmp_path / "plain"
    path.mkdir()
    return Folder(path)


@pytest.fixture
def repo(tmp_path: Path) -> Folder:
    """A git repository with one commit and a plan directory."""
    path = tmp_path / "repo"
    copy_from_template(_create_first_commit, path)
    return Folder(path)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository whose plan has steps, with execplan run in the process of the test."""
    from tests.in_process_repository import InProcessRepository

    return InProcessRepository(tmp_path / "repo", monkeypatch)


def _create_first_commit(folder: Folder) -> None:
    folder.git("init", "-q", "-b", "main")
    folder.write("README.md", "# A project\n")
    folder.git("add", "-A")
    folder.git("commit", "-q", "-m", "First")
    (folder.path / ".agent" / "execplans").mkdir(parents=True)


_templates: dict[Callable[[Folder], None], Path] = {}


def copy_from_template(make: Callable[[Folder], None], path: Path) -> None:
    """Put there what `make` makes of an empty folder, once a process: git takes five times as long as a copy."""
    if make not in _templates:
        _templates[make] = Path(tempfile.mkdtemp(prefix="made-")) / "made"
        _templates[make].mkdir()
        make(Folder(_templates[make]))
    shutil.copytree(_templates[make], path, symlinks=True)


def pytest_configure() -> None:
    """A shell without job control starts what is in its background with SIGINT ignored, which the tests of signals would inherit."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    tool_lookups.watch_lookups()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only `make test-all` runs. Run the properties in another order each time when the search is limited in time."""
    if not selection.ALL:
        exhaustive = [item for item in items if item.get_closest_marker("exhaustive")]
        config.hook.pytest_deselected(items=exhaustive)
        items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]
    examples.shuffle(items)


def pytest_runtest_setup() -> None:
    """Skip what is left of a search when its time is up."""
    if examples.is_over():
        pytest.skip("the time of this search is up")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """End the processes that a test has started, and forget its warnings and how long its commands waited for locks."""
    processes.end_all()
    trace.warnings.clear()
    del file_lock._timeouts[1:]


def pytest_sessionfinish() -> None:
    """Throw away what was copied from."""
    for path in _templates.values():
        shutil.rmtree(path.parent)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What tests have counted, and how many were skipped for want of which tool."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    counted_lines = [line for report in reports for name, line in report.user_properties if name == COUNTED]
    if counted_lines:
        terminalreporter.section("counted")
    for line in sorted(counted_lines):
        terminalreporter.line(line)
    if not selection.ALL:
        terminalreporter.line("Tests marked `exhaustive` are left out: make test-all runs them (EXECPLAN_TESTS=all).")
    missing_tools = Counter(filter(None, map(_missing_tool, terminalreporter.stats.get("skipped", []))))
    if missing_tools:
        tool_counts = ", ".join([f"{name} ({count})" for name, count in sorted(missing_tools.items())])
        count = sum(missing_tools.values())
        tests = "1 test" if count == 1 else f"{count} tests"
        terminalreporter.line(f"{tests} skipped for want of: {tool_counts}; {REQUIRED}=required makes this a failure")


def _missing_tool(report: pytest.TestReport) -> str | None:
    """The tool for want of which a test was skipped."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    return reason.removeprefix(SKIPPED).split(":")[0] if reason.startswith(SKIPPED) else None


def find_corpus() -> Path | None:
    """The corpus of real plans, where it lies beside the checkout."""
    setting = os.environ.get("EXECPLAN_CORPUS")
    path = Path(setting) if setting else Path(__file__).resolve().parents[2] / "shared" / "corpus"
    return path if path.is_dir() else None
