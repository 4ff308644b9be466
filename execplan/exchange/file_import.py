"""Import of a file: a new plan, or an update of the one that it became before. The last import is kept as an artifact."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import NamedTuple

from execplan.agents.capture.plan_assembly import SECRET_CODE, fill_template
from execplan.core import features
from execplan.core.archive.attachments import attach_files
from execplan.core.clock import now
from execplan.core.edits.bulk_operation import BulkOperation
from execplan.core.edits.plan_writer import EditResult, WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.plan import outline, reader
from execplan.core.plan.line_grammar import is_empty_text
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_change import ChangeBuilder
from execplan.core.plan.plan_lookup import normalize_text
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.project.slug import slug
from execplan.core.scaffold import plan_creation, plan_draft, plan_templates
from execplan.core.scaffold.plan_creation import CreatedPlan
from execplan.core.text.message_parts import format_count
from execplan.exchange import import_records
from execplan.exchange.chained_changes import chain_changes
from execplan.exchange.exchange_plan import MARKS, ExchangePlan, keyed_tasks, list_lines
from execplan.exchange.field_values import one_line, read_error
from execplan.exchange.import_change import ImportReport, build_import, match_tasks
from execplan.exchange.import_records import ImportRecord
from execplan.exchange.source_file import MAX_TASKS, SourceFile


class UpdatedPlan(NamedTuple):
    """The result of a second import."""

    ref: PlanRef
    artifacts: str
    """Path of the artifacts directory from the repository root."""
    edit: EditResult
    report: ImportReport


def create_plan(
    project: Project, source: SourceFile, form: str, imported: ExchangePlan, title: str, options: WriteOptions
) -> CreatedPlan:
    """Create a plan from an import, with a record of it, as one operation; raises ExecplanError."""
    ensure_importable(source, imported)
    project = project._replace(exists=True)
    title = plan_creation.validate_title(title or _title(source, imported))
    template = plan_templates.find_template(project, plan_templates.execplan_template(project)).name

    def content(plan_id: str) -> tuple[bytes, tuple[str, ...]]:
        template_data, warnings = plan_draft.render_plan(project, template, plan_id, title, "", ())
        data = fill_template(template_data.decode(), _section_lines(imported)).encode()
        if len(data) > reader.MAX_BYTES:
            raise reader.too_large_error(len(data))
        tasks = [(task.mark, task.text) for task in reader.read(data).tasks]
        if tasks != [(MARKS[task.state], task.full_text) for task in imported.tasks]:
            raise ExecplanError(
                "would-break", f"{source.name}: its text would change the structure of the plan; nothing was written"
            )
        return data, warnings

    bulk = BulkOperation()
    options = options._replace(bulk=bulk)
    name = plan_creation.plan_name(project, slug(title) or "import")
    created = plan_creation.file_plan(project, name, content, title, options)
    if options.dry_run:
        return created
    path = os.path.join(project.root, created.path)
    ref = PlanRef(created.id, path, archived=False)
    record = ImportRecord(form, source.name, 1, imported)
    _attach(project, ref, record, options)
    warnings = created.warnings + bulk.commit("import", f"import {source.name}")
    return created._replace(
        data=plan_store.read_bytes(project, path), commit=bulk.commit_of(project), warnings=warnings
    )


def _title(source: SourceFile, imported: ExchangePlan) -> str:
    """Return the title of a new plan: that of the import, if it says something."""
    title = one_line(imported.title)
    return f"Tasks of {source.name}" if is_empty_text(title) else title[: plan_creation.MAX_TITLE_LENGTH]


def update_plan(
    project: Project, ref: PlanRef, source: SourceFile, form: str, imported: ExchangePlan, options: WriteOptions
) -> UpdatedPlan:
    """Update a plan to an import, with a record of it, as one operation; raises ExecplanError."""
    ensure_importable(source, imported)
    records = import_records.read_records(project, ref)
    base = import_records.find_base(records, form, source.name, imported)
    report = ImportReport()
    change = build_import(base.plan if base is not None else None, imported, source.name, now(), report)
    if base is None or base.plan.tasks != imported.tasks:
        base = ImportRecord(form, source.name, 1 + max([record.number for record in records], default=0), imported)
    if not options.dry_run:
        _remove_temporary_plan(project, os.path.dirname(ref.path))
    edit = _attach(project, ref, base, options, change)
    artifacts = project.display_path(project.plan_artifacts_dir(ref.path, archived=ref.archived))
    return UpdatedPlan(ref, artifacts, edit, report)


def _remove_temporary_plan(project: Project, directory: str) -> None:
    """Remove the temporary file that an import left which was killed while it created the plan."""
    path = os.path.join(directory, plan_creation.TEMPORARY_NAME)
    if os.path.lexists(path):
        with project_state.lock(project, "project", "import"), contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def find_plan(
    project: Project, source: SourceFile, form: str, imported: ExchangePlan, title: str | None
) -> PlanRef | None:
    """Return the open plan that the file was imported into before, or None: the one with most of its tasks.

    With a title, only a plan that has it counts.

    A plan that has all of them is one, too: an import may have been interrupted before it was recorded.
    """
    tasks = keyed_tasks(imported.tasks)
    scores: list[tuple[int, PlanRef]] = []
    for ref in plan_store.refs(project):
        if title is not None and not _has_title(project, ref, title):
            continue
        base = import_records.find_base(import_records.read_records(project, ref), form, source.name, imported)
        if base is not None:
            scores.append((len(keyed_tasks(base.plan.tasks).keys() & tasks.keys()), ref))
        elif tasks and (plan := _read_plan(project, ref)) is not None and len(match_tasks(plan, tasks)) == len(tasks):
            scores.append((len(tasks), ref))
    best = [ref for score, ref in scores if score == max([score for score, _ in scores])]
    if len(best) > 1:
        raise ExecplanError(
            "ambiguous-plan",
            f"{source.name} was imported into several plans",
            hint="name one: execplan import FILE -p PLAN",
            candidates=[ref.id for ref in best],
        )
    return best[0] if best else None


def _has_title(project: Project, ref: PlanRef, title: str) -> bool:
    plan = _read_plan(project, ref)
    return plan is not None and normalize_text(plan.title or "") == normalize_text(title)


def _read_plan(project: Project, ref: PlanRef) -> ParsedPlan | None:
    try:
        return plan_store.parse(project, plan_store.read_bytes(project, ref.path))
    except ExecplanError:
        return None


def ensure_importable(source: SourceFile, imported: ExchangePlan) -> None:
    """Raise ExecplanError if an import has no tasks, or too many, or a secret in one of them."""
    if not imported.tasks:
        raise read_error(
            source.name, "", "it has no tasks", "export it with all its tasks, or name another form with --from"
        )
    if len(imported.tasks) > MAX_TASKS:
        count = format_count(len(imported.tasks), "task")
        raise read_error(source.name, "", f"{count}; a plan has at most {MAX_TASKS:,}", "export fewer of them")
    for task in _suspected(imported):
        raise ExecplanError(
            "lint-errors",
            f"{source.name}: {task} seems to contain a secret; nothing was written",
            hint="remove it there, and import the file again; or see: execplan explain EP410",
            data={"findings": []},
        )


def _suspected(imported: ExchangePlan) -> list[str]:
    """Return the names of tasks in which the rule against secrets finds one; their texts are not for the terminal."""
    lines: list[str] = ["# Import", ""]
    labels: dict[int, str] = {}
    for number, task in enumerate(imported.tasks, 1):
        start = len(lines)
        lines += list_lines([task._replace(depth=0)], with_groups=False)
        labels |= dict.fromkeys(range(start, len(lines)), f"task {task.id or number}")
    findings = features.load(features.DRAFT_ERRORS)(reader.parse("\n".join(lines) + "\n"))
    return [labels.get(finding.line - 1, "a task") for finding in findings if finding.code == SECRET_CODE]


def _section_lines(imported: ExchangePlan) -> dict[str, list[str]]:
    """Return the lines of the sections of a new plan, by their names; a section without a counterpart is context."""
    sections: dict[str, list[str]] = {}
    if imported.purpose:
        sections[outline.PURPOSE] = imported.purpose.split("\n")
    sections[outline.PROGRESS] = list_lines(imported.tasks)
    for section in imported.sections:
        name = outline.canonical_name(section.title) if section.title else None
        if name == outline.PURPOSE or section.text == imported.purpose:
            continue
        heading = [f"### {section.title}", ""] if name is None and section.title else []
        target = name or outline.CONTEXT
        lines = [*heading, *section.text.split("\n")]
        earlier = sections.get(target, [])
        sections[target] = [*earlier, *([""] if earlier else []), *lines]
    return {name: sections[name] for name in outline.NAMES if name in sections}


def _attach(
    project: Project,
    ref: PlanRef,
    record: ImportRecord,
    options: WriteOptions,
    change: ChangeBuilder | None = None,
) -> EditResult:
    """Write the record of an import to the artifacts of its plan, together with another change; both may be there already."""
    with tempfile.TemporaryDirectory(prefix="execplan-") as directory:
        path = os.path.join(directory, import_records.file_name(record))
        with open(path, "wb") as file:
            file.write(import_records.dump(record))
        edit, attachments = attach_files(
            project,
            ref,
            [path],
            import_records.DESCRIPTION + record.source,
            options,
            create=True,
            extend=lambda mention: chain_changes(change, mention) if change is not None else mention,
            command="import",
        )
    return edit._replace(changed=edit.changed or any([attachment.copied for attachment in attachments]))
