"""The only write path: lock, read, change, apply, read back and compare, replace, commit if requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.edits import edit_journal
from execplan.core.edits.backup_copies import PlanBackup
from execplan.core.edits.edit_journal import Operation
from execplan.core.edits.plan_commit import commit_paths
from execplan.core.edits.plan_preconditions import ensure_not_archived, ensure_plan_exists
from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.files import atomic_files
from execplan.core.files.file_lock import is_held
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import reader
from execplan.core.plan.model import is_unfinished, task_state
from execplan.core.plan.plan_change import ensure_blocks_closed, ensure_no_conflicts, plan_content
from execplan.core.plan.plan_lookup import ids_for_texts
from execplan.core.plan_store import claims, plan_store
from execplan.core.project import project_state
from execplan.core.project.project_discovery import require_existing
from execplan.core.text.invisible_characters import escape_unprintable
from execplan.core.text.text_lines import apply_edits, digest
from execplan.core.trace import log

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from execplan.core.edits.bulk_operation import BulkOperation
    from execplan.core.edits.plan_commit import PendingCommit
    from execplan.core.git.git_commit import CommitResult
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan.plan_change import ChangeBuilder, PlanChange, PlanContent
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


_RECORDING_COMMANDS = ("run", "rollback", "merge")
"""Commands that record events from elsewhere, so that enforced claims do not block them."""


class WriteOptions(NamedTuple):
    """Options that every writer accepts."""

    commit: bool | None = None
    """Whether to commit; None uses the setting."""
    dry_run: bool = False
    if_match: str | None = None
    """Digest that the file must have."""
    bulk: BulkOperation | None = None
    """The operation on several plans that the write is a step of."""

    def should_commit(self, project: Project) -> bool:
        """Return whether to commit the written files."""
        return project.settings.commit if self.commit is None else self.commit

    @property
    def defer_commit(self) -> Callable[[PendingCommit], None] | None:
        """Function that leaves a commit to the end of `bulk`, or None if each write is committed itself."""
        return None if self.bulk is None else self.bulk.defer_commit

    def operation_id(self) -> str:
        """Return the ID for a write: of the next step of `bulk`, or of a new operation."""
        return self.bulk.next_id() if self.bulk is not None else edit_journal.new_operation_id()

    def prepare_commit(self, project: Project) -> None:
        """Import what a commit needs, if there will be one: before a lock is taken, because it takes longer than a commit."""
        if self.should_commit(project):
            from execplan.core.git.git_commit import load_gitpython

            load_gitpython()


class EditedTask(NamedTuple):
    """A task affected by an edit, in its new state; in a dry run, the state it would have."""

    id: str
    number: int
    state: str
    text: str
    was: str | None
    """ID before the edit; None for a new task."""
    done_by: str | None = None
    """Who else had checked it off before the edit, which therefore left it as it was."""


class EditResult(NamedTuple):
    """The result of an edit."""

    path: str
    """Path from the repository root."""
    changed: bool
    digest: str
    """SHA-256 of the file after the edit; in a dry run, the expected one."""
    diff: str
    """Unified diff, in a dry run only."""
    commit: str | None
    open_tasks: int
    """Number of open tasks after the edit."""
    messages: tuple[str, ...]
    warnings: tuple[str, ...]
    tasks: tuple[EditedTask, ...] = ()
    expected: PlanContent | None = None
    """Content of the plan after the edit."""


class WriteResult(NamedTuple):
    """The result of writing a plan file."""

    old: bytes
    new: bytes
    change: PlanChange
    warnings: tuple[str, ...]


class PreparedChange(NamedTuple):
    """A change that was computed before the lock was taken."""

    old: bytes
    new: bytes
    change: PlanChange


def amend(
    project: Project,
    ref: PlanRef,
    changer: ChangeBuilder,
    options: WriteOptions,
    *,
    command: str,
    extra_paths: tuple[str, ...] = (),
    resolves_conflicts: bool = False,
    is_pure: bool = False,
    make_operation: Callable[[], Operation] = Operation,
) -> EditResult:
    """Apply a change to a plan.

    Raises ExecplanError and leaves the file unchanged, unless only the commit failed. `extra_paths` are other files for
    the same commit. `resolves_conflicts` means that the change removes conflict markers, or brings them back, also in
    an archived plan. `is_pure` means that the change depends only on the plan's text, so it can be computed before the
    lock is taken. `make_operation` is called once the change is known; its result is journaled.
    """
    if not project.exists:
        plan_store.read_bytes(project, ref.path)  # reports a path that is not a file first
        require_existing(project)
    if not resolves_conflicts:
        ensure_not_archived(project, ref)
    if options.dry_run:
        return _edit_result(
            project,
            ref,
            rewrite_plan(project, ref, changer, options, command=command, resolves_conflicts=resolves_conflicts),
            options,
        )
    options.prepare_commit(project)
    lock = project_state.lock(project, ref.real_path, f"{command} of {ref.id}")
    prepared = _prepare(project, ref, changer) if is_pure and not is_held(lock.path) else None
    with lock:
        ensure_plan_exists(project, ref)
        write_result = rewrite_plan(
            project,
            ref,
            changer,
            options,
            command=command,
            resolves_conflicts=resolves_conflicts,
            make_operation=make_operation,
            prepared=prepared,
        )
        if write_result.new == write_result.old or not options.should_commit(project):
            return _edit_result(project, ref, write_result, options)
        real = ref.real_path
        change = write_result.change
        commit_result = commit_paths(
            project,
            ref.id,
            [real, *extra_paths],
            command,
            change.summary,
            {real: write_result.old},
            change.expected_content.title,
            options.defer_commit,
        )
        return _edit_result(project, ref, write_result, options, commit_result)


def rewrite_plan(
    project: Project,
    ref: PlanRef,
    changer: ChangeBuilder,
    options: WriteOptions,
    *,
    command: str,
    resolves_conflicts: bool = False,
    make_operation: Callable[[], Operation] = Operation,
    before_write: Callable[[bytes, bytes, PlanChange], object] | None = None,
    prepared: PreparedChange | None = None,
) -> WriteResult:
    """Change and journal a locked plan file, or only compute the change in a dry run.

    Raises ExecplanError on failure. If the file changes between read and replace, it is read again and the change
    applied to the new content. `before_write` gets the bytes before and after, just before the write, and journals
    them. `prepared` is the change of the text that the file probably still has.
    """
    display_path = project.display_path(ref.path)

    def write_once() -> WriteResult:
        with ErrorContext(display_path):
            old = plan_store.read_bytes(project, ref.path)
            if options.if_match is not None:
                from execplan.core.edits.digest_check import ensure_digest_matches

                ensure_digest_matches(project, ref, options.if_match, old)
            try:
                if prepared is not None and prepared.old == old:
                    new, change = prepared.new, prepared.change
                else:
                    new, change = apply_change(
                        old, changer, titles=project.titles, resolves_conflicts=resolves_conflicts
                    )
            except ExecplanError as error:
                error.add_plan_name(ref.id)
                raise
            warnings = protection.check_change(old, change)
        if options.dry_run:
            return WriteResult(old, new, change, warnings)
        if before_write is not None:
            before_write(old, new, change)
        if new == old:
            atomic_files.remove_leftover(ref.path, (old,), within=project.root, backup_writer=backup)
            return WriteResult(old, new, change, ())
        if before_write is not None:
            linked = atomic_files.replace_if_unchanged(ref.path, old, new, within=project.root, backup_writer=backup)
        else:
            operation = make_operation()
            operation = operation._replace(id=operation.id or options.operation_id())
            with edit_journal.JournalTransaction(
                project, ref.path, command, change.summary, old, new, operation
            ) as recording:
                linked = atomic_files.replace_if_unchanged(
                    ref.path, old, new, within=project.root, backup_writer=backup
                )
            _shorten_journal(project, ref, *recording.journal_sizes)
        warnings += (atomic_files.hard_link_warning(display_path),) if linked else ()
        return WriteResult(old, new, change, warnings + protection.follow_tasks(old, change))

    backup = PlanBackup(project, ref.path)
    enforced = not resolves_conflicts and command not in _RECORDING_COMMANDS
    with claims.ClaimGuard(project, ref, dry_run=options.dry_run, enforced=enforced) as protection:
        write_result = atomic_files.retry_on_change(write_once, display_path)
    return write_result._replace(warnings=(*write_result.warnings, *backup.warnings))


def _prepare(project: Project, ref: PlanRef, changer: ChangeBuilder) -> PreparedChange | None:
    """Apply a change without the lock, so that others wait less for it: this takes most of the time of an edit.

    Returns None if that fails; the error is raised under the lock, where the plan can't change.
    """
    try:
        old = plan_store.read_bytes(project, ref.path)
        return PreparedChange(old, *apply_change(old, changer, titles=project.titles))
    except ExecplanError:
        return None


def _shorten_journal(project: Project, ref: PlanRef, previous_size: int, size: int) -> None:
    """Shorten a plan's journal if it is too long; leave it as it is on failure."""
    if size <= edit_journal.MAX_BYTES:
        return
    from execplan.core.edits.journal_retention import shorten_journal

    try:
        shorten_journal(project, ref.path, previous_size)
    except (OSError, ExecplanError) as error:
        log(f"couldn't shorten the journal of {ref.id}: {error}")


