"""Move the packages of `execplan` into wings, with their tests, and rewrite what names them.

The script can be repeated on a branch that began before the move: run it there, commit, and merge. It is removed when no
such branch is left.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WINGS = {
    "core": "archive clock edits errors features files git git_merge json_model named_tuple plan plan_facts plan_store"
    " project scaffold secrets text trace undo worker_processes",
    "execution": "approvals engine export",
    "context": "search",
    "agents": "capture toolkit",
    "team": "advice costs dependencies github history plan_index review staleness worktrees",
    "views": "board charts server site",
    "cli": "doctor",
}
"""For each wing, the packages and modules that move into it."""
PURPOSES = {
    "core": "Plans: reading, finding, creating, editing, storing and archiving them. It imports no feature.",
    "team": "Several people and several plans: dependencies, history, reviews, worktrees, staleness, and what to do next.",
    "views": "Plans to look at: the board, charts, pages, and their server.",
}
"""The docstrings of packages that are new."""
WING_OF = {name: wing for wing, names in WINGS.items() for name in names.split()}
EXCLUDED_FILES = re.compile(
    r"^(CHANGELOG\.md|\.agent/execplans/archive/|scripts/move_to_wings\.py|tests/.*\.(json|jsonl|tsv)$)"
)
"""Files about the past, and recorded data."""
NAME = re.compile(r"(?<![\w./-])(execplan|tests)([./])(" + "|".join(WING_OF) + r")\b((?:[./]\w+)*)")
FROM_FILE = re.compile(
    r"(?P<file>Path\(__file__\)(?:\.resolve\(\))?)(?:\.parents\[(?P<index>\d)\]|(?P<levels>(?:\.parent\b)+))"
)
FROM_PACKAGE = re.compile(r"\b(from|import) execplan import ([\w, ]+)$", re.MULTILINE)


def git(*args: str) -> str:
    """Return the output of a git command in the root of the repository."""
    return subprocess.run(("git", *args), cwd=ROOT, check=True, capture_output=True, text=True).stdout


moved: set[str] = set()


def move_files() -> None:
    """Move each package, module and directory of tests."""
    for name, wing in WING_OF.items():
        for parent in ("execplan", "tests"):
            for source in (ROOT / parent / name, ROOT / parent / f"{name}.py", ROOT / parent / f"test_{name}.py"):
                if source.exists() and (source.is_file() or any(source.rglob("*.py"))):
                    target = ROOT / parent / wing / source.name
                    target.parent.mkdir(exist_ok=True)
                    git("mv", str(source), str(target))
                    moved.update(str(path) for path in (target, *target.rglob("*.py")))
    for parent in ("execplan", "tests"):
        for wing in WINGS:
            start = ROOT / parent / wing / "__init__.py"
            if not start.exists() and start.parent.is_dir():
                start.write_text(f'"""{PURPOSES[wing]}"""\n' if parent == "execplan" else "")
                git("add", str(start))


def renamed(match: re.Match[str]) -> str:
    """Return the new name of a module, of a directory or of a file, or the old text if it names something else."""
    root, separator, name, rest = match.groups()
    new_name = f"{root}{separator}{WING_OF[name]}{separator}{name}{rest}"
    first = re.split("[./]", rest)[1] if rest else ""
    place = ROOT / root / WING_OF[name] / name
    is_there = place.exists() or place.with_suffix(".py").exists()
    is_module = place.with_suffix(".py").exists() or not first or any(place.glob(f"{first}*"))
    return new_name if is_there and is_module else match.group()


def _deeper(match: re.Match[str], depth: int) -> str:
    """Add a level to a path from a moved file if it leaves what moved."""
    if match["levels"]:
        steps = match["levels"].count(".parent")
        return match["file"] + ".parent" * (steps + (steps > depth))
    index = int(match["index"])
    return f"{match['file']}.parents[{index + (index >= depth)}]"


def rewrite(path: Path) -> None:
    """Rewrite the names in one file."""
    old = path.read_text(encoding="utf-8")
    new = NAME.sub(renamed, old)
    if path.suffix == ".py":
        new = FROM_PACKAGE.sub(_split_import, new)
        parts = path.relative_to(ROOT).parts
        if str(path) in moved and len(parts) > 3:
            new = FROM_FILE.sub(lambda match: _deeper(match, len(parts) - 3), new)
    if path == ROOT / "execplan/__init__.py":
        new = re.sub(
            r'^    "(\w+)([.\w]*)": \(',
            lambda m: f'    "{WING_OF[m[1]]}.{m[1]}{m[2]}": (' if m[1] in WING_OF else m[0],
            new,
            flags=re.MULTILINE,
        )
    if new != old:
        path.write_text(new, encoding="utf-8")


def _split_import(match: re.Match[str]) -> str:
    """Write an import from the package as one for each wing."""
    places: dict[str, list[str]] = {}
    for name in match[2].split(", "):
        places.setdefault(WING_OF.get(name.split()[0], ""), []).append(name)
    indent = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    return f"\n{indent}".join(
        f"from execplan{'.' + wing if wing else ''} import {', '.join(names)}" for wing, names in places.items()
    )


def main() -> None:
    """Move the files, rewrite the names, and format what changed."""
    move_files()
    for name in git("ls-files").split("\n"):
        path = ROOT / name
        if name and not EXCLUDED_FILES.match(name) and path.is_file() and not path.is_symlink():
            try:
                rewrite(path)
            except UnicodeDecodeError:
                continue
    ruff = Path(sys.executable).parent / "ruff"
    subprocess.run(
        (ruff, "check", "-q", "--select", "I", "--fix", "execplan", "tests", "scripts"), cwd=ROOT, check=True
    )
    subprocess.run((ruff, "format", "-q"), cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
