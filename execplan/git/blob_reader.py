"""Reading of the content of blobs, all with one git process."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from execplan.git import git_query
from execplan.git.git_command import prepare_git_command
from execplan.plan.reader import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO

    from execplan.git.git_query import GitFile
    from execplan.project.project import Project

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
            with self._process as process:
                process.kill()
            self._process = None

    def read(self, blob: str) -> tuple[bytes, int] | None:
        """Return the content and size of a blob, or None if the repository lacks it, as a partial clone may.

        A blob is named by its ID or as `COMMIT:PATH`, without line breaks.

        Of a blob larger than a plan may be, only the beginning is returned.
        """
        return self.read_batch([blob])[0]

    def read_batch(self, blobs: Sequence[str]) -> list[tuple[bytes, int] | None]:
        """Return what `read` does for each of some blobs, at most 100, without waiting for git in between."""
        stdin, stdout = self._open_pipes()
        try:
            stdin.write("".join([f"{blob}\n" for blob in blobs]).encode("ascii"))
            stdin.flush()
        except BrokenPipeError:
            return [None for _ in blobs]
        return [_read_answer(stdout) for _ in blobs]

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
                raise git_query.git_failed_error(f"git can't read the content of {file.path}")
            yield content


def _read_answer(stream: IO[bytes]) -> tuple[bytes, int] | None:
    header = stream.readline().split()
    if len(header) != 3 or not header[2].isdigit():  # a name that git can't resolve may contain spaces
        return None
    size = int(header[2])
    return _read_object(stream, size), size


def _read_object(stream: IO[bytes], size: int) -> bytes:
    """Read the beginning of an object of a known size, and skip the rest of it."""
    data = stream.read(min(size, MAX_BYTES))
    remaining = size - len(data) + 1
    while remaining and (chunk := stream.read(min(remaining, _CHUNK_BYTES))):
        remaining -= len(chunk)
    return data