def remove_leftovers(project: Project, ref: PlanRef, *, command: str) -> None:
    """Remove leftovers of a killed writer next to a plan that is not being written.

    Raises ExecplanError if they can't be removed.
    """
    if project.exists and atomic_files.has_leftover(ref.path):
        with project_state.lock(project, ref.real_path, f"{command} of {ref.id}"):
            atomic_files.remove_leftover(ref.path, within=project.root, backup_writer=PlanBackup(project, ref.path))


def apply_change(
    data: bytes,
    changer: Callable[[ParsedPlan], PlanChange],
    *,
    titles: Mapping[str, str] | None = None,
    resolves_conflicts: bool = False,
) -> tuple[bytes, PlanChange]:
    """Apply a change to a plan's bytes, read the result back and compare it.

    `titles` is as in `reader.read`. Raises ExecplanError if it is not the intended one.
    """
    plan = reader.read(data, titles)
    if not resolves_conflicts:
        ensure_no_conflicts(plan)
    change = changer(plan)
    if not change.edits:
        return data, change
    for edit in () if change.may_change_structure else change.edits:
        ensure_blocks_closed(plan, edit.start)
    text = apply_edits(plan.text, change.edits)
    new = text.to_bytes()
    if len(new) > reader.MAX_BYTES:
        raise reader.too_large_error(len(new))
    if plan_content(reader.read_text(text)) != change.expected_content:
        raise ExecplanError(
            "would-break",
            "this text would change more of the plan than intended at this place; nothing was written",
            hint="reword it, or edit the file by hand and check it: execplan lint",
        )
    return new, change


