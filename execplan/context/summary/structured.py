"""The form `structured`: a field a line, always the same names in the same order, for grep and for tables."""

from __future__ import annotations

from execplan.context.summary import facts
from execplan.context.summary.making import led, of_entries, of_sentences, of_tasks
from execplan.context.summary.piece import Part, Piece, Said, Subject, ours
from execplan.context.summary.words import said, visible

_SPARE = 50
"""The rank of what comes only with longer ones."""


def parts(subject: Subject) -> list[Part]:
    """One part a field; what the plan does not have is a hyphen. Longer ones add lists behind these."""
    plan, counts = subject.plan, subject.plan.counts()
    stamps = facts.stamped(plan.tasks)
    behind, ahead = facts.behind(subject), facts.ahead(subject)
    decisions = facts.newest(plan.decisions)
    numbers = {
        "plan": visible(subject.id),
        "state": subject.state,
        **{f"tasks_{name}": counts[name] for name in ("total", "done", "open", "other")},
        "first_stamp": facts.when(stamps[0]) if stamps else "-",
        "last_stamp": facts.when(stamps[-1]) if stamps else "-",
        "decisions": len(plan.decisions),
        "discoveries": len(plan.discoveries),
        "outcomes": len(plan.outcomes),
        "revisions": len(plan.revisions),
        "guidance_left": len(plan.guidance),
        "next_task_id": subject.ids[ahead[0].number - 1] if ahead else "-",
    }
    last = decisions[0] if decisions else None
    fields = [
        _field(
            "title",
            [
                Piece(
                    (Said("", said(subject, plan.title or "", 20)),), start=plan.title_line + 1, end=plan.title_line + 1
                )
            ],
        ),
        *[_field(name, [ours(f"{value}")]) for name, value in numbers.items()],
        _field("next_task", of_tasks(subject, ahead[:1], 1, dated=False)),
        _field("purpose", of_sentences(subject, facts.purpose(subject, 1), 2)),
        _field("last_done", of_tasks(subject, behind[:1], 3, dated=False)),
        _field("last_decision", of_entries(subject, decisions[:1], 4, dated=False)),
        _field("last_decision_date", [ours(visible(last.date[:24]))] if last is not None and last.date else []),
        _field("last_discovery", of_entries(subject, facts.newest(plan.discoveries)[:1], 6, dated=False)),
        _field("last_outcome", of_entries(subject, facts.newest(plan.outcomes)[:1], 5, dated=False)),
    ]
    return fields if subject.length.few <= 2 else [*fields, *_lists(subject)]


def _field(name: str, pieces: list[Piece]) -> Part:
    return Part(name, name, tuple([piece for piece in pieces if piece.text][:1]), none="-")


def _lists(subject: Subject) -> list[Part]:
    """Every entry of a kind as a line of its own, the newest first, tasks the next first."""
    plan, few = subject.plan, subject.length.few
    lists = {
        "open": of_tasks(subject, facts.ahead(subject), _SPARE),
        "done": of_tasks(subject, facts.behind(subject), _SPARE + 1),
        "decision": of_entries(subject, facts.newest(plan.decisions), _SPARE + 2),
        "discovery": of_entries(subject, facts.newest(plan.discoveries), _SPARE + 3),
        "outcome": of_entries(subject, facts.newest(plan.outcomes), _SPARE + 4),
        "risk": of_sentences(subject, facts.risks(subject), _SPARE + 5),
    }
    return [Part(name, "", tuple([led(piece, name) for piece in pieces]), few) for name, pieces in lists.items()]
