"""Moving a plan with its artifacts and updating the plans that name it, for archive, restore and rename."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeAlias

from execplan.core import features
from execplan.core.archive import document_mentions, move_record
from execplan.core.archive.archive_evidence import ATTESTATION_FILE, EVIDENCE_FILE
from execplan.core.archive.document_mentions import ConfirmRewrite, Mention
from execplan.core.archive.file_transfer import target_taken_error
from execplan.core.archive.move_execution import execute_move, is_empty_directory, read_evidence, roll_back_move
from execplan.core.archive.move_record import MoveDetails, MoveIntent, pack_details
from execplan.core.archive.move_target import MoveTarget
from execplan.core.archive.plan_references import reference_change, relink_change
from execplan.core.archive.reference_updates import (
    NO_DEPENDENCIES,
    Dependencies,
    MoveCause,
    ReferenceUpdates,
    RegeneratedFiles,
    chain_changes,
    find_bystanders,
    update_references,
)
from execplan.core.edits.active_runs import ensure_not_running
from execplan.core.edits.edit_entries import MOVE, JournalEntry
from execplan.core.edits.edit_journal import JournalTransaction, Operation, new_operation_id
from execplan.core.edits.plan_commit import commit_paths
from execplan.core.edits.plan_preconditions import ensure_plan_exists
from execplan.core.edits.plan_writer import WriteOptions, WriteResult, format_diff, rewrite_plan
from execplan.core.errors import ExecplanError
from execplan.core.files.tree_walk import remove_tree
from execplan.core.git.git_commit import CommitResult
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.plan_change import ChangeBuilder, PlanChange
from execplan.core.plan_store import claims, plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest

MakeEvidence = Callable[[bytes], bytes]

Regenerate: TypeAlias = "Callable[[PlanRef, Sequence[tuple[str, str]]], RegeneratedFiles]"
UNDONE_DIR = "undone"
"""State directory for the files of undone attachments, and for copies that a reversal replaces."""


class MoveResult(NamedTuple):
    """The result of moving a plan; paths are relative to the repository root."""

    path: str
    changed: bool
    digest: str
    """Digest of the plan's content after the move; in a dry run, of the planned content."""
    diff: str
    """Diff of all changed plans, in a dry run only."""
    moves: tuple[tuple[str, str], ...]
    """Renames as pairs of old and new path."""
    followed: tuple[str, ...]
    """Other plans with rewritten paths, and regenerated files of the plan itself that name it."""
    messages: tuple[str, ...]
    evidence: str | None
    """Path of the evidence file, if there is one."""
    commit: str | None
    warnings: tuple[str, ...]
    rewritten: tuple[str, ...] = ()
    """Documents outside the plans with rewritten paths."""
    mentions: tuple[Mention, ...] = ()
    """Files outside the plans that still name the old paths."""
    attestation: str | None = None
    """Path of the attestation that was written next to the evidence, if there is one."""


class Reversal(NamedTuple):
    """The operation that a move undoes or redoes."""

    latest: JournalEntry
    """Last journal entry that did or undid the operation."""
    operation: str
    """ID of the operation to undo or redo."""
    documents: tuple[str, ...] = ()
    """Documents in which the operation has rewritten paths; this is reversed, too."""
    copies: tuple[str, ...] = ()
    """Files and directories at the target that are equal to those that replace them."""
    evidence: bytes | None = None
    """Evidence that the operation wrote; if the plan is already at the target, it may be gone."""


