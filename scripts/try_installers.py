"""Run the install commands of README and of the install page, each in a new environment, with the wheel in dist/.

Until execplan is published, no index has it, and a name that others could register must not be tried there. So the wheel, its
dependencies and its build tools are collected in a directory first, and pip, pipx and uv may only install from there. After each
command the installed program runs, names the command for a missing extra, which must work, and is upgraded and removed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from dist import DIST, ROOT, copy_sources

PAGES = (ROOT / "README.md", ROOT / "docs" / "how-to" / "install.md")
INSTALLERS = ROOT / ".venv" / "installers" / "bin"
"""Where pipx and uv are."""
_BLOCK = re.compile(r"^```(?:bash|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(
    r"(?:uvx|(?:pipx|uv tool|python -m pip) install) [^\n#]*\bexecplan\b[^\n#]*|(?:pipx|uv tool|python -m pip) install \."
)
_EXTRA, _MODULE = "web", "starlette"
_MEANS_REMOVAL = {"pipx": "pipx uninstall execplan", "uv": "uv tool uninstall execplan"}
_UPGRADES = {
    "pipx": "pipx upgrade execplan",
    "uv": "uv tool upgrade execplan",
    "python": "python -m pip install --upgrade execplan",
}


def find_commands() -> list[str]:
    """Return the install commands of the pages, each once; one with an address or a version of the future is an example."""
    text = "\n".join([block for page in PAGES for block in _BLOCK.findall(page.read_text(encoding="utf-8"))])
    commands = [match[0].strip() for match in _COMMAND.finditer(text)]
    return [command for command in dict.fromkeys(commands) if "OWNER" not in command and "==" not in command]


def collect_packages(folder: Path) -> None:
    """Download what the wheel, its extra and a build from source need, in the versions of constraints.txt."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "-d", str(folder)]
    (wheel,) = DIST.glob("*.whl")
    tools = ["hatchling", "editables", "pip", "setuptools", "wheel"]
    subprocess.run([*pip, "-c", "constraints.txt", f"{wheel}[{_EXTRA}]", *tools], cwd=ROOT, check=True)


class Trial:
    """A new home directory, in which one command installs execplan."""

    def __init__(self, folder: Path, packages: Path) -> None:
        self.folder = folder
        self.sources = folder / "sources"
        folder.mkdir()
        copy_sources(self.sources)
        environment = folder / "environment"
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        self.program = folder / "bin" / "execplan"
        self.environment = {
            "PATH": os.pathsep.join(map(str, (folder / "bin", environment / "bin", INSTALLERS, "/usr/bin", "/bin"))),
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(packages),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIPX_HOME": str(folder / "pipx"),
            "PIPX_BIN_DIR": str(folder / "bin"),
            "PIPX_DEFAULT_PYTHON": sys.executable,
            "UV_NO_INDEX": "1",
            "UV_FIND_LINKS": str(packages),
            "UV_CACHE_DIR": str(folder / "cache"),
            "UV_TOOL_DIR": str(folder / "tools"),
            "UV_TOOL_BIN_DIR": str(folder / "bin"),
            "UV_PYTHON": sys.executable,
            "UV_PYTHON_DOWNLOADS": "never",
        }
        if "SSL_CERT_FILE" in os.environ:
            self.environment["SSL_CERT_FILE"] = os.environ["SSL_CERT_FILE"]

    def run(self, command: str, *, exit: int = 0) -> str:
        """Run a command in the checkout and return what it prints."""
        process = subprocess.run(
            ["sh", "-c", command], cwd=self.sources, env=self.environment, capture_output=True, text=True, check=False
        )
        if process.returncode != exit:
            raise SystemExit(
                f"`{command}` exits with {process.returncode}, not {exit}:\n{process.stdout}{process.stderr}"
            )
        return process.stdout + process.stderr

    def try_command(self, command: str) -> None:
        """Install, run, add the extra, upgrade and remove."""
        self.run(command)
        prefix = "uvx execplan" if command.startswith("uvx") else "execplan"
        self.run(f"{prefix} --version")
        self.run(f"{prefix} self check")
        hint = re.search(r"install it: (.*)", self.run(f"{prefix} serve", exit=6))
        if hint is None:
            raise SystemExit(f"after `{command}`, `{prefix} serve` does not say how to install {_EXTRA}")
        if prefix != "execplan":
            self.run(hint[1].removesuffix("execplan") + f"python -c 'import {_MODULE}'")
            return
        self.run(hint[1])
        python = (self._program().read_text(encoding="utf-8").splitlines()[0]).removeprefix("#!")
        self.run(f"{python} -c 'import {_MODULE}'")
        installer = command.split(maxsplit=1)[0]
        self.run(_UPGRADES[installer])
        self.run("execplan --version")
        self.run(_MEANS_REMOVAL.get(installer, "python -m pip uninstall -y execplan"))
        if self._program().exists():
            raise SystemExit(f"after `{command}`, the program is still there when it was removed")

    def _program(self) -> Path:
        return self.program if self.program.exists() else self.folder / "environment" / "bin" / "execplan"


def main() -> int:
    """Try each command of the pages."""
    commands = find_commands()
    with tempfile.TemporaryDirectory() as scratch:
        packages = Path(scratch, "packages")
        collect_packages(packages)
        for number, command in enumerate(commands):
            Trial(Path(scratch, str(number)), packages).try_command(command)
            print(f"works: {command}", flush=True)
    return 0 if len(commands) > len(_UPGRADES) else 1


if __name__ == "__main__":
    sys.exit(main())
