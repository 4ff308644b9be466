"""What `show --steps`, `status` and `list` tell of the steps of a plan."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN, with_sections

STEPS = """\
## Concrete Steps

In the root of the repository:

```sh {#build exit=0 task="Build the parser"}
make parser
```

```text {#note type=create_file target=docs/note.md}
It is built.
```

    make install

## Validation and Acceptance

```sh {#test needs=build exit=0}
make test
```
"""
PLAN = with_sections(STEPS)


def execution(repo: Folder, command: str = "status") -> dict[str, object] | None:
    """How the only plan stands."""
    (plan,) = repo.ok(command)["plans"]
    status: dict[str, object] | None = plan["execution"]
    return status


def test_steps_are_shown_as_they_compile_now(repo: Folder) -> None:
    repo.plan(PLAN)
    data = repo.ok("show", "--steps")
    assert data["title"] == "Build the parser"
    assert [(step["number"], step["id"], step["phase"], step["inferred"]) for step in data["steps"]] == [
        (1, "build", "work", False),
        (2, "note", "work", False),
        (3, "make-install", "work", True),
        (4, "test", "validate", False),
    ]
    build, note, _, test = data["steps"]
    assert (build["type"], build["tool"], build["description"]) == ("execute_command", "shell.run", "Run make parser")
    assert set(build["risk"]) == {"level", "reasons"}
    assert build["risk"]["reasons"]
    assert (note["description"], note["risk"]["level"]) == ("Create docs/note.md", "LOW")
    lines = PLAN.split("\n")
    assert lines[build["line_start"] - 1 : build["line_end"]][1] == "make parser"
    assert test["depends_on"] == ["build"]
    assert data["execution"] == {"state": "none", "expires": None, "drift": [], "mode": None, "run": None}
    output_lines = repo.run("show", "--steps").out.splitlines()
    assert output_lines[1] == ".agent/execplans/2026-01-01_parser.md: 4 steps, not compiled"
    assert output_lines[5].endswith("Run make install (inferred)")
    assert output_lines[6].endswith("Run make test, after build")
    assert output_lines[-1] == "next: execplan compile 2026-01-01_parser"


def test_descriptions_are_phrases_that_go_on(repo: Folder) -> None:
    once = "```text {#once type=replace paths=app.py count=1}\n-v1\n+v2\n```\n\n"
    by_hand = "```text {#look type=manual needs=once}\nLook at the page.\n```\n"
    repo.plan(with_sections(f"## Concrete Steps\n\n{once}{by_hand}"))
    ends = [line.split("  ")[-1].strip() for line in repo.run("show", "--steps").out.splitlines()[3:5]]
    assert ends == ["Replace `v1` in app.py, 1 time", "By hand: Look at the page, after once"]


def test_a_plan_without_steps_says_so(repo: Folder) -> None:
    repo.plan(with_sections("## Concrete Steps\n\nRead it.\n\n## Validation and Acceptance\n\nLook at it.\n"))
    data = repo.ok("show", "--steps")
    assert (data["steps"], data["left"]) == ([], [])
    output = repo.run("show", "--steps").out
    assert ": no runnable steps\nnext: execplan explain steps\n" in output


def test_what_is_left_out_is_told_with_its_line(repo: Folder) -> None:
    repo.plan(with_sections("## Plan of Work\n\n```sh {#early}\nmake\n```\n\n" + STEPS))
    (skipped_line, *_) = repo.ok("show", "--steps")["left"]
    assert skipped_line["text"] == "```sh {#early}"
    assert (
        f"line {skipped_line['line']} is not a step: it {skipped_line['why']}: ```sh {{#early}}"
        in repo.run("show", "--steps").out
    )


def test_steps_that_can_not_be_compiled_are_refused(repo: Folder) -> None:
    repo.plan(PLAN.replace("needs=build", "needs=biuld timeout=soon"))
    result = repo.run("show", "--steps", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "bad-steps")
    assert len(result.json["error"]["candidates"]) == 2
    assert repo.run("show", "--steps", "--section", "Progress").exit == 2


@pytest.mark.parametrize("verb", ["status", "list"])
def test_how_it_stands(repo: Folder, verb: str) -> None:
    path = repo.plan(PLAN)
    assert execution(repo, verb) == {"state": "none", "expires": None, "drift": [], "mode": None, "run": None}
    assert "(steps" not in repo.run(verb).out
    repo.ok("compile")
    assert execution(repo, verb) == {"state": "compiled", "expires": None, "drift": [], "mode": "engine", "run": None}
    assert "(steps: compiled)" in repo.run(verb).out
    repo.ok("done", "2")
    assert execution(repo, verb) == {"state": "compiled", "expires": None, "drift": [], "mode": "engine", "run": None}
    path.write_text(path.read_text().replace("make parser", "make scanner"))
    stale = execution(repo, verb)
    assert stale is not None
    assert stale["state"] == "stale"
    assert stale["drift"]
    assert "(steps: stale)" in repo.run(verb).out
    repo.ok("done", "3")
    assert execution(repo, verb) is None  # what is finished will not run


def test_an_approval_is_told_with_its_end(repo: Folder) -> None:
    note = STEPS[STEPS.index("```text") : STEPS.index("    make install")]
    path = repo.plan(with_sections(f"## Concrete Steps\n\n{note}\n## Validation and Acceptance\n\nRead it.\n"))
    repo.ok("approve", "--digest", repo.ok("evaluate")["digest"])
    status = execution(repo)
    assert status is not None
    assert (status["state"], status["expires"], status["drift"]) == ("approved", "2026-01-02T00:00:00Z", [])
    assert "(steps: approved)" in repo.run("status").out
    output_lines = repo.run("show", "--steps").out.splitlines()
    assert output_lines[1].endswith(": 1 step, approved until 2026-01-02T00:00:00Z")
    assert output_lines[-1].startswith("next: execplan run ")
    repo.write("docs/note.md", "It is there already.\n")
    assert repo.ok("show", "--steps")["execution"]["state"] == "stale"
    path.write_text(path.read_text().replace("```text {", "```text {example "))
    assert repo.ok("show", "--steps")["steps"] == []


def test_status_imports_nothing_heavy_before_something_is_compiled(repo: Folder) -> None:
    repo.plan(CLEAN)
    code = (
        "import sys; from execplan.cli.main import main; sys.argv = ['execplan', 'status']; main(); print(*sys.modules)"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], cwd=repo.path, env=repo.env, capture_output=True, text=True, check=True
    )
    modules = completed.stdout.splitlines()[-1].split()
    assert "execplan.team.advice.execution_status" in modules
    assert not [
        name for name in modules if name in ("pydantic", "unidiff") or name.startswith("execplan.execution.approvals")
    ]


def test_what_is_left_out_is_told_as_a_sentence_that_a_terminal_can_show(repo: Folder) -> None:
    repo.plan(with_sections('## Plan of Work\n\n```sh {#early task="\x1b[8mx"}\nmake\n```\n\n' + STEPS))
    (skipped_line, *_) = repo.ok("show", "--steps")["left"]
    assert "\x1b" in skipped_line["text"]
    output = repo.run("show", "--steps").out
    assert f"line {skipped_line['line']} is not a step: it is outside Concrete Steps" in output
    assert "\x1b" not in output


def test_lines_are_told_as_they_are_now(repo: Folder) -> None:
    path = repo.plan(PLAN)
    repo.ok("compile")
    stored = repo.path / ".agent/execplans/artifacts/2026-01-01_parser/execution-plan.json"
    before = stored.read_bytes()
    repo.ok("add", "One more")
    at = path.read_text().split("\n").index('```sh {#build exit=0 task="Build the parser"}') + 1
    for arguments in (("show", "--steps"), ("compile",)):
        assert repo.ok(*arguments)["steps"][0]["line_start"] == at
    assert repo.ok("evaluate")["steps"][0]["line_start"] == at
    assert stored.read_bytes() == before
