"""Install the wheel with every Python on this machine and run the fast tests with each.

`pythons.py` tries `python3.11` to `python3.15` and the versions of pyenv; with names of programs as arguments, only these.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = [(3, minor) for minor in range(11, 16)]
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "cmarkgfm", "markdown-it-py", "linkify-it-py", "mdit-py-plugins")
"""What the fast tests import."""
TESTS = ("tests/core", "tests/cli/test_contract.py", "tests/test_cases.py", "tests/test_library.py")
_VERSION = "import sys; print(*sys.version_info[:2])"


def find_pythons(names: list[str]) -> dict[tuple[int, ...], str]:
    """Return the program of each supported version on this machine."""
    candidates = names or [f"python3.{minor}" for _, minor in VERSIONS]
    paths = [path for name in candidates if (path := shutil.which(name))]
    if not names:
        pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
        paths += [str(path) for path in sorted(pyenv.glob("3.*/bin/python3"))]
    pythons: dict[tuple[int, ...], str] = {}
    for path in paths:
        process = subprocess.run([path, "-c", _VERSION], capture_output=True, text=True, check=False)
        version = tuple(map(int, process.stdout.split()))
        if version in VERSIONS:
            pythons.setdefault(version, path)
    return pythons


def try_python(program: str, scratch: Path) -> bool:
    """Install the wheel and the tools into an environment of its own, run the smoke test and the fast tests."""
    smoke = subprocess.run(["sh", "scripts/smoke.sh", program], cwd=ROOT, capture_output=True, text=True, check=False)
    if smoke.returncode:
        print(smoke.stdout, smoke.stderr)
        return False
    python = str(scratch / "bin" / "python")
    subprocess.run([program, "-m", "venv", str(scratch)], check=True)
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", "constraints.txt"]
    subprocess.run([*pip, "-e", ".[lsp,mcp,web]", *TOOLS], cwd=ROOT, check=True)
    jobs = str(os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count())
    command = [python, "-m", "pytest", "-q", "-n", jobs, "-m", "not hypothesis", "-p", "no:cacheprovider", *TESTS]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def main() -> int:
    """Try each Python; return 1 if one fails or there is none."""
    results = {}
    for version, program in sorted(find_pythons(sys.argv[1:]).items()):
        name = ".".join(map(str, version))
        print(f"Python {name}: {program}", flush=True)
        with tempfile.TemporaryDirectory() as scratch:
            results[name] = try_python(program, Path(scratch))
    for name, has_passed in results.items():
        print(f"{name}: {'passed' if has_passed else 'failed'}")
    return 0 if results and all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
