"""Creation of new plans from templates and from existing text."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from execplan.core import features
from execplan.core.clock import now
from execplan.core.edits.edit_entries import CREATE
from execplan.core.edits.edit_journal import JournalTransaction, Operation
from execplan.core.edits.plan_commit import commit_paths
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.git import gitignore
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import name_pattern, reader
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_change import require_text
from execplan.core.plan.plan_lookup import normalize_text
from execplan.core.plan.section_edits import set_section_body
from execplan.core.plan.section_roles import PURPOSE, find_role
from execplan.core.plan.task_edits import add_task
from execplan.core.plan.text_blocks import escape_lead
from execplan.core.plan.title_edits import title_edit
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import plan_names, project_state
from execplan.core.project.project import Project, ensure_inside
from execplan.core.project.slug import slug
from execplan.core.scaffold import plan_draft, plan_templates
from execplan.core.text.message_parts import format_count
from execplan.core.text.text_lines import Edit, apply_edits


def copy_template(project: Project, path: str, title: str, purpose: str, tasks: Sequence[str]) -> bytes:
    """Return the bytes of a new plan: the file with the new title, the purpose in its section, and the given tasks.

    These replace the file's own tasks if all are below one heading, and otherwise follow them. `path` is relative to the
    directory of the settings. Raises ExecplanError if the file can't be read, or has no section for a given purpose.
    """
    full_path = os.path.join(project.base, path)
    ensure_inside(project, full_path)
    if not os.path.isfile(full_path):
        raise ExecplanError(
            "unknown-template",
            f"{path}, which new plans are copied from, does not exist",
            hint="put it there, change the setting template, or use a built-in template: --template plan",
        )
    text = reader.decode(file_access.read(full_path, reader.MAX_BYTES + 1)[0])
    plan = reader.read_text(text)
    edit = title_edit(plan, title)
    text = apply_edits(text, (edit,) if edit is not None else ())
    if purpose:
        title = next(
            (section.title for section in plan.sections if find_role(section.title, text.titles) == PURPOSE), ""
        )
        if not title:
            raise ExecplanError(
                "no-place-for-purpose",
                f"{path}, which new plans are copied from, has no section for --purpose",
                hint="omit it and write it into the plan, or use a built-in template: --template plan",
            )
        text = apply_edits(
            text, set_section_body(title, escape_lead(purpose).split("\n"))(reader.read_text(text)).edits
        )
    for task in tasks:
        text = apply_edits(text, add_task(task, now(), create=True)(reader.read_text(text)).edits)
    if tasks and len({task.heading for task in plan.tasks}) == 1:
        given_tasks = reader.read_text(text).tasks
        spans = [(task.start, task.item_end) for task in given_tasks[: len(plan.tasks)] if not task.depth]
        text = apply_edits(text, [Edit(start, end, ()) for start, end in spans])
    return text.to_bytes()


def read_title(data: bytes) -> str:
    """Return the title in a plan's text; empty if it has none or can't be read."""
    plan = reader.read_or_none(data)
    return plan.title or "" if plan is not None else ""


def duplicate_title_warnings(project: Project, title: str, new_id: str) -> tuple[str, ...]:
    """Return a warning if another plan has the title of the new plan; `new_id` is the ID of the new plan."""
    if not title:
        return ()
    existing_plan = next(
        (ref for ref in _candidate_refs(project, title) if ref.id != new_id and _has_title(project, ref, title)), None
    )
    if existing_plan is None:
        return ()
    state = "archived" if existing_plan.archived else "open"
    undo_command = f"execplan undo -p {plan_store.PlanRef(new_id, '', archived=False).shell_name}"
    return (
        f"{existing_plan.id} is {state} and has the same title: {project.display_path(existing_plan.path)}; if you meant that plan, undo this one: {undo_command}",
    )


def _candidate_refs(project: Project, title: str) -> list[PlanRef]:
    """Return open plans that contain the title's longest ASCII word, and archived ones whose ID contains its slug."""
    title_words = "".join([char if char.isascii() and char.isalnum() else " " for char in title]).split()
    longest_word = max(title_words, key=len, default="").lower().encode()
    title_slug = slug(title)
    open_plans = [ref for ref in plan_store.refs(project) if longest_word in _read_or_empty(project, ref).lower()]
    return open_plans + [ref for ref in plan_store.refs(project, archive=True) if title_slug in ref.id]


