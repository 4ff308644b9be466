"""Cards and other records without the secrets in their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from execplan.board.board_cards import Board, Card
    from execplan.history.history_event import HistoryEvent

    RedactText = Callable[[str], str]

RecordType = TypeVar("RecordType", bound="tuple[Any, ...]")


def redact_board(board: Board, redact_text: RedactText) -> Board:
    """Redact the texts on a board."""
    columns = [
        column._replace(cards=tuple([redact_card(card, redact_text) for card in column.cards]))
        for column in board.columns
    ]
    return board._replace(columns=tuple(columns))


def redact_card(card: Card, redact_text: RedactText) -> Card:
    """Redact the texts of a card that come from a plan; its ID and path stay, because links need them."""
    return card._replace(
        title=redact_text(card.title),
        next_task=redact_record(card.next_task, redact_text) if card.next_task is not None else None,
        next_text=redact_text(card.next_text),
        claims=tuple([redact_record(claim, redact_text) for claim in card.claims]),
        error=redact_text(card.error),
    )


def redact_record(record: RecordType, redact_text: RedactText) -> RecordType:
    """Redact the texts of a named tuple."""
    fields: dict[str, Any] = record._asdict()  # type: ignore[attr-defined] # the bound does not say that it is named
    texts = {name: redact_text(text) for name, text in fields.items() if isinstance(text, str) and text}
    return record._replace(**texts)  # type: ignore[attr-defined,no-any-return] # as above


def redact_events(events: Sequence[HistoryEvent], redact_text: RedactText) -> tuple[HistoryEvent, ...]:
    """Redact the texts of events; all of them at once, because each search takes about as long as one of a page."""
    texts = [" ".join(event.text.split()) for event in events]
    redacted_texts = redact_text("\n".join(texts)).split("\n")
    if len(redacted_texts) != len(texts):  # a secret of several lines was in several texts
        redacted_texts = [redact_text(text) for text in texts]
    return tuple(
        [event._replace(text=text, detail="", previous="") for event, text in zip(events, redacted_texts, strict=True)]
    )