def move_plan(
    project: Project,
    ref: PlanRef,
    goal: MoveTarget,
    changer: ChangeBuilder,
    options: WriteOptions,
    *,
    command: str,
    make_evidence: MakeEvidence | None = None,
    regenerate: Regenerate | None = None,
    origin: str = "",
    confirm_rewrite: ConfirmRewrite | None = None,
    reversal: Reversal | None = None,
    dependencies: Dependencies = NO_DEPENDENCIES,
) -> MoveResult:
    """Change a plan and move it with its artifacts, all or nothing, then update the other plans.

    `regenerate` rewrites the files among the moved artifacts that name the plan by its ID.
    `make_evidence` builds the evidence to write to the artifacts from the plan's new bytes; without it, old evidence is
    removed. `origin` is the path from which the file was moved by hand, without its artifacts. `confirm_rewrite`
    decides whether documents outside the plans that name the old paths are rewritten; None means no. With `reversal`,
    `changer` itself restores the plan's own paths, and the documents of the reversed operation are rewritten.
    `dependencies` are passed to `update_references`. Raises ExecplanError.
    """
    _ensure_committable(project, goal, options)
    ensure_plan_exists(project, ref)
    features.load(features.MERGE_CHECK)(project, ref)
    moves = _planned_moves(project, ref, goal, origin, reversal)
    ids = (project.split_plan_path(origin)[1] if origin else ref.id, goal.id)
    folders = (os.path.dirname(origin or ref.path), os.path.dirname(goal.path))
    by_hand = [(origin, goal.path)] if origin else []
    named_moves = [*moves, *by_hand]
    if reversal is None:
        changer = chain_changes(
            chain_changes(changer, relink_change(named_moves, *folders)),
            reference_change(project, named_moves, ids, *folders),
        )
    reverses = reversal.latest.id if reversal is not None else ""
    mentions = document_mentions.find_mentions(project, named_moves)
    documents = reversal.documents if reversal is not None else ()
    to_rewrite = [mention for mention in mentions if mention.path in documents]
    if options.dry_run:
        write_result = rewrite_plan(project, ref, changer, options, command=command)
        followed = update_references(
            project, ref, named_moves, ids, options, command, MoveCause(ref.path, "", reverses), dependencies
        )
        diffs = [
            format_diff(plan_write.old, plan_write.new, project.display_path(plan_ref.path))
            for plan_ref, plan_write in ((ref, write_result), *followed.updates)
            if plan_write.new != plan_write.old
        ]
        preview = _move_result(
            project, goal, moves, write_result, followed, "\n".join(diffs), None, has_evidence=make_evidence is not None
        )
        return preview._replace(
            rewritten=tuple([mention.path for mention in to_rewrite]),
            mentions=tuple([mention for mention in mentions if mention not in to_rewrite]),
        )
    if mentions and confirm_rewrite is not None and confirm_rewrite(mentions):
        to_rewrite = [mention for mention in mentions if mention.is_document]
        documents = tuple([mention.path for mention in to_rewrite])
    options.prepare_commit(project)
    ensure_not_running(project, ref)
    with (
        project_state.lock(project, "project", f"{command} of {ref.id}"),
        project_state.lock(project, ref.real_path, command),
    ):
        ensure_plan_exists(project, ref)
        moves = _planned_moves(project, ref, goal, origin, reversal)
        start = plan_store.ref_for_path(project, origin) if origin and reversal is not None else ref
        set_aside = _copies_to_set_aside(project, reversal)
        all_moves = [*set_aside, *moves]
        journaled_move = _JournaledMove(
            project, start, goal, command, ids, all_moves, make_evidence, reversal, documents, options.operation_id
        )
        try:
            write_result = rewrite_plan(
                project, ref, changer, options, command=command, before_write=journaled_move.begin
            )
            execute_move(project, journaled_move.intent)
        except BaseException:
            journaled_move.roll_back()
            raise
        for _, copy in set_aside:
            remove_tree(os.path.dirname(copy), lambda _: None)
        move_intent = journaled_move.intent
        try:
            cause = MoveCause(goal.path, move_intent.operation, reverses)
            followed = update_references(
                project, ref, [*moves, *by_hand], ids, WriteOptions(), command, cause, dependencies
            )
            is_archived = plan_store.ref_for_path(project, goal.path).archived
            moved_warnings = claims.move_claims(project, start.path, goal.path, is_archived=is_archived)
            followed = followed.with_warnings(moved_warnings)
            move_record.delete_intent(project)
        except ExecplanError as error:
            followed = ReferenceUpdates((), (f"the next command updates the plans that refer to it: {error.message}",))
        if regenerate is not None and (moves or write_result.new != write_result.old):
            followed = followed.with_regenerated(regenerate(plan_store.PlanRef(goal.id, goal.path, False), moves))
        is_changed = bool(moves) or write_result.new != write_result.old
        should_commit, commit_result = is_changed and options.should_commit(project), None
        rewrite_result = document_mentions.rewrite_documents(project, to_rewrite, commits=should_commit)
        followed = followed.with_warnings(rewrite_result.warnings)
        if should_commit:
            other_contents = {plan_ref.path: plan_write.old for plan_ref, plan_write in followed.updates}
            old_contents = {ref.path: write_result.old, **other_contents, **rewrite_result.old_contents}
            pairs = [path for pair in (*moves, *by_hand) for path in pair]
            paths = [goal.path, goal.artifacts, *pairs, *other_contents, *rewrite_result.old_contents]
            paths = [path for path in paths if not path.startswith(f"{project.state}/")]
            summary, title = write_result.change.summary, write_result.change.expected_content.title
            commit_result = commit_paths(
                project, goal.id, paths, command, summary, old_contents, title, options.defer_commit
            )
        move_result = _move_result(
            project, goal, moves, write_result, followed, "", commit_result, has_evidence=make_evidence is not None
        )
        remaining = tuple([mention for mention in mentions if mention.path not in rewrite_result.paths])
        return move_result._replace(rewritten=rewrite_result.paths, mentions=remaining)


