"""What a command does, and what a task asks for, in one word where that is plain: test, build, lint, format, install, edit."""

from __future__ import annotations

import re

from execplan.execution.command.parse import parse
from execplan.text.relative import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_KINDS = {
    "test": frozenset("test unittest pytest suite spec".split()),
    "build": frozenset("build compile package bundle".split()),
    "lint": frozenset("lint linter linting clippy ruff eslint".split()),
    "format": frozenset("format formatter formatting fmt prettier".split()),
    "typecheck": frozenset("typecheck type-check mypy tsc pyright type".split()),
    "install": frozenset("install dependency dependencie package".split()),
}
_PLAIN = frozenset(
    "run rerun re-run execute all full whole complete entire unit check pass passing succeed green suite make sure verify "
    "confirm ensure project code codebase repository repo".split()
)
"""Words of a task that add nothing to its kind."""
_KIND_OF = (
    (
        "test",
        re.compile(
            r"(?:\S*/)?(?:pytest|jest|vitest|rspec|ctest|phpunit|nosetests|tox)\b|(?:\S*/)?python3? -m (?:pytest|unittest)\b|"
            r"(?:npm|pnpm|yarn|bun|cargo|go|mix|dotnet|swift|make|just|rake|zig|deno|lein|sbt|flutter)(?: run)? (?:nextest run|test)(?!\S)|node --test\b"
        ),
    ),
    (
        "build",
        re.compile(
            r"(?:npm|pnpm|yarn|bun|cargo|go|dotnet|swift|make|just|zig|mix)(?: run)? (?:build|compile)(?!\S)|python3? -m build\b|cmake --build\b"
        ),
    ),
    (
        "lint",
        re.compile(
            r"(?:npm|pnpm|yarn|bun|make|just)(?: run)? lint(?!\S)|cargo clippy\b|ruff check\b|eslint\b|golangci-lint\b|flake8\b|pylint\b"
        ),
    ),
    (
        "format",
        re.compile(
            r"(?:npm|pnpm|yarn|bun|make|just)(?: run)? (?:format|fmt)(?!\S)|cargo fmt\b|ruff format\b|prettier\b|gofmt\b|black\b"
        ),
    ),
    (
        "typecheck",
        re.compile(r"(?:npm|pnpm|yarn|bun|make|just)(?: run)? (?:typecheck|type-check)(?!\S)|mypy\b|pyright\b|tsc\b"),
    ),
    (
        "install",
        re.compile(
            r"(?:npm|pnpm|yarn|bun) (?:install|ci)(?!\S)|(?:\S*/)?pip3? install\b|(?:\S*/)?python3? -m pip install\b|poetry install\b|uv sync\b|bundle install\b"
        ),
    ),
)
_WRAPPED = re.compile(
    r"^(?:[A-Z_]\w*=\S*\s+|(?:uv|poetry|pdm|hatch|pipenv) run\s+|npx\s+|bundle exec\s+|sudo\s+|time\s+)+"
)
_RUNS = frozenset(
    "run rerun re-run execute verify validate confirm check test build lint format typecheck install compile generate regenerate fetch look show print list".split()
)
"""What a task begins with that commands alone complete."""
_EDITS = frozenset(
    "implement add write create update refactor edit change fix extend document replace rename remove delete move introduce "
    "rewrite wire support migrate convert extract split merge adjust improve design draft define make set bump modify drop insert append "
    "port patch scaffold land expose adapt align harden introduce build-out expand rework clean cleanup prepare author".split()
)
"""What a task asks for that no command does which only looks."""
_APART = frozenset(
    "record capture commit push review inspect manual manually browser deploy publish release archive close open pr qa investigate decide "
    "triage fill summarize report note reflect handoff screenshot benchmark profile compare audit watch monitor tag".split()
)
"""What a task asks for beside, and is done by a command only that says so too."""
_GIT_CHANGES = frozenset("apply mv rm cherry-pick revert restore merge".split())


def kind_of(command: str) -> str:
    """What kind of work a command is, or nothing."""
    bare = _WRAPPED.sub("", command)
    return next((kind for kind, pattern in _KIND_OF if pattern.match(bare)), "")


def kind_of_task(words: Collection[str]) -> str:
    """What kind of work a task asks for and nothing else, or nothing."""
    rest = frozenset(words) - _PLAIN
    return next((kind for kind, own in _KINDS.items() if (rest or frozenset(words) & own) and rest <= own), "")


def edited(command: str, cwd: str) -> set[str]:
    """The files that a command writes, as far as its words say so, from the root of the repository."""
    found: set[str] = set()
    for part in re.split(r"&&|;|\|", command):
        found |= set(re.findall(r"(?<![\d&])>>?\s*([\w./-]+)", part))
        read = parse(part)
        argv = list(read.argv or ())
        if not argv:
            continue
        objects = [word for word in argv[1:] if word[:1] != "-"]
        name = argv[0].rpartition("/")[2]
        if name in ("sed", "perl") and any([re.match(r"--in-place|-\w*i", word) for word in argv[1:]]):
            found |= set(objects[1:] or objects)
        elif name == "tee":
            found |= set(objects)
        elif name in ("mv", "cp", "ln") or (name == "git" and objects[:1] == ["mv"]):
            found |= set(objects[-1:])
    return {path for each in found if (path := joined("" if cwd == "." else cwd, each))}


def deleted(command: str, cwd: str) -> set[str]:
    """The files that a command deletes, from the root of the repository."""
    argv = list(parse(command).argv or ())
    objects = [word for word in argv[1:] if word[:1] != "-"]
    if argv[:1] != ["rm"] and " ".join(argv[:2]) != "git rm":
        return set()
    named = objects if argv[0] == "rm" else objects[1:]
    return {path for each in named if (path := joined("" if cwd == "." else cwd, each))}


def is_edit(words: Collection[str]) -> bool:
    """Whether a task asks for a change of files."""
    return not _EDITS.isdisjoint(words)


def covers(asked: Collection[str], commands: Sequence[str], *, told: bool) -> bool:
    """Whether commands do all that the words of a task ask for, as far as its verbs tell.

    `told` says that the plan itself puts these words above the commands.
    """
    done = set(re.findall(r"[\w-]+", " ".join(commands).lower()))
    if any([word in asked and word not in done for word in _APART]):
        return False
    if len([word for word in _EDITS if word in asked and word not in done]) > 1:
        return False
    if any([changes(command) for command in commands]):
        kinds = [kind_of(command) for command in commands]
        return all([kind not in asked or kind in kinds for kind in _KINDS])
    return (told or not _RUNS.isdisjoint(asked)) and _EDITS.isdisjoint(set(asked) - done)


def changes(command: str) -> bool:
    """Whether a command plainly changes files of the repository."""
    words = command.split()
    if command.startswith("git "):
        return len(words) > 1 and words[1] in _GIT_CHANGES
    return words[:1] == ["patch"] or bool(edited(command, ".") or deleted(command, "."))