def format_diff(old: bytes, new: bytes | None, path: str) -> str:
    """Return the change or removal of a file as a unified diff for `git apply`, without a final line end."""
    from difflib import unified_diff
    from io import BytesIO

    before, after = [[line.decode("utf-8", "backslashreplace") for line in BytesIO(data)] for data in (old, new or b"")]
    name = escape_unprintable(path.lstrip("/"))
    lines = unified_diff(
        before, after, f"a/{name}" if old else "/dev/null", f"b/{name}" if new is not None else "/dev/null"
    )
    diff_lines = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(diff_lines).removesuffix("\n")


def _edit_result(
    project: Project,
    ref: PlanRef,
    write_result: WriteResult,
    options: WriteOptions,
    commit_result: CommitResult | None = None,
) -> EditResult:
    path = project.display_path(ref.path)
    old, new, change, warnings = write_result
    diff_text = format_diff(old, new, path) if options.dry_run and new != old else ""
    commit, commit_warnings = (commit_result.digest, commit_result.warnings) if commit_result else (None, ())
    if commit_result and commit_result.rewritten:
        new = plan_store.read_bytes(project, ref.path)
    open_tasks = [is_unfinished(*task) for task in change.expected_content.tasks].count(True)
    tasks = _edited_tasks(change)
    messages, warnings = change.messages, warnings + commit_warnings
    return EditResult(
        path, new != old, digest(new), diff_text, commit, open_tasks, messages, warnings, tasks, change.expected_content
    )


def _edited_tasks(change: PlanChange) -> tuple[EditedTask, ...]:
    """Return the tasks affected by a change."""
    if not change.tasks:
        return ()
    expected_tasks = change.expected_content.tasks
    ids = ids_for_texts([text for _, text in expected_tasks])
    return tuple(
        [
            EditedTask(ids[index], index + 1, task_state(*expected_tasks[index]), expected_tasks[index][1], old_id)
            for index, old_id in change.tasks
        ]
    )
