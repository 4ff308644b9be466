"""The workflows in the documentation are what actionlint accepts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import Folder
from tests.team.github.action_runner import ACTION
from tests.team.github.test_action import check, program_path

PAGES = sorted((ACTION.parent / "docs").rglob("*.md"))
WORKFLOWS = [
    (page.stem, block)
    for page in PAGES
    for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    if "\njobs:" in block
]


def test_there_are_workflows() -> None:
    assert {page for page, _ in WORKFLOWS} >= {"check-plans-on-github", "show-plans-as-github-issues"}


@pytest.mark.parametrize(("page", "workflow"), WORKFLOWS)
def test_actionlint_accepts_it(tmp_path: Path, page: str, workflow: str) -> None:
    folder = Folder(tmp_path)
    folder.git("init", "-q")
    folder.write("action.yml", ACTION.read_bytes())
    local = re.sub(r"uses: OWNER/execplan@\S+", "uses: ./", workflow)
    folder.write(".github/workflows/page.yml", local)
    check("actionlint", "-shellcheck", program_path("shellcheck"), cwd=tmp_path)
