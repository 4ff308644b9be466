"""What the writers share: find the plan, apply the change, say what became of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.cli.answer import Answer, Call, typed
from execplan.cli.printing import one_per_line
from execplan.cli.shape import amended_json
from execplan.repo import pick
from execplan.repo.amend import Amended, Options, amend

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.plan.change import Changer
    from execplan.repo.home import Home


def write(
    call: Call,
    plan: str | None,
    options: Options,
    verb: str,
    changer: Callable[[Home], Changer],
    then: str,
    *,
    finishes: bool = False,
) -> Answer:
    """Amend the plan that is meant and report it, with the command that makes sense then.

    `finishes`: when no task is open then, that is what finishes the plan.
    """
    home, ref = pick.open_plan(os.getcwd(), plan)
    amended = amend(home, ref, changer(home), options, verb=verb)
    name = typed(ref.id, amended.path)
    if not finishes or amended.open or amended.expected is None or not amended.expected.tasks:
        return told(amended, options, then.format(id=name))
    from execplan.cli import advice, standing

    run = standing.open_run(home, ref)
    follow = standing.finish_run(home, ref, run, name) if run else advice.finished(name, amended.expected).commands
    return told(amended, options, *follow)


def told(amended: Amended, options: Options, *then: str) -> Answer:
    """The answer of a writer."""
    lines = list(amended.said)
    diff = amended.diff if options.dry_run and amended.changed else ""
    if options.dry_run:
        verb = "remove" if amended.diff.split("\n", 2)[1:2] == ["+++ /dev/null"] else "write"
        lines = [f"would {verb} {amended.path}"] if amended.changed else [*lines, "nothing to write"]
    elif amended.commit:
        lines.append(f"committed {amended.commit[:12]}")
    data = amended_json(amended, dry_run=options.dry_run)
    follow = () if options.dry_run else tuple([each for each in then if each])
    return Answer(data, one_per_line(lines, diff), warnings=amended.warnings, next=follow, wanted=options.dry_run)
