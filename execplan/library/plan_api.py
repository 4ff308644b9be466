"""A plan in a project, with the commands that edit and move it as methods."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.edits import plan_updates
from execplan.core.edits.plan_writer import WriteOptions, amend
from execplan.core.plan.plan_lookup import expand_numbers
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.text import text_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from execplan.core.archive.attachments import Attachment
    from execplan.core.archive.document_mentions import ConfirmRewrite
    from execplan.core.archive.plan_move import MoveResult
    from execplan.core.edits.plan_commit import PlanCommitResult
    from execplan.core.edits.plan_writer import EditResult
    from execplan.core.plan.model import Entry, ParsedPlan, Section, Task
    from execplan.core.plan.plan_metadata import PlanMetadata
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.core.undo.undo_redo import ReversalResult
    from execplan.execution.engine.acceptance.verified_completion import (
        ApproveChecks,
        Verification,
        VerificationObserver,
    )
    from execplan.linter.rule import Finding
    from execplan.team.history.history_event import HistoryEvent
    from execplan.team.review.comment_file import StoredRecord
    from execplan.team.review.plan_comments import PlanComments

_DEFAULT = WriteOptions()


class Plan:
    """A plan in a project: its file is read at each access, and edited as the command of the same name does.

    A task is named by its number, its ID, or text that only it contains. Every edit is journaled, so that `undo` reverts
    it; `options` say whether to commit it, only to show it, or to require a digest. All methods raise ExecplanError:
    `code` and `exit` tell the cases apart, and the file is left as it was.
    """

    def __init__(self, project: Project, ref: PlanRef) -> None:
        self.project = project
        """The project's record: its directories and settings."""
        self.ref = ref
        """The plan's ID and path, and whether it is archived."""

    @classmethod
    def find(cls, name: str | None = None, directory: str | os.PathLike[str] = ".") -> Self:
        """Find a plan by its ID, a unique part of its ID or title, or its path; without a name, the sticky or only open plan.

        `EXECPLAN_PLAN` names the plan if `name` is None.
        """
        return cls(*plan_selection.select_plan(os.fspath(directory), name))

    def __repr__(self) -> str:
        """Show the plan with its ID."""
        return f"Plan({self.id!r})"

    @property
    def id(self) -> str:
        """The plan's ID: the name of its file without `.md`."""
        return self.ref.id

    @property
    def path(self) -> str:
        """The absolute path of the plan's file."""
        return self.ref.path

    @property
    def is_archived(self) -> bool:
        """Whether the file is in the archive."""
        return self.ref.archived

    @property
    def digest(self) -> str:
        """The SHA-256 of the file, in 64 hexadecimal digits."""
        return text_lines.digest(plan_store.read_bytes(self.project, self.path))

    def read(self) -> ParsedPlan:
        """Read and parse the file once, to use the same text several times."""
        return plan_store.parse(self.project, plan_store.read_bytes(self.project, self.path))

    @property
    def title(self) -> str:
        """The title, or an empty string if there is none."""
        return self.read().title or ""

    @property
    def state(self) -> str:
        """`draft`, `active`, `complete` or `archived`."""
        return self.read().state(archived=self.is_archived)

    @property
    def tasks(self) -> list[Task]:
        """The tasks of Progress, in file order; lines count from 0 and ends are exclusive."""
        return self.read().tasks

    @property
    def sections(self) -> list[Section]:
        """The sections, in file order."""
        return self.read().sections

    @property
    def decisions(self) -> list[Entry]:
        """The entries of the Decision Log."""
        return self.read().decisions

    @property
    def discoveries(self) -> list[Entry]:
        """The entries of Surprises & Discoveries."""
        return self.read().discoveries

    @property
    def outcomes(self) -> list[Entry]:
        """The entries of Outcomes & Retrospective."""
        return self.read().outcomes

    @property
    def revisions(self) -> list[Entry]:
        """The dated revision notes, in file order."""
        return self.read().revisions

    def history(self) -> list[HistoryEvent]:
        """Return what happened to the plan, newest first, as `execplan log` shows it; changes not committed come first.

        Renames and moves are followed. Raises ExecplanError without a git repository.
        """
        from execplan.team.history.plan_history import load_history

        return load_history(self.project, self.ref)

    def findings(self) -> list[Finding]:
        """Check the plan as `execplan lint` does, with its project's settings; lines and columns count from 1."""
        from execplan.linter.checking.plan_check import CheckOptions, CheckTarget, check_plan

        return list(check_plan(CheckTarget(self.project, self.ref, self.path), CheckOptions()).findings)

    def done(self, *tasks: str | int, options: WriteOptions = _DEFAULT) -> EditResult:
        """Check off tasks, with the time; numbers may be given as `1-3` or `1,2,5`.

        A task that somebody else had checked off is left as it was; `done_by` of the result's task says who that was.
        Raises ExecplanError if the policy requires that checks pass first.
        """
        return plan_updates.done(self.project, self.ref, _names(tasks), options)

    def verify(
        self,
        *tasks: str | int,
        approve_checks: ApproveChecks | None = None,
        observer: VerificationObserver | None = None,
        options: WriteOptions = _DEFAULT,
    ) -> Verification:
        """Run the checks of tasks, and check off those whose check passes, with links to the transcripts.

        `approve_checks` gets the checks that need a person's approval, and returns whether the person approves them;
        without it, such a check is an error.
        """
        from execplan.execution.engine.acceptance.verified_completion import verify_tasks

        verification = verify_tasks(
            self.project,
            self.ref,
            expand_numbers(_names(tasks)),
            options,
            approve_checks=approve_checks,
            observer=observer,
        )
        edit = verification.edit
        if edit is None:
            return verification
        return verification._replace(edit=plan_updates.warn_of_blockers(self.project, self.ref, edit, self.read))

    def reopen(self, *tasks: str | int, options: WriteOptions = _DEFAULT) -> EditResult:
        """Uncheck tasks and remove their timestamps."""
        return plan_updates.reopen(self.project, self.ref, _names(tasks), options)

    def add(
        self,
        text: str,
        *,
        after: str | None = None,
        before: str | None = None,
        under: str | None = None,
        check: str | None = None,
        create: bool = False,
        options: WriteOptions = _DEFAULT,
    ) -> EditResult:
        """Add an open task: after or before a task, after the last one under a sub-heading, or at the end.

        `check` is the command that shows that the task is done. `create` adds the section if it is missing.
        """
        return plan_updates.add(
            self.project,
            self.ref,
            text,
            after=after,
            before=before,
            under=under,
            check=check,
            create=create,
            options=options,
        )

    def split(self, task: str | int, *, done: str, remaining: str, options: WriteOptions = _DEFAULT) -> EditResult:
        """Split a task into a checked one and an open one."""
        return plan_updates.split(self.project, self.ref, str(task), done=done, remaining=remaining, options=options)

    def reword(self, task: str | int, text: str, *, options: WriteOptions = _DEFAULT) -> EditResult:
        """Replace the text of a task; its ID changes with it."""
        return plan_updates.reword(self.project, self.ref, str(task), text, options)

    def decide(
        self,
        text: str,
        *,
        why: str,
        author: str | None = None,
        supersedes: str | None = None,
        create: bool = False,
        options: WriteOptions = _DEFAULT,
    ) -> EditResult:
        """Add a decision with its rationale, the date and the author.

        The author defaults to `EXECPLAN_AGENT`, the settings, `EXECPLAN_AUTHOR` and git's user name, in this order.
        """
        return plan_updates.decide(
            self.project, self.ref, text, why=why, author=author, supersedes=supersedes, create=create, options=options
        )

    def discover(
        self, text: str, *, evidence: str, create: bool = False, options: WriteOptions = _DEFAULT
    ) -> EditResult:
        """Add a discovery with its evidence."""
        return plan_updates.discover(self.project, self.ref, text, evidence=evidence, create=create, options=options)

    def outcome(self, text: str, *, create: bool = False, options: WriteOptions = _DEFAULT) -> EditResult:
        """Add an outcome to Outcomes & Retrospective."""
        return plan_updates.outcome(self.project, self.ref, text, create=create, options=options)

    def note(
        self, text: str, *, excerpt: Sequence[str] = (), create: bool = False, options: WriteOptions = _DEFAULT
    ) -> EditResult:
        """Add a note to Artifacts and Notes, with the lines of an excerpt in a code block below it."""
        return plan_updates.note(self.project, self.ref, text, excerpt=excerpt, create=create, options=options)

    def revise(self, text: str, *, options: WriteOptions = _DEFAULT) -> EditResult:
        """Add a dated revision note."""
        return plan_updates.revise(self.project, self.ref, text, options)

    def set(
        self, section: str, lines: Sequence[str], *, create: bool = False, options: WriteOptions = _DEFAULT
    ) -> EditResult:
        """Replace the body of a section with lines of markdown, which contain no heading of level 1 or 2."""
        return plan_updates.set_section(self.project, self.ref, section, lines, create=create, options=options)

    def convert(self, *, options: WriteOptions = _DEFAULT) -> EditResult:
        """Make an ExecPlan of a plan in another form; all text is kept, and missing sections get placeholder text."""
        from execplan.core.scaffold import plan_conversion

        changer = plan_conversion.build_conversion(self.project, self.ref.id)
        return amend(self.project, self.ref, changer, options, command="convert", is_pure=True)

    @property
    def metadata(self) -> PlanMetadata:
        """The metadata of the plan, from its front matter or its Metadata list; empty where nothing is given."""
        from execplan.core.plan.plan_metadata import read_metadata

        return read_metadata(self.read())

    def set_metadata(self, assignments: Sequence[str], *, options: WriteOptions = _DEFAULT) -> EditResult:
        """Set keys of the metadata, each given as `key=value`; `key=` removes one, and a list is `key=a,b`.

        A dependency that closes a cycle is an error.
        """
        return plan_updates.set_metadata(self.project, self.ref, assignments, options)

    def attach(
        self, *files: str | os.PathLike[str], about: str = "", create: bool = False, options: WriteOptions = _DEFAULT
    ) -> tuple[EditResult, list[Attachment]]:
        """Copy files into the plan's artifacts and name them in Artifacts and Notes: all of them, or none."""
        from execplan.core.archive import attachments

        sources = [os.fspath(file) for file in files]
        return attachments.attach_files(self.project, self.ref, sources, about, options, create=create)

    def comments(self) -> PlanComments:
        """Return the review comments with their places in the plan, the oldest first; resolved ones are included."""
        from execplan.team.review.plan_comments import load_comments

        return load_comments(self.project, self.ref, self.read())

    def comment(self, text: str, *, on: str | None = None, options: WriteOptions = _DEFAULT) -> StoredRecord:
        """Comment on a task, section, entry or step, named as for `execplan comment --on`, or on the whole plan.

        Comments are in a file among the plan's artifacts, so `undo` does not revert them.
        """
        from execplan.team.review.plan_comments import add_comment

        return add_comment(self.project, self.ref, on, text, options)

    def reply(self, comment: str, text: str, *, reopen: bool = False, options: WriteOptions = _DEFAULT) -> StoredRecord:
        """Reply to a comment, named by the beginning of its ID, and reopen it if requested."""
        from execplan.team.review.plan_comments import add_reply

        return add_reply(self.project, self.ref, comment, text, options, reopen=reopen)

    def resolve(self, comment: str, *, reason: str = "", options: WriteOptions = _DEFAULT) -> StoredRecord:
        """Resolve a comment, named by the beginning of its ID."""
        from execplan.team.review.plan_comments import resolve_comment

        return resolve_comment(self.project, self.ref, comment, reason, options)

    def rename(
        self, title: str, *, confirm_rewrite: ConfirmRewrite | None = None, options: WriteOptions = _DEFAULT
    ) -> MoveResult:
        """Change the title, and with it the ID; the file, its artifacts and the paths in other plans follow.

        `confirm_rewrite` gets the documents outside of the plans that name the old path, and returns whether to rewrite them.
        """
        from functools import partial

        from execplan.core.archive import plan_relocation
        from execplan.execution.approvals import artifact_store
        from execplan.execution.engine.run_records.finishing_commands import ensure_no_open_runs
        from execplan.team.advice import checkpoint_file
        from execplan.team.dependencies.rename_warnings import find_dependents, rename_warnings
        from execplan.team.worktrees.worktree_record import follow_rename, plan_key

        ensure_no_open_runs(self.project, self.ref, "renamed")
        dependents = find_dependents(self.project, self.ref)
        is_compiled = os.path.lexists(artifact_store.path_of(self.project, self.ref))
        renew = partial(checkpoint_file.renew_page, self.project, commits=options.should_commit(self.project))
        moved = plan_relocation.rename_plan(
            self.project, self.ref, title, options, regenerate=renew, confirm_rewrite=confirm_rewrite
        )
        if is_compiled and moved.changed:
            warning = f"the execution plan and the approvals of {self.id} still have its old title: compile and approve it again"
            moved = moved._replace(warnings=(*moved.warnings, warning))
        old_key = plan_key(self.project, self.ref)
        self._follow(moved, options)
        if moved.changed and not options.dry_run:
            follow_rename(self.project, old_key, self.ref)
            warnings = rename_warnings(self.project, self.ref, dependents)
            moved = moved._replace(warnings=(*moved.warnings, *warnings))
        return moved

    def archive(
        self,
        *,
        reason: str | None = None,
        superseded_by: Plan | None = None,
        abandoned: bool = False,
        force: bool = False,
        confirm_rewrite: ConfirmRewrite | None = None,
        options: WriteOptions = _DEFAULT,
    ) -> MoveResult:
        """Move the plan and its artifacts into the archive, and write the evidence file beside them.

        A plan with open tasks, without an outcome or with lint errors is an error unless it is superseded, abandoned or
        forced; the last two need a reason. A plan with an unfinished run is an error unless forced.
        """
        from execplan.core.archive import plan_archive
        from execplan.execution.engine.run_records.finishing_commands import ensure_no_open_runs
        from execplan.execution.engine.run_records.run_statuses import open_run_warnings
        from execplan.team.review.comment_file import open_comment_warnings

        origin = plan_archive.hand_moved_from(self.project, self.ref)
        source = plan_store.ref_for_path(self.project, origin) if origin else self.ref
        warnings = open_run_warnings(self.project, source) if force else ()
        warnings += () if source.archived else open_comment_warnings(self.project, source)
        if not (force or source.archived):
            ensure_no_open_runs(self.project, source, "archived")
        moved = plan_archive.archive_plan(
            self.project,
            self.ref,
            options,
            reason=reason,
            successor=superseded_by.ref if superseded_by is not None else None,
            abandoned=abandoned,
            origin=origin,
            confirm_rewrite=confirm_rewrite,
        )
        self._follow(moved, options)
        return moved._replace(warnings=(*warnings, *moved.warnings))

    def restore(
        self,
        *,
        reason: str | None = None,
        confirm_rewrite: ConfirmRewrite | None = None,
        options: WriteOptions = _DEFAULT,
    ) -> MoveResult:
        """Move an archived plan and its artifacts back."""
        from execplan.core.archive import plan_archive

        moved = plan_archive.restore_plan(
            self.project, self.ref, options, reason=reason, confirm_rewrite=confirm_rewrite
        )
        self._follow(moved, options)
        return moved

    def undo(self, *, other_authors: bool = False, options: WriteOptions = _DEFAULT) -> ReversalResult:
        """Undo the last operation on the plan: an edit, or a move."""
        from execplan.core.undo import undo_redo

        return undo_redo.undo(
            self.project.base, self.path, options, other_authors=other_authors, may_move=_ensure_movable
        )

    def redo(self, *, other_authors: bool = False, options: WriteOptions = _DEFAULT) -> ReversalResult:
        """Redo the operation that was undone last."""
        from execplan.core.undo import undo_redo

        return undo_redo.redo(
            self.project.base, self.path, options, other_authors=other_authors, may_move=_ensure_movable
        )

    def commit(self, message: str | None = None, *, if_match: str | None = None) -> PlanCommitResult:
        """Commit the plan and its artifacts, and nothing else; what is staged stays staged."""
        from execplan.core.edits.plan_commit import commit_plan

        return commit_plan(self.project, self.ref, message, dry_run=False, if_match=if_match)

    def _follow(self, moved: MoveResult, options: WriteOptions) -> None:
        """Point to the file's new place."""
        if moved.changed and not options.dry_run:
            self.ref = plan_store.ref_for_path(self.project, os.path.join(self.project.root, moved.path))


def _names(tasks: Sequence[str | int]) -> list[str]:
    return [str(task) for task in tasks]


def _ensure_movable(project: Project, ref: PlanRef) -> None:
    """Raise an error if moving a plan would strand its unfinished run."""
    from execplan.execution.engine.run_records.finishing_commands import ensure_no_open_runs

    ensure_no_open_runs(project, ref, "moved")
