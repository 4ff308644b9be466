"""The files and changes of a repository for a program that drafts a plan, within a token budget."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from execplan.context.context_pack import PLAN_TYPES, PRUNE
from execplan.context.gathering import file_units
from execplan.context.gathering.file_lookup import list_files
from execplan.context.gathering.pack_gathering import GatherOptions, gather_pack
from execplan.context.keywords import count_shared_words, extract_keywords
from execplan.context.pack_formats import FORMATS
from execplan.context.relevance import score_units
from execplan.context.relevance_selection import select_by_relevance
from execplan.context.task_intent import Intent
from execplan.context.token_budget import Allocation, BudgetShares
from execplan.context.token_counter import make_counter
from execplan.core.errors import ExecplanError
from execplan.core.git.git_query import GIT_UNUSABLE_CODES
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.secrets.secret_files import is_secret_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.project.project import Project

_MAX_NAMED_FILES: Final = 20
"""Maximum number of files that are read because their paths have words of the request."""
_OVERVIEW_NAMES: Final = ("README.md", "README.rst", "README", "AGENTS.md", "CONTRIBUTING.md", "Makefile")
"""Files in the root that describe a repository."""
_LIST_SHARE: Final = 0.25
"""Part of the budget for the list of files."""


def gather_context(project: Project, skeleton: ParsedPlan, plan_path: str, request: str, budget: int) -> str:
    """Return what `context` gathers for a plan that is not written yet, without the plan itself.

    These are the files that the request names, uncommitted changes, files that describe the repository or whose paths
    have words of the request, and the list of all files. Files that git ignores and files for secrets are not read.
    Raises ExecplanError if a file can't be read.
    """
    ref = PlanRef(os.path.basename(plan_path).removesuffix(".md"), plan_path, archived=False)
    gathered = gather_pack(project, ref, skeleton, GatherOptions())
    units = [unit for unit in gathered.pack.units if unit.type not in PLAN_TYPES]
    paths = _list_paths(project)
    known_paths = {unit.path for unit in units}
    extra_paths = [path for path in _relevant_paths(paths, request) if path not in known_paths]
    units += file_units.read_files(project, extra_paths).units
    pack = gathered.pack._replace(task=request, purpose=request, units=tuple(units))
    counter, pack_format = make_counter(), FORMATS["markdown"]
    file_list = _format_list(paths, int(budget * _LIST_SHARE * 4))
    allocation = Allocation(0, max(1, budget - counter.count(file_list)), 0, BudgetShares(0, 0))
    items = select_by_relevance(pack, score_units(pack, Intent("planning", 1.0)), allocation, counter, pack_format, 0.0)
    texts = [pack_format.render_unit(item.unit, item.text, item.action) for item in items if item.action != PRUNE]
    return f"## Files of the repository\n\n{file_list}\n\n{''.join(texts)}".rstrip() + "\n"


def _list_paths(project: Project) -> list[str]:
    """Return the paths of the repository's files, those near the root first; none if git can't be used."""
    try:
        paths = list_files(project).paths
    except ExecplanError as error:
        if error.code not in GIT_UNUSABLE_CODES:
            raise
        return []
    return sorted([path for path in paths if not is_secret_file(path)], key=lambda path: (path.count("/"), path))


def _relevant_paths(paths: Sequence[str], request: str) -> list[str]:
    """Return the files that describe the repository, and those with most words of the request in their paths."""
    keywords = extract_keywords(request)
    counts = {path: count_shared_words(_path_words(path), keywords) for path in paths}
    matches = sorted([path for path in paths if counts[path]], key=lambda path: -counts[path])
    return list(dict.fromkeys([*[name for name in _OVERVIEW_NAMES if name in counts], *matches[:_MAX_NAMED_FILES]]))


def _path_words(path: str) -> str:
    return "".join([char if char.isalnum() else " " for char in path])


def _format_list(paths: Sequence[str], max_chars: int) -> str:
    """Return one path per line, up to a number of characters; a last line counts the others."""
    lines: list[str] = []
    length = 0
    for path in paths:
        line = path.encode("utf-8", "backslashreplace").decode()
        length += len(line) + 1
        if length > max_chars:
            return "\n".join([*lines, f"and {len(paths) - len(lines):,} more"])
        lines.append(line)
    return "\n".join(lines)
