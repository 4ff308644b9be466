"""Write every generated file, or with `--check` say which of them would change."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from execplan.cli.verbs import GROUPS
from execplan.errors import MEANINGS
from execplan.repo import settings_file, stock
from execplan.repo.settings import ABOUT, Settings, literal

if TYPE_CHECKING:
    from collections.abc import Callable

    import click

ROOT = Path(__file__).resolve().parent.parent
GUIDANCE = "execplan/plan/guidance_lines.py"
README = "README.md"
_MARK = re.compile(r"\s*\{#- guidance #\}\s*$")
_COMMON = {"folder", "quiet", "verbose", "as_json"}
_TRANSCRIPT = (
    "execplan init -q",
    "execplan new 'Build the line parser' --task 'Read lines' --task 'Build the parser'",
    "execplan done 1",
    "execplan decide 'Read line by line' --why 'A task is a line.' --author Ann",
    "execplan add 'Handle CRLF' --after 1",
    "execplan next",
    "execplan done crlf 3",
    "execplan show",
    "execplan archive",
)


def guidance() -> str:
    """The lines of the templates that an author is meant to replace."""
    lines = set()
    for template in sorted((ROOT / "templates").rglob("*.md")):
        for line in template.read_text(encoding="utf-8").splitlines():
            if _MARK.search(line):
                lines.add(" ".join(_MARK.sub("", line).split()))
    shown = "\n".join(f'        "{line}",' for line in sorted(lines))
    head = '"""Guidance lines of our templates, white space folded; written by scripts/generate.py from templates/."""'
    return f"{head}\n\nLINES = frozenset(\n    (\n{shown}\n    )\n)\n"


def readme() -> str:
    """README.md with its generated parts made anew."""
    text = (ROOT / README).read_text(encoding="utf-8")
    parts = {"transcript": transcript, "verbs": verbs, "exits": exits, "settings": settings}
    for name, make in parts.items():
        begin, end = f"<!-- {name}: written by scripts/generate.py -->\n", f"<!-- /{name} -->"
        head, _, rest = text.partition(begin)
        text = f"{head}{begin}{make()}{end}{rest.partition(end)[2]}"
    return text


def transcript() -> str:
    """What the commands of the transcript print, in a folder of their own at a fixed time."""
    lines = ["```console"]
    with tempfile.TemporaryDirectory() as folder:
        for command in _TRANSCRIPT:
            run = [sys.executable, "-m", *shlex.split(command)]
            env = {
                "PATH": os.environ["PATH"],
                "HOME": folder,
                "SOURCE_DATE_EPOCH": "1767225600",
                "PYTHONPATH": str(ROOT),
                "LC_ALL": "C.UTF-8",
            }
            done = subprocess.run(run, cwd=folder, env=env, capture_output=True, check=False)
            lines += [f"$ {command}", *(done.stdout + done.stderr).decode().splitlines()]
    return "\n".join([*lines, "```", ""])


def verbs() -> str:
    """Every verb with what it does and its own flags."""
    lines = ["| | verb | what it does | flags |", "|---|---|---|---|"]
    for group, members in GROUPS.items():
        for at, (name, what) in enumerate(members.items()):
            command: click.Command = import_module(f"execplan.cli.verbs.{name}").command
            arguments = [
                each.make_metavar(_context(command)) for each in command.params if each.param_type_name == "argument"
            ]
            flags = [
                f"`{'/'.join([*each.opts[-1:], *each.secondary_opts])}`"
                for each in command.params
                if each.param_type_name == "option" and each.name not in _COMMON
            ]
            shown = " ".join([f"`execplan {name}", *arguments]) + "`"
            lines.append(
                f"| {'' if at else group} | {shown.replace('|', chr(92) + '|')} | {what} | {' '.join(flags)} |"
            )
    return "\n".join(lines) + "\n"


def _context(command: click.Command) -> click.Context:
    import click

    return click.Context(command)


def exits() -> str:
    """The exit codes."""
    lines = ["| exit | meaning |", "|---|---|"]
    return "\n".join([*lines, *[f"| {code} | {meaning} |" for code, meaning in MEANINGS.items()]]) + "\n"


def settings() -> str:
    """Every setting with its default."""
    lines = ["| setting | default | what it is for |", "|---|---|---|"]
    for name, value in Settings()._asdict().items():
        lines.append(f"| `{name}` | `{literal(value)}` | {ABOUT[name]} |")
    return "\n".join(lines) + "\n"


GENERATED: dict[str, Callable[[], str]] = {
    GUIDANCE: guidance,
    README: readme,
    ".agent/PLANS.md": lambda: stock.text("PLANS.md"),
    ".agent/execplan.toml": lambda: settings_file.content(Settings()).decode(),
}


def main() -> int:
    """Regenerate; the exit status is 1 when a check finds a difference."""
    stale = []
    for name, make in GENERATED.items():
        path = ROOT / name
        text = make()
        if path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{'stale: run make generate' if '--check' in sys.argv else 'wrote'}: {name}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
