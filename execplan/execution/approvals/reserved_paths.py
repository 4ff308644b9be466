"""Paths reserved for Git or execplan: a step that writes there cannot be approved."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.core.project.project import Project

STATE = "execplan's state"
EVIDENCE = "execplan's execution evidence"
SIGNERS = "execplan's list of signers"
_TOOL_PATHS = {
    "/.agent/execplan.toml/": "execplan's settings file",
    "/.agent/allowed_signers/": SIGNERS,
    "/.agent/revoked_signers/": SIGNERS,
    "/.agent/.state/": STATE,
}
"""Reserved path parts of every project, not only the plan's own. With Git, the state is in `.git`."""
_EVIDENCE_NAMES = frozenset(("execution-plan.json", "approvals", "ledger.jsonl", "runs", "checks", "enhanced.json"))


def protection_reason(project: Project, path: str) -> str:
    """Return why a path from the root is reserved for Git or execplan, in any letter case; empty if it is not."""
    return make_protection_check(project)(path)


def make_protection_check(project: Project) -> Callable[[str], str]:
    """Return a function that finds the reason for many paths of a project."""
    artifact_dirs = [project.artifacts_dir("", archived=archived) for archived in (False, True)]
    parents = [os.path.relpath(directory, project.root).casefold().partition("/{")[::2] for directory in artifact_dirs]
    evidence_dirs = [(f"{parent}/", bool(date_part)) for parent, date_part in parents]
    linked_prefixes = [
        f"{os.path.relpath(directory, os.path.realpath(project.root)).casefold()}/"
        for directory in _linked_artifact_dirs(project)
    ]

    def reason_for(path: str) -> str:
        folded_path = path.casefold()  # loops without generators: this is called for each file of the repository
        if ".git" in folded_path and ".git" in folded_path.split("/"):
            return "git's own"
        for part, reason in _TOOL_PATHS.items():
            if part in f"/{folded_path}/":
                return reason
        for prefix, is_dated in evidence_dirs:
            if folded_path.startswith(prefix):
                names = folded_path[len(prefix) :].split("/")
                if not _EVIDENCE_NAMES.isdisjoint(names[1:] if is_dated else names[1:2]):  # dated ones are deeper
                    return EVIDENCE
        for prefix in linked_prefixes:
            if folded_path.startswith(prefix) and folded_path[len(prefix) :].partition("/")[0] in _EVIDENCE_NAMES:
                return EVIDENCE
        return ""

    return reason_for


def _linked_artifact_dirs(project: Project) -> list[str]:
    """Return the real directories inside the repository of artifacts that are reached through a link."""
    real_directories, root = set(), os.path.realpath(project.root)
    for archived in (False, True):
        parent = project.artifacts_dir("", archived=archived).rstrip("/").partition("/{")[0]
        real_parent = os.path.realpath(parent)
        try:
            with os.scandir(real_parent) as entries:
                child_paths = [
                    dir_entry.path
                    for dir_entry in entries
                    if real_parent != os.path.normpath(parent) or dir_entry.is_symlink()
                ]
        except OSError:
            continue
        real_directories |= {os.path.realpath(child) for child in child_paths if os.path.isdir(child)}
    return sorted([directory for directory in real_directories if directory.startswith(f"{root}/")])


def existing_tool_paths(project: Project) -> list[str]:
    """Return the absolute paths of existing execplan files in the repository, without plans and links."""
    from execplan.core.files.tree_walk import walk_tree

    paths = [os.path.join(project.base, name.strip("/")) for name in _TOOL_PATHS]
    for archived in (False, True):
        parent, _, date_part = project.artifacts_dir("", archived=archived).rstrip("/").partition("/{")
        for directory, subdirectories, files in walk_tree(parent):
            is_top = directory == parent
            names = _EVIDENCE_NAMES.intersection([*subdirectories, *files]) if date_part or not is_top else set()
            paths += [os.path.join(directory, name) for name in sorted(names)]
            subdirectories[:] = [name for name in subdirectories if name not in names] if date_part or is_top else []
    paths += [
        os.path.join(directory, name)
        for directory in _linked_artifact_dirs(project)
        for name in sorted(_EVIDENCE_NAMES)
    ]
    return [path for path in dict.fromkeys(paths) if os.path.lexists(path) and not os.path.islink(path)]
