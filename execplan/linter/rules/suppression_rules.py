"""EP010 rule about unused suppression comments; the code that reads them is imported only if a plan has one."""

from __future__ import annotations

from execplan.linter.rule import SAFE, WARNING, RuleContext, RuleMatch, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan

CODE = "EP010"
MARK = "<!-- execplan: ignore"


@rule(CODE, WARNING, fix=SAFE)
def unused_suppression(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A comment that ignores a rule has no effect.

    The problem that it suppressed is fixed, or the comment names no rule or is inside a line of text. If it stays,
    it suppresses the next finding that somebody should see. A comment applies to the block below it; with `file`
    before the codes, it applies to the whole plan.

    Bad:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.

        <!-- execplan: ignore EP202: the timestamp is in the commit -->
        - [x] (2026-03-08 09:10Z) Write the tests.
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.

        <!-- execplan: ignore EP202: the timestamp is in the commit -->
        - [x] Write the tests.
    Fixed:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.

        - [x] (2026-03-08 09:10Z) Write the tests.
    """
    return iter(())  # known only after all other rules have run: the runner reports it
