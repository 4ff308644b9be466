"""`execplan evaluate`: its exit status, its document, its page; and nothing that it leaves behind."""

from __future__ import annotations

import hashlib
import io
import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from execplan.cli.output.terminal_text import printable_text
from execplan.cli.output.text_table import format_table
from execplan.execution.evaluation.evaluation_page import code_block, code_span
from tests.conftest import Folder
from tests.crash.test_disks import run_in_namespace, shell_line
from tests.plans import CLEAN, STEPS

ID = "2026-01-01_parser"
FIELDS = "check level step path line message mend".split()


def with_step(fence_of_it: str) -> str:
    """The clean plan with this in its steps."""
    return CLEAN.replace("## Validation and", f"{fence_of_it}\n\n## Validation and")


def test_what_may_run(repo: Folder) -> None:
    repo.plan(STEPS)
    result = repo.run("evaluate")
    assert result.exit == 0, result
    assert '     +    return "pong"' in result.out
    data = repo.ok("evaluate")
    command = f"execplan approve {ID} --digest {data['digest'][:12]}"
    assert result.out.endswith(f"\nnext: ask a person to run: execplan approve {ID}\n")
    assert repo.run("evaluate", "--json").json["next"] == [command]
    assert repo.run(*command.split()[1:]).exit == 0
    assert [step["id"] for step in data["steps"]] == ["build.1", "build.2", "api"]
    assert [step["dry_run"]["kind"] for step in data["steps"]] == ["unpredictable", "unpredictable", "exact"]
    assert data["steps"][1]["argv"] == ["make", "test"]
    assert all(step["risk"]["reasons"] for step in data["steps"])
    assert data["digest"] in result.out
    assert {check["name"] for check in data["checks"]} >= {"syntax", "paths", "shell"}


def test_what_must_not_run(repo: Folder) -> None:
    repo.plan(STEPS)
    repo.write("src/api.py", "x = 1\n")
    result = repo.run("evaluate", "--json")
    assert result.exit == 1
    assert result.json["ok"] is False
    data = result.json["data"]
    (finding,) = [finding for finding in data["findings"] if finding["level"] == "error"]
    assert list(finding) == FIELDS
    assert finding["step"] == "api"
    assert finding["message"] == "src/api.py already exists"
    plan = (repo.path / finding["path"]).read_text().splitlines()
    assert plan[finding["line"] - 1].startswith("```python {#api ")
    assert [step["ok"] for step in data["steps"]] == [True, True, False]
    assert f"{finding['path']}:{finding['line']}: api: error: " in repo.run("evaluate").out


def test_the_digest_follows_what_an_approval_binds(repo: Folder) -> None:
    path = repo.plan(STEPS)
    first = repo.ok("evaluate")["digest"]
    repo.ok("done", "2")
    assert repo.ok("evaluate")["digest"] != ""
    repo.write("src/other.py", "x = 1\n")
    path.write_text(path.read_text() + "\n")
    repo.write(".agent/execplan.toml", "[execution]\nperson_from = 'LOW'\n")
    assert repo.ok("evaluate")["digest"] != first


def test_it_never_exits_7(repo: Folder) -> None:
    repo.plan(with_step("```sh {#a}\nmake \u202etest\n```"))
    result = repo.run("evaluate")
    assert result.exit == 1
    assert "u202e" in result.out
    assert "Blocked" in result.out
    document = repo.run("evaluate", "--json").json
    assert document["data"]["findings"][0]["check"] == "hidden-character"
    assert document["error"] is None
    repo.plan(with_step("```sh {#a type=create_file target=../../x}\nx\n```"))
    assert repo.run("evaluate").exit == 1


def test_json_and_a_page_exclude_each_other(repo: Folder) -> None:
    repo.plan(STEPS)
    assert repo.run("evaluate", "--json", "--format", "markdown").exit == 2


def test_a_repository_s_policy_counts(repo: Folder) -> None:
    repo.plan(STEPS)
    repo.write(".agent/execplan.toml", "[execution]\nsteps = 2\n")
    assert "3 steps; the policy's limit is 2" in repo.run("evaluate").out


def test_the_page_holds_what_it_shows(repo: Folder) -> None:
    text = "````\n```\n# No heading\n<b>\n~~~~"
    repo.plan(
        with_step(
            f"``````md {{#a type=create_file target=a.md}}\n{text}\n``````\n\n"
            "```sh {#b}\ngit log '--grep=`` ![x](y) | <script>' *bold*\n```"
        )
    )
    result = repo.run("evaluate", "--format", "markdown")
    tokens = MarkdownIt().enable("table").parse(result.out)
    fences = [token.content for token in tokens if token.type == "fence"]
    assert any("+````\n+```\n+# No heading\n+<b>\n+~~~~\n" in fence for fence in fences)
    assert "git log '--grep=`` ![x](y) | <script>' '*bold*'\n" in fences or any("<script>" in fence for fence in fences)
    inline = [child.type for token in tokens for child in token.children or ()]
    assert not {"image", "link_open", "html_inline", "em_open"} & set(inline)
    assert not [token for token in tokens if token.type == "html_block"]
    headings = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    assert headings == [
        f"Execution plan `{ID}`",
        *(["Findings"] if "Findings" in headings else []),
        "Steps",
        "1. `a`",
        "2. `b`",
        "Checks",
    ]


