"""Edits that another program has overwritten: found in a chain of texts, and put back."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.edits.lost_edits import JournaledEdit, reapply_edit, select_lost_edits

HEAD = "# Plan\n\n## Progress\n\n"
TASKS = "- [ ] Read lines.\n- [ ] Build the parser.\n- [ ] Write the tests.\n"
TAIL = "\n## Decision Log\n\n- Decision: Read bytes.\n\n## Outcomes\n\nNone.\n"
START = HEAD + TASKS + TAIL


def make_edit(number: int, old: str, new: str, *, counts: bool = True, follows: bool = True) -> JournaledEdit:
    return JournaledEdit(number, f"edit {number}", "2026-01-01T00:00Z", old.encode(), new.encode(), counts, follows)


def ticked(text: str, task: str) -> str:
    assert f"- [ ] {task}" in text
    return text.replace(f"- [ ] {task}", f"- [x] (2026-01-01 00:00Z) {task}")


def added(text: str, task: str) -> str:
    assert "\n\n## Decision Log" in text
    return text.replace("\n\n## Decision Log", f"\n- [ ] {task}\n\n## Decision Log")


def lost_numbers(steps: list[JournaledEdit], current: str) -> list[int]:
    return [edit.number for edit in select_lost_edits(steps, current.encode())]


def chain(*texts: str) -> list[JournaledEdit]:
    """Edits that lead from each of the texts to the next."""
    return [make_edit(at, old, new) for at, (old, new) in enumerate(pairwise(texts), 1)]


ONE = ticked(START, "Build the parser.")
TWO = added(ONE, "Handle CRLF.")


def test_nothing_is_lost_when_nobody_else_wrote() -> None:
    assert select_lost_edits(chain(START, ONE, TWO), TWO.encode()) == []
    assert select_lost_edits([], START.encode()) == []


def test_a_stale_save_loses_all_edits_since_it_was_read() -> None:
    assert lost_numbers(chain(START, ONE, TWO), START + "By hand.\n") == [1, 2]
    assert lost_numbers(chain(START, ONE, TWO), ONE + "By hand.\n") == [2]


def test_what_an_outsider_adds_loses_nothing() -> None:
    assert lost_numbers(chain(START, ONE, TWO), "Above.\n" + TWO + "By hand.\n") == []


def test_a_loss_between_two_edits() -> None:
    stale = added(START, "By hand.")
    steps = [make_edit(1, START, ONE), make_edit(2, stale, ticked(stale, "Read lines."))]
    assert lost_numbers(steps, ticked(stale, "Read lines.")) == [1]


def test_what_an_edit_took_away_is_no_loss() -> None:
    assert lost_numbers(chain(START, ONE, START), START + "By hand.\n") == []
    assert lost_numbers(chain(START, TWO, START), START + "By hand.\n") == []


def test_what_an_edit_took_away_after_it_was_lost_and_made_again() -> None:
    """Taking back what was put back says that it is not wanted."""
    steps = [
        make_edit(1, START, ONE),
        make_edit(2, START + "!\n", ONE + "!\n", counts=False),
        make_edit(3, ONE + "!\n", START + "!\n"),
    ]
    assert lost_numbers(steps, START + "!\n?\n") == []


def test_an_edit_that_was_taken_back_is_not_missed() -> None:
    steps = [make_edit(1, START, ONE, counts=False), make_edit(2, ONE, START, counts=False)]
    assert lost_numbers(steps, START + "By hand.\n") == []


def test_done_anew_is_not_lost() -> None:
    redone = ticked(START, "Build the parser.").replace("00:00Z", "09:00Z") + "By hand.\n"
    assert lost_numbers([make_edit(1, START, ONE), make_edit(2, START + "By hand.\n", redone)], redone) == []
    assert lost_numbers(chain(START, ONE), redone) == []


def test_added_anew_elsewhere_is_not_lost() -> None:
    new = START.replace("- [ ] Read lines.", "- [ ] Handle CRLF.\n- [ ] Read lines.")
    assert lost_numbers(chain(START, added(START, "Handle CRLF.")), new) == []


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (ONE.replace("Build the parser", "Build the whole parser"), []),
        (START.replace("Build the parser", "Build the whole parser"), [1]),
        (START.replace("- [ ] Build the parser.\n", ""), []),
        (ONE.replace("- [x] (2026-01-01 00:00Z) Build", "- [x] (2026-01-01) Build"), []),
    ],
)
def test_lines_that_were_changed_since(now: str, expected: list[int]) -> None:
    """What came of the edit's lines holds it; what came of the lines before it does not."""
    assert lost_numbers(chain(START, ONE), now) == expected


def test_a_task_that_was_added_at_the_place_of_another_does_not_hold_it() -> None:
    steps = chain(START, added(START, "Handle CRLF."))
    assert lost_numbers(steps, added(START, "Write the docs.")) == [1]
    assert lost_numbers(steps, added(START, "Handle CRLF and CR.")) == []


ENTRY = "- Decision: {}.\n  Rationale: {}.\n  Date/Author: 2026-01-01 / Ann\n"


