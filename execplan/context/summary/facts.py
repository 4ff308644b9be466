"""What a summary asks of a plan: what it is for, where it stands, what comes next, what is new in its logs."""

from __future__ import annotations

import re

from execplan.context.summary.prose import best, prose, topic
from execplan.context.summary.sentences import says
from execplan.context.summary.words import visible
from execplan.plan import outline
from execplan.plan.logs import newest_first
from execplan.plan.model import ARCHIVED, DONE, OPEN
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.clock import Stamp
    from execplan.context.summary.piece import Subject
    from execplan.context.summary.prose import Sentence
    from execplan.plan.model import Entry, Plan, Section, Task

_AIMS = re.compile(
    r"\b(?:purpose|objective|mission|goal|aim|problem|overview|summary)s?\b|目的|目标|목적|목표", re.IGNORECASE
)
"""Titles of sections that say what a plan is for, where none is called Purpose."""
_RISKY = re.compile(r"\brisks?\b|\bfailure (?:modes?|scenarios?)\b|风险|リスク|위험", re.IGNORECASE)
_RISK = re.compile(
    r"\b(?:risk(?:s|y|ier)?|danger(?:ous)?|block(?:er|ers|ed)|irreversible|data loss|caveats?|unresolved|"
    r"not yet|still (?:missing|open|fails?)|known (?:issue|limitation|gap)s?|pre-existing)\b",
    re.IGNORECASE,
)
"""Words of sentences that name a risk, where no section does."""
_ENOUGH = 200
_ZONE = 24
_TURNED = re.compile(
    r"\b(?:however|unexpected(?:ly)?|turned out|contrary|deviat\w+|deferred|skipped|abandoned|"
    r"could not|was not possible|reverted|fell back|differently)\b",
    re.IGNORECASE,
)
"""Words of sentences that tell of something that went otherwise than was planned."""


def purpose(subject: Subject, most: int) -> list[Sentence]:
    """The sentences that say best what the plan is for."""
    plan = subject.plan
    about = topic(plan.title or "")
    for start, end in _aims(plan):
        found = prose(plan, start, end)
        if found:
            return best(found, about, most)
    return []


def _aims(plan: Plan) -> Iterator[tuple[int, int]]:
    """Where it may say what it is for: its purpose, a section of another name, its beginning, its context, any section."""
    named = [plan.section(outline.PURPOSE)]
    named += [each for each in plan.sections if each.name is None and _AIMS.search(each.title)]
    yield from _places(named)
    yield plan.title_line + 1, plan.sections[0].start if plan.sections else len(plan.text.lines)
    yield from _places([plan.section(outline.CONTEXT)])
    yield from _places([each for each in plan.sections if each.name not in outline.LIVING])


def _places(sections: Sequence[Section | None]) -> Iterator[tuple[int, int]]:
    for section in sections:
        if section is not None:
            yield section.body, section.notes


def named(task: Task) -> bool:
    """Whether a task says anything."""
    return says(task.text)


def ahead(subject: Subject) -> list[Task]:
    """The open tasks, the next one first."""
    guidance = frozenset(subject.plan.guidance)
    return [task for task in subject.plan.tasks if task.state == OPEN and task.box not in guidance and named(task)]


def behind(subject: Subject) -> list[Task]:
    """The tasks that are done, the newest first: by their stamps where all have one, else by their place."""
    done = [task for task in subject.plan.tasks if task.state == DONE and named(task)]
    if all([task.stamp is not None and task.stamp.possible for task in done]):
        done.sort(key=lambda task: (moment(task.stamp) or 0, task.number))
    return done[::-1]


def moment(stamp: Stamp | None) -> int | None:
    """The first minute since 1970 that a stamp may mean; of one without an offset that of its date and time in UTC."""
    from execplan.clock import minutes

    if stamp is None or not stamp.possible:
        return None
    bare = stamp if stamp.zone.strip()[:1] in ("Z", "+", "-") else stamp._replace(zone="Z")
    found = minutes(bare)
    return found[0] if found is not None else None


