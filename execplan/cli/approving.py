"""What `approve` says: what it would cover, the question, and approvals as they stand."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.door import shown
from execplan.cli.table import table
from execplan.errors import NO, POLICY, USAGE, ExecplanError
from execplan.execution.evaluation.scope import approval_scope as scope_of
from execplan.execution.evaluation.told import step_location, describe_commands
from execplan.repo.execution.standing import APPROVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.approval import Approval
    from execplan.execution.evaluate import EvaluatedStep
    from execplan.execution.evaluation.scope import ApprovalScope
    from execplan.repo.execution.approve import Given
    from execplan.repo.execution.evaluated import Evaluated
    from execplan.repo.execution.standing import JudgedApproval
    from execplan.repo.home import Home

_LEAST = 8
"""Hex digits by which a digest is named: more than anybody guesses."""
_SHOWN = 12
"""Those that a command names."""
_LONGEST = 30 * 86_400
_UNITS = {"m": 60, "h": 3600, "d": 86_400}


def seconds(said: str) -> int:
    """How long `30m`, `24h` or `7d` is; raises ExecplanError for what is no time, and for more than 30 days."""
    count, unit = said[:-1], said[-1:]
    if unit in _UNITS and count.isascii() and count.isdigit() and len(count) < 6:
        found = int(count) * _UNITS[unit]
        if 0 < found <= _LONGEST:
            return found
    what = f"--expires takes minutes, hours or days, 30d at most, not {said!r}"
    raise ExecplanError("usage", what, exit=USAGE, hint="such as 30m, 24h or 7d; nothing is approved for ever")


def check_digest(said: str) -> None:
    """Refuse what is no beginning of a digest, or too short a one; raises ExecplanError."""
    if not _LEAST <= len(said) <= 64 or said.strip("0123456789abcdefABCDEF"):
        what = f"--digest takes the first {_LEAST} hex digits of a digest, or more, not {said!r}"
        raise ExecplanError("usage", what, exit=USAGE, hint="read it: execplan evaluate --json, data.digest")


def command(evaluated: Evaluated, name: str, *, asks: bool) -> str:
    """The command that approves what was evaluated; the plan as it can be typed. `asks`: a person sits at a terminal."""
    if asks:
        return f"execplan approve {name}"
    covered = scope_of(evaluated.evaluation, None, None)
    inferred = " --allow-inferred" if covered.manual_steps and covered.inferred_steps else ""
    return f"execplan approve {name} --digest {evaluated.binding.digest[:_SHOWN]}{inferred}"


def is_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(evaluated: Evaluated, scope: ApprovalScope, warnings: Sequence[str]) -> None:
    """Show what would be done and ask whether it may be; raises ExecplanError unless the answer is yes."""
    from execplan.cli.evaluation import evaluation_text
    from execplan.cli.printing import printable

    count = len(scope.covered)
    which = "this step" if count == 1 else f"these {count} steps"
    parts = [evaluation_text(evaluated), *scope_lines(scope, evaluated.path)]
    parts += [f"warning: {shown(each)}" for each in warnings]
    print(printable("\n".join(parts)), flush=True)
    print(f"Approve {which}? [y/N] ", end="", flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise ExecplanError("declined", "nothing was approved", exit=NO, hint="look at it again: execplan evaluate")


def stop_inferred(scope: ApprovalScope, path: str) -> None:
    """Refuse to approve unseen what the plan does not say in so many words; raises ExecplanError."""
    if not scope.inferred_steps:
        return
    count = len(scope.inferred_steps)
    raise ExecplanError(
        "inferred-steps",
        f"{count} step{'s are' if count > 1 else ' is'} inferred from the plan's prose, and nobody was shown what would run",
        exit=POLICY,
        hint="read them, then approve on a terminal or with --allow-inferred; or write them down: execplan compile --annotate",
        candidates=[_exact(each, path) for each in scope.inferred_steps],
    )


def scope_lines(scope: ApprovalScope, path: str) -> list[str]:
    """What a person has to know beside the evaluation."""
    lines = [f"inferred, {_exact(each, path)}" for each in scope.inferred_steps]
    lines += [f"not covered: {each.evaluated.step.id}: {each.why}" for each in scope.uncovered]
    if scope.by_policy:
        lines.append(f"approved by the policy: {', '.join([each.step.id for each in scope.by_policy])}")
    if scope.finished:
        lines.append(f"done, and not run again: {', '.join([each.step.id for each in scope.finished])}")
    return ["", *lines] if lines else []


def _exact(judged: EvaluatedStep, path: str) -> str:
    """A step with the very words of what it would run."""
    commands = [f"{what} {command}" for what, command in describe_commands(judged.step)] or [judged.step.description]
    argv = f" {list(judged.step.argv)!r}" if judged.step.argv is not None else ""
    return shown(f"{step_location(judged.step, path)}: {judged.step.id}: {'; '.join(commands)}{argv}")


def given_answer(given: Given, scope: ApprovalScope, evaluated: Evaluated, name: str) -> Answer:
    """What was approved, or would be."""
    approval = given.approval
    covered = [each.step.id for each in scope.covered]
    data: dict[str, Any] = {
        "digest": evaluated.binding.digest,
        "path": given.path,
        "document": given.document,
        "changed": True,
        "commit": given.commit,
        "approver": approval.approver if approval else None,
        "how": approval.how if approval else None,
        "approved_at": approval.approved_at if approval else None,
        "expires_at": approval.expires_at if approval else None,
        "steps": covered,
        "inferred": [each.step.id for each in scope.inferred_steps],
        "by_policy": [each.step.id for each in scope.by_policy],
        "done": [each.step.id for each in scope.finished],
        "not_covered": [{"id": each.evaluated.step.id, "why": each.why} for each in scope.uncovered],
    }
    count = f"{len(covered)} step{'s' * (len(covered) != 1)}"
    if approval is None:
        lines = [f"would approve {count} ({', '.join(covered)}): digest {evaluated.binding.digest}"]
        lines += [f"would write {each}" for each in (given.document, given.path)]
    else:
        until = f"until {approval.expires_at}, as {approval.approver}"
        lines = [f"approved {count} ({', '.join(covered)}) {until}: digest {approval.digest}"]
    lines += scope_lines(scope, evaluated.path)[1:]
    if given.commit:
        lines.append(f"committed {given.commit[:12]}")
    run = evaluated.underway.run if evaluated.underway is not None else ""
    by_agent = evaluated.current.document.mode == "agent"
    start = f"execplan handoff {name}" if by_agent else f"execplan run {name}"
    follow = (f"execplan resume {run} -p {name}" if run else start,)
    return Answer(
        data, "\n".join(lines), warnings=given.warnings, next=follow if approval else (), wanted=approval is None
    )


def listed(home: Home, judged: Sequence[JudgedApproval]) -> Answer:
    """Every approval with whether it holds."""
    rows = []
    for each in judged:
        given = each.kept.approval
        who, until = (given.approver, given.expires_at) if given else ("?", "?")
        covered = [f"revision {given.revision}, {_covered(given)}"] if given and given.derived_from else []
        rows.append((each.state, each.kept.digest[:12], who, until, "; ".join([*covered, *each.why]) or "-"))
    text = table(("state", "digest", "by", "until", "why"), rows) if rows else "nothing is approved"
    return Answer({"approvals": [approval_json(home, each) for each in judged]}, text)


def _covered(given: Approval) -> str:
    """Which approval covers a revision, for a person."""
    assert given.derived_from is not None
    return f"covered by {given.derived_from.digest[:12]}, of revision {given.derived_from.revision}"


def approval_json(home: Home, judged: JudgedApproval) -> dict[str, Any]:
    """An approval as a document shows it."""
    given = judged.kept.approval
    told = {name: getattr(given, name, None) for name in _TOLD}
    told |= {"max_risk": given.max_risk.value if given and given.max_risk else None}
    told |= {"steps": list(given.steps) if given and given.steps is not None else None}
    told |= {"covered_by": given.derived_from.digest if given and given.derived_from is not None else None}
    path = home.shown(judged.kept.path)
    return {"digest": judged.kept.digest, "path": path, "state": judged.state, "why": list(judged.why), **told}


_TOLD = ("approver", "user", "session", "approved_at", "expires_at", "how", "inferred", "revision", "head")


def stands(home: Home, judged: JudgedApproval) -> Answer:
    """The approval that holds."""
    assert judged.state == APPROVED
    given = judged.kept.approval
    assert given is not None
    covered = f" (revision {given.revision}, {_covered(given)})" if given.derived_from is not None else ""
    text = f"approved by {given.approver} until {given.expires_at}{covered}: {os.path.relpath(judged.kept.path)}"
    return Answer(approval_json(home, judged), text)
