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
    """
    done: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        shell = Shell(Path(scratch))
        lines = iter(text.split("\n"))
        for line in lines:
            done.append(line)
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
                shell.write(name, "".join([each + "\n" for each in body]))
            elif kind == "console":
                body = [shown for each in body if each.startswith("$ ") for shown in printed(shell, each)]
                if fence[1] in body:
                    raise ValueError(f"what is printed holds the fence {fence[1]}: begin the block with a longer one")
            done += [*body, fence[1]]
    return "\n".join(done)


def printed(shell: Shell, prompt: str) -> list[str]:
    """A line `$ command` and what running it prints."""
    ran = shell.run(prompt[2:])
    lines = [prompt, *ran.out.splitlines(), *ran.err.splitlines()]
    return [*lines, f"[exit {ran.exit}]"] if ran.exit else lines
