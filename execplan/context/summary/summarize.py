"""A plan in one of six forms and three lengths, in its own words."""

from __future__ import annotations

from execplan.context.summary import analysis, bullet_points, in_prose, itinerary, report, structured
from execplan.context.summary.fit import fitted, left_out
from execplan.context.summary.piece import EARLIER, LENGTHS, Part, Subject
from execplan.context.summary.sentences import count
from execplan.context.summary.words import said, visible
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.plan.model import Plan

_TITLE = 20
"""The most words of the title."""


NO_ROOM = "…"
"""What stands in a field for what does not fit."""


class Form(NamedTuple):
    """One way to tell a plan."""

    parts: Callable[[Subject], list[Part]]
    lay: Callable[[str, list[Part]], str]
    """Title and parts, put together."""
    markup: bool
    """Whether it is markdown; else it is plain text."""
    headed: bool
    """Whether headings are printed."""


class Summary(NamedTuple):
    """What came of it."""

    form: str
    length: str
    limit: int
    """The most words that it may have."""
    words: int
    text: str
    title: str
    parts: tuple[Part, ...]


def summarize(plan: Plan, id: str, state: str, ids: Sequence[str], form: str, length: str) -> Summary:
    """The plan in a form and a length; `ids` are those of its tasks."""
    way = FORMS[form]
    wanted = next(each for each in LENGTHS if each.name == length)
    subject = Subject(plan, id, state, tuple(ids), way.markup, wanted)
    title = said(subject, plan.title or "", _TITLE) or visible(id)
    room = wanted.words - (0 if form == "structured" else count(title))
    tries = []
    for share in (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3):
        shorter = subject._replace(length=wanted._replace(sentence=round(wanted.sentence * share)))
        tries.append(fitted(way.parts(shorter), room, headed=way.headed))
        if not _silent(tries[-1]):
            break
    parts = [part for part in min(tries, key=_silent) if part.pieces or part.none]
    text = way.lay(title, parts)
    return Summary(form, length, wanted.words, count(text), text, title, tuple(parts))


def _silent(parts: Sequence[Part]) -> int:
    """How many parts have no room for anything of theirs."""
    return len([part for part in parts if part.left and not part.pieces])


def _paragraphs(title: str, parts: Sequence[Part]) -> str:
    """Plain text, a paragraph a part."""
    return (
        "\n\n".join([title, *[" ".join([piece.text for piece in part.pieces]) for part in parts if part.pieces]]) + "\n"
    )


def _sections(title: str, parts: Sequence[Part]) -> str:
    """Markdown with headings and lists."""
    blocks = [f"# {title}"]
    for part in parts:
        more = left_out(part)
        lines = [f"- {piece.text}" for piece in part.pieces] or ([] if more else [part.none])
        if more:
            lines.insert(0 if part.rest == EARLIER else len(lines), f"- {more}")
        blocks += [f"## {part.heading}"] if part.heading else []
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _points(title: str, parts: Sequence[Part]) -> str:
    """Markdown, one list."""
    return "\n".join([f"# {title}", "", *[f"- {piece.text}" for part in parts for piece in part.pieces]]) + "\n"


def _fields(title: str, parts: Sequence[Part]) -> str:
    """A name, a colon and what it is; lists have the name in their pieces."""
    lines = []
    for part in parts:
        name = f"{part.heading}: " if part.heading else ""
        lines += [f"{name}{piece.text}" for piece in part.pieces] or (
            [f"{name}{NO_ROOM if part.left else part.none}"] if name else []
        )
    return "\n".join(lines) + "\n"


FORMS = {
    "summary": Form(in_prose.parts, _paragraphs, markup=False, headed=False),
    "report": Form(report.parts, _sections, markup=True, headed=True),
    "itinerary": Form(itinerary.parts, _sections, markup=True, headed=True),
    "analysis": Form(analysis.parts, _sections, markup=True, headed=True),
    "structured": Form(structured.parts, _fields, markup=False, headed=True),
    "bullet_points": Form(bullet_points.parts, _points, markup=True, headed=False),
}