@pytest.mark.parametrize("later", [lambda text: text, lambda text: ticked(text, "Move the page of orders.")])
def test_a_task_that_is_much_like_another_does_not_hold_it(later: Callable[[str], str]) -> None:
    """Hands that share a piece of work add tasks that differ by a word."""
    users = added(START, "Move the page of users.")
    orders = added(START, "Move the page of orders.")
    current = later(orders)
    assert lost_numbers(
        [*chain(START, users), make_edit(2, START, orders), make_edit(3, orders, current)], current
    ) == [1]
    reworded = users.replace("page of users", "page of all users")
    extended = added(reworded, "Count.")
    assert lost_numbers([*chain(START, users), make_edit(2, reworded, extended)], extended) == []


@pytest.mark.parametrize("blank", ["", "\n"])
def test_two_entries_at_one_place_are_two(blank: str) -> None:
    ours, theirs = [
        START.replace("- Decision: Read bytes.\n", f"- Decision: Read bytes.\n{blank}{entry}")
        for entry in (ENTRY.format("Use tabs", "They count"), ENTRY.format("Keep ends", "They differ"))
    ]
    steps = chain(START, theirs)
    assert lost_numbers(steps, ours) == [1]
    restored = reapply_edit(steps[0], ours.encode())
    assert restored is not None
    assert (
        ENTRY.format("Use tabs", "They count") + blank + ENTRY.format("Keep ends", "They differ") in restored.decode()
    )
    assert reapply_edit(steps[0], restored) == restored


def test_a_shortened_journal_tells_nothing_of_what_it_dropped() -> None:
    dropped = [make_edit(1, START, ONE), make_edit(7, START, added(START, "Later."), follows=False)]
    assert lost_numbers(dropped, added(START, "Later.")) == []
    assert lost_numbers([dropped[0], dropped[1]._replace(is_consecutive=True)], added(START, "Later.")) == [1]


def test_put_back_keeps_what_the_outsider_wrote() -> None:
    steps = chain(START, ONE, TWO)
    text = (added(START, "By hand.") + "Below.\n").encode()
    for edit in steps:
        restored = reapply_edit(edit, text)
        assert restored is not None
        text = restored
    assert text.decode() == added(added(ONE, "By hand."), "Handle CRLF.") + "Below.\n"
    assert lost_numbers(steps, text.decode()) == []


def test_put_back_twice_is_once() -> None:
    (edit,) = chain(START, added(START, "Handle CRLF."))
    once = reapply_edit(edit, (START + "Below.\n").encode())
    assert once is not None
    assert reapply_edit(edit, once) == once


def test_put_back_beside_a_line_that_was_changed() -> None:
    edits = chain(START, ticked(START, "Read lines."))
    restored = reapply_edit(edits[0], START.replace("Build the parser", "Build the whole parser").encode())
    assert restored is not None
    assert restored.decode() == ticked(START, "Read lines.").replace("Build the parser", "Build the whole parser")


def test_put_back_refuses_what_was_changed_otherwise() -> None:
    (edit,) = chain(START, ONE)
    assert reapply_edit(edit, START.replace("Build the parser", "Build the whole parser").encode()) is None


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_and_byte_order_mark_stay(end: str) -> None:
    old, new, current = [f"\ufeff{text}".replace("\n", end) for text in (START, ONE, START + "Below.")]
    (edit,) = chain(old, new)
    restored = reapply_edit(edit, current.encode())
    assert restored == f"\ufeff{ONE}Below.".replace("\n", end).encode()


def test_long_texts_take_no_ages() -> None:
    old = START + "".join([f"Line {at} of many that are all much alike.\n" for at in range(20_000)])
    new = ticked(old, "Build the parser.")
    current = old.replace("Build the parser", "Build the whole parser") + "Below.\n"
    assert lost_numbers(chain(old, new), current) == [1]


def edited(text: str, kind: int, number: int) -> str:
    """A text after an edit that a verb might make; the same where there is nothing to tick."""
    if kind == 0:
        return added(text, f"Task {number} of many.")
    if kind == 1:
        return text.replace(
            "\n\n## Outcomes", "\n" + ENTRY.format(f"Choice {number}", f"Reason {number}") + "\n## Outcomes"
        )
    opened = [line for line in text.split("\n") if line.startswith("- [ ] ")]
    return ticked(text, opened[number % len(opened)][6:]) if opened else text


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 99)), max_size=12, unique_by=lambda each: each[1]), st.data()
)
def test_all_that_a_stale_save_overwrote_is_found_and_comes_back(
    kinds: list[tuple[int, int]], data: st.DataObject
) -> None:
    texts = [START]
    for kind, number in kinds:
        new = edited(texts[-1], kind, number)
        texts += [new] if new != texts[-1] else []
    stale = data.draw(st.integers(0, len(texts) - 1))
    steps = chain(*texts)
    current = texts[stale] + "By hand.\n"
    missing = select_lost_edits(steps, current.encode())
    assert missing == (steps[stale:] if stale < len(steps) else [])
    text = current.encode()
    for step in missing:
        restored = reapply_edit(step, text)
        assert restored is not None
        text = restored
    assert text.decode() == texts[-1] + "By hand.\n"
