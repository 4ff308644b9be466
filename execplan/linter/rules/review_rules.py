"""The rule about review comments, which are in a file next to the plan."""

from __future__ import annotations

from execplan.core.text.message_parts import shorten
from execplan.linter.rule import ERROR, TREE, RuleContext, RuleMatch, on_line, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan

_MAX_TEXT_LENGTH = 100
"""Maximum number of characters of a comment in a message."""


@rule("EP515", ERROR, needs=TREE, on=False, in_archive=False)
def open_comment(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A review comment on the plan is open.

    Someone has asked a question or disagrees, and nobody has resolved it. Answer it with `execplan reply`, change the
    plan if the comment is right, then close it with `execplan resolve`. The rule is off by default; select it where
    open comments must stop a merge: `execplan lint --select EP515`. A comment is reported at the part of the plan that
    it is about, or at the title if that part is gone or was reworded. Comments that can't be read are reported, too,
    because they may be open. Archived plans are not checked, because their comments can't be resolved; `archive` warns
    about open ones.

    Bad (path plans/parser.md, comment Build the parser):
        ## Progress

        - [ ] Build the parser
    Good (path plans/parser.md):
        ## Progress

        - [ ] Build the parser
    """
    if context.tree is None or not context.path:
        return
    comments = context.tree.open_comments(context.path)
    if not comments:
        return
    from execplan.core import features
    from execplan.core.plan.plan_anchors import Anchor, list_targets, locate_anchors

    targets = list_targets(plan, features.load(features.STEP_PLACES)(plan))
    places = locate_anchors(targets, [Anchor(*comment[2:6]) for comment in comments])
    for (short_id, author, *_, text), target in zip(comments, places, strict=True):
        line = target.line if target is not None else max(plan.title_line, 0)
        message = f"open comment {short_id} by {author}: {shorten(text, _MAX_TEXT_LENGTH)}"
        yield on_line(plan, line, message if short_id else f"review comments can't be read: {text}")
