"""Another title for a plan, and with it another id, another file name and another artifacts folder."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.plan.change import Change, facts
from execplan.plan.shape import heading
from execplan.repo import shelf
from execplan.repo.amend import stop_archived
from execplan.repo.homes import existing
from execplan.repo.moving.move import Goal, Moved, move
from execplan.repo.scaffold import checked_title
from execplan.repo.slug import slug
from execplan.text.edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.change import Changer
    from execplan.plan.model import Plan
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.moving.documents import Agrees
    from execplan.repo.moving.move import Renew
    from execplan.repo.shelf import Ref


def rename(
    home: Home,
    ref: Ref,
    title: str,
    options: Options,
    *,
    renew: Renew | None = None,
    agrees: Agrees | None = None,
) -> Moved:
    """Give a plan another title, and its file and artifacts the id that comes of it; raises ExecplanError.

    `renew` makes again what names the plan by its id among the artifacts; `agrees` is that of `move`.
    """
    existing(home)
    stop_archived(home, ref)
    title = checked_title(title)
    shelved = shelf.load(home, ref)
    old = shelved.plan.title if shelved.plan is not None else None
    wanted = new_id(ref.id, old or "", title)
    others = shelf.taken_ids(home) - {shelf.same_id(ref.id)}
    if old == heading(title) and not os.path.isdir(home.artifacts_of(ref.path, archived=False)):
        # A try that was killed has put the title in, and the artifacts where only a plan of that id could have them.
        others -= {shelf.same_id(wanted)} - {shelf.same_id(each.id) for each in shelf.every(home)}
    name = shelf.free_name(wanted, others)
    path = home.file(home.plans, name) if name != ref.id else ref.path
    goal = Goal(name, path, home.artifacts_of(path, archived=False))
    return move(home, ref, goal, _titled(title), options, verb="rename", renew=renew, agrees=agrees)


def new_id(old: str, before: str, title: str) -> str:
    """The id that a plan has under a new title: what stands before the words of the old one stays, a date or a number.

    An id that does not end in the slug of the old title is cut behind its leading numbers and dates.
    """
    import re

    found = re.match(r"(?:(?:[A-Za-z]{1,8}[-_]?)?\d[\d-]*[-_ ]+)*", old)
    lead = found.group() if found else ""
    words, short = slug(before) if before else "", slug(title)
    if lead and short.startswith(f"{slug(lead)}-"):
        short = short[len(slug(lead)) + 1 :]
    if words and old[len(lead) :].casefold().endswith(words):
        lead = old[: len(old) - len(words)]
    return lead + short


def _titled(title: str) -> Changer:
    """Put the title into the heading, however that is written."""
    words = heading(title)

    def change(plan: Plan) -> Change:
        before = facts(plan)
        if plan.title is None:
            raise ExecplanError(
                "no-title",
                "the plan has no title that could be changed",
                exit=INPUT,
                hint="give it a first line: # Title",
            )
        at = plan.title_line
        head = next(block for block in plan.blocks if block.start == at)
        line = plan.text.lines[at]
        if head.mark == "#":
            lead = line[: len(line) - len(line.lstrip(" #\t"))] or "# "
            edit = Edit(at, at + 1, (lead + words,))
        else:
            edit = Edit(at, head.end - 1, (words,))
        if plan.title == words:
            return Change((), before, "rename", (f"so already: {title}",))
        return Change((edit,), before._replace(title=words), f"rename, {title}", (f"renamed: {title}",))

    return change
