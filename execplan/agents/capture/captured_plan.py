"""Native plans as plans of a project: creating a plan with its original as an artifact, and updating it."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from execplan.agents.capture.native_plan import NativePlan, convert
from execplan.agents.capture.plan_assembly import SECRET_CODE, fill_template
from execplan.agents.capture.plan_revision import is_revision, revise_plan
from execplan.core.archive.attachments import attach_files, attached_paths
from execplan.core.edits.bulk_operation import BulkOperation
from execplan.core.edits.plan_writer import WriteOptions, amend
from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.plan import outline, reader
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_lookup import normalize_text
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.project.slug import slug
from execplan.core.scaffold import plan_creation, plan_draft, plan_templates
from execplan.core.scaffold.plan_creation import CreatedPlan
from execplan.core.secrets.redaction import Redactor
from execplan.core.text.text_lines import digest
from execplan.core.trace import log

RECORDS_DIR = "captures"
_MAX_BYTES = 1 << 14
_MAX_AGE_SECONDS = 90 * 86400
"""Age from which a record is removed: nobody resumes such a session."""


def read(project: Project, session: str) -> str:
    """Return the path of a session's plan; empty if none is recorded."""
    if not session:
        return ""
    try:
        data, _ = file_access.read(_record_path(project, session), _MAX_BYTES)
    except ExecplanError:
        return ""
    return os.path.normpath(os.path.join(project.path_base, os.fsdecode(data)))


def write(project: Project, session: str, path: str, plan_id: str) -> None:
    """Record a session's plan. Never fails: a later version of the plan is then found by its title."""
    if not session:
        return
    relative_path = os.path.relpath(os.path.realpath(path), os.path.realpath(project.path_base))
    try:
        project_state.make_state_dir(project, RECORDS_DIR)
        _remove_old(os.path.join(project.state, RECORDS_DIR))
        atomic_files.replace(_record_path(project, session), os.fsencode(relative_path), mode=0o666)
    except (OSError, ExecplanError) as error:
        log(f"couldn't record the session of {plan_id}: {error}")


def _record_path(project: Project, session: str) -> str:
    return os.path.join(project.state, RECORDS_DIR, digest(session.encode("utf-8", "replace"))[:16])


def _remove_old(folder: str) -> None:
    oldest = time.time() - _MAX_AGE_SECONDS
    for entry in os.scandir(folder):
        if entry.stat(follow_symlinks=False).st_mtime < oldest:
            os.unlink(entry.path)


_DESCRIPTION = "original plan"
"""Beginning of what Artifacts and Notes says about an original, by which it is found again."""
_MIN_LIVING_SECTIONS = 2
"""Number of living sections that make a text an ExecPlan: no program writes them on its own."""
_NAME = "ExecPlan"
"""Name of the format, which an incomplete plan says that it has."""
_WHOLE_PLAN_IN_CODE = "EP004"
CREATED, UPDATED, UNCHANGED = "created", "updated", "unchanged"


class CapturedPlan(NamedTuple):
    """The result of capturing a plan."""

    id: str
    path: str
    """Path from the repository root."""
    action: str
    """Whether the plan was created, updated, or has this original already."""
    messages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def is_native(data: bytes, source: str) -> bool:
    """Return whether a text is the plan of another program, not an ExecPlan; raises ExecplanError if it can't be read."""
    with ErrorContext("standard input" if source == "-" else source):
        plan = reader.read(data)
    living_sections = [name for name in outline.LIVING if plan.section(name) is not None]
    if len(living_sections) >= _MIN_LIVING_SECTIONS or (living_sections and _NAME in plan.text.to_str()):
        return False
    from execplan.linter.runner import draft_errors

    return _WHOLE_PLAN_IN_CODE not in [finding.code for finding in draft_errors(plan)]


def import_plan(project: Project, data: bytes, source: str, options: WriteOptions) -> CreatedPlan:
    """Create a plan from a native one, which becomes its artifact byte for byte; raises ExecplanError.

    The source is a path, or `-` for standard input.
    """
    name = "plan.md" if source == "-" else os.path.basename(source)
    stem = "" if source == "-" else name.removesuffix(".md").removesuffix(".plan")
    return _create(project, data, name, convert(reader.decode(data).to_str(), _readable(stem)), source, "", options)


def capture_plan(project: Project, program: str, session: str, text: str, options: WriteOptions) -> CapturedPlan:
    """Create a plan from what a program's plan mode wrote, or update the plan of an earlier version.

    `program` is the program's name for people, `session` the ID of its session. Secrets are redacted, because nobody
    has looked at the text. Raises ExecplanError.
    """
    text = Redactor(os.environ, os.environ).redact_text(text)
    data = text.encode("utf-8", "replace")
    native = convert(data.decode())
    with project_state.lock(project, "capture", f"capture of a plan of {program}"):
        ref = _find_earlier(project, session, text, native)
        if ref is None:
            name = f"{slug(program)}-plan.md"
            created_plan = _create(project, data, name, native, "-", f" from {program}", options)
            if not options.dry_run:
                write(project, session, os.path.join(project.root, created_plan.path), created_plan.id)
            return CapturedPlan(created_plan.id, created_plan.path, CREATED, (), created_plan.warnings)
        captured_plan = _update(project, ref, data, native, program, options)
        if not options.dry_run:
            write(project, session, ref.path, ref.id)
        return captured_plan


