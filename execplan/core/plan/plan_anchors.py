"""Anchors: the part of a plan that a comment is about, named by its text, so that other versions of the plan have it too."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.plan_lookup import find_matches, normalize_text, task_ids
from execplan.core.text.message_parts import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Final

    from execplan.core.plan.model import ParsedPlan

PLAN: Final = "plan"
SECTION: Final = "section"
TASK: Final = "task"
DISCOVERY: Final = "discovery"
DECISION: Final = "decision"
OUTCOME: Final = "outcome"
REVISION: Final = "revision"
STEP: Final = "step"
ENTRY_KINDS: Final = (DISCOVERY, DECISION, OUTCOME, REVISION)
ANCHOR_KINDS: Final = (PLAN, SECTION, TASK, *ENTRY_KINDS, STEP)
"""The kinds of parts that an anchor can name."""
_MAX_CANDIDATES = 20


class Anchor(NamedTuple):
    """The name of a part of a plan that stays valid while the part's text stays."""

    kind: str
    """One of `ANCHOR_KINDS`."""
    text: str = ""
    """Text of the task or entry, title of the section, or ID of the step; empty for the whole plan."""
    occurrence: int = 1
    """Position among the parts of this kind with the same text, from 1."""
    total: int = 1
    """Number of parts of this kind with the same text."""

    @property
    def key(self) -> tuple[str, str]:
        """Return the kind and the text in the form used for comparison: without case, and with white space folded."""
        return self.kind, normalize_text(self.text)


class PlanTarget(NamedTuple):
    """A part of a plan that an anchor can name, with its place in this version."""

    anchor: Anchor
    label: str
    """Name for people, such as `task 3` or `section Progress`."""
    line: int
    """First line, from 0."""
    task_id: str = ""
    """ID of a task; empty for other parts."""


def list_targets(plan: ParsedPlan, steps: Iterable[tuple[str, int]] = ()) -> list[PlanTarget]:
    """Return the parts of a plan that anchors can name; `steps` are the IDs of its steps with their lines, from 0."""
    targets = [PlanTarget(Anchor(PLAN), "the plan", max(plan.title_line, 0))]
    rows = [(SECTION, section.title, f"section {section.title}", section.start, "") for section in plan.sections]
    rows += [
        (TASK, task.text, f"task {task.number}", task.start, task_id)
        for task, task_id in zip(plan.tasks, task_ids(plan.tasks), strict=True)
    ]
    for kind, entries in zip(
        ENTRY_KINDS, (plan.discoveries, plan.decisions, plan.outcomes, plan.revisions), strict=True
    ):
        rows += [(kind, entry.text, f"{kind} {number}", entry.start, "") for number, entry in enumerate(entries, 1)]
    rows += [(STEP, step_id, f"step {step_id}", line, "") for step_id, line in steps]
    counts: dict[tuple[str, str], int] = {}
    for kind, text, label, line, task_id in rows:
        anchor = Anchor(kind, text)
        counts[anchor.key] = counts.get(anchor.key, 0) + 1
        targets.append(PlanTarget(anchor._replace(occurrence=counts[anchor.key]), label, line, task_id))
    return [
        target._replace(anchor=target.anchor._replace(total=counts.get(target.anchor.key, 1))) for target in targets
    ]


def locate_anchors(targets: Iterable[PlanTarget], anchors: Iterable[Anchor]) -> list[PlanTarget | None]:
    """Return the part that each anchor names, or None if its text is no longer in the plan.

    If parts with the same text were added or removed, the text alone does not tell which one is meant: the result is
    None, too.
    """
    targets_by_key: dict[tuple[str, str], list[PlanTarget]] = {}
    for target in targets:
        targets_by_key.setdefault(target.anchor.key, []).append(target)
    matches = [(anchor, targets_by_key.get(anchor.key, [])) for anchor in anchors]
    return [parts[anchor.occurrence - 1] if len(parts) == anchor.total else None for anchor, parts in matches]


def find_target(targets: Sequence[PlanTarget], query: str) -> PlanTarget:
    """Return the part that a query names; raises ExecplanError if there is none, or more than one.

    A query is the number, ID or unique text of a task, the title of a section, the ID of a step, unique text of an
    entry, or a kind with one of these, such as `decision 2`.
    """
    normalized = normalize_text(query)
    for kind, values in (
        (TASK, [(target.task_id, _number(target)) for target in targets if target.anchor.kind == TASK]),
        (SECTION, [_section_names(target.anchor.text) for target in targets if target.anchor.kind == SECTION]),
        (STEP, [(normalize_text(target.anchor.text),) for target in targets if target.anchor.kind == STEP]),
    ):
        query_names = _section_names(query) if kind == SECTION else (normalized,)
        for target, names in zip(_of_kind(targets, kind), values, strict=True):
            if not set(names).isdisjoint(query_names):
                return target
    first_word, _, rest = normalized.partition(" ")
    if first_word == PLAN and not rest:
        return targets[0]
    if first_word in ANCHOR_KINDS and rest:
        numbered = [target for target in _of_kind(targets, first_word) if rest in (target.task_id, _number(target))]
        matches = numbered or _matching(_of_kind(targets, first_word), rest)
    else:
        matches = _matching([target for target in targets if target.anchor.kind not in (PLAN, STEP)], query)
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ExecplanError(
            "ambiguous-part",
            f"{query!r} matches {len(matches)} parts of the plan",
            hint=f"name one of them: {' or '.join([f'--on {quote(target.label)}' for target in matches[:2]])}",
            candidates=[f"{target.label}: {target.anchor.text}" for target in matches[:_MAX_CANDIDATES]],
        )
    raise ExecplanError(
        "no-such-part",
        f"the plan has no task, section, entry or step {query!r}",
        hint="name a task by its number, ID or text, a section by its title, a step by its ID, or write 'decision 2'",
        candidates=[target.label for target in targets if target.anchor.kind in (SECTION, STEP)][:_MAX_CANDIDATES],
    )


def _of_kind(targets: Sequence[PlanTarget], kind: str) -> list[PlanTarget]:
    return [target for target in targets if target.anchor.kind == kind]


def _number(target: PlanTarget) -> str:
    """Return the number in the label of a task or entry."""
    return target.label.rpartition(" ")[2]


def _section_names(title: str) -> tuple[str, ...]:
    """Return the names under which a section is known: its title and, if it has one, its standard name."""
    return tuple(filter(None, (outline.title_key(title), outline.canonical_name(title))))


def _matching(targets: Sequence[PlanTarget], query: str) -> list[PlanTarget]:
    return [targets[index] for index in find_matches([target.anchor.text for target in targets], query)]