def stamped(tasks: Sequence[Task]) -> list[Stamp]:
    """The possible stamps of tasks, in order of time."""
    found = [task.stamp for task in tasks if task.stamp is not None and task.stamp.possible]
    return sorted(found, key=lambda stamp: (moment(stamp) or 0, stamp.text))


def newest(entries: Sequence[Entry]) -> list[Entry]:
    """Entries of a log, the newest first; what is a table's is none."""
    kept = [entry for entry in entries if not entry.text.startswith("|")]
    return kept if newest_first(entries) else kept[::-1]


class Standing(NamedTuple):
    """Where a plan stands, in our words and its numbers."""

    state: str
    tasks: str
    last: str
    """The date of the last tick, or nothing."""
    left: str
    """What a template left, or nothing."""

    @property
    def line(self) -> str:
        """All but the state."""
        last = f", last stamp {self.last}" if self.last else ""
        return f"{self.tasks}{last}" + (f", {self.left}" if self.left else "")


def when(stamp: Stamp) -> str:
    """A stamp as it is printed; what nobody would take for a zone is left out."""
    return visible(stamp.moment if len(stamp.zone) <= _ZONE else stamp.date + stamp.joint + stamp.time)


def between(subject: Subject) -> str:
    """From when to when there are stamps, or nothing."""
    stamps = stamped(subject.plan.tasks)
    if not stamps:
        return ""
    first, last = when(stamps[0]), when(stamps[-1])
    return f"stamps from {first} to {last}" if first != last else f"stamped {first}"


def standing(subject: Subject) -> Standing:
    """Its state, its tasks, when the last was ticked."""
    plan = subject.plan
    counts = plan.counts()
    done, total = counts["done"], counts["total"]
    tasks = f"{done} of {total} tasks done" if total else "no tasks"
    if counts["other"]:
        tasks += f", {counts['other']} neither open nor done"
    if subject.state == ARCHIVED and counts["open"]:
        tasks += f", {counts['open']} left open"
    stamps = stamped([task for task in plan.tasks if task.state == DONE])
    last = stamps[-1].date if stamps else ""
    guidance = len(plan.guidance)
    left = f"{guidance} {'lines' if guidance > 1 else 'line'} of its template not yet replaced" if guidance else ""
    return Standing(subject.state, tasks, last, left)


def risks(subject: Subject) -> list[Sentence]:
    """What is said in sections and below headings that are about risks, else sentences that name one."""
    plan = subject.plan
    found: list[Sentence] = []
    for start, end in _risky(plan):
        found += prose(plan, start, end)
        if len(found) > _ENOUGH:
            break
    return found or about(plan, (outline.OUTCOMES, outline.SURPRISES, outline.RECOVERY, outline.CONTEXT), _RISK)


def _risky(plan: Plan) -> Iterator[tuple[int, int]]:
    """The lines below headings about risks, to the next heading that is as high."""
    heads = [block for block in plan.blocks if block.kind == "heading" and not block.depth]
    level, begin = 0, 0  # of the heading about risks below which we are
    for head in heads:
        if level and head.level <= level:
            yield begin, head.start
            level = 0
        if not level and head.level > 1 and _RISKY.search(head.text) and head.start != plan.title_line:
            level, begin = head.level, head.end
    if level:
        yield begin, len(plan.text.lines)


def turned(subject: Subject) -> list[Sentence]:
    """Sentences about what went otherwise than planned."""
    return about(subject.plan, (outline.OUTCOMES, outline.PROGRESS), _TURNED)


def about(plan: Plan, names: Sequence[str], words: re.Pattern[str]) -> list[Sentence]:
    """Sentences of some sections that have some of the words, those without entries of a log first."""
    found = [prose(plan, start, end) for start, end in _places([plan.section(name) for name in names])]
    return [each for section in found for each in section if words.search(each.words)]
