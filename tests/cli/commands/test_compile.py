"""`compile`: what is stored, when it is stale, and where else it goes."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN, STEPS

STORED = ".agent/execplans/artifacts/2026-01-01_parser/execution-plan.json"
NO_STEPS = CLEAN.replace("`make test` prints `12 passed`.", "look around.").replace("`make test` passes.", "It works.")


def test_the_execution_plan_is_stored_once(repo: Folder) -> None:
    repo.plan(STEPS)
    data = repo.ok("compile")
    stored = (repo.path / STORED).read_bytes()
    assert (data["path"], data["changed"], data["commit"]) == (STORED, True, None)
    assert data["digest"] == sha256(stored).hexdigest()
    assert [step["id"] for step in data["steps"]][:3] == ["build.1", "build.2", "api"]
    assert (data["steps"][1]["argv"], data["steps"][1]["cwd"]) == (["make", "test"], ".")
    assert data["inferred"] == sum([step["inferred"] for step in data["steps"]])
    recompiled = repo.ok("compile")
    assert (recompiled["changed"], recompiled["digest"]) == (False, data["digest"])
    repo.plan(STEPS.replace("## Progress\n", "## Progress\n\nAll of it:\n"))
    assert repo.ok("compile")["changed"] is False
    assert (repo.path / STORED).read_bytes() == stored


def test_check_says_whether_what_is_stored_is_current(repo: Folder) -> None:
    path = repo.plan(STEPS)
    missing = repo.run("compile", "--check", "--json")
    assert (missing.exit, missing.json["data"]["stored"]) == (1, False)
    repo.ok("compile")
    assert repo.ok("compile", "--check")["current"] is True
    path.write_text(STEPS.replace("## Progress\n", "## Progress\n\nAll of it:\n"))
    assert repo.ok("compile", "--check")["current"] is True
    path.write_text(STEPS.replace("make parser", "make all"))
    stale = repo.run("compile", "--check")
    assert stale.exit == 1
    assert 'build.1: command was "make parser" and is now "make all"' in stale.out
    assert "next: execplan compile 2026-01-01_parser" in stale.out
    (repo.path / STORED).write_text("{}")
    broken = repo.run("compile", "--check", "--json").json["data"]
    assert "can't be used" in broken["reasons"][0]
    assert (repo.path / STORED).read_text() == "{}"


def test_a_dry_run_writes_nothing_and_a_commit_holds_the_document_alone(repo: Folder) -> None:
    repo.plan(STEPS)
    data = repo.ok("compile", "--dry-run")
    assert (data["changed"], data["diff"].startswith(f"--- /dev/null\n+++ b/{STORED}\n")) == (True, True)
    assert not (repo.path / STORED).parent.exists()
    repo.write("README.md", "# Changed\n")
    repo.git("add", "README.md")
    data = repo.ok("compile", "--commit")
    assert repo.git("rev-parse", "HEAD").strip() == data["commit"]
    assert repo.git("show", "--name-only", "--format=").split() == [STORED]
    assert repo.git("diff", "--cached", "--name-only").split() == ["README.md"]


def test_out_prints_the_bytes_and_nothing_else(repo: Folder) -> None:
    repo.plan(STEPS.replace("make parser", "make ü"))
    out = repo.run("compile", "--out", "-")
    assert (out.exit, out.err) == (0, "")
    assert json.loads(out.out)["plan_id"] == "2026-01-01_parser"
    assert not (repo.path / STORED).exists()
    repo.ok("compile")
    assert (repo.path / STORED).read_text() == out.out
    data = repo.run("compile", "--out", "-", "--json").json["data"]
    assert data["document"] == json.loads(out.out)
    assert data["digest"] == sha256(out.out.encode()).hexdigest()


def test_out_writes_a_file_over_a_document_only(repo: Folder) -> None:
    plan = repo.plan(STEPS)
    assert repo.ok("compile", "--out", "x.json", "--dry-run")["changed"] is True
    assert not (repo.path / "x.json").exists()
    assert repo.ok("compile", "--out", "x.json")["changed"] is True
    assert repo.ok("compile", "--out", "x.json")["changed"] is False
    refused = repo.run("compile", "--out", str(plan))
    assert refused.exit == 1
    assert plan.read_text() == STEPS
    package_file = repo.write("package.json", '{"name": "execplan"}\n')
    assert repo.run("compile", "--out", "package.json").exit == 1
    assert package_file.read_text() == '{"name": "execplan"}\n'
    assert repo.run("compile", "--out", "nowhere/x.json").exit == 3
    assert repo.run("compile", "--out", "y.json", "--commit").exit == 2


def test_what_is_wrong_stops_it_and_nothing_is_written(repo: Folder) -> None:
    repo.plan(STEPS.replace("timeout=60", "timout=60").replace("needs=build", "needs=bild"))
    refused = repo.run("compile")
    assert refused.exit == 3
    assert "EP602 unknown attribute timout; did you mean timeout?" in refused.err
    assert "EP605 unknown step bild; did you mean build?" in refused.err
    assert "2026-01-01_parser.md:42:" in refused.err
    assert repo.run("compile", "--json").json["error"]["code"] == "bad-steps"
    repo.plan(STEPS.replace("make parser", "make \u202eresrap"))
    hidden = repo.run("compile")
    assert hidden.exit == 7
    assert "\\u202e" in hidden.err
    assert "\u202e" not in hidden.err
    assert not (repo.path / STORED).parent.exists()


def test_no_step_is_a_refusal_that_says_what_was_left(repo: Folder) -> None:
    repo.plan(NO_STEPS.replace("## Validation and", "```sh {example #a}\nmake\n```\n\n## Validation and"))
    refused = repo.run("compile", "--json").json["error"]
    assert (refused["code"], refused["exit"]) == ("no-steps", 3)
    repo.plan(NO_STEPS.replace("Write the scanner", "```sh {#a}\nmake\n```\n\nWrite the scanner"))
    refused = repo.run("compile", "--json").json["error"]
    assert any(["outside Concrete Steps" in candidate for candidate in refused["candidates"]])


def test_what_will_not_run_is_warned_of(repo: Folder) -> None:
    repo.plan(STEPS.replace("make parser\n", "make parser | sort\n").replace("target=src", "target=../src"))
    warnings = repo.run("compile", "--json").json["warnings"]
    assert [warning.split(" ")[1] for warning in warnings] == ["EP611", "EP608"]


def test_inferred_lines_that_need_a_shell_are_one_warning_and_annotate_removes_it(repo: Folder) -> None:
    repo.plan(NO_STEPS.replace("## Validation and", "    make a || true\n    make b | sort\n\n## Validation and", 1))
    (warning,) = repo.run("compile", "--json").json["warnings"]
    assert "EP611 2 inferred steps need a shell to run, this one because of `||`" in warning
    assert repo.run("compile", "--annotate").exit == 0
    assert repo.run("compile", "--json").json["warnings"] == []
    assert "EP611" not in repo.run("lint", "--select", "EP6").out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--check", "--annotate"],
        ["--check", "--out", "-"],
        ["--from", "x", "--compose"],
        ["a", "b"],
        ["a", "-p", "b"],
        ["--compose", "a"],
        ["--compose", "a", "b"],
        ["--compose", "a", "b", "--title", "X", "-p", "a"],
        ["--compose", "a", "b", "--title", "X", "--out", "-"],
        ["a", "--title", "X"],
    ],
)
def test_usage(repo: Folder, arguments: list[str]) -> None:
    assert repo.run("compile", *arguments).exit == 2


def test_an_archived_plan_is_compiled_to_standard_output_only(repo: Folder) -> None:
    repo.write(".agent/execplans/archive/2026-01-01_parser.md", STEPS)
    assert repo.run("compile", "parser").exit == 1
    assert json.loads(repo.run("compile", "parser", "--out", "-").out)["steps"]


def test_links_out_of_the_repository_are_not_followed(repo: Folder) -> None:
    repo.plan(STEPS)
    outside = repo.path.parent / "outside"
    outside.mkdir()
    (repo.path / STORED).parent.parent.mkdir(parents=True)
    (repo.path / STORED).parent.symlink_to(outside)
    assert repo.run("compile").exit in (4, 7)
    assert list(outside.iterdir()) == []


def test_a_document_from_elsewhere_is_stored_and_used_as_it_is(repo: Folder) -> None:
    path = repo.plan(STEPS)
    repo.plan(NO_STEPS.replace("# Build the parser", "# Build the writer"), "2026-01-02_writer")
    document = repo.run("compile", "parser", "--out", "-").out.encode()
    result = repo.run("compile", "writer", "--from", "-", "--json", stdin=document)
    assert result.exit == 0
    stored = json.loads((repo.path / STORED.replace("01_parser", "02_writer")).read_bytes())
    assert (stored["plan_id"], stored["source"], len(stored["steps"])) == (
        "2026-01-02_writer",
        None,
        len(json.loads(document)["steps"]),
    )
    assert repo.ok("compile", "writer", "--check")["current"] is True
    refused = repo.run("compile", "writer", "--json")
    assert (refused.exit, refused.json["error"]["code"]) == (1, "other-source")
    (repo.path / STORED).parent.mkdir(parents=True)
    (repo.path / STORED).write_text(json.dumps(stored))
    error = repo.run("compile", "parser", "--check", "--json").json["error"]
    assert (error["code"], error["hint"].endswith(f"execplan compile 2026-01-01_parser --from {STORED}")) == (
        "other-plan",
        True,
    )
    repo.ok("compile", "parser", "--from", STORED)
    assert repo.ok("compile", "parser", "--check")["current"] is True
    bad = repo.run("compile", "writer", "--from", str(path))
    assert bad.exit == 3


def test_plans_are_joined_in_their_order(repo: Folder) -> None:
    repo.plan(STEPS)
    repo.plan(STEPS.replace("# Build the parser", "# Build the writer").replace("api.py", "w.py"), "2026-01-02_writer")
    repo.plan(NO_STEPS.replace("# Build the parser", "# Build both"), "2026-01-03_both")
    data = repo.ok("compile", "--compose", "writer", "parser", "-p", "both")
    ids = [step["id"] for step in data["steps"]]
    assert ids.index("writer.api") < ids.index("parser.build.1")
    assert data["path"] == STORED.replace("01_parser", "03_both")
    assert repo.run("compile", "--compose", "writer", "parser", "--out", "-").exit == 0
    repo.plan(STEPS.replace("# Build the parser", "# Build the writer"), "2026-01-02_writer")
    refused = repo.run("compile", "--compose", "writer", "parser", "-p", "both")
    assert refused.exit == 3
    assert "src/api.py" in refused.err


def test_compose_makes_the_plan_that_it_is_for(repo: Folder) -> None:
    repo.plan(STEPS)
    repo.plan(STEPS.replace("# Build the parser", "# Build the writer").replace("api.py", "w.py"), "2026-01-02_writer")
    command = ("compile", "--compose", "writer", "parser", "--title", "Release 1")
    dry = repo.ok(*command, "--dry-run")
    assert not (repo.path / dry["path"]).exists()
    data = repo.ok(*command)
    assert data["path"].endswith("_release-1/execution-plan.json")
    assert (repo.path / data["path"]).exists()
    assert "2026-01-02_writer, 2026-01-01_parser" in (repo.path / ".agent/execplans" / f"{data['id']}.md").read_text()
    assert [step["id"] for step in repo.ok("evaluate", "release-1")["steps"]] == [step["id"] for step in data["steps"]]
    repo.plan(STEPS.replace("# Build the parser", "# Build the writer"), "2026-01-02_writer")
    plans = sorted((repo.path / ".agent/execplans").iterdir())
    assert repo.run("compile", "--compose", "writer", "parser", "--title", "Release 2").exit == 3
    assert sorted((repo.path / ".agent/execplans").iterdir()) == plans, "a refusal makes no plan"


def test_annotate_says_why_also_before_it_writes(repo: Folder) -> None:
    repo.plan(STEPS.replace("```sh {#build", "    ls src\n\nIf needed:\n\n    make schema\n\n```sh {#build"))
    for options in ([], ["--dry-run"]):
        out = repo.run("compile", "--annotate", *options).out
        assert "is not a step: it runs only under a condition: make schema" in out


def test_annotate_writes_the_plan_and_nothing_else(repo: Folder) -> None:
    path = repo.plan(STEPS.replace("```sh {#build", "    ls src\n\n```sh {#build"))
    before = {step["argv"][0]: step for step in repo.ok("compile", "--dry-run")["steps"] if step["argv"]}["ls"]
    assert before["inferred"] is True
    data = repo.ok("compile", "--annotate")
    assert data["path"] == ".agent/execplans/2026-01-01_parser.md"
    assert "```sh {#ls-src}\nls src\n```" in path.read_text()
    assert not (repo.path / STORED).exists()
    after = {step["argv"][0]: step for step in repo.ok("compile")["steps"] if step["argv"]}["ls"]
    assert (after["inferred"], after["argv"], after["cwd"]) == (False, before["argv"], before["cwd"])
    assert repo.ok("compile", "--annotate")["changed"] is False


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_what_could_not_be_read_again_is_not_stored(repo: Folder, dry: list[str]) -> None:
    lines = ('"' * 99 + "\n") * 27_000
    repo.plan(f"# Big\n\n## Concrete Steps\n\n```text {{#a type=create_file target=a.txt}}\n{lines}```\n")
    refused = repo.run("compile", "--json", *dry)
    assert (refused.exit, refused.json["error"]["code"]) == (3, "too-large")
    assert not (repo.path / ".agent/execplans/artifacts").exists()


def test_what_was_compiled_and_approved_is_archived_and_restored_as_it_is(repo: Folder) -> None:
    repo.plan(STEPS)
    repo.ok("compile")
    digest = repo.ok("evaluate")["digest"]
    repo.ok("approve", "--digest", digest, "--allow-inferred")
    repo.ok("archive", "--force", "--reason", "it is only filed")
    assert (repo.path / STORED.replace("artifacts", "archive/artifacts")).exists()
    assert repo.ok("compile", "--check", "parser")["current"] is True
    repo.ok("approve", "--check", "parser")
    assert repo.run("compile", "parser").exit == 1
    repo.ok("restore", "parser")
    assert repo.ok("compile", "--check")["current"] is True
    repo.ok("approve", "--check")


def test_a_plan_with_another_title_is_to_be_compiled_and_approved_again(repo: Folder) -> None:
    repo.plan(STEPS)
    repo.ok("compile")
    repo.ok("approve", "--digest", repo.ok("evaluate")["digest"], "--allow-inferred")
    for dry in (["--dry-run"], []):
        result = repo.run("rename", "parser", "Build the lexer", *dry)
        assert (result.exit, "compile and approve it again" in result.err) == (0, True)
    stale = repo.run("compile", "--check")
    assert (stale.exit, 'plan_id was "2026-01-01_parser"' in stale.out) == (1, True)
    assert repo.run("approve", "--check").exit == 4
    repo.ok("compile")
    assert "compile and approve" in repo.run("rename", "lexer", "Build it").err
    (repo.path / STORED.replace("2026-01-01_parser", "2026-01-01_build-it")).unlink()
    assert "anew" not in repo.run("rename", "build-it", "Build the lexer").err


def test_quiet_says_nothing_of_what_was_written(repo: Folder) -> None:
    repo.plan(STEPS)
    assert repo.run("compile", "-q")[:2] == (0, "")
    assert repo.run("compile", "-q", "--check")[:2] == (0, "")
    assert repo.run("compile", "-q", "--out", "-").out.startswith("{")


def test_without_any_step_annotation_leads_to_how_steps_are_written(repo: Folder) -> None:
    repo.plan(NO_STEPS)
    repo.ok("set", "Plan of Work", "Nothing yet.")
    repo.ok("set", "Concrete Steps", "Nothing yet.")
    assert repo.run("compile", "--annotate", "--json").json["next"] == ["execplan explain steps"]
