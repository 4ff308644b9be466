"""Kinds of work of commands and tasks, if they are clear: test, build, lint, format, install, edit."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.core.text.pure_paths import resolve_relative
from execplan.execution.inference.cue_table import WORDS
from execplan.execution.shell.command_line import parse_command

_KIND_WORDS = {
    "test": frozenset("test unittest pytest suite spec".split()),
    "build": frozenset("build compile package bundle".split()),
    "lint": frozenset("lint linter linting clippy ruff eslint".split()),
    "format": frozenset("format formatter formatting fmt prettier".split()),
    "typecheck": frozenset("typecheck type-check mypy tsc pyright type".split()),
    "install": frozenset("install dependency dependencie package".split()),
}
_KIND_PATTERNS = (
    (
        "test",
        lazy_pattern(
            r"(?:\S*/)?(?:pytest|jest|vitest|rspec|ctest|phpunit|nosetests|tox)\b|(?:\S*/)?python3? -m (?:pytest|unittest)\b|"
            r"(?:npm|pnpm|yarn|bun|cargo|go|mix|dotnet|swift|make|just|rake|zig|deno|lein|sbt|flutter)(?: run)? (?:nextest run|test)(?!\S)|node --test\b"
        ),
    ),
    (
        "build",
        lazy_pattern(
            r"(?:npm|pnpm|yarn|bun|cargo|go|dotnet|swift|make|just|zig|mix)(?: run)? (?:build|compile)(?!\S)|python3? -m build\b|cmake --build\b"
        ),
    ),
    (
        "lint",
        lazy_pattern(
            r"(?:npm|pnpm|yarn|bun|make|just)(?: run)? lint(?!\S)|cargo clippy\b|ruff check\b|eslint\b|golangci-lint\b|flake8\b|pylint\b"
        ),
    ),
    (
        "format",
        lazy_pattern(
            r"(?:npm|pnpm|yarn|bun|make|just)(?: run)? (?:format|fmt)(?!\S)|cargo fmt\b|ruff format\b|prettier\b|gofmt\b|black\b"
        ),
    ),
    (
        "typecheck",
        lazy_pattern(r"(?:npm|pnpm|yarn|bun|make|just)(?: run)? (?:typecheck|type-check)(?!\S)|mypy\b|pyright\b|tsc\b"),
    ),
    (
        "install",
        lazy_pattern(
            r"(?:npm|pnpm|yarn|bun) (?:install|ci)(?!\S)|(?:\S*/)?pip3? install\b|(?:\S*/)?python3? -m pip install\b|poetry install\b|uv sync\b|bundle install\b"
        ),
    ),
)
_COMMAND_WRAPPER = lazy_pattern(
    r"^(?:[A-Z_]\w*=\S*\s+|(?:uv|poetry|pdm|hatch|pipenv) run\s+|npx\s+|bundle exec\s+|sudo\s+|time\s+)+"
)
_GIT_CHANGE_COMMANDS = frozenset("apply mv rm cherry-pick revert restore merge".split())


def command_kind(command: str) -> str:
    """Return the kind of work of a command, or an empty string."""
    unwrapped = _COMMAND_WRAPPER.sub("", command)
    return next((kind for kind, pattern in _KIND_PATTERNS if pattern.match(unwrapped)), "")


def task_kind(words: Collection[str]) -> str:
    """Return the only kind of work that a task requires, or an empty string."""
    significant_words = frozenset(words) - WORDS["kind_neutral"]
    return next(
        (
            kind
            for kind, kind_words in _KIND_WORDS.items()
            if (significant_words or frozenset(words) & kind_words) and significant_words <= kind_words
        ),
        "",
    )


def edited_files(command: str, cwd: str) -> set[str]:
    """Return the files that a command visibly writes, from the repository root."""
    raw_paths: set[str] = set()
    for segment in re.split(r"&&|;|\|", command):
        raw_paths |= set(re.findall(r"(?<![\d&])>>?\s*([\w./-]+)", segment))
        command_line = parse_command(segment)
        argv = list(command_line.argv or ())
        if not argv:
            continue
        operands = [word for word in argv[1:] if word[:1] != "-"]
        name = argv[0].rpartition("/")[2]
        if name in ("sed", "perl") and any([re.match(r"--in-place|-\w*i", word) for word in argv[1:]]):
            raw_paths |= set(operands[1:] or operands)
        elif name == "tee":
            raw_paths |= set(operands)
        elif name in ("mv", "cp", "ln") or (name == "git" and operands[:1] == ["mv"]):
            raw_paths |= set(operands[-1:])
    return {path for raw_path in raw_paths if (path := resolve_relative("" if cwd == "." else cwd, raw_path))}


def deleted_files(command: str, cwd: str) -> set[str]:
    """Return the files that a command deletes, from the repository root."""
    argv = list(parse_command(command).argv or ())
    operands = [word for word in argv[1:] if word[:1] != "-"]
    if argv[:1] != ["rm"] and " ".join(argv[:2]) != "git rm":
        return set()
    raw_paths = operands if argv[0] == "rm" else operands[1:]
    return {path for raw_path in raw_paths if (path := resolve_relative("" if cwd == "." else cwd, raw_path))}


def asks_for_edit(words: Collection[str]) -> bool:
    """Return whether a task requires a change of files."""
    return not WORDS["edit_tasks"].isdisjoint(words)


def covers_task(task_words: Collection[str], commands: Sequence[str], *, is_introduced: bool) -> bool:
    """Return whether commands do everything that the words of a task require, according to its verbs.

    `is_introduced` means that the plan itself puts these words above the commands.
    """
    command_words = set(re.findall(r"[\w-]+", " ".join(commands).lower()))
    if any([word in task_words and word not in command_words for word in WORDS["separate_tasks"]]):
        return False
    if len([word for word in WORDS["edit_tasks"] if word in task_words and word not in command_words]) > 1:
        return False
    if any([changes_files(command) for command in commands]):
        kinds = [command_kind(command) for command in commands]
        return all([kind not in task_words or kind in kinds for kind in _KIND_WORDS])
    return (is_introduced or not WORDS["run_tasks"].isdisjoint(task_words)) and WORDS["edit_tasks"].isdisjoint(
        set(task_words) - command_words
    )


def changes_files(command: str) -> bool:
    """Return whether a command clearly changes files of the repository."""
    tokens = command.split()
    if command.startswith("git "):
        return len(tokens) > 1 and tokens[1] in _GIT_CHANGE_COMMANDS
    return tokens[:1] == ["patch"] or bool(edited_files(command, ".") or deleted_files(command, "."))
