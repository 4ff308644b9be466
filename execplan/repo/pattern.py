"""Where plans lie, as a regular expression: what hooks go by, who know paths and no home."""

from __future__ import annotations

import re

from execplan.repo.homes import with_nested_projects
from execplan.repo.settings import FOLDER_LAYOUT, NON_PLAN_FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project

_NAME_REGEX = "[^/.][^/]*"


def plan_paths_regex(home: Project) -> str:
    """The expression that finds itself in the paths of plans, counted from the root, of homes below too."""
    patterns = [_project_regex(member, index) for index, member in enumerate(with_nested_projects(home))]
    return f"^{patterns[0]}$" if len(patterns) == 1 else f"^(?:{'|'.join(patterns)})$"


def _project_regex(home: Project, number: int) -> str:
    """The expression of one home; its number tells its groups from those of others."""
    days = "(?:/[0-9_.-]+){0,3}" if "{" in home.settings.archive + home.settings.superseded else ""
    folders = {re.escape(home.display_path(folder)) + days for folder in home.archives} | {re.escape(home.display_path(home.plans))}
    if home.is_flat:
        excluded_names = "|".join(sorted([re.escape(name.removesuffix(".md")) for name in NON_PLAN_FILES]))
        file = rf"(?!(?i:{excluded_names})\.md$){_NAME_REGEX}\.md"
    elif home.settings.layout == FOLDER_LAYOUT:
        file = rf"(?P<own{number}>{_NAME_REGEX})/(?:{_NAME_REGEX})?(?P=own{number})\.md"
    else:
        file = f"{_NAME_REGEX}/{re.escape(home.settings.layout)}"
    return f"(?:{'|'.join(sorted(folders))})/{file}"