def _create(
    project: Project, data: bytes, name: str, native: NativePlan, source: str, origin: str, options: WriteOptions
) -> CreatedPlan:
    """Create the plan and attach the original, as one operation and in one commit if wanted; raises ExecplanError."""
    project = project._replace(exists=True)
    plan_creation.ensure_no_lint_errors(project, reader.read(_filled(data)), source, [SECRET_CODE])
    template = plan_templates.find_template(project, plan_templates.execplan_template(project)).name

    def content(plan_id: str) -> tuple[bytes, tuple[str, ...]]:
        template_data, warnings = plan_draft.render_plan(project, template, plan_id, native.title, "", ())
        filled = fill_template(template_data.decode(), native.sections).encode()
        if len(filled) > reader.MAX_BYTES:
            raise reader.too_large_error(len(filled))
        return filled, warnings

    short_name = slug(_without_label(native.title)) or slug(os.path.splitext(name)[0])
    plan_name = plan_creation.plan_name(project, short_name)
    bulk = BulkOperation()
    options = options._replace(bulk=bulk)
    created_plan = plan_creation.file_plan(project, plan_name, content, native.title, options)
    created_plan = created_plan._replace(paths=(*created_plan.paths, f"{created_plan.paths[1]}{name}"))
    if options.dry_run:
        return created_plan
    path = os.path.join(project.root, created_plan.path)
    _attach(project, PlanRef(created_plan.id, path, archived=False), data, name, origin, options)
    warnings = created_plan.warnings + bulk.commit("new", f"new, {native.title}")
    return created_plan._replace(
        data=plan_store.read_bytes(project, path), commit=bulk.commit_of(project), warnings=warnings
    )


def _update(
    project: Project, ref: PlanRef, data: bytes, native: NativePlan, program: str, options: WriteOptions
) -> CapturedPlan:
    """Update a plan to a revised original, unless it has this one already; raises ExecplanError."""
    plan_creation.ensure_no_lint_errors(project, reader.read(_filled(data)), "-", [SECRET_CODE])
    path = project.display_path(ref.path)
    previous = _read_original(project, ref)
    if previous == data.decode():
        return CapturedPlan(ref.id, path, UNCHANGED)
    previous_native = convert(previous) if previous is not None else None
    bulk = BulkOperation()
    options = options._replace(bulk=bulk)
    edit_result = amend(project, ref, revise_plan(previous_native, native, program), options, command="new")
    _attach(project, ref, data, f"{slug(program)}-plan.md", f" from {program}, revised", options)
    warnings = edit_result.warnings + bulk.commit("new", f"revised in {program}")
    return CapturedPlan(ref.id, path, UPDATED, edit_result.messages, warnings)


def _attach(project: Project, ref: PlanRef, data: bytes, name: str, origin: str, options: WriteOptions) -> None:
    with _temporary_file(data, name) as path:
        attach_files(project, ref, [path], f"{_DESCRIPTION}{origin}", options, create=True)


@contextmanager
def _temporary_file(data: bytes, name: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="execplan-") as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data)
        yield path


def _find_earlier(project: Project, session: str, text: str, native: NativePlan) -> PlanRef | None:
    """Return the open plan that an earlier version of a native plan became; None if there is none.

    It is the plan of the same session if the text revises it, else a captured plan with the same title.
    """
    open_refs = plan_store.refs(project)
    recorded_path = read(project, session)
    for ref in open_refs:
        if recorded_path and os.path.realpath(ref.path) == os.path.realpath(recorded_path):
            previous = _read_original(project, ref)
            if previous is not None and is_revision(previous, text):
                return ref
    title = normalize_text(native.title)
    for ref in open_refs:
        plan = _read_plan(project, ref)
        if plan is not None and normalize_text(plan.title or "") == title and attached_paths(plan, _DESCRIPTION):
            return ref
    return None


def _read_plan(project: Project, ref: PlanRef) -> ParsedPlan | None:
    try:
        return plan_store.parse_or_none(project, plan_store.read_bytes(project, ref.path))
    except ExecplanError:
        return None


def _read_original(project: Project, ref: PlanRef) -> str | None:
    """Return the last original of a plan; None if it has none, or it can't be read."""
    plan = _read_plan(project, ref)
    paths = attached_paths(plan, _DESCRIPTION) if plan is not None else []
    if not paths:
        return None
    folder = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    try:
        return file_access.read(os.path.join(folder, os.path.basename(paths[-1])), reader.MAX_BYTES)[0].decode()
    except (ExecplanError, UnicodeDecodeError):
        return None


def _filled(data: bytes) -> bytes:
    """Return a text that can be linted: an empty one is no error here."""
    return data.replace(b"\0", b"") if data.strip() else b"# Plan\n"


def _readable(stem: str) -> str:
    """Return a file's name as a title."""
    return " ".join(stem.replace("_", " ").replace("-", " ").split())


def _without_label(title: str) -> str:
    """Return a title without a label such as `Plan:`, which says nothing in a plan's ID."""
    label, _, rest = title.partition(":")
    return rest if rest.strip() and label.split()[-1:] and label.split()[-1].casefold() == "plan" else title
