"""Check the English of pages, templates and printed help with codespell and proselint.

`prose.py` prints each problem as `path:line: message` and exits 1 if there is one. `scripts/prose.toml` selects the checks.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

import click
from proselint.checks import __register__
from proselint.config import DEFAULT, Config
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

from execplan.cli.app import group
from execplan.cli.commands import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
_FENCE = re.compile(r" *(?:> *)?(`{3,}|~{3,})")
_NOT_PROSE = re.compile(r"<!--.*?-->|\{[#%{].*?[#%}]\}|(`+)[^`].*?\1|(?<=\])\([^)\s]+\)|\{#.*?\}", re.DOTALL)
_PARAGRAPH_END = re.compile(r"\n[\s>]*\n|\n\s*(?:[-*|#]|\d+\.) |[^\S\n]{2}|\|")


def prose_of(markdown: str) -> str:
    """Return a page's text on its lines, without code blocks; code spans, comments and addresses become numbered names."""
    lines, fence = [], ""
    for line in markdown.splitlines():
        mark = _FENCE.match(line)
        is_closing = mark is not None and fence and mark[1].startswith(fence) and line.strip() == mark[1]
        lines.append("" if mark or fence or line.startswith("    ") else line)
        if is_closing:
            fence = ""
        elif mark and not fence:
            fence = mark[1]
    numbers = count()

    def name(match: re.Match[str]) -> str:
        return f" X{next(numbers)} " + "\n" * match[0].count("\n")

    return _NOT_PROSE.sub(name, "\n".join(lines)) + "\n"


def help_text(name: str) -> str:
    """Return what `execplan NAME --help` prints, or `execplan --help` for an empty name."""
    parent = click.Context(group, info_name="execplan")
    if not name:
        return group.get_help(parent)
    command = group.get_command(parent, name)
    if command is None:
        raise LookupError(name)
    return command.get_help(click.Context(command, parent, name))


def usage_problems(path: str, text: str, checks: dict[str, bool], accepted: frozenset[str]) -> Iterator[str]:
    """Yield what proselint finds in a text; a match that spans two paragraphs, items or cells is no finding."""
    if not text.strip():
        return
    config = Config(max_errors=1000, checks=DEFAULT["checks"] | checks)
    for result in LintFile(path, text).lint(config):
        begin, end = result.check_result.span
        quoted = f"\n{text}\n"[begin:end]
        if not _PARAGRAPH_END.search(quoted) and quoted.strip().lower() not in accepted:
            yield f"{path}:{result.pos[0]}: {result.check_result.message} ({result.check_result.check_path})"


def spelling_problems(folder: Path, settings: dict[str, str]) -> Iterator[str]:
    """Yield what codespell finds in the files below a directory."""
    options = [f"--{name}={value}" for name, value in settings.items()]
    command = [sys.executable, "-m", "codespell_lib", *options, "."]
    output = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if output.returncode not in (0, 65):
        raise RuntimeError(output.stderr)
    yield from [line.removeprefix("./") for line in output.stdout.splitlines()]


def main() -> int:
    """Print the problems in all pages and in the help of all commands."""
    settings = tomllib.loads((ROOT / "scripts" / "prose.toml").read_text(encoding="utf-8"))
    files = [path for pattern in settings["pages"] for path in sorted(ROOT.glob(pattern))]
    paths = {str(path.relative_to(ROOT)): path for path in files}
    skipped = tuple(settings["skipped"])
    texts = {
        name: prose_of(path.read_text(encoding="utf-8"))
        for name, path in paths.items()
        if not skipped or not name.startswith(skipped)
    }
    texts |= {f"help/{name or 'execplan'}.txt": help_text(name) for name in ("", *COMMANDS)}
    accepted = frozenset(settings["accepted"])
    CheckRegistry().register_many(__register__)
    problems: list[str] = []
    with TemporaryDirectory() as folder:
        for path, text in texts.items():
            copy = Path(folder, path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text, encoding="utf-8")
            problems += usage_problems(path, text, settings["proselint"], accepted)
        problems += spelling_problems(Path(folder), settings["codespell"])
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
