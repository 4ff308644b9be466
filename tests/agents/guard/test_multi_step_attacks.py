"""An agent that goes about it in several moves: what it was allowed before does not help it, nor does what a person approved."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from execplan.agents.guard.request_handler import handle_request
from tests.agents.guard.guard_repository import PROGRAMS, Answer, GuardRepository, as_sent, hook
from tests.in_process_repository import NAME

if TYPE_CHECKING:
    from pathlib import Path

PLAN = """\
# Build the parser

## Progress

- [ ] Build the parser.

## Concrete Steps

```sh {#build max-invocations=9}
make parser
```

```sh {#leave shell=sh}
execplan uninstall guard
```

```sh {#sly}
python3 -c "import execplan.cli.app as app; app.run(['approve'])"
```

```json {#hooks type=create_file target=.claude/settings.json}
{}
```

```json {#notes type=create_file target=notes/settings.json}
{}
```

```sh {#another}
claude -p "Do the rest"
```
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuardRepository:
    repository = GuardRepository(tmp_path / "repo", monkeypatch)
    repository.write("notes/x", "x")
    for name in ("claude", "execplan"):
        repository.write(f"../tools/{name}", "#!/bin/sh\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/tools:{os.environ['PATH']}")
    repository.plan(PLAN)
    repository.commit()
    repository.approve()
    return repository


def answer_in_process(request: bytes, program: str = "claude") -> Answer:
    """What the guard answers, in this process."""
    output, _ = handle_request(request, None, "any_program" if program == "json" else program, 500)
    return Answer(output.status, output.output, output.error_output, program)


def ask_command(desk: GuardRepository, command: str, program: str = "claude") -> Answer:
    return answer_in_process(as_sent(program, command, str(desk.path)), program)


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_a_person_approved_does_not_free_either(desk: GuardRepository, program: str) -> None:
    assert ask_command(desk, "make parser", program).kind == "allow"
    for command in (
        "execplan uninstall guard",
        "sh -c 'execplan uninstall guard'",
        "python3 -c \"import execplan.cli.app as app; app.run(['approve'])\"",
        'claude -p "Do the rest"',
    ):
        answer = ask_command(desk, command, program)
        assert answer.kind == "deny", command
        assert "agent" in answer.why, answer


def test_nor_do_planned_files_that_decide(desk: GuardRepository) -> None:
    assert ask_command(desk, "make parser").kind == "allow"
    answer = answer_in_process(
        json.dumps(hook("Write", str(desk.path), file_path=".claude/settings.json", content="{}\n")).encode()
    )
    assert answer.kind == "deny"
    assert "agents can't change" in answer.why, answer
    honest = json.dumps(hook("Write", str(desk.path), file_path="notes/settings.json", content="{}\n")).encode()
    shutil.rmtree(desk.path / "notes")
    (desk.path / ".claude").mkdir()
    os.symlink(".claude", desk.path / "notes")
    assert "agents can't change" in answer_in_process(honest).why
    (desk.path / "notes").unlink()
    assert answer_in_process(honest).kind == "allow"


def test_a_plan_that_is_edited_meanwhile_allows_nothing(desk: GuardRepository) -> None:
    assert ask_command(desk, "make parser").kind == "allow"
    path = desk.path / f".agent/execplans/{NAME}.md"
    text = path.read_text()
    path.write_text(text.replace("make parser", "make everything"))
    for command in ("make parser", "make everything"):
        assert ask_command(desk, command).kind == "deny", command
    path.write_text(text)
    assert ask_command(desk, "make parser").kind == "allow"


def test_an_approval_from_elsewhere_allows_nothing(desk: GuardRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = desk.path.parent / "copy"
    shutil.copytree(desk.path, copy, symlinks=True)
    monkeypatch.chdir(copy)
    assert answer_in_process(as_sent("claude", "make parser", str(copy))).kind == "deny"
    monkeypatch.chdir(desk.path)
    assert ask_command(desk, "make parser").kind == "allow"


def test_another_plan_does_not_lend_its_approval(desk: GuardRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    other_plan = PLAN.replace("Build the parser", "Other").replace("make parser", "make other")
    desk.plan(other_plan, "2026-01-02_other")
    artifacts = desk.path / ".agent/execplans/artifacts"
    shutil.copytree(artifacts / NAME, artifacts / "2026-01-02_other")
    assert ask_command(desk, "make other").kind == "deny"
    monkeypatch.setenv("EXECPLAN_PLAN", "2026-01-02_other")
    for command in ("make other", "make parser"):
        assert ask_command(desk, command).kind == "deny", command
    monkeypatch.delenv("EXECPLAN_PLAN")
    assert ask_command(desk, "make parser").kind == "allow"


@pytest.mark.parametrize("name", ["HOME", "XDG_CONFIG_HOME"])
def test_another_key_opens_nothing(desk: GuardRepository, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert ask_command(desk, "make parser").kind == "allow"
    key = desk.path.parent / "elsewhere/.config/execplan/key"
    key.parent.mkdir(parents=True)
    key.write_bytes(b"k" * 32)
    key.chmod(0o600)
    monkeypatch.setenv(name, str(desk.path.parent / "elsewhere" / ("" if name == "HOME" else ".config")))
    assert ask_command(desk, "make parser").kind == "deny"
