"""Writing and reading plans in the forms of other programs, by the modules in `forms`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from execplan.core.errors import ExecplanError
from execplan.core.plan.plan_recognition import is_plan
from execplan.exchange.exchange_plan import normalize_tasks
from execplan.exchange.form_names import READERS, WRITERS

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.exchange.exchange_plan import ExchangePlan, ExportedFiles
    from execplan.exchange.source_file import SourceFile


def write_form(form: str, parsed: ParsedPlan, plan: ExchangePlan) -> ExportedFiles:
    """Return the files of a plan in a form."""
    files: ExportedFiles = _load(WRITERS[form]).write(parsed, plan)
    return files


def read_form(form: str, source: SourceFile) -> ExchangePlan:
    """Return what a file in a form says; raises ExecplanError."""
    plan: ExchangePlan = _load(READERS[form]).read(source)
    return plan._replace(tasks=normalize_tasks(plan.tasks))


def recognize(source: SourceFile) -> str:
    """Return the form of a file by its content; raises ExecplanError if it has none that is known, or isn't valid JSON."""
    for form, module in READERS.items():
        if _load(module).recognizes(source):
            return form
    if _is_markdown_plan(source):
        hint = "add it as it is: execplan new --from FILE; or edit it where it is: execplan explain dialects"
        raise ExecplanError("unknown-form", f"{source.name} is a plan in Markdown, which needs no import", hint=hint)
    source.ensure_valid_json()
    raise ExecplanError(
        "unknown-form",
        f"{source.name} is in none of the forms that import reads",
        hint=f"name it with --from: {', '.join(READERS)}",
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
