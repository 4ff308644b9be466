"""The directories in which repositories keep plans by convention: one list for `init`, `new` and the pre-commit hook."""

from __future__ import annotations

import os

from execplan.project.project_settings import NON_PLAN_FILES

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
    "exec-plans",
    "execplans",
    "exec_plans",
    "plans",
    ".plans",
)
"""Plans directories, relative to the repository root or to a package in it; the last two at the root only.

Each may have a subdirectory per state (STATES), and a directory per plan.
"""
AT_ROOT = ("plans", ".plans")
"""Names so general that elsewhere in a repository they rarely hold ExecPlans."""
FINISHED_DIRECTORIES = (".agent/done", ".agents/done")
"""Directories of finished plans beside the plans directory rather than in it."""
ACTIVE = ("active", "current", "open", "in-progress", "in_progress", "wip", "todo", "doing")
FINISHED = ("completed", "complete", "done", "archive", "archived", "finished", "closed")
GIVEN_UP = ("superseded", "obsolete", "abandoned", "cancelled", "rejected")
ON_HOLD = ("deferred", "backlog")
STATES = (*ACTIVE, *FINISHED, *GIVEN_UP, *ON_HOLD)
NAME_WORDS = frozenset(("plan", "plans", "execplan", "execplans", "planning"))
"""Words in the name of a plans directory."""
_PLAN_FILE = "(?:exec[-_]?)?plan"
"""The file of a plan that has a directory of its own, where it is not named like the directory."""


def is_plans_directory_name(directory: str) -> bool:
    """Whether the name of a directory says that it holds plans."""
    return not NAME_WORDS.isdisjoint(os.path.basename(directory).lower().replace("_", "-").strip(".").split("-"))


def existing_directories(base: str) -> list[str]:
    """The conventional directories that exist under a directory, from there; without a walk, so cheap enough for `new`."""
    return [
        directory for directory in (*DIRECTORIES, *FINISHED_DIRECTORIES) if os.path.isdir(os.path.join(base, directory))
    ]


def plan_files_regex() -> str:
    """A verbose regular expression for the paths of plans in these directories, as pre-commit's `files` takes it.

    Paths are relative to the repository root. Hooks skip matches that are not plans, so it may be generous.
    """
    patterns = [_escaped(directory) for directory in (*DIRECTORIES, *FINISHED_DIRECTORIES) if directory not in AT_ROOT]
    # A longer path that ends in a shorter one adds nothing: the pattern begins anywhere.
    patterns = [pattern for pattern in patterns if not any([pattern.endswith(f"/{shorter}") for shorter in patterns])]
    excluded_names = "|".join(sorted([name.removesuffix(".md") for name in NON_PLAN_FILES]))
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
        rf"  (?!(?i:{excluded_names})\.md$)[^/.][^/]*",
        rf"  |(?P<own>{folder})/(?:[^/.][^/]*[-_])?(?P=own)",
        f"  |{folder}/(?i:{_PLAN_FILE})",
        r")\.md$",
    ]
    return "\n".join(lines)


def _escaped(path: str) -> str:
    return path.replace(".", r"\.")
