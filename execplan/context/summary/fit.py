"""What of a summary is printed: the pieces that are wanted most, as long as its words last."""

from __future__ import annotations

from execplan.context.summary.sentences import count_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.context.summary.piece import SummarySection


def fit_sections(sections: Sequence[SummarySection], max_words: int, *, with_headings: bool) -> list[SummarySection]:
    """The parts with the pieces that fit into so many words; what was quoted already only where a part has nothing else.

    Pieces are taken by rank; where one of a part does not fit, none of that part is taken any more, so that what is
    left out is always its end.
    """
    frame_sizes = [_frame_size(section, with_headings=with_headings) for section in sections]
    remaining_words = max_words - sum([frame_size for section, frame_size in zip(sections, frame_sizes, strict=True) if section.empty_text])
    candidates = [(piece.rank, index, position) for index, section in enumerate(sections) for position, piece in enumerate(section.pieces)]
    selected: list[list[int]] = [[] for _ in sections]
    repeat_counts = [0 for _ in sections]
    full_sections: set[int] = set()
    seen_quotes: set[str] = set()
    for _, index, position in sorted(candidates):
        piece = sections[index].pieces[position]
        quotes = set(piece.quotes)
        if quotes and quotes <= seen_quotes and selected[index]:
            repeat_counts[index] += 1
            continue
        if index in full_sections:
            continue
        word_count = count_words(piece.text) + (frame_sizes[index] if not (selected[index] or sections[index].empty_text) else 0)
        if word_count > remaining_words or (sections[index].max_pieces and len(selected[index]) == sections[index].max_pieces):
            full_sections.add(index)
            continue
        remaining_words -= word_count
        seen_quotes |= quotes
        selected[index].append(position)
    return [
        section._replace(
            pieces=tuple([section.pieces[position] for position in sorted(positions)]),
            omitted_count=section.omitted_count + len(section.pieces) - len(positions) - repeats,
        )
        for section, positions, repeats in zip(sections, selected, repeat_counts, strict=True)
    ]


def _frame_size(section: SummarySection, *, with_headings: bool) -> int:
    """The words of ours around its pieces; a part that says what it lacks is always printed, others with pieces only."""
    frame_text = format_omitted(section._replace(omitted_count=section.omitted_count + len(section.pieces))) if section.pieces else section.empty_text
    return count_words(frame_text) + (count_words(section.heading) if with_headings else 0)


def format_omitted(section: SummarySection) -> str:
    """How many pieces are left out, where that is said."""
    return f"… {section.omitted_count:,} {section.omitted_label}" if section.omitted_label and section.omitted_count else ""
