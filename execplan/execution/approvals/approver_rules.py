"""Which people must approve which steps, and who is still missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.message_parts import format_count
from execplan.core.text.pure_paths import WILDCARDS, do_overlap, matches_glob
from execplan.execution.approval_document import Approval
from execplan.execution.approvals.approval_states import INCOMPLETE
from execplan.execution.approvals.approved_plan import ApprovedPlan, CheckedApproval, InvalidApproval
from execplan.execution.attributes import LEVELS
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.execution_plan import PROGRAM_TYPES, ExecutionPlan, Step, Type
from execplan.execution.permission import NEVER, POLICY, ApprovalTerms, is_covered
from execplan.execution.policy import ApproverRule, Policy
from execplan.execution.risk.step_risk import effective_risk


def join_people(policy: Policy, checked_approvals: list[CheckedApproval]) -> list[CheckedApproval]:
    """Return checked approvals, of which those of people are valid only together, and only if they are enough."""
    valid = [checked for checked in checked_approvals if isinstance(checked, ApprovedPlan)]
    if not valid:
        return checked_approvals
    people = [checked.stored for checked in valid if checked.approval.ssh is not None]
    document = valid[0].document
    needs = find_missing_approvers(policy, document, [stored.approval for stored in people])
    missing = tuple([str(need) for need in needs])
    joined: list[CheckedApproval] = []
    for checked in checked_approvals:
        if isinstance(checked, InvalidApproval):
            joined.append(checked)
        elif missing:
            joined.append(InvalidApproval(checked.stored, INCOMPLETE, missing))
        else:
            group = people if checked.stored in people else [checked.stored]
            companions = tuple([stored for stored in group if stored != checked.stored])
            terms = merge_terms(document, policy, [stored.approval for stored in group])
            joined.append(checked._replace(companions=companions, merged_terms=terms))
    return sorted(joined, key=lambda checked: checked.stored not in people)


class MissingApprovers(NamedTuple):
    """Who must still approve some steps."""

    steps: tuple[str, ...]
    approved_by: tuple[str, ...]
    more: int
    """How many more people must approve."""
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    """Groups of which nobody has approved, with their members."""

    def __str__(self) -> str:
        """Describe it in one line."""
        needs = [format_count(self.more, "more approver")] if self.more else []
        needs += [f"one of {name} ({', '.join(members) or 'nobody'})" for name, members in self.groups]
        return f"{', '.join(self.steps)}: approved by {', '.join(self.approved_by)}; needs {' and '.join(needs)}"


def find_missing_approvers(
    policy: Policy, document: ExecutionPlan, approvals: Sequence[Approval]
) -> tuple[MissingApprovers, ...]:
    """Return who must still approve the steps that at least one of these valid approvals covers."""
    groups = dict(policy.groups)
    steps_by_need: dict[MissingApprovers, list[str]] = {}
    for step, level in _steps_for_people(document, policy):
        people = _distinct_people(
            [
                approval
                for approval in approvals
                if is_covered(approval.terms(NEVER), step.id, level, inferred=step.inferred)
            ]
        )
        if not people:
            continue
        matching = [rule for rule in policy.approval if _is_for(rule, step, level)]
        count = max([rule.approvers for rule in matching], default=1) - len(people)
        required = dict.fromkeys([name for rule in matching for name in rule.required])
        missing_groups = [(name, groups.get(name, ())) for name in required]
        open_groups = tuple([(name, members) for name, members in missing_groups if not set(members) & set(people)])
        if count > 0 or open_groups:
            need = MissingApprovers((), tuple(people), max(count, 0), open_groups)
            steps_by_need.setdefault(need, []).append(step.id)
    return tuple([need._replace(steps=tuple(steps)) for need, steps in steps_by_need.items()])


def _steps_for_people(document: ExecutionPlan, policy: Policy) -> Iterator[tuple[Step, str]]:
    """Yield the steps that need a person, with their risk level."""
    for step in document.steps:
        level = effective_risk(step, policy).level
        if step.inferred or document.constraints.allow_unplanned or policy.needs_person(level):
            yield step, level


def _distinct_people(approvals: Sequence[Approval]) -> list[str]:
    """Return who approved: a person with two keys counts once, and so does a key with two names."""
    people: list[str] = []
    keys: set[str] = set()
    for approval in reversed(approvals):
        if approval.approver not in people and approval.key not in keys:
            people.append(approval.approver)
            keys.add(approval.key)
    return people


def _is_for(rule: ApproverRule, step: Step, level: str) -> bool:
    """Return whether a rule is for a step. A program can write any path, whatever the step declares."""
    if LEVELS.index(level) < LEVELS.index(rule.level):
        return False
    can_write_anything = step.type in (*PROGRAM_TYPES, Type.INSTALL) and level != LEVELS[0]
    paths = written_paths(step.model_dump())
    return not rule.paths or can_write_anything or any([_matches(path, name) for path in paths for name in rule.paths])


def _matches(path: str, pattern: str) -> bool:
    """Return whether a written path is one of a pattern, in it, or a directory that may contain one."""
    pattern = pattern.rstrip("/") or "."
    if WILDCARDS.isdisjoint(pattern):
        return do_overlap(path, pattern)
    start = min([pattern.index(wildcard) for wildcard in WILDCARDS if wildcard in pattern])
    directory = pattern[:start].rpartition("/")[0] or "."
    parents = ["/".join(path.split("/")[:length]) for length in range(1, path.count("/") + 2)]
    is_parent = path == "." or f"{directory}/".startswith(f"{path}/")
    return is_parent or any([matches_glob(parent, pattern) for parent in parents])


def merge_terms(document: ExecutionPlan, policy: Policy, approvals: Sequence[Approval]) -> ApprovalTerms:
    """Return the terms of several valid approvals of a plan together: what at least one of them covers.

    Machines sign only what the policy approves, so an approval of theirs covers no step that needs a person.
    """
    people = [approval for approval in approvals if approval.ssh is not None]
    all_terms = [approval.terms(policy.person_from) for approval in people or approvals]
    steps = [
        step.id
        for step, level in _steps_for_people(document, policy)
        if people and any([is_covered(terms, step.id, level, inferred=step.inferred) for terms in all_terms])
    ]
    return ApprovalTerms(
        all_terms[0].how if people else POLICY,
        None,
        tuple(steps),
        True,
        max([terms.approved for terms in all_terms]),
        min([terms.expires for terms in all_terms]),
        policy.person_from,
    )
