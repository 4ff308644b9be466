"""A Dask cluster on loopback: a scheduler and workers in processes of their own, which a test can kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Cluster:
    """A scheduler, and as many workers as a test starts."""

    def __init__(
        self,
        folder: Path,
        *,
        allowed_failures: int = 0,
        certificate: Path | None = None,
        key: Path | None = None,
        **scheduler_env: str,
    ) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.file = folder / "scheduler.json"
        self.env = {
            **os.environ,
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures),
            "PYTHONWARNINGS": "ignore",
        }
        files = (("--tls-ca-file", certificate), ("--tls-cert", certificate), ("--tls-key", key))
        self.tls_options = [word for option, file in files if file for word in (option, str(file))]
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", **scheduler_env
        )
        self.wait_until(lambda: self.file.exists() and bool(self.file.read_text()))
        self.address = json.loads(self.file.read_text())["address"].replace(
            "tls://" if certificate else "tcp://", "dask://"
        )

    def start_worker(self, *, threads: int = 1, **env: str) -> subprocess.Popen[bytes]:
        """Start a worker, and wait until the scheduler has it."""
        process = self._start(
            "worker", "--host", "127.0.0.1", "--nthreads", str(threads), "--no-nanny", "--no-dashboard",
            "--local-directory", str(self.folder), "--memory-limit", "0", **env,
        )  # fmt: skip
        log = self.folder / f"worker-{len(self.processes) - 1}.log"
        self.wait_until(lambda: "Registered to" in log.read_text())
        return process

    def worker_with(self, pid_file: Path) -> subprocess.Popen[bytes]:
        """The worker whose command has written its parent processes to a file."""
        self.wait_until(pid_file.exists)
        parents = set(map(int, pid_file.read_text().split()))
        return next(process for process in self.processes if process.pid in parents)

    @staticmethod
    def wait_until(condition: object, seconds: float = 60) -> None:
        """Wait for a condition."""
        assert callable(condition)
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it did not happen"
            time.sleep(0.05)

    def close(self) -> None:
        """End all processes."""
        for process in reversed(self.processes):
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()

    def _start(self, kind: str, *options: str, **env: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{kind}-{len(self.processes)}.log").open("wb")
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", kind, "--scheduler-file", str(self.file), *self.tls_options, *options],
            env={**self.env, **env}, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
        )  # fmt: skip
        log.close()
        self.processes.append(process)
        return process
