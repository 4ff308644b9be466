"""Search for plans anywhere in a repository, before it has settings."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.plan import outline, reader
from execplan.core.project import project_settings
from execplan.core.project.directory_tree import walk_repository
from execplan.core.project.plan_directories import is_plan_path

_PROGRESS_HEADING, _LIVING_HEADING = [
    re.compile(rb"^[#*_` \t]*(?:%b)" % heading_pattern, re.IGNORECASE | re.MULTILINE)
    for heading_pattern in (b"progress", b"decision|sur?prises|outcomes")
]
"""Patterns for headings of a plan, so that most files need not be parsed to reject them."""
_MIN_SECTIONS = 3
"""Minimum number of the twelve sections in a plan; the smallest plan of the census has as many."""


def find_markdown(root: str) -> list[str]:
    """Return the paths of the Markdown files below the root, relative to the root."""
    return [
        os.path.join(directory, name)[len(root.rstrip(os.sep)) + 1 :]  # a tenth of the time of relpath
        for directory, _, file_names in walk_repository(root)
        for name in file_names
        if name.endswith(".md")
    ]


def is_plan_file(root: str, path: str, own: Mapping[str, object]) -> bool:
    """Return whether a file is a plan: any form is enough where plans are by convention, elsewhere only the format.

    `own` is the setting `dialects`.
    """
    full_path = os.path.join(root, path)
    if not project_settings.is_plan_name(os.path.basename(path)) or os.path.islink(full_path):
        return False
    try:
        data = file_access.read(full_path, reader.MAX_BYTES)[0]
        return not reader.read(data).is_document if is_plan_path(path, own) else is_plan_text(data)
    except ExecplanError:
        return False


def is_plan_text(data: bytes) -> bool:
    """Return whether a text has Progress, another living section, and at least three of the twelve sections."""
    try:
        if not (_PROGRESS_HEADING.search(data) and _LIVING_HEADING.search(data)):
            return False
        names = {section.name for section in reader.read(data).sections}
    except ExecplanError:
        return False
    living_names = names.intersection(outline.LIVING)
    return outline.PROGRESS in living_names and len(living_names) > 1 and len(names - {None}) >= _MIN_SECTIONS
