"""`install stop-gate`: an entry beside those of the other integrations, removed byte for byte, and checked by doctor."""

from __future__ import annotations

import json
from typing import Any

from tests.agents.integrations.file_tree import tree
from tests.in_process_repository import InProcessRepository

CLAUDE, CODEX = ".claude/settings.json", ".codex/hooks.json"


def hooks(desk: InProcessRepository, file: str) -> dict[str, Any]:
    """The hooks in a file, by event."""
    groups: dict[str, Any] = json.loads((desk.path / file).read_text())["hooks"]
    return groups


def test_there_and_back(desk: InProcessRepository) -> None:
    own = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}, "model": "x"})
    desk.write(CLAUDE, own)
    before = tree(desk.path)
    desk.data("install", "stop-gate", "--for", "claude", "--for", "codex")
    groups = hooks(desk, CLAUDE)["Stop"]
    assert [group["hooks"][0]["command"].partition(" #")[0] for group in groups] == [
        "say done",
        "sh -c 'execplan next --hook claude 2>/dev/null || :",
    ]
    assert list(hooks(desk, CODEX)) == ["Stop"]
    desk.data("install", "guard", "session-hooks", "--for", "claude", "--for", "codex")
    assert desk.data("install", "stop-gate")["changed"] is False
    desk.data("uninstall", "stop-gate")
    assert hooks(desk, CLAUDE)["Stop"] == groups[:1]
    desk.data("uninstall", "guard", "session-hooks")
    assert tree(desk.path) == before
