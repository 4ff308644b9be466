"""Measure the structure of the package: files, importers, shared basenames, and the code that a command depends on.

`structure.py` prints the counts of the source tree, and how many lines of the package each command can reach by imports,
including those inside of functions. `structure.py --trace` also runs `done`, `lint`, `guard` and `run` in a scratch
repository and prints how many distinct functions and files of the package each one enters.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from execplan.cli.commands import COMMANDS, MODULES
from tests.plans import CLEAN

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "execplan"
SMALL = 300
"""Maximum total lines of a module and its only importer to count as one module split in two."""

STEP = """```sh {#hello}
echo hello
```

## Validation and"""

TRACER = """
import sys
package = sys.argv.pop(1)
entered = set()
def profile(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(package) and code.co_name[0] != "<":
        entered.add((code.co_filename, code.co_qualname))
import threading
import os
threading.setprofile(profile)
sys.setprofile(profile)
exit_at_once = os._exit
def write_counts():
    sys.setprofile(None)
    with open(sys.argv[0] + ".counts", "w") as file:
        print(len(entered), len({path for path, _ in entered}), file=file)
def exit_with_counts(status):
    write_counts()
    exit_at_once(status)
os._exit = exit_with_counts
try:
    from execplan.cli.main import run
    run()
finally:
    write_counts()
"""


def wings_picture() -> str:
    """Return the wings as a Mermaid diagram, with the number of modules in each, and the imports that imply all others."""
    names = modules()
    counts = Counter(name.split(".")[1] for name in names if name.count(".") > 1)
    below: dict[str, set[str]] = {wing: set() for wing in counts}
    for name, targets in imports(names).items():
        wing = name.split(".")[1] if name.count(".") > 1 else ""
        if wing:
            below[wing] |= {target.split(".")[1] for target in targets if target.count(".") > 1} - {wing}
    order = sorted(counts, key=lambda wing: (len(below[wing]), wing))
    lines = [f'    {wing}["{wing}: {counts[wing]} modules"]' for wing in order]
    for wing in order:
        implied = {lower for direct in below[wing] for lower in below[direct]}
        lines += [f"    {wing} --> {direct}" for direct in order if direct in below[wing] - implied]
    return "\n```mermaid\nflowchart TD\n" + "\n".join(lines) + "\n```\n\n"


def modules() -> dict[str, Path]:
    """Return the path of every module by its dotted name."""
    names = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imports(names: dict[str, Path]) -> dict[str, set[str]]:
    """Return, for each module, the modules of the package that it imports, anywhere except for type checkers."""
    return {
        name: _imported(ast.parse(path.read_text(encoding="utf-8")), names) - {name} for name, path in names.items()
    }


def _imported(node: ast.AST, names: Container[str]) -> set[str]:
    targets: set[str] = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.ImportFrom) and child.module:
            members = [f"{child.module}.{alias.name}" for alias in child.names]
            targets |= {member if member in names else child.module for member in members}
        elif isinstance(child, ast.Import):
            targets |= {alias.name for alias in child.names}
        targets |= _imported(child, names)
    return {target for target in targets if target in names}


def reachable(start: str, imported: Mapping[str, set[str]]) -> set[str]:
    """Return the modules that a module can reach by imports, including itself."""
    reached, remaining = {start}, [start]
    while remaining:
        new = imported[remaining.pop()] - reached
        reached |= new
        remaining += new
    return reached


def line_counts(names: dict[str, Path]) -> dict[str, int]:
    """Return the number of lines of each module."""
    return {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in names.items()}


def reached_lines() -> dict[str, int]:
    """Return, for each command and for finding the project, how many lines of the package it can reach."""
    names = modules()
    lines, imported = line_counts(names), imports(names)
    commands = {name: f"execplan.cli.commands.{MODULES.get(name, name)}" for name in COMMANDS}
    return {
        short_name: sum(lines[target] for target in reachable(name, imported))
        for short_name, name in {**commands, "(finding the project)": "execplan.core.project.project_discovery"}.items()
    }


def counts() -> list[str]:
    """Return a line for each figure of the source tree."""
    names = modules()
    lines = line_counts(names)
    used: dict[str, set[str]] = defaultdict(set)
    for name, imported in imports(names).items():
        for target in imported:
            used[target].add(name)
    single = [name for name in names if len(used[name]) == 1]
    halves = [name for name in single if lines[name] + lines[next(iter(used[name]))] <= SMALL]
    basenames = Counter(path.name for path in names.values() if path.name != "__init__.py")
    return [
        f"files {len(names)}, lines {sum(lines.values()):,}",
        f"modules with one importer {len(single)}, of which {len(halves)} have at most {SMALL} lines together with it",
        f"files that share a basename with another: {sum(count for count in basenames.values() if count > 1)}",
    ]


def trace(directory: str) -> list[str]:
    """Return, for four commands, how many functions and files of the package they enter."""
    home = os.path.join(directory, "home")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": home, "SOURCE_DATE_EPOCH": "1767225600"}
    tracer = os.path.join(directory, "tracer.py")
    directory = os.path.join(directory, "repository")
    os.mkdir(home)
    os.mkdir(directory)
    Path(tracer).write_text(TRACER, encoding="utf-8")

    def execplan(*arguments: str, stdin: str = "") -> str:
        command = [sys.executable, tracer, str(PACKAGE), *arguments]
        subprocess.run(
            command, cwd=directory, env=environment, input=stdin, capture_output=True, text=True, check=False
        )
        functions, files = Path(tracer + ".counts").read_text(encoding="utf-8").split()
        return f"{functions} functions in {files} files"

    for command in (["git", "init", "-q"], ["git", "commit", "-q", "--allow-empty", "-m", "begin"]):
        identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        subprocess.run([command[0], *identity, *command[1:]], cwd=directory, env=environment, check=True)
    execplan("init")
    plan = ".agent/execplans/2026-01-01_parser.md"
    Path(directory, plan).write_text(CLEAN, encoding="utf-8")
    lines = [f"lint FILE: {execplan('lint', plan)}", f"done: {execplan('done', '2')}"]
    Path(directory, plan).write_text(CLEAN.replace("## Validation and", STEP), encoding="utf-8")
    digest = json.loads(
        subprocess.run(
            [sys.executable, "-m", "execplan", "evaluate", "--json"],
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    )["data"]["digest"]
    execplan("approve", "--digest", digest)
    lines.append(f"run: {execplan('run')}")
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": directory, "hook_event_name": "PreToolUse"}
    lines.append(f"guard: {execplan('guard', '--program=claude', stdin=json.dumps({**call, 'session_id': 's'}))}")
    return lines


def main(arguments: list[str]) -> int:
    """Print the figures of the source tree, and with `--trace` those of four commands."""
    print("\n".join(counts()))
    print("lines of the package that each command can reach:")
    for name, lines in sorted(reached_lines().items(), key=lambda item: item[1]):
        print(f"  {name:24}{lines:>8,}")
    if "--trace" in arguments:
        with tempfile.TemporaryDirectory() as directory:
            print("\n".join(trace(directory)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
