"""Updates of other plans that name a moved plan: their paths follow the move, and are restored when it is undone."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from execplan.core.archive import move_record
from execplan.core.archive.plan_references import plans_naming, read_once, reference_change
from execplan.core.edits import edit_journal, journal_moves
from execplan.core.edits.edit_entries import FOLLOW
from execplan.core.edits.edit_journal import Operation
from execplan.core.edits.plan_writer import WriteOptions, WriteResult, rewrite_plan
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import reader
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.path_rewriting import PathReplacement, apply_replacements
from execplan.core.plan.plan_change import ChangeBuilder, PlanChange
from execplan.core.plan.text_rebase import rebase_text
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.text.pure_paths import is_inside
from execplan.core.text.text_lines import Edit, apply_edits, digest


class RegeneratedFiles(NamedTuple):
    """Files among the artifacts that were regenerated because the plan's ID changed."""

    paths: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class ReferenceUpdates(NamedTuple):
    """The writes to other plans that name a moved path."""

    updates: tuple[tuple[PlanRef, WriteResult], ...]
    warnings: tuple[str, ...]
    files: tuple[str, ...] = ()
    """Regenerated files among the artifacts."""

    def with_regenerated(self, regenerated: RegeneratedFiles) -> ReferenceUpdates:
        """Return a copy with the regenerated files and their warnings."""
        return self._replace(files=regenerated.paths, warnings=self.warnings + regenerated.warnings)

    def with_warnings(self, warnings: tuple[str, ...]) -> ReferenceUpdates:
        """Return a copy with additional warnings."""
        return self._replace(warnings=self.warnings + warnings)


Dependencies = Mapping[str, Sequence[tuple[int, str]]]
"""Lines, from 1, of other plans, by absolute path, each with the name by which it depends on the moved plan."""
NO_DEPENDENCIES: Dependencies = {}


class MoveCause(NamedTuple):
    """The journaled move that causes updates of other plans."""

    path: str = ""
    """Path whose journal records the move; empty if an older version began it."""
    operation: str = ""
    reverses: str = ""
    """ID of the operation that this move reverses; the plans updated by that operation are restored."""


def update_references(
    project: Project,
    ref: PlanRef,
    moves: Sequence[tuple[str, str]],
    ids: tuple[str, str],
    options: WriteOptions,
    command: str,
    cause: MoveCause = MoveCause(),  # noqa: B008
    dependencies: Dependencies = NO_DEPENDENCIES,
) -> ReferenceUpdates:
    """Rewrite the paths and dependencies in the other plans; archived ones and those that can't be changed are reported."""
    updates: list[tuple[PlanRef, WriteResult]] = []
    warnings = []
    followed, bystanders = _reversed_updates(project, cause)
    for other_ref in _affected_plans(project, ref, moves, [*followed, *dependencies]):
        folder = os.path.dirname(other_ref.path)
        changer = reference_change(project, moves, ids, folder, folder)
        if other_ref.path in dependencies:
            changer = chain_changes(_name_change(dependencies[other_ref.path], ids[1]), changer)
        if other_ref.path in followed:
            changer = _revert_change(*followed[other_ref.path], changer)
        elif other_ref.path in bystanders and bystanders[other_ref.path] == digest(
            plan_store.load(project, other_ref).data
        ):
            continue
        try:
            if other_ref.archived or options.dry_run:
                write_result = rewrite_plan(project, other_ref, changer, WriteOptions(dry_run=True), command=command)
            else:
                write_result = _update_plan(project, ref, other_ref, changer, options, command, cause)
        except ExecplanError as error:
            warnings.append(f"{project.display_path(other_ref.path)} may still name the old path: {error.message}")
            continue
        if other_ref.archived and write_result.new != write_result.old:
            warnings.append(f"{project.display_path(other_ref.path)} is archived, so it still names the old path")
        elif write_result.new != write_result.old:
            updates.append((other_ref, write_result))
    return ReferenceUpdates(tuple(updates), tuple(warnings))


