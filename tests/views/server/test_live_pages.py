"""The pages of the server show what the command line shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.views.server.running_server import PLAN_PAGE, RunningServer

if TYPE_CHECKING:
    from tests.conftest import Folder


def test_a_page_lists_the_findings_that_its_card_counts(repo: Folder) -> None:
    """One of them compares the plan with its committed version."""
    path = repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    path.write_text(path.read_text().replace("Write the scanner, then the reader.", "Write the reader with a library."))
    (finding,) = repo.run("lint", "--json").json["data"]["findings"]
    server = RunningServer(repo)
    page = server.get(PLAN_PAGE).text
    assert "1 warning" in page
    assert f"<code>{finding['code']}</code>" in page
