"""Output of `compile` for an execution plan from any source: print it, write it to a file, or store it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from execplan.cli.answer import Answer
from execplan.cli.output.steps_output import skipped_line_texts, steps_json, steps_table
from execplan.cli.output.terminal_text import printable_lines
from execplan.core import features
from execplan.core.documents.document_io import document_bytes
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import CHECK_FAILED, ErrorContext, ExecplanError, usage_error
from execplan.core.files import atomic_files, file_access
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef, quote_plan_name
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import ensure_no_link_out
from execplan.core.text.invisible_characters import escape_unprintable
from execplan.core.text.text_lines import digest
from execplan.execution import rare_features
from execplan.execution.annotations.annotated_steps import find_annotated_steps
from execplan.execution.annotations.step_advice import find_step_advice
from execplan.execution.approvals import artifact_store
from execplan.execution.approvals.current_plan import CurrentPlan
from execplan.execution.compile import find_plan_steps
from execplan.execution.evaluation.evaluation_text import describe_risk_counts, skipped_json
from execplan.execution.execution_plan import SCHEMA, ExecutionPlan
from execplan.execution.inference.work_requests import ASKS_FOR_WORK
from execplan.execution.parsed_steps import INFERRED, SkippedLine
from execplan.execution.risk.step_risk import rate_step
from execplan.execution.shell_declaration import shell_use

_WARNING_CODES = ("EP608", "EP610", "EP611")
"""Rules about outside paths, missing tasks and lines that need a shell; the risk of a step is shown with the step."""
_MAX_BYTES = 64 * 1024 * 1024
_IMPORTED_NOTE = "was imported, composed or revised; it is used unchanged"
_SCHEMA_PREFIX_BYTES = 200
"""Number of leading bytes in which a document names its schema."""


class CompileResult(NamedTuple):
    """An execution plan to print or store, with its bytes, the skipped lines and the warnings."""

    document: ExecutionPlan
    data: bytes
    skipped_lines: tuple[SkippedLine, ...] = ()
    warnings: tuple[str, ...] = ()


def compile_warnings(project: Project, ref: PlanRef) -> tuple[str, ...]:
    """Return warnings that don't stop a compile but would stop an evaluation or checking off a task; raises ExecplanError."""
    display_path = project.display_path(ref.path)
    with ErrorContext(display_path):
        plan = plan_store.parse(project, plan_store.read_bytes(project, ref.path))
    findings = find_step_advice(plan, find_annotated_steps(plan))
    warnings = [
        f"{display_path}:{finding.line + 1}: {finding.kind} {finding.message}"
        for finding in findings
        if finding.kind in _WARNING_CODES
    ]
    return (*warnings, *_inferred_shell_warnings(plan, display_path))


def _inferred_shell_warnings(plan: ParsedPlan, display_path: str) -> list[str]:
    """Return one warning for all inferred steps that need a shell to run."""
    uses = [
        (draft, use)
        for draft in find_plan_steps(plan).drafts
        if draft.origin == INFERRED and (use := shell_use(draft.command))
    ]
    if not uses:
        return []
    first, use = uses[0]
    if len(uses) == 1:
        subject, pronoun = f"this line needs a shell to run ({use})", "it"
    else:
        subject, pronoun = f"{len(uses)} inferred steps need a shell to run, this one because of {use}", "them"
    fix = f"`execplan compile --annotate` writes {pronoun} with the attribute `shell`"
    return [f"{display_path}:{first.start + 1}: EP611 {subject}: {fix}"]


def result_from_document(document: ExecutionPlan) -> CompileResult:
    """Build the result for a document that was not compiled from a plan."""
    return CompileResult(document, document_bytes(document))


def document_answer(compile_result: CompileResult, *, as_json: bool) -> Answer:
    """Build an answer with only the document's bytes; in JSON, the document is part of the data."""
    data = {**_result_json(compile_result), "document": compile_result.document.model_dump()} if as_json else {}
    return Answer(data, compile_result.data.decode(), warnings=compile_result.warnings, is_raw=True)


