"""What the writers share: find the plan, apply the change, say what became of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.cli.answer import Answer, Call, typed
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
    finished: str = "",
) -> Answer:
    """Amend the plan that is meant and tell it, with the command that makes sense then, or when no task is open."""
    home, ref = pick.open_plan(os.getcwd(), plan)
    amended = amend(home, ref, changer(home), options, verb=verb)
    follow = then if amended.open or not finished else finished
    return told(amended, options, follow.format(id=typed(ref.id, amended.path)))


def told(amended: Amended, options: Options, then: str = "") -> Answer:
    """The answer of a writer."""
    lines = list(amended.said)
    if options.dry_run:
        lines = [amended.diff, f"would write {amended.path}"] if amended.changed else [*lines, "nothing to write"]
    elif amended.commit:
        lines.append(f"committed {amended.commit[:12]}")
    data = amended_json(amended, dry_run=options.dry_run)
    follow = (then,) if then and not options.dry_run else ()
    return Answer(data, "\n".join(lines), warnings=amended.warnings, next=follow, wanted=options.dry_run)
