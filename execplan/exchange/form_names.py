"""The names of the forms that plans are exported to and imported from, with the modules in `forms`."""

from __future__ import annotations

from typing import Final

WRITERS: Final = {
    "markdown": "markdown",
    "json": "json_form",
    "html": "html",
    "docx": "docx",
    "github-issues": "github_issues",
    "backlog": "backlog",
    "openspec": "openspec",
    "superpowers": "superpowers",
}
"""The module that writes each form."""
READERS: Final = {
    "json": "json_form",
    "beads": "beads",
    "task-master": "task_master",
    "github-issues": "github_issues",
    "jira": "jira",
    "linear": "linear",
    "org": "org_mode",
    "todo-txt": "todo_txt",
}
"""The module that reads each form, in the order in which they are tried on a file."""
DIRECTORY_FORMS: Final = ("backlog", "openspec")
"""Forms that consist of several files."""
COMPLETE_FORMS: Final = ("json",)
"""Forms that hold everything, also what only execplan reads."""
BINARY_FORMS: Final = ("docx",)
