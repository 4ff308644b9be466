"""EP010 rule about unused suppression comments; the code that reads them is imported only if a plan has one."""

from __future__ import annotations

from execplan.linter.rule import SAFE, WARNING, RuleContext, RuleMatch, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import ParsedPlan

CODE = "EP010"
MARK = "<!-- execplan: ignore"


@rule(CODE, WARNING, fix=SAFE)
def unused_suppression(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A comment that ignores a rule ignores nothing.

    What it hid is mended, or it names no rule or stands within a line of text. Left in place, it will hide the next
    finding that somebody should see. It counts for the block below it; with `file` before the codes, for the plan.

    Bad:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.

        <!-- execplan: ignore EP202: the stamp is in the commit -->
        - [x] (2026-03-08 09:10Z) Write the tests.
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.

        <!-- execplan: ignore EP202: the stamp is in the commit -->
        - [x] Write the tests.
    Mended:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.

        - [x] (2026-03-08 09:10Z) Write the tests.
    """
    return iter(())  # known only after all other rules have run: the runner reports it