def _read_or_empty(project: Project, ref: PlanRef) -> bytes:
    try:
        return plan_store.read_bytes(project, ref.path)
    except ExecplanError:
        return b""


def _has_title(project: Project, ref: PlanRef, title: str) -> bool:
    return normalize_text(read_title(_read_or_empty(project, ref))) == normalize_text(title)


MAX_TITLE_LENGTH = 300
TEMPORARY_NAME = ".execplan-new.tmp"


class CreatedPlan(NamedTuple):
    """A plan that was created, or would be in a dry run."""

    id: str
    path: str
    """Path from the repository root."""
    data: bytes
    diff: str
    paths: tuple[str, ...]
    """All created paths, or those to create in a dry run."""
    commit: str | None
    warnings: tuple[str, ...]
    is_copy: bool = False
    """Whether the text of a repository's template is in it, which no mark tells from the author's."""


def create_plan(
    project: Project, title: str, purpose: str, tasks: Sequence[str], options: WriteOptions, template: str | None = None
) -> CreatedPlan:
    """Create a plan from a template. Raises ExecplanError if the title or template is invalid."""
    project = project._replace(exists=True)
    title = validate_title(title)
    template = template if template is not None else project.settings.template
    if template.endswith(".md"):
        copy = copy_template(project, template, title, purpose, tasks)
        created = file_plan(project, plan_name(project, slug(title)), lambda _: (copy, ()), title, options)
        return created._replace(is_copy=True)
    plan_template = plan_templates.find_template(project, template)

    def content(name: str) -> tuple[bytes, tuple[str, ...]]:
        return plan_draft.render_plan(project, plan_template.name, name, title, purpose, tasks)

    return file_plan(project, plan_name(project, slug(title)), content, title, options)


def adopt_plan(project: Project, data: bytes, source: str, options: WriteOptions) -> CreatedPlan:
    """Add a complete plan written elsewhere, byte for byte.

    Its file stem becomes its ID if it matches the configured name format. The source is a path, or `-` for standard
    input. Raises ExecplanError if the plan has lint errors.
    """
    project = project._replace(exists=True)
    stem = "" if source == "-" else os.path.basename(source).removesuffix(".md")
    with ErrorContext(source if stem else "standard input"):
        plan = plan_store.parse(project, data)
    ensure_no_lint_errors(project, plan, source)
    fits = stem and name_pattern.matches_pattern(project.settings.name, stem)
    name = stem if fits else plan_name(project, slug(plan.title or stem or "plan"))
    return file_plan(project, name, lambda _: (data, ()), plan.title or name, options)


def ensure_no_lint_errors(project: Project, plan: ParsedPlan, source: str, codes: Sequence[str] = ()) -> None:
    """Raise ExecplanError if a plan has lint errors, except those allowed in a draft; with `codes`, only these count."""
    errors = [finding for finding in features.load(features.DRAFT_ERRORS)(plan) if not codes or finding.code in codes]
    if errors:
        lines = [f"{source}:{finding.line}:{finding.column} {finding.code} {finding.message}" for finding in errors]
        display_path = source if source == "-" else project.display_path(os.path.abspath(source))
        raise ExecplanError(
            "lint-errors",
            f"the plan has {format_count(len(errors), 'error')}; nothing was written",
            hint=f"fix them and try again; see what a code means: execplan explain {errors[0].code}",
            candidates=lines,
            data={"findings": [finding.to_json(display_path) for finding in errors]},
        )


