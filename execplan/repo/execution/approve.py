"""Approve what a plan would do: what may be approved, by whom and how, and the two files that are written."""

from __future__ import annotations

import os
from datetime import timedelta

from execplan.clock import now
from execplan.errors import CHANGED, NO, POLICY, ExecplanError
from execplan.execution import approval as seals
from execplan.execution.approval import Approval, Derived, UnsignedApproval
from execplan.execution.binding import drift
from execplan.execution.evaluation.checks.check import ERROR
from execplan.execution.evaluation.scope import ApprovalScope, find_forbidden_paths
from execplan.execution.model import Level
from execplan.execution.world import FILE
from execplan.record import NamedTuple
from execplan.repo import author, git, state
from execplan.repo.amend import ensure_not_archived, ensure_plan_exists
from execplan.repo.execution import approvals, key, standing, store, tree
from execplan.repo.execution.evaluated import Evaluated, evaluated
from execplan.repo.execution.world import Disk
from execplan.repo.homes import require_existing
from execplan.text import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

    from execplan.execution.evaluate import ActiveRun
    from execplan.repo.amend import WriteOptions
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef

    Before = dict[str, bytes | None]
    """By path, what a file held that was written."""


class Yes(NamedTuple):
    """How somebody said yes, and to what."""

    by: str
    how: Literal["terminal", "digest", "policy", "revision"]
    seconds: int
    """For which it holds."""
    max_risk: str | None = None
    steps: tuple[str, ...] | None = None
    inferred: Literal["terminal", "flag"] | None = None
    covers: Approval | None = None
    """The approval that covers this revision of what a run does: of that the new one has all that it says itself."""
    run: str = ""
    """That run."""


class Given(NamedTuple):
    """An approval that was given, or in a dry run would be."""

    approval: Approval | None
    """None in a dry run."""
    path: str
    """From the root of the repository."""
    document: str
    """The path of the execution plan."""
    commit: str | None = None
    warnings: tuple[str, ...] = ()


def look(home: Project, ref: PlanRef, underway: ActiveRun | None = None) -> Evaluated:
    """What would be approved, for a run that goes on if there is one; raises ExecplanError."""
    require_existing(home)
    ensure_not_archived(home, ref)
    return evaluated(home, ref, underway)


def stop_unfit(home: Project, ref: PlanRef, found: Evaluated) -> None:
    """Refuse what nobody may approve, and what must not run; raises ExecplanError with all of it."""
    errors = [each for each in found.evaluation.findings if each.level == ERROR]
    told = [f"{each.step.id if each.step else found.path}: {each.message}" for each in errors]
    barred = list(find_forbidden_paths(found.current.document, Disk(home)))
    barred += [line for line, each in zip(told, errors, strict=True) if each.check == "hidden"]
    if barred:
        raise ExecplanError(
            "not-approvable",
            f"{ref.id} has steps that nobody may approve",
            exit=POLICY,
            hint=f"keep to paths inside the repository and to characters that can be seen: execplan evaluate {ref.shell_name}",
            candidates=barred,
        )
    unread = [path for path, at in found.binding.states.items() if at.kind == FILE and not at.sha256]
    wrong = [*told, *[f"{path}: can't be read whole, and so not be bound" for path in unread]]
    if wrong:
        raise ExecplanError(
            "must-not-run",
            f"{ref.id} must not run, so it can't be approved",
            exit=NO,
            hint=f"see all of it, and how it is mended: execplan evaluate {ref.shell_name}",
            candidates=wrong,
            data={"reasons": wrong},
        )


def stop_other(home: Project, ref: PlanRef, found: Evaluated, prefix: str) -> None:
    """Refuse a digest that is not the present one, with what is known to have changed; raises ExecplanError."""
    if found.binding.digest.startswith(prefix.lower()):
        return
    kept = [each for each in approvals.every(home, ref) if each.approval is not None]
    known = next((each for each in kept if each.digest.startswith(prefix.lower())), kept[0] if kept else None)
    lines: tuple[str, ...] = ()
    if known is not None and known.approval is not None:
        lines = drift(known.approval.binding, found.binding)
    since = f", since {known.digest[:12]} was approved" if known is not None and lines else ""
    raise ExecplanError(
        "other-digest",
        f"{prefix} is not what would be approved now: something has changed{since}",
        exit=CHANGED,
        hint=f"look at it again: execplan evaluate {ref.shell_name}",
        candidates=lines or ("the steps, a file that they touch, a program in the repository, or the policy",),
    )


