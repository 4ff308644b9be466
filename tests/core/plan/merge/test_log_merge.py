"""What two branches wrote into the logs of a plan, merged."""

from __future__ import annotations

import pytest

from execplan.core.plan import reader
from tests.merge_checks import merge_both_ways, merge_by_rules


def decision(text: str, date: str = "2026-01-01", why: str = "It is so.", extra_lines: str = "") -> str:
    return f"- Decision: {text}\n  Rationale: {why}\n  Date/Author: {date} / Ann\n{extra_lines}"


def log(*entries: str) -> str:
    return "# T\n\n## Decision Log\n\n" + "\n".join(entries) + "\n## Context\n\nText.\n"


OLD = [decision("Old one.", "2026-01-01"), decision("Old two.", "2026-01-02")]


def test_additions_are_placed_by_date_among_each_other() -> None:
    ours = [*OLD, decision("B.", "2026-01-04"), decision("D.", "2026-01-06 10:00Z")]
    theirs = [*OLD, decision("A.", "2026-01-03"), decision("C.", "2026-01-05"), decision("E.", "2026-01-06 11:00Z")]
    result = merge_both_ways(log(*OLD), log(*ours), log(*theirs))
    texts = [entry.text for entry in reader.read(result.data).decisions]
    assert texts == ["Old one.", "Old two.", "A.", "B.", "C.", "D.", "E."]
    assert result.data.decode() == log(*OLD, theirs[2], ours[2], theirs[3], ours[3], theirs[4])


def test_a_log_with_the_newest_first_grows_at_its_head() -> None:
    old = OLD[::-1]
    ours = [decision("B.", "2026-01-04"), *old]
    theirs = [decision("C.", "2026-01-05"), decision("A.", "2026-01-03"), *old]
    result = merge_both_ways(log(*old), log(*ours), log(*theirs))
    assert result.data.decode() == log(theirs[0], ours[0], theirs[1], *old)


def test_existing_entries_are_never_moved() -> None:
    old = [decision("Late.", "2026-03-01"), decision("Early.", "2026-01-01"), decision("Middle.", "2026-02-01")]
    ours = [*old, decision("Ours.", "2026-01-15")]
    theirs = [*old, decision("Theirs.", "2026-01-14")]
    assert merge_both_ways(log(*old), log(*ours), log(*theirs)).data.decode() == log(*old, theirs[-1], ours[-1])


def test_an_undated_addition_stays_behind_its_neighbour() -> None:
    bare = "- Decision: Bare.\n  Rationale: Why not.\n"
    ours = [*OLD, decision("B.", "2026-01-04"), bare]
    theirs = [*OLD, decision("C.", "2026-01-05"), decision("A.", "2026-01-03")]
    result = merge_both_ways(log(*OLD), log(*ours), log(*theirs))
    assert result.data.decode() == log(*OLD, ours[2], bare, theirs[2], theirs[3])


def test_equal_additions_stand_once() -> None:
    ours = log(*OLD, decision("Read  a TREE.", "2026-01-04"))
    theirs = log(*OLD, decision("Read a tree.", "2026-01-03"))
    result = merge_both_ways(log(*OLD), ours, theirs)
    assert (result.data.decode(), result.conflict_count) == (theirs, 0)


def test_equal_words_on_another_ground_are_another_entry() -> None:
    ours = decision("Read a tree.", "2026-01-03")
    theirs = decision("Read a tree.", "2026-01-04", why="Lists nest.")
    result = merge_both_ways(log(*OLD), log(*OLD, ours), log(*OLD, theirs))
    assert result.data.decode() == log(*OLD, ours, theirs)


def test_an_entry_changed_on_one_side() -> None:
    ours = log(OLD[0].replace("It is so", "It is fast"), OLD[1])
    theirs = log(OLD[0], OLD[1].replace("2026-01-02 / Ann", "2026-01-02 / Bob"), decision("New."))
    result = merge_both_ways(log(*OLD), ours, theirs)
    assert result.conflict_count == 0
    decisions = reader.read(result.data).decisions
    assert [entry.rationale for entry in decisions] == ["It is fast.", "It is so.", "It is so."]
    assert [entry.author for entry in decisions] == ["Ann", "Bob", "Ann"]


def test_an_entry_changed_on_both_sides_is_a_conflict_of_that_entry() -> None:
    our_entry, their_entry = OLD[0].replace("It is so", "It is fast"), OLD[0].replace("2026-01-01", "2026-01-09")
    result = merge_by_rules(
        log(*OLD).encode(), log(our_entry, OLD[1]).encode(), log(their_entry, OLD[1], decision("New.")).encode()
    )
    expected = f"<<<<<<< ours\n{our_entry}=======\n{their_entry}>>>>>>> theirs\n"
    assert (result.data.decode(), result.conflict_count) == (log(expected, OLD[1], decision("New.")), 1)
    assert len(reader.read(result.data).decisions) == 4


