"""Output of `export` in the forms of other programs: text on standard output, or files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.core.edits.plan_commit import commit_paths
from execplan.core.edits.plan_writer import format_diff
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.files import atomic_files, file_access
from execplan.core.plan_store import plan_store
from execplan.core.project.project import IN_GIT_DIR, ensure_inside, is_in_git_dir
from execplan.core.project.project_discovery import ensure_no_link_out
from execplan.core.secrets.redaction import Redactor
from execplan.core.text.message_parts import format_count
from execplan.exchange.form_names import BINARY_FORMS, COMPLETE_FORMS, DIRECTORY_FORMS
from execplan.exchange.form_registry import write_form
from execplan.exchange.plan_cleaning import CleanPlan, clean_plan
from execplan.exchange.plan_reading import read_plan

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.exchange.exchange_plan import ExportedFiles

_MAX_BYTES = 64 << 20


def form_answer(
    project: Project, ref: PlanRef, form: str, out: str | None, options: WriteOptions, *, force: bool
) -> Answer:
    """Export a plan in a form, and print it or write its files; what the form loses is a warning."""
    data = plan_store.read_bytes(project, ref.path)
    parsed = plan_store.parse(project, data)
    text = parsed.text.to_str()
    redacted = Redactor(os.environ, os.environ).redact_text(text)
    masked = ["secrets are masked"] if redacted != text else []
    parsed = plan_store.parse(project, redacted.encode()) if masked else parsed
    title = plan_store.plan_title(project, ref, parsed.title) or ref.id
    cleaned = clean_plan(parsed) if form not in COMPLETE_FORMS else CleanPlan(parsed, ())
    exported = write_form(form, cleaned.plan, read_plan(cleaned.plan, ref.id, title))
    losses = [*masked, *cleaned.losses, *exported.losses]
    warnings = tuple([f"{form}: {loss}" for loss in losses])
    fields = {"id": ref.id, "to": form, "losses": losses}
    if out is not None:
        return _written_answer(project, ref, exported, form, out, options, fields, force=force)._replace(
            warnings=warnings
        )
    if form in DIRECTORY_FORMS:
        raise usage_error(
            f"{form} consists of several files", "name their directory, such as the repository: --out DIR"
        )
    if form in BINARY_FORMS:
        raise usage_error(f"{form} can't be printed", f"name a file: --out plan.{form}")
    text = exported.files[""].decode()
    return Answer({**fields, "content": text}, text, warnings=warnings, is_raw=True)


def _written_answer(
    project: Project,
    ref: PlanRef,
    exported: ExportedFiles,
    form: str,
    out: str,
    options: WriteOptions,
    fields: dict[str, Any],
    *,
    force: bool,
) -> Answer:
    """Write the files of an export, all or none that exist with other content; commit them if requested."""
    paths = {
        os.path.normpath(os.path.join(out, name)) if name else out: content for name, content in exported.files.items()
    }
    if form not in DIRECTORY_FORMS and os.path.isdir(out):
        raise usage_error(f"{out} is a directory", f"name a file: --out {os.path.join(out, f'plan.{form}')}")
    old = {path: _read_old(project, path, content, force=force) for path, content in paths.items()}
    changed = {path: content for path, content in paths.items() if old[path] != content}
    fields |= {"path": out, "files": sorted(paths), "changed": bool(changed), "commit": None}
    count = format_count(len(paths), "file")
    if not changed:
        return Answer(fields, f"{out} is up to date: {count}", is_requested=False)
    if options.dry_run:
        fields["changed"] = False
        diffs = [
            format_diff(old[path] or b"", content, path)
            for path, content in changed.items()
            if form not in BINARY_FORMS
        ]
        text = printable_lines([f"would write {path}" for path in sorted(changed)], "\n".join(diffs))
        return Answer({**fields, "diff": "\n".join(diffs)}, text)
    if options.should_commit(project):
        for path in paths:
            ensure_inside(project, os.path.abspath(path))
        options.prepare_commit(project)
    for path, content in changed.items():
        absolute_path = os.path.abspath(path)
        ensure_no_link_out(absolute_path)
        atomic_files.replace_if_unchanged(absolute_path, old[path], content, make_directories=True)
    lines = [f"wrote {path}" for path in sorted(changed)]
    if options.should_commit(project):
        before = {os.path.abspath(path): content for path, content in old.items() if content}
        absolute_paths = [os.path.abspath(path) for path in paths]
        commit = commit_paths(project, ref.id, absolute_paths, "export", f"export to {form}", before, None)
        fields["commit"] = commit.digest
        lines += [f"committed {commit.digest[:12]}"] if commit.digest else []
    return Answer(fields, printable_lines(lines), is_requested=False)


def _read_old(project: Project, path: str, new: bytes, *, force: bool) -> bytes | None:
    """Return the content of a file to write, or None if it doesn't exist.

    Raises ExecplanError if it has other content, unless forced, or is in a git directory.
    """
    if is_in_git_dir(project, file_access.resolve_path(os.path.abspath(path))):
        raise usage_error(f"{path} {IN_GIT_DIR}", "choose another place with --out")
    if not os.path.lexists(path):
        return None
    old = file_access.read(path, _MAX_BYTES)[0]
    if old and old != new and not force:
        message = f"{path} exists and has other content"
        raise ExecplanError("not-an-export", message, hint="use another name, or replace it with --force")
    return old
