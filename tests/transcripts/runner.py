"""Transcripts: markdown in which `console` blocks hold commands and what they print, and `file` blocks are written."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from tests.shell import Shell

FOLDER = Path(__file__).parent
_FENCE = re.compile(r"^(`{3,}|~{3,})(.*)$")


def rewrite(text: str) -> str:
    """The transcript with its blocks run anew, from the top, in one scratch folder; commands and prose stay.

    A block `console` holds lines `$ command`; under each is what it prints, standard output first, then standard
    error, then `[exit N]` unless N is 0. A block `file PATH` is written before what comes after it is run.
    Blocks within an HTML comment count too: so a page hides fixtures from its readers.
    """
    output_lines: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        shell = Shell(Path(scratch))
        lines = iter(text.split("\n"))
        for line in lines:
            output_lines.append(line)
            fence = _FENCE.match(line)
            if fence is None:
                continue
            body = []
            for inner in lines:
                if inner == fence[1]:
                    break
                body.append(inner)
            else:
                raise ValueError(f"{line} is never closed")
            kind, _, name = fence[2].partition(" ")
            if kind == "file":
                shell.write(name, "".join([body_line + "\n" for body_line in body]))
            elif kind == "console":
                body = [
                    output_line
                    for prompt in body
                    if prompt.startswith("$ ")
                    for output_line in run_prompt(shell, prompt)
                ]
                if fence[1] in body:
                    raise ValueError(f"what is printed holds the fence {fence[1]}: begin the block with a longer one")
            output_lines += [*body, fence[1]]
    return "\n".join(output_lines)


def run_prompt(shell: Shell, prompt: str) -> list[str]:
    """A line `$ command` and what running it prints."""
    result = shell.run(prompt[2:])
    lines = [prompt, *result.out.splitlines(), *result.err.splitlines()]
    return [*lines, f"[exit {result.exit}]"] if result.exit else lines
