"""A repository of 100,000 files with 10,000 plans for scripts/bench.py, kept in the directory of temporary files."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import count
from pathlib import Path
from typing import IO

from bench_inputs import build_variant
from bench_tools import ENVIRONMENT, run_git

PLANS = 10_000
FILES = 100_000
"""Number of files, with the plans."""
NESTED = tuple([f"services/service-{number}" for number in range(10)])
"""Nested projects, each with a fiftieth of the plans; half of all plans are archived."""
_COMMITS = 1_000
_FIRST_DAY = date(2023, 6, 1)
_LAST_COMMIT = 1_794_900_000
"""Time of the last commit, a day before the time at which the commands run."""
_SECONDS_PER_COMMIT = 86_400
_DATE = re.compile(rb"\b(20\d\d-\d\d)-(0[1-9]|1\d|2[0-8])\b")
_SETTINGS = "homes = [{}]\n"


def large_repository(corpus: list[bytes]) -> Path:
    """Return a copy of the repository that may be changed; it is made when the corpus or this script has changed."""
    source = Path(__file__).read_bytes() + b"".join([hashlib.sha256(plan).digest() for plan in corpus])
    name = f"execplan-bench-{os.getuid()}-{hashlib.sha256(source).hexdigest()[:12]}"
    repository = Path(tempfile.gettempdir()) / name
    if not (repository / ".git" / "complete").exists():
        shutil.rmtree(repository, ignore_errors=True)
        repository.mkdir(mode=0o700)
        _create(repository, corpus)
        (repository / ".git" / "complete").touch()
    run_git(repository, ["reset", "-q", "--hard"], ["clean", "-fdq"])
    shutil.rmtree(repository / ".git" / "execplan", ignore_errors=True)
    return repository


def _create(repository: Path, corpus: list[bytes]) -> None:
    """Commit all files in a thousand commits, without a process for each."""
    run_git(repository, ["init", "-q", "-b", "main"])
    command = ["git", "fast-import", "--quiet"]
    with subprocess.Popen(command, cwd=repository, env=ENVIRONMENT, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        files = _make_files(corpus)
        for number in range(_COMMITS):
            seconds = _LAST_COMMIT - (_COMMITS - 1 - number) * _SECONDS_PER_COMMIT
            _write_commit(process.stdin, number, seconds, [next(files) for _ in range(FILES // _COMMITS)])
    if process.returncode:
        raise SystemExit(f"git fast-import in {repository} ended with {process.returncode}")
    run_git(repository, ["reset", "-q", "--hard", "main"])


def _write_commit(stream: IO[bytes], number: int, seconds: int, files: list[tuple[str, bytes]]) -> None:
    message = f"Change {number}\n".encode()
    stream.write(b"commit refs/heads/main\n")
    stream.write(f"committer Ann <ann@example.org> {seconds} +0000\ndata {len(message)}\n".encode() + message)
    for path, content in files:
        stream.write(f"M 100644 inline {path}\ndata {len(content)}\n".encode() + content + b"\n")


def _make_files(corpus: list[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the paths and contents of all files, plans and others in turn."""
    homes = ", ".join([f'"{name}"' for name in NESTED])
    plans = _make_plans(corpus)
    yield ".agent/execplan.toml", _SETTINGS.format(homes).encode()
    for number in count(1):
        if number % (FILES // PLANS) == FILES // PLANS - 1:
            yield next(plans)
        else:
            module = f"src/package_{number // 1000}/group_{number // 50 % 20}/module_{number}.py"
            yield module, f'"""Module {number}."""\n\nVALUE = {number}\n'.encode() * 10


def _make_plans(corpus: list[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the paths and contents of plans: copies of real ones, each with a title and with dates of its own."""
    for number in count():
        base = f"{NESTED[number // 10 % len(NESTED)]}/" if number % 10 in (3, 8) else ""
        folder = "execplans/archive" if number % 2 else "execplans"
        day = _FIRST_DAY + timedelta(days=number // 8)
        path = f"{base}.agent/{folder}/{day}_plan-{number}.md"
        content = corpus[number % len(corpus)] if corpus else build_variant(number).encode()
        yield path, _make_variant(content, number)


def _make_variant(content: bytes, number: int) -> bytes:
    """Return a plan with another title, with its dates moved within their months, and with a last line of its own."""
    content = re.sub(rb"(?m)^# .*", lambda title: title[0] + f" ({number})".encode(), content, count=1)
    content = _DATE.sub(lambda day: day[1] + f"-{(int(day[2]) + number) % 28 + 1:02}".encode(), content)
    return content.rstrip(b"\n") + f"\n\nPlan {number}.\n".encode()
