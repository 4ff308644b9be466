"""Plans that are there twice: where execplan has moved them, and again at their old place, usually restored by git."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from execplan.core.edits.edit_entries import MOVE
from execplan.core.edits.undo_stack import build_stack, load_entries
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.plan_journal import former_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.core.plan_facts.listed_plan import ListedPlan


class RestoredPlan(NamedTuple):
    """A plan at its former place, with a text that it had there."""

    path: str
    """Path from the repository root."""
    moved_path: str
    """Path to which execplan has moved the plan."""
    remedy: str


def find_restored_plans(plans: Sequence[ListedPlan]) -> Iterator[RestoredPlan]:
    """Yield the plans that are also at a former path of theirs. Raises ExecplanError if a journal can't be read."""
    plans_by_path = {plan.ref.path: plan for plan in plans}
    for plan in plans:
        paths = {*former_paths(plan.project, plan.ref.path)} - {plan.ref.path}
        copies = [plans_by_path[path] for path in sorted(paths) if path in plans_by_path]
        entries = load_entries(plan.project, plan.ref.path) if copies else []
        versions = {digest for entry in entries for digest in (entry.old_digest, entry.new_digest) if digest}
        for copy in copies:
            if copy.facts.digest not in versions:
                continue
            old, new = quote(copy.display_path), quote(plan.display_path)
            last = build_stack(entries).undoable[-1:]
            is_undoable = last and last[0].latest.kind == MOVE and last[0].latest.old_digest == copy.facts.digest
            discard = f"execplan undo -p {new}" if is_undoable else f"rm {new}"
            yield RestoredPlan(
                copy.display_path, plan.display_path, f"keep the new one: rm {old}; or the old one: {discard}"
            )