def test_an_entry_deleted_here_and_changed_there_is_a_conflict() -> None:
    changed = OLD[0].replace("It is so", "It is fast")
    result = merge_both_ways(log(*OLD), log(OLD[1]), log(changed, OLD[1]))
    assert result.conflict_count == 1
    assert result.data.decode() in (
        log(f"<<<<<<< ours\n=======\n{changed}>>>>>>> theirs\n", OLD[1]),
        log(f"<<<<<<< ours\n{changed}=======\n>>>>>>> theirs\n", OLD[1]),
    )


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Use SQLite for the index.", "Do not use SQLite for the index."),
        ("Keep the cache.", "Drop the cache."),
        ("We will always read a tree.", "Never read a tree."),
    ],
)
def test_opposite_decisions_are_kept_and_told(one: str, two: str) -> None:
    result = merge_both_ways(log(*OLD), log(*OLD, decision(one)), log(*OLD, decision(two)))
    assert [entry.text for entry in reader.read(result.data).decisions][2:] == [one, two]
    assert result.conflict_count == 0
    assert "contradict each other: both are kept" in "".join(result.notes)


def test_decisions_that_agree_are_not_told() -> None:
    result = merge_both_ways(log(*OLD), log(*OLD, decision("Use a tree.")), log(*OLD, decision("Do not use a list.")))
    assert result.notes == ()


def test_two_decisions_that_supersede_one_are_told() -> None:
    old = "  Supersedes: Old one. (2026-01-01)\n"
    result = merge_both_ways(
        log(*OLD), log(*OLD, decision("X.", extra_lines=old)), log(*OLD, decision("Y.", extra_lines=old))
    )
    assert len(reader.read(result.data).decisions) == 4
    assert 'both supersede "Old one. (2026-01-01)": both are kept' in "".join(result.notes)


@pytest.mark.parametrize("place", ["None yet.", "- None yet.", "TBD", "- Observation: …\n  Evidence: …"])
def test_a_placeholder_that_was_filled_is_gone(place: str) -> None:
    base = f"# T\n\n## Surprises & Discoveries\n\n{place}\n\n## Context\n\nText.\n"
    our_entry, their_entry = [f"- Observation: {name}.\n  Evidence: `{name}`" for name in ("One", "Two")]
    result = merge_both_ways(base, base.replace(place, our_entry), base.replace(place, their_entry))
    assert (result.data.decode(), result.conflict_count) == (base.replace(place, f"{our_entry}\n\n{their_entry}"), 0)
    assert merge_both_ways(base, base.replace(place, our_entry), base).data.decode() == base.replace(place, our_entry)


def test_a_placeholder_gives_way_where_both_sides_added_the_section() -> None:
    base = "# T\n\n## Context\n\nText.\n"
    ours = "# T\n\n## Surprises & Discoveries\n\nNone yet.\n\n## Context\n\nText.\n"
    theirs = ours.replace("None yet.", "- Observation: One.\n  Evidence: `one`")
    assert merge_both_ways(base, ours, theirs).data.decode() == theirs


def test_a_placeholder_put_in_the_place_of_entries_stays() -> None:
    base = log(*OLD)
    emptied = log("None yet.\n")
    assert merge_by_rules(base.encode(), base.encode(), emptied.encode()).data.decode() == emptied


def test_outcomes_are_a_union() -> None:
    base = "# T\n\n## Outcomes & Retrospective\n\nLines can be read.\n"
    ours, theirs = base + "\nTrees can be read.\n", base + "\nTables can be read.\n"
    result = merge_both_ways(base, ours, theirs)
    assert (result.data.decode(), result.conflict_count) == (ours + "\nTables can be read.\n", 0)


NOTE = "\nPlan revision note: 2026-01-0{} - {}.\n"


@pytest.mark.parametrize("old", ["", NOTE.format(1, "Begun")])
def test_revision_notes_at_the_end_are_a_union(old: str) -> None:
    base = "# T\n\n## Context\n\nText.\n" + old
    ours, theirs = base + NOTE.format(3, "Ours"), base + NOTE.format(2, "Theirs")
    result = merge_both_ways(base, ours, theirs)
    assert (result.data.decode(), result.conflict_count) == (theirs + NOTE.format(3, "Ours"), 0)


def test_revision_notes_in_a_section_of_their_own() -> None:
    base = "# T\n\n## Revision Notes\n\n- 2026-01-01 - Begun.\n\n## Context\n\nText.\n"
    ours = base.replace("Begun.\n", "Begun.\n- 2026-01-03 - Ours.\n")
    theirs = base.replace("Begun.\n", "Begun.\n- 2026-01-02 - Theirs.\n")
    expected = base.replace("Begun.\n", "Begun.\n- 2026-01-02 - Theirs.\n- 2026-01-03 - Ours.\n")
    assert merge_both_ways(base, ours, theirs).data.decode() == expected


def test_a_section_added_here_stands_above_the_note_added_there() -> None:
    base = "# T\n\n## Context\n\nText.\n"
    risks = "\n## Risks\n\nSome.\n"
    ours, theirs = base + NOTE.format(2, "Ours"), base + risks
    assert merge_both_ways(base, ours, theirs).data.decode() == base + risks + NOTE.format(2, "Ours")


def test_notes_appended_to_artifacts_are_both_kept() -> None:
    base = "# T\n\n## Artifacts and Notes\n\nNone so far.\n\n## Context\n\nText.\n"
    ours = base.replace("None so far.", "One.\n\n```text\n1 passed\n```")
    theirs = base.replace("None so far.", "Two.")
    result = merge_both_ways(base, ours, theirs)
    assert result.conflict_count == 0
    assert result.data.decode() == base.replace("None so far.", "One.\n\n```text\n1 passed\n```\n\nTwo.")