def validate_title(title: str) -> str:
    """Return the title as one line.

    Raises ExecplanError if it is empty, has control characters or exceeds 300 characters.
    """
    title = require_text(title, "the title")
    if len(title) > MAX_TITLE_LENGTH:
        raise ExecplanError(
            "long-title",
            f"the title has {len(title)} characters; a title has at most {MAX_TITLE_LENGTH}",
            hint="shorten it, and put the rest into --purpose",
        )
    return title


def plan_name(project: Project, short: str) -> str:
    """Return the name of a new plan in the project's format, before it is known whether it is free."""
    return plan_names.fill(project.settings.name, short)


def file_plan(
    project: Project,
    name: str,
    make_content: Callable[[str], tuple[bytes, tuple[str, ...]]],
    title: str,
    options: WriteOptions,
) -> CreatedPlan:
    """Write a new plan under a free ID to the plans directory, and create its artifacts directory.

    `make_content` returns the bytes for an ID, and warnings. It raises errors before anything is created.
    """
    from execplan.core.edits.plan_writer import format_diff

    plan_id = _free_name(plan_store.taken_ids(project), name)
    if options.should_commit(project):
        gitignore.ensure_not_ignored(project, project.plan_file(project.plans, plan_id))
    ignore_warnings = gitignore.ignore_warnings(project, is_new=True)
    data, warnings = make_content(plan_id)

    def created_plan(commit: str | None, commit_warnings: tuple[str, ...]) -> CreatedPlan:
        path = project.display_path(project.plan_file(project.plans, plan_id))
        diff_text = format_diff(b"", data, path) if options.dry_run else ""
        artifacts = project.display_path(project.artifacts_dir(plan_id)) + "/"
        return CreatedPlan(
            plan_id, path, data, diff_text, (path, artifacts), commit, warnings + commit_warnings + ignore_warnings
        )

    if options.dry_run:
        warnings += duplicate_title_warnings(project, read_title(data), plan_id)
        return created_plan(None, ())
    with project_state.lock(project, "project", f"new {name}"):
        taken_ids = plan_store.taken_ids(project)
        while True:
            if plan_store.normalize_id(plan_id) in taken_ids:
                plan_id = _free_name(taken_ids, name)
                data, warnings = make_content(plan_id)
            path = project.plan_file(project.plans, plan_id)
            namesakes = duplicate_title_warnings(project, read_title(data), plan_id)
            operation = Operation(options.operation_id(), CREATE)
            if _write_plan(project, path, project.artifacts_dir(plan_id), title, data, operation):
                break
            taken_ids.add(plan_store.normalize_id(plan_id))
        warnings += namesakes
    if options.should_commit(project):
        commit_result = commit_paths(
            project,
            plan_id,
            [path, project.artifacts_dir(plan_id)],
            "new",
            f"new, {title}",
            {},
            title,
            options.defer_commit,
        )
        return created_plan(commit_result.digest, commit_result.warnings)
    return created_plan(None, ())


def _write_plan(project: Project, path: str, artifacts: str, title: str, data: bytes, operation: Operation) -> bool:
    """Write a plan and create its artifacts directory. Returns False, with nothing written, if the name is taken."""
    with JournalTransaction(project, path, "new", f"new, {title}", b"", data, operation) as recording:
        if not atomic_files.create(
            path, data, within=project.root, make_directories=True, temporary_file=TEMPORARY_NAME
        ):
            recording.cancel()
            return False
        try:
            atomic_files.make_directory(artifacts, within=project.root)
        except ExecplanError:
            atomic_files.remove(path, data)
            raise
    return True


def _free_name(taken_ids: set[str], name: str) -> str:
    """Return the name with its number assigned, with the first numeric suffix that makes it free if needed."""
    return plan_store.free_name(plan_names.assign_number(name, taken_ids), taken_ids)
