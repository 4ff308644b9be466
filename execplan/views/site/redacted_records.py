"""Cards and events without the secrets in their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.team.history.history_event import RENAMED, RETITLED, TASK_REWORDED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from execplan.team.history.history_event import HistoryEvent
    from execplan.views.board.board_cards import Board, Card

    RedactText = Callable[[str], str]

_KINDS_WITH_PREVIOUS = (RENAMED, RETITLED, TASK_REWORDED)


def redact_board(board: Board, redact_text: RedactText) -> Board:
    """Redact the texts on a board."""
    cards = iter(redact_cards(board.cards, redact_text))
    columns = [column._replace(cards=tuple([next(cards) for _ in column.cards])) for column in board.columns]
    return board._replace(columns=tuple(columns))


def redact_cards(cards: Sequence[Card], redact_text: RedactText) -> list[Card]:
    """Redact the texts of cards that come from plans; IDs and paths stay, because links need them."""
    texts = iter(redact_lines([text for card in cards for text in _card_texts(card)], redact_text))
    return [_replace_texts(card, [next(texts) for _ in _card_texts(card)]) for card in cards]


def redact_events(
    events: Sequence[HistoryEvent], redact_text: RedactText, shown_texts: Collection[str] = ()
) -> tuple[HistoryEvent, ...]:
    """Redact the texts of events, and leave out their details; `shown_texts` are redacted already.

    Earlier texts stay only where the event is about them: for renamed and retitled plans, and reworded tasks.
    """
    events = [event if event.kind in _KINDS_WITH_PREVIOUS else event._replace(previous="") for event in events]
    unknown = [text for event in events for text in (event.text, event.previous) if text not in shown_texts]
    redacted = dict(zip(unknown, redact_lines(unknown, redact_text), strict=True))
    return tuple(
        [
            event._replace(
                text=redacted.get(event.text, event.text),
                detail="",
                previous=redacted.get(event.previous, event.previous),
            )
            for event in events
        ]
    )


def redact_lines(texts: Sequence[str], redact_text: RedactText) -> list[str]:
    """Redact texts, each on one line, all at once: a search of a short text takes nearly as long as one of a page."""
    lines = [" ".join(text.split()) for text in texts]
    if not any(lines):
        return lines
    redacted_lines = redact_text("\n".join(lines)).split("\n")
    if len(redacted_lines) == len(lines):
        return redacted_lines
    return [redact_text(line) for line in lines]  # a secret of several lines was in several texts


def _card_texts(card: Card) -> list[str]:
    claim_texts = [text for claim in card.claims for text in (claim.text, claim.by)]
    return [card.title, card.next_text, card.error, card.next_task.text if card.next_task else "", *claim_texts]


def _replace_texts(card: Card, texts: Sequence[str]) -> Card:
    """Return a card with other texts, in the order of `_card_texts`."""
    title, next_text, error, task_text, *claim_texts = texts
    claims = [
        claim._replace(text=claim_texts[2 * index], by=claim_texts[2 * index + 1])
        for index, claim in enumerate(card.claims)
    ]
    next_task = card.next_task._replace(text=task_text) if card.next_task is not None else None
    return card._replace(title=title, next_text=next_text, error=error, next_task=next_task, claims=tuple(claims))