def write_to_file(compile_result: CompileResult, path: str, options: WriteOptions) -> Answer:
    """Write the document to a file, replacing an older execution plan; raises ExecplanError."""
    if options.commit:
        raise usage_error("--commit and --out can't be combined: only stored results are committed")
    ensure_no_link_out(path)
    existing = _read_existing(path)
    if existing != compile_result.data and not options.dry_run:
        if existing is None:
            if not atomic_files.create(os.path.abspath(path), compile_result.data):
                raise file_access.conflict_error(path)
        else:
            atomic_files.replace_if_unchanged(path, existing, compile_result.data)
    changed = existing != compile_result.data
    data = {**_result_json(compile_result), "path": path, "changed": changed, "commit": None}
    text = _result_text(compile_result, _write_lines(path, changed=changed, dry_run=options.dry_run))
    return Answer(data, text, warnings=compile_result.warnings, is_requested=options.dry_run)


def _read_existing(path: str) -> bytes | None:
    """Return a file's content, or None if it is missing; raises ExecplanError if the file is not an execution plan."""
    if not os.path.lexists(path):
        return None
    existing, size = file_access.read(path, _MAX_BYTES)
    if size > _MAX_BYTES or (existing.strip() and SCHEMA.encode() not in existing[:_SCHEMA_PREFIX_BYTES]):
        message = f"{path} exists and is not an execution plan"
        raise ExecplanError("not-a-document", message, hint="use another file, or remove this one")
    return existing


def store_result(
    project: Project,
    ref: PlanRef,
    build_result: Callable[[], CompileResult],
    options: WriteOptions,
    summary: str,
    leading_lines: Sequence[str] = (),
) -> Answer:
    """Store the document among a plan's artifacts, and print `leading_lines` first; raises ExecplanError."""
    results: list[CompileResult] = []

    def build_bytes() -> bytes:
        results[:] = [build_result()]
        return results[0].data

    stored_document = artifact_store.save(project, ref, build_bytes, options, command="compile", summary=summary)
    compile_result = results[0]
    lines = [
        *leading_lines,
        *_write_lines(stored_document.path, changed=stored_document.changed, dry_run=options.dry_run),
    ]
    if stored_document.commit:
        lines.append(f"committed {stored_document.commit[:12]}")
    answer_data = {
        "id": ref.id,
        **_result_json(compile_result),
        "path": stored_document.path,
        "changed": stored_document.changed,
        "commit": stored_document.commit,
    }
    if options.dry_run:
        answer_data["diff"] = stored_document.diff
    name = quote_plan_name(ref.id, project.display_path(ref.path))
    left_change = features.load(rare_features.TRIED_CHANGE_LEFT)(project, ref, compile_result.document)
    lines += [escape_unprintable(left_change)] if left_change else []
    next_command = f"execplan compile {name} --from-diff --restore" if left_change else f"execplan evaluate {name}"
    next_commands = () if options.dry_run else (next_command,)
    warnings = (*compile_result.warnings, *stored_document.warnings)
    diff = stored_document.diff if options.dry_run else ""
    return Answer(
        answer_data,
        _result_text(compile_result, lines, diff),
        warnings=warnings,
        next_commands=next_commands,
        is_requested=options.dry_run,
    )


def store_in_new_plan(
    plans: Sequence[tuple[Project, PlanRef]],
    title: str,
    build_document: Callable[[str], ExecutionPlan],
    options: WriteOptions,
) -> Answer:
    """Store the document for a new plan whose text names the combined plans; raises ExecplanError."""
    from execplan.core.plan_store import plan_selection
    from execplan.core.scaffold import plan_creation

    names = [ref.id for _, ref in plans]
    project = plans[0][0]
    new = plan_creation.create_plan(project, title, f"Run these plans in this order: {', '.join(names)}.", (), options)
    if options.dry_run:
        compile_result = result_from_document(build_document(new.id))
        lines = [f"would create {path}" for path in new.paths]
        data = {
            "id": new.id,
            **_result_json(compile_result),
            "path": f"{new.paths[1]}{artifact_store.PLAN_FILE_NAME}",
            "changed": True,
            "commit": None,
        }
        return Answer({**data, "diff": new.diff}, _result_text(compile_result, lines, new.diff), warnings=new.warnings)
    project, ref = plan_selection.select_plan(project.base, new.id)
    wrote = (f"wrote {new.path}",)
    answer = store_result(
        project, ref, lambda: result_from_document(build_document(ref.id)), options, "compose execution plans", wrote
    )
    return answer._replace(warnings=(*new.warnings, *answer.warnings))


