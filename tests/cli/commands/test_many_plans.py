"""Commands in a project with more plans than an error describes."""

from __future__ import annotations

import pytest

from tests.in_process_repository import InProcessRepository

COUNT = 101


@pytest.mark.parametrize("command", ["prime", "status", "list", "next", "show", "done 1", "archive", "lint", "context"])
def test_more_plans_than_an_error_describes(desk: InProcessRepository, command: str) -> None:
    for number in range(COUNT):
        desk.plan(f"# Build part {number}\n\n## Progress\n\n- [ ] Read part {number}.\n", f"part-{number}")
    for options in ([], ["--json"]):
        result = desk.type(*command.split(), *options)
        assert result.exit in (0, 1, 3), result.err
    if command == "prime":
        assert f"{COUNT + 1} are open" in desk.type("prime").out
        assert "and 96 more: execplan list" in desk.type("prime").out
