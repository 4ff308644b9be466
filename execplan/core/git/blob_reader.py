"""Reading of the content of blobs, all with one git process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO

from execplan.core.errors import ExecplanError
from execplan.core.git.git_command import prepare_git_command
from execplan.core.git.git_directory import is_partial
from execplan.core.git.git_query import FETCH_ALL_COMMAND, GitFile
from execplan.core.plan.reader import MAX_BYTES
from execplan.core.project.project import Project

_CHUNK_BYTES = 1 << 20


class BlobReader:
    """A git process that returns the content of blobs, started for the first one. Close it, or use it in `with`."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> BlobReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, if it was started."""
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            with suppress(BrokenPipeError), process:  # closing it sends what is left of a question
                pass

    def read(self, blob: str) -> tuple[bytes, int] | None:
        """Return the content and size of a blob, or None if the repository lacks it, as a partial clone may.

        A blob is named by its ID or as `COMMIT:PATH`, without line breaks.

        Of a blob larger than a plan may be, only the beginning is returned.
        """
        return self.read_batch([blob])[0]

    def read_batch(self, blobs: Sequence[str]) -> list[tuple[bytes, int] | None]:
        """Return what `read` does for each of some blobs, at most 100, without waiting for git in between."""
        answers: list[tuple[bytes, int] | None] = []
        while len(answers) < len(blobs):
            answers += self._read_until_exit(blobs[len(answers) :])
        return answers

    def _read_until_exit(self, blobs: Sequence[str]) -> list[tuple[bytes, int] | None]:
        """Return the answers about the blobs up to the first that makes git exit, or about all.

        In a partial clone, git exits at a blob that it lacks and must not fetch.
        """
        stdin, stdout = self._open_pipes()
        with suppress(BrokenPipeError):
            stdin.write(os.fsencode("".join([f"{blob}\n" for blob in blobs])))
            stdin.flush()
        answers: list[tuple[bytes, int] | None] = []
        for _ in blobs:
            header = stdout.readline()
            answers.append(_read_answer(header, stdout))
            if not header:
                self.close()
                break
        return answers

    def _open_pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None:
            command, environment = prepare_git_command(self._project.root, ("cat-file", "--batch"))
            pipe, null = subprocess.PIPE, subprocess.DEVNULL
            self._process = subprocess.Popen(  # noqa: S603 - git, with fixed arguments
                command, cwd=self._project.root, env=environment, stdin=pipe, stdout=pipe, stderr=null
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout


def read_blobs(project: Project, files: list[GitFile]) -> Iterator[tuple[bytes, int]]:
    """Yield the content and size of each file; for a file larger than a plan may be, only its beginning.

    Raises ExecplanError if git lacks the content of a file.
    """
    with BlobReader(project) as reader:
        for file in files:
            content = reader.read(file.blob)
            if content is None:
                raise absent_error(project, f"the content of {file.path}")
            yield content


def absent_error(project: Project, description: str) -> ExecplanError:
    """Return the error for content that git does not have."""
    message, hint = f"git does not have {description}", "check the repository: git fsck"
    if is_partial(project):
        message, hint = f"{message}, because the clone is partial", f"get it: {FETCH_ALL_COMMAND}"
    return ExecplanError("git-failed", message, hint=hint)


def _read_answer(header: bytes, stream: IO[bytes]) -> tuple[bytes, int] | None:
    fields = header.split()
    if len(fields) != 3 or not fields[2].isdigit():  # a name that git can't resolve may contain spaces
        return None
    size = int(fields[2])
    return _read_object(stream, size), size


def _read_object(stream: IO[bytes], size: int) -> bytes:
    """Read the beginning of an object of a known size, and skip the rest of it."""
    data = stream.read(min(size, MAX_BYTES))
    remaining = size - len(data) + 1
    while remaining and (chunk := stream.read(min(remaining, _CHUNK_BYTES))):
        remaining -= len(chunk)
    return data
