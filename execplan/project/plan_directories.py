"""Directories in which repositories keep plans by convention, shared by `init`, `new` and the pre-commit hook."""

from __future__ import annotations

import os

from execplan.project.project_settings import non_plan_names_regex

DIRECTORIES = (
    ".agent/execplans",
    ".agent/exec-plans",
    ".agent/exec_plans",
    ".agent/plans",
    ".agents/execplans",
    ".agents/exec-plans",
    ".agents/exec_plans",
    ".agents/plans",
    "agent-docs/exec-plans",
    "agent-docs/execplans",
    "agent-docs/exec_plans",
    "agent-docs/plans",
    "docs/exec-plans",
    "docs/execplans",
    "docs/exec_plans",
    "docs/plans",
    "docs/superpowers/plans",
    ".claude/plans",
    ".cursor/plans",
    "exec-plans",
    "execplans",
    "exec_plans",
    "plans",
    ".plans",
)
"""Plans directories relative to the repository root or to a package in it; the last two only at the root.

Each may have a subdirectory per state (`STATES`), and a directory per plan.
"""
PLAN_PER_DIRECTORY = ("openspec/changes", "openspec/changes/archive", ".kiro/specs", "specs")
"""Directories with a directory for each plan, whose tasks are in `TASKS_FILE`; other files there belong to the plan."""
TASKS_FILE = "tasks.md"
AT_ROOT = ("plans", ".plans")
"""Names so general that they rarely contain ExecPlans except at the repository root."""
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


def is_plan_path(path: str) -> bool:
    """Return whether a markdown file is where repositories keep plans by convention; `path` is relative to the root."""
    directory, name = os.path.split(path)
    parts = directory.split("/")
    if name == TASKS_FILE and "/".join(parts[:-1]) in PLAN_PER_DIRECTORY:
        return True
    while len(parts) > 1 and not parts[-1].strip("0123456789-_."):
        parts.pop()
    if len(parts) > 1 and parts[-1].lower() in STATES:
        parts.pop()
    directory = "/".join(parts)
    is_nested = directory.endswith(tuple([f"/{plans}" for plans in DIRECTORIES if plans not in AT_ROOT]))
    return directory in DIRECTORIES or is_nested


def is_plans_directory_name(directory: str) -> bool:
    """Return whether a directory's name suggests that it contains plans."""
    return not NAME_WORDS.isdisjoint(os.path.basename(directory).lower().replace("_", "-").strip(".").split("-"))


def existing_directories(base: str) -> list[str]:
    """Return the conventional directories that exist below a base, relative to it.

    This needs no walk, so it is cheap enough for `new`.
    """
    return [
        directory for directory in (*DIRECTORIES, *FINISHED_DIRECTORIES) if os.path.isdir(os.path.join(base, directory))
    ]


def plan_files_regex() -> str:
    """Return a verbose regular expression for the paths of plans in these directories, for pre-commit's `files`.

    Paths are relative to the repository root. Hooks skip matches that are not plans, so it may be generous.
    """
    patterns = [_escaped(directory) for directory in (*DIRECTORIES, *FINISHED_DIRECTORIES) if directory not in AT_ROOT]
    # A longer path that ends in a shorter one adds nothing, because the pattern starts anywhere.
    patterns = [pattern for pattern in patterns if not any([pattern.endswith(f"/{shorter}") for shorter in patterns])]
    folder = r"(?!artifacts/)[^/.][^/]*"
    lines = [
        "(?x)^(?:",
        "  (?:.*/)?(?:",
        *[f"    {'|' if index else ''}{pattern}" for index, pattern in enumerate(patterns)],
        "  )",
        f"  |{'|'.join([_escaped(directory) for directory in AT_ROOT])}",
        ")",
        f"(?:/(?:{'|'.join(STATES)})(?:/[0-9_.-]+){{0,3}})?/",
        "(?:",
        rf"  (?!(?i:{non_plan_names_regex()})\.md$)[^/.][^/]*",
        rf"  |(?P<own>{folder})/(?:[^/.][^/]*[-_])?(?P=own)",
        f"  |{folder}/(?i:{_PLAN_FILE})",
        r")\.md$",
    ]
    return "\n".join(lines)


def _escaped(path: str) -> str:
    return path.replace(".", r"\.")
