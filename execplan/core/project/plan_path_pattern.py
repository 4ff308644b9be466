"""Regular expression for the paths of plans, used by hooks, which see paths but no project."""

from __future__ import annotations

import re

from execplan.core.project.project import Project
from execplan.core.project.project_discovery import with_nested_projects
from execplan.core.project.project_settings import FOLDER_LAYOUT, non_plan_names_regex

_NAME_REGEX = "[^/.][^/]*"


def plan_paths_regex(project: Project) -> str:
    """Return an expression that matches the paths of plans, relative to the root, including nested projects."""
    patterns = [_project_regex(member, index) for index, member in enumerate(with_nested_projects(project))]
    patterns += [
        re.escape(member.display_path(file)) for member in with_nested_projects(project) for file in member.files
    ]
    return f"^{patterns[0]}$" if len(patterns) == 1 else f"^(?:{'|'.join(patterns)})$"


def _project_regex(project: Project, number: int) -> str:
    """Return the expression for one project; `number` makes its group names unique."""
    days = "(?:/[0-9_.-]+){0,3}" if "{" in project.settings.archive + project.settings.superseded else ""
    folders = {re.escape(project.display_path(folder)) + days for folder in project.archives} | {
        re.escape(project.display_path(project.plans))
    }
    if project.is_flat:
        file = rf"(?!(?i:{non_plan_names_regex()})\.md$){_NAME_REGEX}\.md"
    elif project.settings.layout == FOLDER_LAYOUT:
        file = rf"(?P<own{number}>{_NAME_REGEX})/(?:{_NAME_REGEX})?(?P=own{number})\.md"
    else:
        file = f"{_NAME_REGEX}/{re.escape(project.settings.layout)}"
    return f"(?:{'|'.join(sorted(folders))})/{file}"