def find_bystanders(project: Project, ref: PlanRef, moves: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the digests, by path, of the other plans that already name the new paths of a move."""
    names = {os.fsencode(os.path.basename(new).removesuffix(".md")) for _, new in moves}
    digests = {}
    for other_ref in plan_store.all_refs(project) if names else ():
        try:
            data = read_once(project, other_ref.path)
        except ExecplanError:
            continue
        if any([name in data for name in names]) and other_ref.real_path != ref.real_path:
            digests[other_ref.path] = digest(data)
    return digests


def chain_changes(first: ChangeBuilder, second: ChangeBuilder) -> ChangeBuilder:
    """Return a change that applies two changes in order."""

    def change(plan: ParsedPlan) -> PlanChange:
        first_change = first(plan)
        intermediate = reader.read_text(apply_edits(plan.text, first_change.edits)) if first_change.edits else plan
        second_change = second(intermediate)
        if not second_change.edits:
            return first_change
        old, new = plan.text.to_bytes(), apply_edits(intermediate.text, second_change.edits).to_bytes()
        return rebase_text(plan, old, new, first_change.summary, "", "")._replace(messages=first_change.messages)

    return change


def _name_change(dependencies: Sequence[tuple[int, str]], new_id: str) -> ChangeBuilder:
    """Return a change that gives a plan on which another depends its new ID, only in the lines that name it."""
    replacements = [PathReplacement(name, new_id, False) for _, name in dependencies]

    def change(plan: ParsedPlan) -> PlanChange:
        lines = plan.text.lines
        numbers = {line - 1 for line, _ in dependencies if line <= len(lines)}
        edits = [Edit(at, at + 1, (apply_replacements(lines[at], replacements),)) for at in sorted(numbers)]
        new = apply_edits(plan.text, edits).to_bytes()
        return rebase_text(plan, plan.text.to_bytes(), new, "paths", "", "")._replace(messages=())

    return change


def _update_plan(
    project: Project,
    ref: PlanRef,
    other_ref: PlanRef,
    changer: ChangeBuilder,
    options: WriteOptions,
    command: str,
    cause: MoveCause,
) -> WriteResult:
    if cause.operation:
        journal_moves.add_follower(project, cause.path, cause.operation, other_ref.path)
    operation = Operation(cause.operation, FOLLOW)
    with project_state.lock(project, other_ref.real_path, f"{command} of {ref.id}"):
        return rewrite_plan(project, other_ref, changer, options, command=command, make_operation=lambda: operation)


def _reversed_updates(project: Project, cause: MoveCause) -> tuple[dict[str, tuple[bytes, bytes]], Mapping[str, str]]:
    """Return the old and new texts, by path, of plans updated by the reversed move, and that move's `bystanders`."""
    if not cause.reverses:
        return {}, {}
    texts_by_path = {}
    for path in journal_moves.followers(project, cause.path, cause.reverses):
        for entry in edit_journal.read_entries(project, path):
            if entry.id == cause.reverses and entry.is_written:
                try:
                    texts_by_path[path] = entry.unpack()
                except ValueError:  # then its paths are rewritten as in any other plan
                    continue
    reversed_move = next(
        (candidate for candidate in edit_journal.read_entries(project, cause.path) if candidate.id == cause.reverses),
        None,
    )
    try:
        return texts_by_path, move_record.unpack_details(
            project, reversed_move
        ).bystanders if reversed_move is not None else {}
    except ValueError:
        return texts_by_path, {}


def _affected_plans(
    project: Project, ref: PlanRef, moves: Sequence[tuple[str, str]], further_paths: Sequence[str]
) -> list[PlanRef]:
    """Return the other plans that may name a moved path, and those at `further_paths`."""
    new_paths = [new for _, new in moves]  # the plan itself, if it was already moved
    refs = [
        other_ref
        for other_ref in plans_naming(project, ref, moves)
        if not any([is_inside(other_ref.path, new) for new in new_paths])
    ]
    known_paths = {other_ref.path for other_ref in refs}
    missing_paths = [path for path in dict.fromkeys(further_paths) if path not in known_paths and os.path.lexists(path)]
    return refs + [plan_store.ref_for_path(project, path) for path in missing_paths]


def _revert_change(old: bytes, new: bytes, follow_change: ChangeBuilder) -> ChangeBuilder:
    """Return a change that restores a text updated by a move; if it has changed since, its other lines are kept."""

    def revert(plan: ParsedPlan) -> PlanChange:
        return rebase_text(plan, new, old, "paths", "", "")._replace(messages=())

    def change(plan: ParsedPlan) -> PlanChange:
        if plan.text.to_bytes() in (old, new):  # git may have restored the old text
            return revert(plan)
        try:
            return chain_changes(revert, follow_change)(plan)
        except ExecplanError:
            return follow_change(plan)

    return change