def give(
    home: Project,
    ref: PlanRef,
    shown: Evaluated,
    scope: ApprovalScope,
    yes: Yes,
    options: WriteOptions,
    record: Callable[[Approval], Before],
) -> Given:
    """Store the execution plan and its approval, if all is as it was shown; raises ExecplanError.

    The approval is recorded before it is there for anybody to use: one that can't be recorded is not given.
    """
    document, path = store.path_of(home, ref), approvals.path(home, ref, shown.binding.digest)
    told = Given(None, home.display_path(path), home.display_path(document))
    if options.dry_run:
        return told
    if options.should_commit(home):
        git.load_gitpython()
    with state.lock(home, ref.real_path, f"approve of {ref.id}"):
        ensure_plan_exists(home, ref)
        found = standing.look(home, ref)
        if found.binding.digest != shown.binding.digest:
            raise ExecplanError(
                "stale-approval",
                f"{ref.id} has changed while it was looked at: nothing was approved",
                exit=CHANGED,
                hint=f"look at it again: execplan evaluate {ref.shell_name}",
                candidates=drift(shown.binding, found.binding),
            )
        approval = _sealed(home, found, scope, yes)
        recorded = record(approval)
        before = {
            **recorded,
            document: files.again(lambda: store.put(home, document, found.current.data), told.document),
            path: approvals.save(home, ref, approval),
        }
        if not options.should_commit(home):
            return told._replace(approval=approval)
        from execplan.repo.commit import commit_paths

        summary = f"approve {approval.digest[:12]}"
        old = {file: data for file, data in before.items() if data is not None}
        made = commit_paths(home, ref.id, list(before), "approve", summary, old, None)
        return told._replace(approval=approval, commit=made.digest, warnings=made.warnings)


def _sealed(home: Project, found: standing.Now, scope: ApprovalScope, yes: Yes) -> Approval:
    """The approval, with the key of the user, which is made for the first one."""
    document, binding, moment = found.current.document, found.binding, now()
    sealing = key.make(home)
    covered = tuple([each.step.id for each in scope.covered])
    by_policy = covered if yes.how == "policy" else None
    steps = covered if scope.finished else yes.steps  # what is done was not judged: nobody has approved it once more
    session = author.session_id()
    covers = yes.covers
    until = covers.expires_at if covers is not None else seals.format_timestamp(moment + timedelta(seconds=yes.seconds))
    terms = UnsignedApproval(
        id=os.urandom(16).hex(),
        plan_id=document.plan_id,
        revision=document.revision,
        place=standing.place(home),
        digest=binding.digest,
        document=binding.document,
        states=seals.to_bound_states(binding),
        policy=binding.policy,
        programs=seals.to_bound_programs(binding),
        tree=tree.tree(home) if found.policy.pin == "tree" else None,
        head=git.head_commit(home),
        approver=author.clean_name("the policy" if by_policy is not None else yes.by),
        user=author.clean_name(author.system_login()),
        session=author.clean_name(session) if session else None,
        approved_at=seals.format_timestamp(moment),
        expires_at=until,
        how=yes.how,
        derived_from=_derived(covers, yes.run) if covers is not None else None,
        inferred=yes.inferred,
        max_risk=Level(yes.max_risk) if yes.max_risk is not None else None,
        steps=by_policy if by_policy is not None else steps,
        key=seals.key_id(sealing),
    )
    return seals.sign(terms, sealing)


def _derived(covers: Approval, run: str) -> Derived:
    how: Any = covers.effective_how
    return Derived(
        digest=covers.digest,
        revision=covers.revision,
        approvals=(*covers.origins, covers.id),
        how=how,
        run=run,
    )
