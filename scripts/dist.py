"""Build the sdist and the wheel twice, compare them byte by byte, check them, and leave them in `dist/`.

The two builds differ in all that must not matter: directory, umask, times of files, time zone, and the order of sets. The
second one begins with the sdist of the first, so whoever has only the sdist gets the same wheel. `dist/SHA256SUMS` has
their checksums.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
VARIATIONS = (
    {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"},
    {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
)


def copy_sources(target: Path) -> None:
    """Copy the files that git tracks, as they are in the working tree; without git, the tree is an sdist."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    is_checkout = (ROOT / ".git").exists()
    names = subprocess.check_output(command).decode().split("\0")[:-1] if is_checkout else []
    for name in names:
        if os.path.lexists(ROOT / name):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target / name)
            if os.access(ROOT / name, os.X_OK):
                (target / name).chmod((target / name).stat().st_mode & 0o700 | 0o100)
    if not is_checkout:
        shutil.copytree(ROOT, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".venv", "dist"))


def build(source: Path, output: Path, variation: dict[str, str], *kinds: str) -> None:
    """Build the kinds of artifacts, `--sdist` or `--wheel`, from a source tree."""
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"} | variation
    command = [sys.executable, "-m", "build", "--no-isolation", *kinds, "--outdir", str(output), str(source)]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if process.returncode:
        raise SystemExit(f"{process.stdout}{process.stderr}")


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each artifact in a directory, by name."""
    files = sorted([*folder.glob("*.whl"), *folder.glob("*.tar.gz")])
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def main() -> int:
    """Build, compare and check; return 1 if the builds differ or a check fails."""
    with tempfile.TemporaryDirectory() as scratch:
        first, second = Path(scratch, "first"), Path(scratch, "a", "second")
        copy_sources(first / "source")
        build(first / "source", first / "dist", VARIATIONS[0], "--sdist", "--wheel")
        os.umask(0o077)
        copy_sources(second / "source")
        for path in (second / "source").rglob("*"):
            os.utime(path, (86400, 86400))
        build(second / "source", second / "dist", VARIATIONS[1], "--sdist")
        (sdist,) = (first / "dist").glob("*.tar.gz")
        with tarfile.open(sdist) as archive:
            archive.extractall(second / "unpacked", filter="data")
        (unpacked,) = (second / "unpacked").iterdir()
        build(unpacked, second / "dist", VARIATIONS[1], "--wheel")
        artifacts = digests(first / "dist")
        if artifacts != digests(second / "dist"):
            print(f"two builds differ:\n{artifacts}\n{digests(second / 'dist')}", file=sys.stderr)
            return 1
        os.umask(0o022)
        shutil.rmtree(DIST, ignore_errors=True)
        DIST.mkdir()
        for name in artifacts:
            shutil.copyfile(first / "dist" / name, DIST / name)
    sums = "".join([f"{digest}  {name}\n" for name, digest in artifacts.items()])
    (DIST / "SHA256SUMS").write_text(sums, encoding="utf-8")
    print(sums, end="")
    paths = [str(DIST / name) for name in artifacts]
    wheels = [path for path in paths if path.endswith(".whl")]
    checks = (["-m", "twine", "check", "--strict", *paths], ["-m", "check_wheel_contents", *wheels])
    return max([subprocess.run([sys.executable, *command], check=False).returncode for command in checks])


if __name__ == "__main__":
    sys.exit(main())
