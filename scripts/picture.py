"""Draw the terminal session at the top of README: run its commands, and render what they print as SVG.

The commands run in the scratch repository that transcripts use, with a fixed clock and author, on a terminal, so that
they print colors. The plan is the one that README shows. `make generate` writes the picture, and so does this script;
`make generated` fails if it is out of date.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

from tests.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PICTURE = "docs/images/first-plan.svg"
COLUMNS = 90
"""Width of the terminal. README is about 830 pixels wide on GitHub, so a wider terminal has letters that are too small."""
MAX_ROWS = 34
PLAN = "health.md"
SESSION = (
    ("execplan init -q", 0),
    (f"execplan new --from {PLAN}", 0),
    ("execplan done 1 2", 0),
    ("execplan lint --level error", 1),
    ("execplan status", 0),
)
"""The commands of the picture, each with its exit status."""
_PLAN_BLOCK = re.compile(rf"^```file {re.escape(PLAN)}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FONT_FACE = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
_COMMENT = re.compile(r"\s*<!--.*?-->")
_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
"""Monospaced fonts that readers have. A picture in a page can't load any."""


def render() -> str:
    """Run the session and return the picture of its terminal; raises ValueError if a command ends unexpectedly or the picture is too long."""
    console = Console(
        record=True,
        width=COLUMNS,
        height=MAX_ROWS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        no_color=False,
        highlight=False,
    )
    rows = [row for text in _session_texts() for row in text.wrap(console, COLUMNS)]
    if len(rows) > MAX_ROWS:
        raise ValueError(f"the picture has {len(rows)} rows, more than {MAX_ROWS}")
    for row in rows:
        console.print(row)
    picture = console.export_svg(
        title="Your first plan", theme=SVG_EXPORT_THEME, code_format=_svg_format(), unique_id="first-plan"
    )
    return "\n".join([line.rstrip() for line in picture.strip().splitlines()]) + "\n"


def _svg_format() -> str:
    """Return rich's template for SVG without its remote fonts and its link."""
    template = _COMMENT.sub("", _FONT_FACE.sub("", CONSOLE_SVG_FORMAT))
    changed = template.replace("Fira Code, monospace", _FONTS).replace("font-family: arial", "font-family: sans-serif")
    if "Fira Code" in changed or changed.count("http") != 1:  # the namespace of SVG
        raise ValueError("rich's template for SVG has changed: see which fonts and links it names")
    return changed


def _session_texts() -> Iterator[Text]:
    """Run the session and yield each command with its output, and an empty line after it."""
    for line, output in _run_session():
        yield Text.assemble(("$ ", "bold green"), (line, "bold"))
        if output:
            yield Text.from_ansi(output)
        yield Text()


def _run_session() -> Iterator[tuple[str, str]]:
    """Run the commands, one after the other, in one repository; yield each with what it prints."""
    plan = _PLAN_BLOCK.search((ROOT / "README.md").read_text(encoding="utf-8"))
    if plan is None:
        raise ValueError(f"README has no block with {PLAN}")
    with tempfile.TemporaryDirectory() as scratch:
        shell = Shell(Path(scratch))
        shell.run("git init -q")
        for line, exit_status in SESSION:
            if PLAN in shlex.split(line):
                shell.write(PLAN, plan[1])
            status, output = _run_on_terminal(line, shell)
            if status != exit_status or scratch in output:
                raise ValueError(f"{line}: exit {status}, expected {exit_status}:\n{output}")
            yield line, output


def _run_on_terminal(line: str, shell: Shell) -> tuple[int, str]:
    """Run a command line on a terminal without a keyboard; return its exit status and what it prints."""
    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", MAX_ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        ["sh", "-c", line],
        cwd=shell.project,
        env={**shell.env, "TERM": "xterm-256color"},
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    output = b""
    try:
        while data := os.read(reader, 65536):
            output += data
    except OSError:  # on Linux, reading fails when the other end is closed
        pass
    finally:
        os.close(reader)
    return process.wait(), output.decode().replace("\r\n", "\n").rstrip("\n")


def main() -> int:
    """Write the picture to its file."""
    (ROOT / PICTURE).write_text(render(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