@settings(max_examples=50)
@given(st.text(st.sampled_from("`~ \n#<a|\\*\u202e\x1b"), max_size=30))
def test_nothing_breaks_out(text: str) -> None:
    (block_token,) = MarkdownIt().parse(code_block(text, "sh"))
    assert block_token.type == "fence"
    (_, inline, _) = MarkdownIt().parse(code_span(text))
    assert [child.type for child in inline.children or ()] == ["code_inline"]
    assert "\u202e" not in code_span(text) + code_block(text, "sh")


def test_a_page_holds_no_secret(repo: Folder) -> None:
    token = "ghp_" + hashlib.sha256(b"a token").hexdigest()[:36]
    repo.plan(with_step(f"```py {{#a type=create_file target=a.py}}\nTOKEN = '{token}'\n```"))
    result = repo.run("evaluate", "--format", "markdown")
    assert result.exit == 1
    assert "TOKEN = 'ghp_****" in result.out
    assert token[8:] not in result.out


def snapshot_tree(root: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """All below a folder, git's own too: mode, time of the last change, size and bytes."""
    entries = {}
    for folder, folders, files in os.walk(root):
        for name in [".", *folders, *files]:
            path = Path(folder, name)
            status = path.lstat()
            data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            entries[str(path.relative_to(root))] = (status.st_mode, status.st_mtime_ns, status.st_ino, data)
    return entries


@pytest.mark.parametrize("read_only", [True, False])
def test_nothing_is_written(tmp_path: Path, repo: Folder, read_only: bool) -> None:
    repo.plan(with_step("```sh {#a type=create_file target=run.sh}\nif true; then echo; fi\n```"))
    repo.write(".agent/execplans/2026-01-02_bad.md", with_step("```sh {#a}\nrm -fr /\n```").replace("parser", "bad"))
    home = tmp_path / "home"
    home.mkdir()
    for name in (".config/execplan", ".local/state", "state"):
        (home / name).mkdir(parents=True)
    repo.env.update(HOME=str(home), XDG_STATE_HOME=str(home / "state"), PYTHONDONTWRITEBYTECODE="1")
    repo.plan(with_step("```sh {#a}\ngit status\n```"), "2026-01-03_look")
    repo.plan(with_step("```sh {#a}\ngit status\n```"), "2026-01-03_look")
    calls = [(ID,), (ID, "--json"), (ID, "--format", "markdown"), ("bad",), ("look",)]
    before = snapshot_tree(repo.path), snapshot_tree(home)
    if read_only:
        mounts = [f"mount --bind {folder} {folder}; mount -o remount,bind,ro {folder}" for folder in (repo.path, home)]
        lines = [f"{shell_line(('evaluate', *call))} >/dev/null; echo $?" for call in calls]
        script = "\n".join(
            [*mounts, f"cd {repo.path}; ! touch x 2>/dev/null; ! touch {home}/x 2>/dev/null; set +e", *lines]
        )
        ran = run_in_namespace(tmp_path, script, repo.env)
        assert (ran.out.split(), ran.err) == (["1", "1", "1", "1", "0"], "")  # what can't be written is a finding
    else:
        assert [repo.run("evaluate", *call).exit for call in calls] == [0, 0, 0, 1, 0]
    assert (snapshot_tree(repo.path), snapshot_tree(home)) == before


def test_without_any_program_that_parses(repo: Folder) -> None:
    repo.plan(with_step("```sh {#a type=create_file target=run.sh}\nif true; then\n```"))
    assert repo.run("evaluate").exit == 1
    assert repo.run("evaluate", PATH="/nonexistent").exit == 0


def test_a_plan_without_steps(repo: Folder) -> None:
    repo.plan(CLEAN)
    result = repo.run("evaluate")
    assert result.exit == 3
    assert result.err.endswith("execplan compile 2026-01-01_parser --annotate\n"), "it asks for work"
    repo.plan(CLEAN.partition("## Plan of Work")[0])
    assert "execplan explain steps" in repo.run("evaluate").err


@pytest.mark.parametrize("name", ["build", "a-rather-long-name-of-a-step"])
def test_on_a_narrow_terminal_id_and_risk_stay_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", FakeTerminal())
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    head = ("step", "id", "type", "risk", "dry run", "approval", "verdict", "what")
    row = (
        "10",
        name,
        "execute_command",
        "CRITICAL",
        "unpredictable",
        "a person",
        "must not run",
        "Run " + "make " * 40,
    )
    lines = re.sub("\x1b.[0-9;]*m", "", printable_text(format_table(head, [row], spare=head[2:3] + head[4:7]))).split(
        "\n"
    )
    assert all([len(line.rstrip()) <= 80 for line in lines])
    assert f" {name} " in lines[1]
    assert " CRITICAL " in lines[1]
    assert " Run make make" in lines[1]
    monkeypatch.setenv("COLUMNS", "200")
    assert "execute_command" in format_table(head, [row], spare=head[2:3])


class FakeTerminal(io.StringIO):
    """What is written, and says that it is a terminal."""

    def isatty(self) -> bool:
        """It is."""
        return True
