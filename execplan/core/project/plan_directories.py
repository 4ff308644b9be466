"""Directories in which repositories keep plans by convention, shared by `init`, `new` and the pre-commit hook."""

from __future__ import annotations

import os

from execplan.core.project.plan_dialects import NO_TABLES, find_dialect, load_dialects
from execplan.core.project.project_settings import non_plan_names_regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FINISHED_DIRECTORIES = (".agent/done", ".agents/done")
"""Directories of finished plans next to the plans directory rather than in it."""
ACTIVE = ("active", "current", "open", "in-progress", "in_progress", "wip", "todo", "doing")
FINISHED = ("completed", "complete", "done", "archive", "archived", "finished", "closed")
GIVEN_UP = ("superseded", "obsolete", "abandoned", "cancelled", "rejected")
ON_HOLD = ("deferred", "backlog")
STATES = (*ACTIVE, *FINISHED, *GIVEN_UP, *ON_HOLD)
NAME_WORDS = frozenset(("plan", "plans", "execplan", "execplans", "planning"))
"""Words in the name of a plans directory."""
_PLAN_FILE = "(?:exec[-_]?)?plan"
"""File name of a plan in its own directory if it is not named after the directory."""


def is_plan_path(path: str, own: Mapping[str, object] = NO_TABLES) -> bool:
    """Return whether a markdown file is where repositories keep plans by convention; `path` is relative to the root.

    `own` is the setting `dialects`.
    """
    match = find_dialect(path, own)
    if match is None:
        return False
    dialect = match.dialect
    *parts, name = match.below.split("/")
    if match.directory == path or (parts and parts[0] == ".."):
        return True
    if dialect.plan_file:
        return name == dialect.plan_file and len(parts) == (2 if parts[:1] == [dialect.archive] else 1)
    while len(parts) > 1 and not parts[-1].strip("0123456789-_."):
        parts.pop()
    if parts and parts[-1].lower() in STATES:
        parts.pop()
    return not parts or dialect.has_subdirectories


def is_plans_directory_name(directory: str) -> bool:
    """Return whether a directory's name suggests that it contains plans."""
    return not NAME_WORDS.isdisjoint(os.path.basename(directory).lower().replace("_", "-").strip(".").split("-"))


def existing_directories(base: str) -> list[str]:
    """Return the conventional directories, and the plans that are single files, that exist below a base, relative to it.

    The directory of a tool that is set up counts, too. This needs no walk, so it is cheap enough for `new`.
    """
    markers = {dialect.all_directories[0]: dialect.marker for dialect in load_dialects() if dialect.marker}
    names = [name for dialect in load_dialects() for name in (*dialect.all_directories, *dialect.files)]
    return [
        name
        for name in (*names, *FINISHED_DIRECTORIES)
        if any([os.path.exists(os.path.join(base, path)) for path in (name, markers.get(name, name))])
    ]


def tool_directories(base: str) -> list[str]:
    """Return the plans directory of each tool that is set up in a directory, relative to it."""
    return [
        directory
        for dialect in load_dialects()
        if dialect.tool
        for directory in dialect.all_directories[:1]
        if os.path.exists(os.path.join(base, dialect.marker or directory))
    ]


def plan_files_regex() -> str:
    """Return a verbose regular expression for the paths of plans in these directories, for pre-commit's `files`.

    Paths are relative to the repository root. Hooks skip matches that are not plans, so it may be generous.
    """
    dialects = [dialect for dialect in load_dialects() if not dialect.plan_file]
    directories = [directory for dialect in dialects for directory in dialect.directories]
    patterns = [_escaped(directory) for directory in (*directories, *FINISHED_DIRECTORIES)]
    # A longer path that ends in a shorter one adds nothing, because the pattern starts anywhere.
    patterns = [pattern for pattern in patterns if not any([pattern.endswith(f"/{shorter}") for shorter in patterns])]
    folder = r"(?!artifacts/)[^/.][^/]*"
    lines = [
        "(?x)^(?:",
        "  (?:.*/)?(?:",
        *[f"    {'|' if index else ''}{pattern}" for index, pattern in enumerate(patterns)],
        "  )",
        f"  |{'|'.join([_escaped(directory) for dialect in dialects for directory in dialect.root_directories])}",
        ")",
        f"(?:/(?:{'|'.join(STATES)})(?:/[0-9_.-]+){{0,3}})?/",
        "(?:",
        rf"  (?!(?i:{non_plan_names_regex()})\.md$)[^/.][^/]*",
        rf"  |(?P<own>{folder})/(?:[^/.][^/]*[-_])?(?P=own)",
        f"  |{folder}/(?i:{_PLAN_FILE})",
        r")\.md$",
        *[f"|^{pattern}$" for pattern in _own_file_patterns()],
    ]
    return "\n".join(lines)


def _own_file_patterns() -> Iterator[str]:
    """Yield a regular expression for each dialect whose plans have a certain file name."""
    for dialect in load_dialects():
        if dialect.plan_file:
            roots = [rf"(?:.*/)?{_escaped(directory)}" for directory in dialect.directories]
            roots += [_escaped(directory) for directory in dialect.root_directories]
            archive = f"(?:{_escaped(dialect.archive)}/)?" if dialect.archive else ""
            yield rf"(?:{'|'.join(roots)})/{archive}[^/.][^/]*/{_escaped(dialect.plan_file)}"
        yield from [_escaped(file) for file in dialect.files]


def _escaped(path: str) -> str:
    return path.replace(".", r"\.")
