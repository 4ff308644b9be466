"""Write every generated file, or with `--check` say which of them would change."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_MARK = re.compile(r"\s*\{#- guidance #\}\s*$")


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


GENERATED = {"execplan/plan/guidance.py": guidance}


def main() -> int:
    """Regenerate; the exit status is 1 when a check finds a difference."""
    stale = []
    for name, make in GENERATED.items():
        path = ROOT / name
        text = make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{'stale' if '--check' in sys.argv else 'wrote'}: {name}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
