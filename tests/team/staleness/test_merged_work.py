"""What the messages of the main branch say about pull requests and issues."""

from __future__ import annotations

import pytest

from execplan.core.git.main_branch import CommitMessage
from execplan.team.staleness.stale_plans import find_merged_work


def work(*messages: str, repository: str = "") -> tuple[set[int], set[int]]:
    """The merged pull requests and closed issues according to messages, the newest first."""
    commits = []
    for number, message in enumerate(messages):
        subject, _, body = message.partition("\n")
        commits.append(CommitMessage(f"{number:07}" + "0" * 33, 100 - number, subject, body))
    found = find_merged_work(commits, repository)
    return set(found.pull_requests), set(found.issues)


@pytest.mark.parametrize(
    ("message", "number"),
    [
        ("Merge pull request #12 from team/topic\n\nAdd it", 12),
        ("Add it (#12)", 12),
        ("Add it (!12)", 12),
        ("Merged PR 12: Add it", 12),
        ("Merged in topic (pull request #12)\n\nAdd it", 12),
        ("Merge branch 'topic'\n\nAdd it\n\nSee merge request !12", 12),
        ("Merge branch 'topic' into 'main'\n\nAdd it\n\nSee merge request team/sub/app!12", 12),
        ("Add it, see (#12) for more", None),
        ("Add it #12", None),
        ("Merge branch 'main' into topic", None),
        (f"Merge pull request #{'1' * 5000} from team/topic", None),
        ("Talk about it\n\nNo need to See merge request !12 here", None),
    ],
)
def test_pull_requests(message: str, number: int | None) -> None:
    assert work(message) == ({number} if number else set(), set())


@pytest.mark.parametrize(
    ("message", "numbers"),
    [
        ("Fix it\n\nFixes #12", {12}),
        ("Fix it\n\ncloses: #12, #13 and #14", {12, 13, 14}),
        ("Resolves GH-7 and fixes issue #8", {8}),
        ("Fix #12: the parser", {12}),
        ("Closes https://example.org/team/app/issues/12", {12}),
        ("Closes other/lib#12", set()),
        ("Closes team/app#12", {12}),
        ("Closes https://example.org/other/lib/issues/12", set()),
        ("See #12", set()),
        ("Do not close #", set()),
        ("Prefix #12", set()),
    ],
)
def test_issues(message: str, numbers: set[int]) -> None:
    assert work(message, repository="team/app")[1] == numbers


def test_a_reverted_pull_request_is_not_merged() -> None:
    assert work('Revert "Add it (#12)" (#15)\n\nReverts team/app#12', "Add it (#12)")[0] == {15}
    assert work('Revert "Add it (#12)"\n\nThis reverts commit 0000001.', "Add it (#12)")[0] == set()
    assert work("Fix it\n\nFixes #3")[1] == {3}
    assert work('Revert "Fix it"\n\nThis reverts commit 0000001.', "Fix it\n\nFixes #3")[1] == set()


def test_a_pull_request_that_was_merged_again_counts() -> None:
    assert 12 in work("Add it (#12)", 'Revert "Add it (#12)"\n\nReverts team/app#12', "Add it (#12)")[0]


def test_the_revert_of_a_revert_counts() -> None:
    history = (
        'Revert "Revert "Add it (#12)" (#15)" (#18)\n\nReverts team/app#15',
        'Revert "Add it (#12)" (#15)\n\nReverts team/app#12',
        "Add it (#12)",
    )
    assert work(*history)[0] == {18, 12}
    assert work(history[0].replace("Reverts team/app#15", "This reverts commit 0000001."), *history[1:])[0] == {18, 12}
