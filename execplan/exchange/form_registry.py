"""The forms that plans are exported to and imported from, and the modules in `forms` that write and read them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from execplan.core.errors import ExecplanError
from execplan.core.plan.plan_recognition import is_plan
from execplan.exchange.exchange_plan import normalize_tasks

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.exchange.exchange_plan import ExchangePlan, ExportedFiles
    from execplan.exchange.source_file import SourceFile

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


def write_form(form: str, parsed: ParsedPlan, plan: ExchangePlan) -> ExportedFiles:
    """Return the files of a plan in a form."""
    files: ExportedFiles = _load(WRITERS[form]).write(parsed, plan)
    return files


def read_form(form: str, source: SourceFile) -> ExchangePlan:
    """Return what a file in a form says; raises ExecplanError."""
    plan: ExchangePlan = _load(READERS[form]).read(source)
    return plan._replace(tasks=normalize_tasks(plan.tasks))


def recognize(source: SourceFile) -> str:
    """Return the form of a file by its content; raises ExecplanError if it has none that is known."""
    for form, module in READERS.items():
        if _load(module).recognizes(source):
            return form
    if _is_markdown_plan(source):
        hint = "add it as it is: execplan new --from FILE; or edit it where it is: execplan explain dialects"
        raise ExecplanError("unknown-form", f"{source.name} is a plan in Markdown, which needs no import", hint=hint)
    raise ExecplanError(
        "unknown-form", f"{source.name} is in no form that is known", hint=f"name it with --from: {', '.join(READERS)}"
    )


def _is_markdown_plan(source: SourceFile) -> bool:
    from execplan.core.plan import reader
    from execplan.core.text.text_lines import Text

    if not source.name.casefold().endswith(".md"):
        return False
    try:
        return is_plan(reader.read_text(Text.from_str(source.text)))
    except ExecplanError:
        return False


def _load(module: str) -> Any:
    return import_module(f"execplan.exchange.forms.{module}")
