"""The main branch of a repository, and the messages in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.core.git.main_branch import main_revisions, read_messages, remote_name
from execplan.core.project import project_discovery
from tests.conftest import Folder
from tests.team.staleness.dated_repository import commit

if TYPE_CHECKING:
    from execplan.core.project.project import Project


def project_of(folder: Folder) -> Project:
    """The project of a folder."""
    return project_discovery.find(str(folder.path))


def test_main_of_the_remote_and_the_local_one(repo: Folder) -> None:
    assert main_revisions(project_of(repo)) == ["refs/heads/main"]
    clone = Folder(repo.path.parent / "clone")
    repo.git("clone", "-q", str(repo.path), str(clone.path))
    assert main_revisions(project_of(clone)) == ["refs/remotes/origin/HEAD", "refs/heads/main"]
    commit(repo, "2025-01-01", "Add it (#12)")
    clone.git("fetch", "-q")
    assert [message.subject for message in read_messages(project_of(clone))] == ["Add it (#12)"]


def test_another_name_and_no_commit(repo: Folder, plain: Folder) -> None:
    repo.git("branch", "-qm", "main", "develop")
    assert main_revisions(project_of(repo)) == ["HEAD"]
    plain.git("init", "-q")
    assert main_revisions(project_of(plain)) == []
    assert list(read_messages(project_of(plain))) == []


def test_messages_that_name_a_number(repo: Folder) -> None:
    commit(repo, "2025-01-01", "Nothing")
    commit(repo, "2025-01-02", "Fix it\n\nCloses #12\nand more")
    commit(repo, "2025-01-03", "Merge branch 'a'\n\nSee merge request team/app!3")
    messages = list(read_messages(project_of(repo)))
    assert [(message.subject, message.body.strip()) for message in messages] == [
        ("Merge branch 'a'", "See merge request team/app!3"),
        ("Fix it", "Closes #12\nand more"),
    ]
    assert messages[0].time - messages[1].time == 24 * 60 * 60


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.org/team/app.git", "team/app"),
        ("https://example.org/team/app/", "team/app"),
        ("git@example.org:team/app.git", "team/app"),
        ("ssh://git@example.org:22/group/team/app", "team/app"),
        ("../app", ""),
        ("/srv/team/app.git", ""),
        ("file:///srv/team/app.git", ""),
    ],
)
def test_remote_name(repo: Folder, url: str, name: str) -> None:
    assert remote_name(project_of(repo)) == ""
    repo.git("remote", "add", "origin", url)
    assert remote_name(project_of(repo)) == name
