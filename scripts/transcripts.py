"""Run the transcripts in tests/transcripts again and update their output, or with `--check` report those that would change.

The arguments are names of commands; without any, all are run. To add one: write tests/transcripts/COMMAND.md with its
`file` blocks and `$ command` lines, run this script, and read the result.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from tests.transcripts.runner import FOLDER, rewrite


def main() -> int:
    """Update the transcripts; return 1 if `--check` finds a difference."""
    names = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    paths = [FOLDER / f"{name}.md" for name in names] or sorted(FOLDER.glob("*.md"))
    old = [path.read_text(encoding="utf-8") for path in paths]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        new = list(pool.map(rewrite, old))
    stale = [(path, text) for path, old_text, text in zip(paths, old, new, strict=True) if old_text != text]
    for path, text in stale:
        if "--check" in sys.argv:
            print(f"stale: run python scripts/transcripts.py {path.stem}")
        else:
            path.write_text(text, encoding="utf-8")
            print(f"wrote: {path.name}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