def _ensure_committable(project: Project, goal: MoveTarget, options: WriteOptions) -> None:
    """Raise ExecplanError if the move is to be committed but git ignores the target."""
    if options.should_commit(project):
        from execplan.core.git.gitignore import ensure_not_ignored

        ensure_not_ignored(project, goal.path)


class _JournaledMove:
    """A writer of a move's journal entry and intent, which writes both again if the plan has changed meanwhile."""

    def __init__(
        self,
        project: Project,
        ref: PlanRef,
        goal: MoveTarget,
        command: str,
        ids: tuple[str, str],
        moves: Sequence[tuple[str, str]],
        make_evidence: MakeEvidence | None,
        reversal: Reversal | None,
        documents: tuple[str, ...],
        make_operation_id: Callable[[], str],
    ) -> None:
        self.project = project
        self.ref = ref
        self.goal = goal
        self.command = command
        self.ids = ids
        self.moves = moves
        self.make_evidence = make_evidence
        self.reversal = reversal
        self.documents = documents
        self.make_operation_id = make_operation_id
        self.artifacts = project.plan_artifacts_dir(ref.path, archived=ref.archived)
        self._begun: MoveIntent | None = None
        self._recording: JournalTransaction | None = None

    @property
    def intent(self) -> MoveIntent:
        """Intent of the move, available after `begin`."""
        assert self._begun is not None
        return self._begun

    def begin(self, old: bytes, new: bytes, change: PlanChange) -> None:
        """Journal the move and write its intent, replacing those of an earlier call; raises ExecplanError."""
        if self._begun is not None:
            move_record.delete_intent(self.project)
            self._begun = None
        self._cancel()
        old_evidence = read_evidence(self.artifacts) or read_evidence(self.goal.artifacts)
        if self.reversal is not None and not os.path.lexists(self.ref.path):
            old_evidence = self.reversal.evidence
        texts = old, new, self.make_evidence(new) if self.make_evidence is not None else None, old_evidence
        paths = self.ref.path, self.goal.path, self.goal.artifacts
        reverses = self.reversal.latest.id if self.reversal is not None else ""
        new_intent = move_record.create_intent(
            self.command, self.ids, paths, list(self.moves), texts, self.make_operation_id(), reverses
        )
        if self.moves or new != old or self.reversal is not None:
            self._journal(new_intent, change)
        else:
            new_intent = new_intent._replace(operation="")
        move_record.write_intent(self.project, new_intent)
        self._begun = new_intent

    def _journal(self, move_intent: MoveIntent, change: PlanChange) -> None:
        undoes = self.reversal.operation if self.reversal is not None else ""
        artifacts = (self.artifacts, move_intent.artifacts)
        bystander_digests = find_bystanders(self.project, self.ref, self.moves)
        details = MoveDetails(
            move_intent.ids,
            move_intent.path,
            move_intent.goal,
            artifacts,
            self.goal.files,
            move_intent.made,
            move_intent.evidence,
            move_intent.was,
            bystander_digests,
            self.documents,
        )
        operation = Operation(move_intent.operation, MOVE, undoes, pack_details(self.project, details))
        recording = JournalTransaction(
            self.project, move_intent.path, self.command, change.summary, move_intent.old, move_intent.new, operation
        )
        recording.__enter__()
        self._recording = recording

    def _cancel(self) -> None:
        if self._recording is not None:
            self._recording.cancel()
        self._recording = None

    def roll_back(self) -> None:
        """Undo all completed parts of the move, if it has begun, and cancel its journal entry; raises ExecplanError."""
        if self._begun is not None:
            roll_back_move(self.project, self._begun)
        self._cancel()


