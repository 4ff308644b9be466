"""`execplan explain`."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.verb import verb
from execplan.errors import INPUT, ExecplanError
from execplan.lint.runner import RULES


@verb(reads="nothing.", writes="nothing.", examples=("execplan explain EP109",))
@click.argument("code")
def explain(call: Call, code: str) -> Answer:
    """Print the page of a rule: what it is about, why, and a bad and a good example."""
    rule = RULES.get(code.upper())
    if rule is None:
        from difflib import get_close_matches

        near = get_close_matches(code.upper(), RULES, n=3, cutoff=0.3)
        codes = [f"{each}  {RULES[each].sentence}" for each in near or RULES]
        raise ExecplanError(
            "no-such-code", f"there is no rule {code!r}", exit=INPUT, hint="name one of these", candidates=codes
        )
    data = {"code": rule.code, "level": rule.level, "page": rule.page}
    return Answer(data, f"{rule.code} ({rule.level})\n\n{rule.page}")


command = explain