def imported_answer(project: Project, ref: PlanRef, current_plan: CurrentPlan) -> Answer:
    """Build the answer for an imported execution plan, which is used unchanged."""
    compile_result = CompileResult(current_plan.document, current_plan.data)
    data = {"id": ref.id, **_result_json(compile_result), "path": current_plan.path, "changed": False, "commit": None}
    text = _result_text(compile_result, [f"{current_plan.path} {_IMPORTED_NOTE}"])
    return Answer(
        data,
        text,
        next_commands=(f"execplan evaluate {quote_plan_name(ref.id, project.display_path(ref.path))}",),
        is_requested=False,
    )


def stored_check_answer(project: Project, ref: PlanRef, current_plan: CurrentPlan) -> Answer:
    """Build the answer whether the stored document is up to date with the plan."""
    is_stored = os.path.lexists(artifact_store.path_of(project, ref))
    reasons = [] if current_plan.is_stored else [current_plan.stale_reason or "nothing is stored yet"]
    data = {
        "id": ref.id,
        "path": current_plan.path,
        "changed": False,
        "digest": digest(current_plan.data),
        "stored": is_stored,
        "current": current_plan.is_stored,
        "reasons": reasons,
        "differences": list(current_plan.differences),
    }
    if current_plan.is_stored:
        is_compiled = current_plan.document.source is not None and current_plan.document.revision == 1
        state_text = "is up to date" if is_compiled else _IMPORTED_NOTE
        return Answer(data, escape_unprintable(f"{current_plan.path} {state_text}"), is_requested=False)
    problem = " is out of date:" if current_plan.differences else f": {reasons[0]}"
    lines = [f"{current_plan.path}{problem}", *[f"  {difference}" for difference in current_plan.differences]]
    name = quote_plan_name(ref.id, project.display_path(ref.path))
    return Answer(
        data,
        printable_lines(lines),
        exit=CHECK_FAILED,
        next_commands=(f"execplan {'restore' if ref.archived else 'compile'} {name}",),
    )


def _write_lines(path: str, *, changed: bool, dry_run: bool) -> list[str]:
    if not changed:
        return [f"nothing to write: {path} is up to date"]
    return [f"would write {path}" if dry_run else f"wrote {path}"]


def _result_json(compile_result: CompileResult) -> dict[str, Any]:
    steps = steps_json(compile_result.document)
    return {
        "digest": digest(compile_result.data),
        "steps": steps,
        "left": skipped_json(compile_result.skipped_lines),
        "inferred": sum([step["inferred"] for step in steps]),
    }


def _result_text(compile_result: CompileResult, lines: list[str], diff: str = "") -> str:
    """Return the text of a compile: the steps, the skipped lines and the result."""
    skipped = skipped_line_texts(skipped_json(compile_result.skipped_lines))
    if any([line.why == ASKS_FOR_WORK for line in compile_result.skipped_lines]):
        skipped.append("to write such work as manual steps: execplan compile --annotate")
    counts = describe_risk_counts([rate_step(step.model_dump()) for step in compile_result.document.steps])
    return "\n".join(
        [
            steps_table(steps_json(compile_result.document)),
            "",
            *([f"steps by risk: {counts}", ""] if counts else []),
            *skipped,
            *([""] if skipped else []),
            printable_lines(lines, diff),
        ]
    )