def _copies_to_set_aside(project: Project, reversal: Reversal | None) -> list[tuple[str, str]]:
    """Return the renames that free the target of a reversal from copies; like all others, they can be rolled back."""
    folder = os.path.join(project.state, UNDONE_DIR, new_operation_id())
    copies = reversal.copies if reversal is not None else ()
    return [(path, os.path.join(folder, os.path.basename(path))) for path in copies]


def _planned_moves(
    project: Project, ref: PlanRef, goal: MoveTarget, origin: str = "", reversal: Reversal | None = None
) -> list[tuple[str, str]]:
    """Return the renames, with the plan last; raises ExecplanError if a target already exists."""
    replaced = reversal.copies if reversal is not None else ()
    old = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    if origin and not os.path.isdir(old):
        old = project.plan_artifacts_dir(origin, archived=plan_store.ref_for_path(project, origin).archived)
    moves = [(old, goal.artifacts)] if os.path.isdir(old) else []
    if not (moves and ref.path.startswith(old + "/") and goal.path == goal.artifacts + ref.path[len(old) :]):
        moves.append((ref.path, goal.path))  # else the plan is inside its artifacts directory and moves with it
    moves = [(source, target) for source, target in moves if source != target]
    moves = [*[(source, target) for source, target in goal.files if os.path.lexists(source)], *moves]
    for source, target in moves:
        is_free = not os.path.lexists(target) or target in replaced or is_empty_directory(target)
        if not is_free and not os.path.samefile(source, target):
            raise target_taken_error(project.display_path(target))
    return moves


def _move_result(
    project: Project,
    goal: MoveTarget,
    moves: Sequence[tuple[str, str]],
    write_result: WriteResult,
    followed: ReferenceUpdates,
    diff_text: str,
    commit_result: CommitResult | None,
    *,
    has_evidence: bool,
) -> MoveResult:
    attestation = os.path.join(goal.artifacts, ATTESTATION_FILE)
    return MoveResult(
        project.display_path(goal.path),
        bool(moves) or write_result.new != write_result.old,
        digest(
            plan_store.read_bytes(project, goal.path) if commit_result and commit_result.rewritten else write_result.new
        ),
        diff_text,
        tuple(
            [
                (project.display_path(old), project.display_path(new))
                for old, new in moves
                if has_evidence or not _is_empty_move(old, new)
            ]
        ),
        tuple(map(project.display_path, (*[plan_ref.path for plan_ref, _ in followed.updates], *followed.files))),
        write_result.change.messages,
        project.display_path(os.path.join(goal.artifacts, EVIDENCE_FILE)) if has_evidence else None,
        commit_result.digest if commit_result else None,
        write_result.warnings + followed.warnings + (commit_result.warnings if commit_result else ()),
        attestation=project.display_path(attestation) if has_evidence and os.path.isfile(attestation) else None,
    )


def _is_empty_move(old: str, new: str) -> bool:
    """Return whether a move, planned or done, is about a directory without files to move, which is only removed.

    Evidence does not move: a plan that leaves the archive loses it.
    """
    if os.path.isdir(old):
        names = set(os.listdir(old))
    elif os.path.lexists(old):
        names = {old}
    else:
        names = set()
    return not os.path.lexists(new) and names <= {EVIDENCE_FILE, ATTESTATION_FILE}
