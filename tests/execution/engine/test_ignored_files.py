"""Files that git ignores: a rollback restores them, and nothing that is committed has their content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution import states
from tests.execution.engine.run_repository import RunRepository, steps

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

STEPS = steps(
    "```sh {#make shell outputs=local/made.txt exit=0}\necho MARK-made-value > local/made.txt\n```\n",
    "```text {#lines type=modify_file target=local/kept.txt lines=1}\nreplaced\n```\n",
    "```text {#drop type=delete_file target=local/old.txt}\nNobody needs it.\n```\n",
    "```sh {#read inputs=local/read.txt,local/deep exit=0}\ncat local/read.txt local/deep/more.txt\n```\n",
    "```sh {#seen inputs=seen.txt exit=0}\ncat seen.txt\n```\n",
)
FILES = {
    "local/kept.txt": "MARK-kept-value\n",
    "local/old.txt": "MARK-old-value\n",
    "local/read.txt": "MARK-read-value\n",
    "local/deep/more.txt": "ok\nMARK-more-value\n",
}


def test_what_git_ignores_is_in_no_committed_file_and_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = RunRepository(tmp_path / "repo", monkeypatch)
    desk.write(".gitignore", "local/\n")
    desk.write("seen.txt", "a line that git has\n")
    for name, content in FILES.items():
        desk.write(name, content)
    desk.approve_plan(STEPS)
    desk.commit()
    assert desk.run_plan(commit=True).status == states.COMPLETED
    desk.git("add", "-A")
    assert "04-read.md" in desk.git("ls-files")
    committed = {name: desk.git("show", f":{name}") for name in desk.git("ls-files", ".agent").split()}
    marks = [line for text in committed.values() for line in text.splitlines() if "MARK" in line]
    assert {line for line in marks if "echo MARK-made-value > local/made.txt" not in line} == set()
    assert any(["| a line that git has" in text for text in committed.values()])
    assert desk.run("rollback").exit == 0
    assert {name: desk.text(name) for name in FILES} == FILES
    assert not desk.exists("local/made.txt")
